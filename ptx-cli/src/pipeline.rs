//! The way of a source through the library crates, for the commands that verify.

use ptx_syntax::Diagnostic;

use crate::levels::Levels;
use crate::source::{Kind, Source};

/// What to verify against.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Targets asked for; empty for the file's own.
    pub targets: Vec<String>,
    /// PTX version asked for.
    pub ptx_version: Option<String>,
    /// Levels asked for.
    pub levels: Levels,
}

/// All findings of a source, in the order of their places.
pub fn verify(source: &Source, options: &Options) -> Vec<Diagnostic> {
    let mut diagnostics = match (source.not_text(), source.kind) {
        (Some(found), _) => vec![found],
        (None, Kind::Ptx) => ptx_syntax::parse(&source.text).diagnostics,
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
