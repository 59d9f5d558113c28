//! From diagnostics to text, in the format that was asked for. One small file a format.
//!
//! ```
//! use ptx_project::render::{Format, Output, Style, file};
//! use ptx_project::{Kind, Options, Source, verify};
//!
//! let style = Style::plain(Format::Sarif);
//! let mut output = Output::begin(Vec::new(), style.format)?;
//! for name in ["a.ptx", "b.ptx"] {
//!     let source = Source::new(name.into(), Kind::Ptx, b".version 8.6\n.target sm_1\n".to_vec());
//!     output.file(&file(style, &source, &verify(&source, &Options::default(), 1)))?;
//! }
//! let log = String::from_utf8_lossy(&output.end()?).into_owned();
//! assert!(log.contains("\"a.ptx\"") && log.contains("\"b.ptx\""), "{log}");
//! # Ok::<(), std::io::Error>(())
//! ```

mod concise;
mod full;
mod github;
pub mod json;
pub mod position;
mod sarif;
mod selection;
mod window;

use std::io;

use ptx_syntax::{Diagnostic, Severity};

use crate::foreign;
use crate::source::Source;
use position::Positions;
pub use selection::{Least, Selection};

/// How findings are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[non_exhaustive]
pub enum Format {
    /// Source lines with underlines, notes and fixes, for people
    Full,
    /// One line a finding
    Concise,
    /// JSON Lines, one object a finding
    Json,
    /// Workflow commands that annotate a pull request on GitHub
    Github,
    /// One SARIF 2.1.0 log for code scanning
    Sarif,
}

/// What a format needs to know besides the findings.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    /// The format.
    pub format: Format,
    /// Whether to colour.
    pub color: bool,
    /// Whether rules lead to their pages.
    pub links: bool,
    /// Columns of the terminal.
    pub width: usize,
    /// Which findings are shown.
    pub selection: Selection,
}

impl Style {
    /// All findings in a format, without colours and links, in 140 columns.
    #[must_use]
    pub const fn plain(format: Format) -> Self {
        Self { format, color: false, links: false, width: WIDTH, selection: Selection::ALL }
    }
}

/// The columns of a terminal of which nothing is known.
pub const WIDTH: usize = 140;

/// A word that leads to an address, as terminals read it (OSC 8).
fn link(word: &str, address: &str) -> String {
    format!("\x1b]8;;{address}\x1b\\{word}\x1b]8;;\x1b\\")
}

/// Everything that a format makes of the findings of these sources.
#[must_use]
pub fn to_string(style: Style, found: &[(&Source, &[Diagnostic])]) -> String {
    // Writing to a vector cannot fail.
    let write = || {
        let mut output = Output::begin(Vec::new(), style.format)?;
        found.iter().try_for_each(|(source, found)| output.file(&file(style, source, found)))?;
        output.end()
    };
    let bytes = write().unwrap_or_default();
    String::from_utf8(bytes).unwrap_or_default()
}

/// The findings of one file as text, ready to be written by [`Output::file`].
#[must_use]
pub fn file(style: Style, source: &Source, diagnostics: &[Diagnostic]) -> Vec<u8> {
    let mut out = Vec::new();
    if diagnostics.is_empty() {
        return out;
    }
    let (diagnostics, rest) = style.selection.of(diagnostics);
    let diagnostics = diagnostics.as_slice();
    if diagnostics.is_empty() {
        return out;
    }
    // The line starts are looked for once a file, and only where there is something to show.
    let positions = Positions::new(source);
    let shown = || foreign::diagnostics(diagnostics);
    match style.format {
        Format::Full => full::render(&mut out, &positions, &shown(), style),
        Format::Concise => concise::render(&mut out, &positions, &shown(), style),
        Format::Github => github::render(&mut out, &positions, &shown()),
        // JSON holds the exact text, in which its own escapes hide what must not be shown.
        Format::Json => json::render(&mut out, &positions, diagnostics),
        Format::Sarif => sarif::render(&mut out, &positions, diagnostics),
    }
    rest.iter().for_each(|line| note(&mut out, style, &source.name, line));
    out
}

/// Writes a line about the findings of a file, after them.
fn note(out: &mut Vec<u8>, style: Style, name: &foreign::Name, line: &str) {
    let (on, off) = if style.color { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    let (name, end) = match style.format {
        Format::Full => (String::new(), "\n"),
        _ => (format!("{name}: "), ""),
    };
    out.extend_from_slice(format!("{name}{on}note{off}: {line}\n{end}").as_bytes());
}

/// The output as a whole: what stands before, between and after the files' findings.
#[derive(Debug)]
pub struct Output<W> {
    out: W,
    format: Format,
    empty: bool,
}

impl<W: io::Write> Output<W> {
    /// Begins the output.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn begin(mut out: W, format: Format) -> io::Result<Self> {
        if format == Format::Sarif {
            sarif::begin(&mut out)?;
        }
        Ok(Self { out, format, empty: true })
    }

    /// Writes what [`file()`] made of one file.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn file(&mut self, rendered: &[u8]) -> io::Result<()> {
        if rendered.is_empty() {
            return Ok(());
        }
        if self.format == Format::Sarif && !self.empty {
            self.out.write_all(b",\n")?;
        }
        self.empty = false;
        self.out.write_all(rendered)?;
        self.out.flush()
    }

    /// Ends the output, and gives back what it was written to.
    ///
    /// # Errors
    /// Those of what is written to.
    pub fn end(mut self) -> io::Result<W> {
        if self.format == Format::Sarif {
            sarif::end(&mut self.out)?;
        }
        self.out.flush()?;
        Ok(self.out)
    }
}

/// How many findings of each severity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Errors.
    pub errors: usize,
    /// Warnings.
    pub warnings: usize,
    /// Infos.
    pub infos: usize,
}

impl Counts {
    /// Counts the findings.
    #[must_use]
    pub fn of(diagnostics: &[Diagnostic]) -> Self {
        let mut counts = Self::default();
        for diagnostic in diagnostics {
            match diagnostic.severity {
                Severity::Error => counts.errors += 1,
                Severity::Warning => counts.warnings += 1,
                Severity::Info => counts.infos += 1,
            }
        }
        counts
    }

    /// Adds those of another file.
    pub fn add(&mut self, other: Self) {
        self.errors += other.errors;
        self.warnings += other.warnings;
        self.infos += other.infos;
    }

    /// The counts in words, as in "3 errors, 1 warning"; "no findings" where there are none.
    #[must_use]
    pub fn summary(&self) -> String {
        let counts = [(self.errors, "error"), (self.warnings, "warning"), (self.infos, "info")];
        let some = counts.iter().filter(|(count, _)| *count > 0);
        let words: Vec<String> = some.map(|(count, noun)| crate::counted(*count, noun)).collect();
        if words.is_empty() { "no findings".to_owned() } else { words.join(", ") }
    }
}

/// The ANSI colour of a severity.
fn severity_color(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "\x1b[1m\x1b[91m",
        Severity::Warning => "\x1b[1m\x1b[33m",
        Severity::Info => "\x1b[1m\x1b[94m",
    }
}

#[cfg(test)]
mod tests;
