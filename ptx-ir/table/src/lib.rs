//! Turns `ptx-ir/isa/` into the static instruction table of `ptx-ir`, whose build script calls [`compile`].
//!
//! The notation is explained in `ptx-ir/isa/README.md`. The steps are those of a small compiler: `lexer` cuts a file
//! into tokens, `parser` reads sections, shared definitions and forms, `layers` puts what the assembler makes of a form beside what the
//! manual says of it, `resolver` gives every name its meaning,
//! `check` looks for what cannot be meant, and `writer` prints Rust. Every step goes on after a mistake.

use std::path::{Path, PathBuf};

mod check;

// The compiler judges types, targets and classes with the very code that the library uses.
#[allow(dead_code, reason = "the library uses the rest")]
#[path = "../../src/isa/class.rs"]
mod class;
mod class_words;
mod clauses;
mod cursor;
mod fault;
mod format;
mod group;
mod layers;
mod lexer;
mod model;
mod operands;
mod parser;
mod platform;
mod resolver;
mod scope;
#[allow(dead_code, reason = "the library uses the rest")]
#[path = "../../src/special.rs"]
mod special;
mod syntax;
#[allow(dead_code, reason = "the library uses the rest")]
#[path = "../../src/target.rs"]
mod target;
#[cfg(test)]
mod tests;
#[allow(dead_code, reason = "the library uses the rest")]
#[path = "../../src/types.rs"]
mod types;
#[allow(dead_code, reason = "the library uses the rest")]
#[path = "../../src/version.rs"]
mod version;
mod words;
mod writer;

pub use fault::Fault;
pub use format::format;
pub use platform::Generated;

use fault::Faults;

/// The text of a table file.
#[derive(Clone, Debug)]
pub struct Source {
    /// The path that messages show.
    pub name: String,
    /// What is in it.
    pub text: String,
}

/// The Rust source of the table.
///
/// # Errors
///
/// All mistakes of all files, by file and line.
pub fn compile(sources: &[Source]) -> Result<String, Vec<Fault>> {
    resolved(sources).map(|table| writer::write(&table))
}

fn resolved(sources: &[Source]) -> Result<model::Table, Vec<Fault>> {
    let mut faults = Faults::default();
    let files: Vec<_> =
        sources.iter().map(|source| parser::parse(&source.name, &source.text, &mut faults)).collect();
    let (files, reasons) = layers::merge(files, &mut faults);
    let table = resolver::resolve(&files, &reasons, &mut faults);
    check::check(&table, &mut faults);
    if faults.len() == 0 { Ok(table) } else { Err(faults.sorted()) }
}

/// The files of the table: what PTX has besides instructions, and the instructions as the manual and the assembler have
/// them. `folder` is `ptx-ir/isa`; messages call each file `prefix` and its path below that.
///
/// # Errors
///
/// A folder or file that cannot be read.
pub fn all_sources(folder: &Path, prefix: &str) -> Result<(Vec<Source>, Vec<Source>), Fault> {
    let manual = sources(&folder.join("manual"), &format!("{prefix}manual/"))?;
    let is_platform =
        |source: &Source| platform::FILES.iter().any(|name| source.name.ends_with(&format!("/{name}")));
    let (platform, mut instructions): (Vec<_>, Vec<_>) = manual.into_iter().partition(is_platform);
    instructions.extend(sources(&folder.join("assembler"), &format!("{prefix}assembler/"))?);
    Ok((platform, instructions))
}

/// The Rust source of what PTX has besides instructions, from the first of [`all_sources`].
///
/// # Errors
///
/// All mistakes of all files, by file and line.
pub fn compile_platform(sources: &[Source]) -> Result<Vec<Generated>, Vec<Fault>> {
    let sources: Vec<_> = sources.iter().map(|source| (source.name.clone(), source.text.clone())).collect();
    platform::compile(&sources)
}

/// The `.isa` files of a folder in alphabetical order, so that the table does not depend on the file system. Messages
/// call each `prefix` and its path below `folder`.
///
/// # Errors
///
/// A folder or file that cannot be read.
pub fn sources(folder: &Path, prefix: &str) -> Result<Vec<Source>, Fault> {
    let mut paths: Vec<PathBuf> = Vec::new();
    let unreadable =
        |path: &Path, error: std::io::Error| Fault::new(&path.display().to_string(), 0, error.to_string());
    for entry in std::fs::read_dir(folder).map_err(|error| unreadable(folder, error))? {
        let path = entry.map_err(|error| unreadable(folder, error))?.path();
        if path.extension().is_some_and(|extension| extension == "isa") {
            paths.push(path);
        }
    }
    paths.sort();
    let read = |path: &PathBuf| {
        let text = std::fs::read_to_string(path).map_err(|error| unreadable(path, error))?;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        Ok(Source { name: format!("{prefix}{name}"), text })
    };
    paths.iter().map(read).collect()
}
