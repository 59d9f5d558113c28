//! For PTX files: is the canonical text the same program?
//!
//! ```text
//! same_code [--ir-only] PATH…
//! ```
//!
//! Three questions for each file without syntax errors:
//!
//! 1. Parsed and lowered again, does the canonical text give the same IR, spans aside?
//! 2. Does the formatter leave the canonical text as it is?
//! 3. Does `ptxas` make byte-identical machine code from the original, the formatted and the canonical text?
//!
//! Prints a line for each file that fails and a summary. Exit status: 0 all the same, 1 not, 2 nothing to compare.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ptx_emit::assemble::Ptxas;
use ptx_tests::case;
use ptx_tests::same_code::{assemble, canonical, machine_code};
use ptx_tests::tools::on_all_cores;

fn main() -> ExitCode {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let files: Vec<PathBuf> = paths.iter().flat_map(|path| ptx_files(Path::new(path))).collect();
    if files.is_empty() {
        eprintln!("no PTX files given");
        return ExitCode::from(2);
    }
    let ptxas = match (flags.iter().any(|flag| flag == "--ir-only"), Ptxas::from_environment()) {
        (true, _) => None,
        (false, Ok(ptxas)) => Some(ptxas),
        (false, Err(error)) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let verdicts = on_all_cores(&files, |file| {
        let verdict = compare(file, ptxas.as_ref());
        if let Err(what) = &verdict {
            println!("{}: {what}", file.display());
        }
        verdict
    });
    let same = verdicts.iter().filter(|verdict| **verdict == Ok(true)).count();
    let refused = verdicts.iter().filter(|verdict| **verdict == Ok(false)).count();
    let different = files.len() - same - refused;
    println!("{} files: {same} the same, {refused} that ptxas refuses, {different} different", files.len());
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn ptx_files(path: &Path) -> Vec<PathBuf> {
    if path.is_dir() { case::files(path, "ptx") } else { vec![path.to_owned()] }
}

/// Whether a file stays the same program; `false` where it is none.
fn compare(file: &Path, ptxas: Option<&Ptxas>) -> Result<bool, String> {
    let source = std::fs::read(file).map_err(|error| error.to_string())?;
    let source = String::from_utf8_lossy(&source);
    let canonical = canonical(&source);
    match (ptxas, canonical) {
        (Some(ptxas), Ok(canonical)) => machine_code(ptxas, &source, &canonical),
        (Some(ptxas), Err(what)) => match assemble(ptxas, &source)? {
            Some(_) => Err(what),
            None => Ok(false),
        },
        (None, Ok(_)) => Ok(true),
        (None, Err(what)) if what.starts_with("syntax error:") => Ok(false),
        (None, Err(what)) => Err(what),
    }
}
