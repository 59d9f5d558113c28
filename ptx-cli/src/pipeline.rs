//! The way of a source through the library crates, for the commands that verify.

use ptx_syntax::Diagnostic;

use crate::options::Options;
use crate::source::{Kind, Source};

/// All findings of a source, in the order of their places.
pub fn verify(source: &Source, options: &Options) -> Vec<Diagnostic> {
    let mut diagnostics = match (source.not_text(), source.kind) {
        (Some(found), _) => vec![found],
        (None, Kind::Ptx) => ptx(&source.text),
        (None, Kind::Cuda) => Vec::new(),
    };
    options.levels.apply(&mut diagnostics);
    // Stable, so that findings at one place stay in the order in which the rules gave them.
    diagnostics.sort_by_key(|diagnostic| diagnostic.span);
    diagnostics
}

/// The source laid out anew, or why the formatter left it alone.
pub fn format(source: &Source) -> Result<String, String> {
    Err(format!("no formatter is linked into this build for {:?}", source.kind))
}

/// The canonical PTX of a source, or the findings for which it has none.
pub fn canonical(source: &Source) -> Result<String, Vec<Diagnostic>> {
    Err(verify(source, &Options::default()))
}

fn ptx(text: &str) -> Vec<Diagnostic> {
    let parse = ptx_syntax::parse(text);
    let lowered = ptx_ir::lower::lower(&parse.tree, text);
    parse.diagnostics.into_iter().chain(lowered.diagnostics).collect()
}
