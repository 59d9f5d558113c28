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
use std::process::{Command, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ptx_emit::assemble::{Options, Ptxas, Source};
use ptx_tests::{machine_code, same_ir};

fn main() -> ExitCode {
    let (flags, paths): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    let mut files = Vec::new();
    for path in &paths {
        collect(Path::new(path), &mut files);
    }
    files.sort();
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
    let (same, refused, failed) = run(&files, ptxas.as_ref());
    println!("{} files: {same} the same, {refused} that ptxas refuses, {failed} different", files.len());
    if failed == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

fn collect(path: &Path, files: &mut Vec<PathBuf>) {
    if let Ok(entries) = std::fs::read_dir(path) {
        for entry in entries.flatten() {
            collect(&entry.path(), files);
        }
    } else if path.extension().is_some_and(|extension| extension == "ptx") {
        files.push(path.to_owned());
    }
}

/// Compares the files on all cores; how many are the same, refused and different.
fn run(files: &[PathBuf], ptxas: Option<&Ptxas>) -> (usize, usize, usize) {
    let next = AtomicUsize::new(0);
    let totals = Mutex::new((0, 0, 0));
    let work = || {
        while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
            let verdict = compare(file, ptxas);
            let Ok(mut totals) = totals.lock() else { return };
            match verdict {
                Ok(Verdict::Same) => totals.0 += 1,
                Ok(Verdict::Refused) => totals.1 += 1,
                Err(what) => {
                    totals.2 += 1;
                    println!("{}: {what}", file.display());
                }
            }
        }
    };
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    totals.into_inner().unwrap_or_default()
}

enum Verdict {
    Same,
    Refused,
}

fn compare(file: &Path, ptxas: Option<&Ptxas>) -> Result<Verdict, String> {
    let source = std::fs::read(file).map_err(|error| error.to_string())?;
    let source = String::from_utf8_lossy(&source);
    let parse = ptx_syntax::parse(&source);
    let original = ptxas.map(|ptxas| code(ptxas, &source)).transpose()?;
    if !parse.diagnostics.is_empty() {
        return match original {
            Some(Some(_)) => Err(format!("syntax error: {}", parse.diagnostics[0].message)),
            Some(None) | None => Ok(Verdict::Refused),
        };
    }
    let module = ptx_ir::lower::lower(&parse.tree, &source).module;
    let canonical = ptx_emit::canonical(&module);
    if let Some(None) = original {
        return Ok(Verdict::Refused);
    }
    let again = ptx_syntax::parse(&canonical);
    if let Some(first) = again.diagnostics.first() {
        return Err(format!("canonical text has a syntax error: {} at {:?}", first.message, first.span));
    }
    let again = ptx_ir::lower::lower(&again.tree, &canonical).module;
    if let Some(difference) = same_ir::difference(&module, &again) {
        return Err(format!("other IR:\n{difference}"));
    }
    match ptx_emit::format(&canonical) {
        Ok(formatted) if !formatted.changed => {}
        Ok(_) => return Err("the formatter changes the canonical text".to_owned()),
        Err(error) => return Err(format!("the canonical text: {error}")),
    }
    if let (Some(ptxas), Some(original)) = (ptxas, original) {
        let formatted = ptx_emit::format(&source).map_err(|error| error.to_string())?;
        compare_code(ptxas, "formatted", &formatted.text, original.as_deref())?;
        compare_code(ptxas, "canonical", &canonical, original.as_deref())?;
    }
    Ok(Verdict::Same)
}

fn compare_code(ptxas: &Ptxas, what: &str, text: &str, original: Option<&[u8]>) -> Result<(), String> {
    match (code(ptxas, text)?, original) {
        (Some(code), Some(original)) => match machine_code::difference(original, &code) {
            None => Ok(()),
            Some(difference) => Err(format!("the {what} text gives other machine code: {difference}")),
        },
        (None, _) => Err(format!("ptxas refuses the {what} text")),
        (Some(_), None) => Err(format!("ptxas refuses the original of the {what} text")),
    }
}

/// The machine code; none where the text is refused. What refers to functions of other modules is compiled for
/// the linker.
fn code(ptxas: &Ptxas, text: &str) -> Result<Option<Vec<u8>>, String> {
    let source = Source { file: "input.ptx", text: text.as_bytes() };
    let assembly = match ptxas.assemble(&source, &Options::default()) {
        Ok(assembly) => assembly,
        Err(ptx_emit::assemble::Error::TargetUnsupported { .. }) => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    if assembly.cubin.is_some() {
        return Ok(assembly.cubin);
    }
    relocatable(ptxas.program(), &assembly.report.target, text).map_err(|error| error.to_string())
}

fn relocatable(ptxas: &Path, target: &str, text: &str) -> std::io::Result<Option<Vec<u8>>> {
    let folder = tempfile::tempdir()?;
    std::fs::write(folder.path().join("input.ptx"), text)?;
    let mut command = Command::new(ptxas);
    command.current_dir(folder.path()).args(["-c", "-arch", target, "input.ptx", "-o", "output.cubin"]);
    let output = command.output()?;
    if !output.status.success() {
        return Ok(None);
    }
    std::fs::read(folder.path().join("output.cubin")).map(Some)
}
