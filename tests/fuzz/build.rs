//! Puts the programs of this repository into the target `damaged`, which may run where the repository is not.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut programs = Vec::new();
    for folder in ["cases", "kernels", "format"] {
        let folder = tests.join(folder);
        println!("cargo::rerun-if-changed={}", folder.display());
        collect(&folder, &mut programs);
    }
    assert!(!programs.is_empty(), "there are no programs below {}", tests.display());
    programs.sort();
    let mut list = format!("static PROGRAMS: [&str; {}] = [\n", programs.len());
    for program in programs {
        let path = program.canonicalize().expect("a file that was listed");
        writeln!(list, "    include_str!({path:?}),").expect("a string takes all");
    }
    list.push_str("];\n");
    let out = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo sets it")).join("programs.rs");
    std::fs::write(out, list).expect("cargo's folder can be written");
}

/// The PTX files below a folder.
fn collect(folder: &Path, programs: &mut Vec<PathBuf>) {
    let entries = std::fs::read_dir(folder).expect("a folder of the repository");
    for path in entries.map(|entry| entry.expect("an entry of the folder").path()) {
        if path.is_dir() {
            collect(&path, programs);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            programs.push(path);
        }
    }
}
