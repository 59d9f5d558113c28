//! Compiles what `isa/manual/` has besides instructions: the compiler of the instruction table judges versions and targets with the library's own code,
//! which includes what is made of these files.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

// What only the rest of the package uses is not used here.
#[allow(dead_code, reason = "the package uses the rest")]
#[path = "src/cursor.rs"]
mod cursor;
#[allow(dead_code, reason = "the package uses the rest")]
#[path = "src/fault.rs"]
mod fault;
#[path = "src/lexer.rs"]
mod lexer;
#[path = "src/platform/mod.rs"]
mod platform;

use fault::Fault;

fn main() -> ExitCode {
    for file in platform::FILES {
        println!("cargo::rerun-if-changed=../isa/manual/{file}");
    }
    match generate(Path::new("../isa/manual")) {
        Ok(()) => ExitCode::SUCCESS,
        Err(faults) => {
            for fault in faults {
                println!("cargo::error={fault}");
            }
            ExitCode::FAILURE
        }
    }
}

fn generate(folder: &Path) -> Result<(), Vec<Fault>> {
    let fault = |error: std::io::Error| vec![Fault::new("ptx-ir/isa/manual", 0, error.to_string())];
    let mut sources = Vec::new();
    for name in platform::FILES {
        let text = std::fs::read_to_string(folder.join(name)).map_err(fault)?;
        sources.push((format!("ptx-ir/isa/manual/{name}"), text));
    }
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default();
    for generated in platform::compile(&sources)? {
        std::fs::write(out.join(generated.name), generated.text).map_err(fault)?;
    }
    Ok(())
}
