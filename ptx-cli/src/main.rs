//! Verify, format and report on NVIDIA PTX from the command line.

#[global_allocator]
static ALLOCATOR: ptx_cli::memory::LargePages = ptx_cli::memory::LargePages;

fn main() -> std::process::ExitCode {
    ptx_cli::main()
}
