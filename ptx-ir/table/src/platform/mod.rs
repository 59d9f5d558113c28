//! What PTX has besides instructions: versions, targets, special registers and directives. Each is a file of
//! `isa/manual/` and becomes Rust that a module of `ptx-ir/src` includes.
//!
//! The build script of this package uses the same code, since the compiler of the instruction table has to know versions
//! and targets itself.

mod directives;
mod registers;
mod targets;
#[cfg(test)]
mod tests;
mod versions;

use std::fmt::Write as _;

use crate::cursor::Cursor;
use crate::fault::{Fault, Faults};
use crate::lexer::{Spanned, Token, tokens};

/// A Rust file.
#[derive(Clone, Debug)]
pub struct Generated {
    /// Its name.
    pub name: &'static str,
    /// What is in it.
    pub text: String,
}

/// The files of `isa/manual/` that are about something else than instructions.
pub const FILES: [&str; 4] = ["directives.isa", "special_registers.isa", "targets.isa", "versions.isa"];

/// Compiles [`FILES`], given by what messages call them and what is in them.
///
/// # Errors
///
/// All mistakes of all files, by file and line; a file that is missing or unknown.
pub fn compile(sources: &[(String, String)]) -> Result<Vec<Generated>, Vec<Fault>> {
    let mut faults = Faults::default();
    let mut found = Files::default();
    for (name, text) in sources {
        match name.rsplit(['/', '\\']).next().unwrap_or_default() {
            "versions.isa" => found.versions = definitions(name, text, &mut faults),
            "targets.isa" => found.targets = definitions(name, text, &mut faults),
            "special_registers.isa" => found.registers = definitions(name, text, &mut faults),
            "directives.isa" => found.directives = definitions(name, text, &mut faults),
            _ => faults.push(Fault::new(name, 0, "nothing reads this file")),
        }
    }
    let versions = versions::read(&found.versions, &mut faults);
    let platform = Platform { targets: targets::read(&found.targets, &versions, &mut faults), versions };
    let registers = registers::read(&found.registers, &platform, &mut faults);
    let directives = directives::read(&found.directives, &platform, &mut faults);
    if faults.len() > 0 {
        return Err(faults.sorted());
    }
    Ok(vec![
        Generated { name: "versions.rs", text: versions::write(&platform.versions) },
        Generated { name: "targets.rs", text: targets::write(&platform.targets) },
        Generated { name: "special_registers.rs", text: registers::write(&registers) },
        Generated { name: "directives.rs", text: directives::write(&directives) },
    ])
}

#[derive(Default)]
struct Files {
    versions: Definitions,
    targets: Definitions,
    registers: Definitions,
    directives: Definitions,
}

/// The definitions of a file, each without its `;`.
#[derive(Default)]
struct Definitions {
    file: String,
    all: Vec<Vec<Spanned>>,
}

impl Definitions {
    /// Calls `read` for each definition, and takes note of its mistakes.
    fn each(&self, faults: &mut Faults, mut read: impl FnMut(&mut Cursor<'_>) -> Result<(), Fault>) {
        for tokens in &self.all {
            let mut cursor = Cursor::new(&self.file, tokens);
            let result = read(&mut cursor).and_then(|()| cursor.end());
            faults.keep(result);
        }
        if self.all.is_empty() {
            faults.push(Fault::new(&self.file, 0, "there is nothing in this file, or no such file"));
        }
    }
}

fn definitions(file: &str, text: &str, faults: &mut Faults) -> Definitions {
    let tokens = faults.keep(tokens(file, text, 1)).unwrap_or_default();
    let mut all = Vec::new();
    let mut current = Vec::new();
    for spanned in tokens {
        if spanned.token == Token::Mark(';') {
            all.push(std::mem::take(&mut current));
        } else {
            current.push(spanned);
        }
    }
    if let Some(first) = current.first() {
        faults.push(Fault::new(file, first.line, "a definition that begins here has no `;`"));
    }
    Definitions { file: file.to_owned(), all }
}

/// A version, major and minor.
type Version = (u8, u8);

/// Versions and targets, which the other files name.
struct Platform {
    versions: Vec<versions::Row>,
    targets: targets::Targets,
}

impl Platform {
    /// Requires a version that was published.
    fn version(&self, cursor: &mut Cursor<'_>) -> Result<Version, Fault> {
        versions::published(cursor, &self.versions)
    }

    /// Reads `sm_90` or `sm_90+` behind `on`: the number of the lowest target.
    fn lowest_target(&self, cursor: &mut Cursor<'_>) -> Result<u16, Fault> {
        if !cursor.eat_word("on") {
            return Ok(self.targets.lowest());
        }
        let number = self.targets.number(cursor)?;
        cursor.eat('+');
        Ok(number)
    }
}

/// Reads a whole number below a limit.
fn below<T: TryFrom<i64>>(cursor: &mut Cursor<'_>) -> Result<T, Fault> {
    let number = cursor.number()?;
    T::try_from(number).map_err(|_| cursor.fault(format!("{number} does not fit here")))
}

/// `Version::new(8, 6)`.
fn version_source((major, minor): Version) -> String {
    format!("Version::new({major}, {minor})")
}

/// An array of Rust values.
fn array(out: &mut String, head: &str, rows: impl ExactSizeIterator<Item = String>) {
    let _ = writeln!(out, "{} = [", head.replace('#', &rows.len().to_string()));
    rows.for_each(|row| {
        let _ = writeln!(out, "    {row},");
    });
    let _ = writeln!(out, "];");
}
