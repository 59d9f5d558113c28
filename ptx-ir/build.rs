//! Compiles `isa/manual/*.isa` and `isa/assembler/*.isa` with the package in `table/`; `isa/README.md` explains the notation. Every mistake in those
//! files is an error `file:line: sentence`, and one build shows them all.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ptx_isa_table::{Fault, all_sources, compile, compile_platform};

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=isa");
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(faults) => {
            for fault in faults {
                println!("cargo::error={fault}");
            }
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), Vec<Fault>> {
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    let (platform, instructions) =
        all_sources(Path::new("isa"), "ptx-ir/isa/").map_err(|fault| vec![fault])?;
    write(&out.join("table.rs"), &compile(&instructions)?)?;
    for generated in compile_platform(&platform)? {
        write(&out.join(generated.name), &generated.text)?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Vec<Fault>> {
    let fault = |error: std::io::Error| vec![Fault::new(&path.to_string_lossy(), 0, error.to_string())];
    std::fs::write(path, text).map_err(fault)
}
