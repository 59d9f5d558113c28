//! Finds out which of NVIDIA's tools are installed and whether there is a GPU, so that a test that needs one is shown as *ignored* where it is
//! not. `tests/install-toolkit.sh` installs them.

use std::path::{Path, PathBuf};

fn main() {
    println!("cargo::rustc-check-cfg=cfg(no_ptxas, no_nvcc, no_library, no_gpu)");
    println!("cargo::rerun-if-changed=build.rs");
    for variable in ["PTXAS", "CUDA_HOME", "PATH"] {
        println!("cargo::rerun-if-env-changed={variable}");
    }
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default()).join("..");
    // A folder that is not there yet is looked for at each build.
    println!("cargo::rerun-if-changed={}", root.join("target/cuda-toolkit/bin").display());
    let path = std::env::var_os("PATH").unwrap_or_default();
    let in_path =
        |name: &str| std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file());
    let given = std::env::var_os("PTXAS").map(PathBuf::from);
    let home = std::env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin/ptxas"));
    let ptxas = given
        .or(home.filter(|file| file.is_file()))
        .or_else(|| installed(&root))
        .or_else(|| in_path("ptxas"));
    if ptxas.is_none() {
        println!("cargo::rustc-cfg=no_ptxas");
    }
    let folder = ptxas.as_deref().and_then(Path::parent).map(|bin| bin.with_file_name("lib"));
    if !folder.is_some_and(|folder| folder.join("libnvptxcompiler.so").is_file()) {
        println!("cargo::rustc-cfg=no_library");
    }
    // The device of NVIDIA's driver for Linux, and its library in a guest of Windows.
    let devices = ["/dev/nvidiactl", "/usr/lib/wsl/lib/libcuda.so.1"];
    // What does not exist is not watched, or each command of cargo would compile all tests once more.
    let mut there = devices.into_iter().filter(|device| Path::new(device).exists()).peekable();
    let has_device = there.peek().is_some();
    there.for_each(|device| println!("cargo::rerun-if-changed={device}"));
    if !has_device {
        println!("cargo::rustc-cfg=no_gpu");
    }
    let nvcc = ptxas.map(|ptxas| ptxas.with_file_name("nvcc")).filter(|nvcc| nvcc.is_file());
    if nvcc.is_none() || in_path("g++").is_none() {
        println!("cargo::rustc-cfg=no_nvcc");
    }
}

/// What `tests/install-toolkit.sh` installed.
fn installed(root: &Path) -> Option<PathBuf> {
    let pythons = std::fs::read_dir(root.join("target/cuda-toolkit/lib")).ok()?;
    let programs = pythons.flatten().map(|python| python.path().join("site-packages/nvidia/cu13/bin/ptxas"));
    programs.into_iter().find(|program| program.is_file())
}
