//! The way of a source through the library crates.

use std::collections::HashSet;

use ptx_emit::canonical as print;
use ptx_ir::target::Target;
use ptx_syntax::{Diagnostic, Severity, Span};
use ptx_verify::Config;

use crate::options::Options;
use crate::source::{Kind, Source};

/// All findings of a source, in the order of their places. `threads` of them may work on it.
pub fn verify(source: &Source, options: &Options, threads: usize) -> Vec<Diagnostic> {
    if let Some(found) = source.not_text() {
        let mut found = vec![found];
        options.levels.apply(&mut found);
        return found;
    }
    match source.kind {
        Kind::Ptx => ptx(source, options, threads),
        Kind::Cuda => Vec::new(),
    }
}

/// Verifies PTX for each target that was asked for. What several targets have in common is told once.
fn ptx(source: &Source, options: &Options, threads: usize) -> Vec<Diagnostic> {
    let check = |target: Option<Target>| {
        let levels = options.levels.clone();
        ptx_verify::check(&source.text, &Config { levels, target, version: options.ptx_version, threads })
    };
    match options.ptx_targets.as_slice() {
        [] => check(None),
        [target] => check(Some(*target)),
        several => {
            let found = several.iter().flat_map(|target| check(Some(*target)));
            without_repetition(found.collect())
        }
    }
}

fn without_repetition(mut diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut seen: HashSet<(Span, &str, String)> = HashSet::new();
    diagnostics.retain(|found| seen.insert((found.span, found.code, found.message.clone())));
    // Stable, so that findings at one place stay in the order of the targets.
    diagnostics.sort_by_key(|found| found.span);
    diagnostics
}

/// The source laid out anew, or why the formatter left it alone.
pub fn format(source: &Source) -> Result<String, String> {
    Err(format!("no formatter is linked into this build for {:?}", source.kind))
}

/// The canonical PTX of a source, or the errors for which it has none.
pub fn canonical(source: &Source) -> Result<String, Vec<Diagnostic>> {
    let mut errors = verify(source, &Options::default(), 1);
    errors.retain(|found| found.severity == Severity::Error && found.class == ptx_syntax::Class::Invalid);
    if !errors.is_empty() {
        return Err(errors);
    }
    let parse = ptx_syntax::parse(&source.text);
    Ok(print(&ptx_ir::lower::lower(&parse.tree, &source.text).module))
}
