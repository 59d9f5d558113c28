//! Verify, format and report on NVIDIA PTX from the command line.

fn main() -> std::process::ExitCode {
    ptx_cli::main()
}
