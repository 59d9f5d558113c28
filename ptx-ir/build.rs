//! Compiles `isa/*.isa` with the package in `table/`; `isa/README.md` explains the notation. Every mistake in those
//! files is an error `file:line: sentence`, and one build shows them all.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ptx_isa_table::{Fault, compile, sources};

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
    let sources = sources(Path::new("isa"), "ptx-ir/isa/").map_err(|fault| vec![fault])?;
    let text = compile(&sources)?;
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default().join("table.rs");
    std::fs::write(&out, text)
        .map_err(|error| vec![Fault::new(&out.display().to_string(), 0, error.to_string())])
}
