//! Compiles a kernel with the driver, prints what it costs, launches it over 16 elements and checks
//! the sums.
//!
//! Needs Linux, NVIDIA's driver and a GPU: `cargo run --example launch_vector_add --features cuda`. Without
//! them it says what is missing and ends with status 2.

#[cfg(target_os = "linux")]
mod forward;
#[cfg(target_os = "linux")]
mod launch;
#[cfg(all(test, target_os = "linux"))]
mod tests;

fn main() -> std::process::ExitCode {
    #[cfg(target_os = "linux")]
    return launch::run();
    #[cfg(not(target_os = "linux"))]
    {
        eprintln!("the driver is asked on Linux only");
        std::process::ExitCode::from(2)
    }
}
