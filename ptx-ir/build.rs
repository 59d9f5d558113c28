//! Turns `isa/*.isa` into the static instruction table.
//!
//! The notation is explained in `isa/README.md`. The steps are those of a small compiler: [`lexer`] cuts a file
//! into tokens, [`parser`] reads sections, shared definitions and forms, [`resolver`] gives every name its
//! meaning and checks it, [`writer`] prints Rust. Every mistake ends the build with `file:line: sentence`.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

// The build script judges types, targets and classes with the very code that the library uses.
#[expect(dead_code, reason = "the library uses the rest")]
#[path = "src/isa/class.rs"]
mod class;
#[path = "build/lexer.rs"]
mod lexer;
#[path = "build/model.rs"]
mod model;
#[path = "build/operands.rs"]
mod operands;
#[path = "build/parser.rs"]
mod parser;
#[path = "build/resolver.rs"]
mod resolver;
#[expect(dead_code, reason = "the library uses the rest")]
#[path = "src/special.rs"]
mod special;
#[path = "build/syntax.rs"]
mod syntax;
#[expect(dead_code, reason = "the library uses the rest")]
#[path = "src/target.rs"]
mod target;
#[expect(dead_code, reason = "the library uses the rest")]
#[path = "src/types.rs"]
mod types;
#[expect(dead_code, reason = "the library uses the rest")]
#[path = "src/version.rs"]
mod version;
#[path = "build/writer.rs"]
mod writer;

use lexer::Fault;

fn main() -> ExitCode {
    println!("cargo::rerun-if-changed=isa");
    println!("cargo::rerun-if-changed=build");
    for module in ["isa/class", "special", "target", "types", "version"] {
        println!("cargo::rerun-if-changed=src/{module}.rs");
    }
    match generate() {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            println!("cargo::error={fault}");
            ExitCode::FAILURE
        }
    }
}

fn generate() -> Result<(), Fault> {
    let folder = Path::new("isa");
    let mut files = Vec::new();
    for path in table_files(folder)? {
        let name = format!("ptx-ir/{}", path.display());
        let text = std::fs::read_to_string(&path).map_err(|error| Fault::new(&name, 0, error.to_string()))?;
        files.push(parser::parse(&name, &text)?);
    }
    let table = resolver::resolve(&files)?;
    let out = std::env::var_os("OUT_DIR").map(PathBuf::from).unwrap_or_default().join("table.rs");
    std::fs::write(&out, writer::write(&table))
        .map_err(|error| Fault::new(&out.display().to_string(), 0, error.to_string()))
}

/// The `.isa` files in alphabetical order, so that the table does not depend on the file system.
fn table_files(folder: &Path) -> Result<Vec<PathBuf>, Fault> {
    let fault = |error: std::io::Error| Fault::new("ptx-ir/isa", 0, error.to_string());
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(fault)? {
        let path = entry.map_err(fault)?.path();
        if path.extension().is_some_and(|extension| extension == "isa") {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
