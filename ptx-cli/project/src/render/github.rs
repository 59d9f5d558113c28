//! `github`: workflow commands, which GitHub Actions shows as annotations of a pull request.
//!
//! The runner reads one command a line; `%`, line breaks, and in properties `:` and `,` are escaped.

use std::io::Write;

use ptx_syntax::{Diagnostic, Severity};

use super::position::Positions;

/// Renders `::error file=…,line=…::message`.
pub fn render(out: &mut Vec<u8>, positions: &Positions<'_>, diagnostics: &[Diagnostic]) {
    let file = property(&positions.source.name.to_string());
    for diagnostic in diagnostics {
        let place = positions.place(diagnostic.span);
        let command = match diagnostic.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        // GitHub refuses columns on annotations of several lines.
        let columns = if place.line == place.end_line && place.end_column > place.column {
            format!(",col={},endColumn={}", place.column, place.end_column)
        } else {
            String::new()
        };
        let (code, rule) = (diagnostic.code, diagnostic.rule);
        let title = if code == rule { property(rule) } else { property(&format!("{code} {rule}")) };
        let (line, end_line) = (place.line, place.end_line);
        let text = data(&message(diagnostic));
        // Writing to a vector cannot fail.
        let _ = writeln!(
            out,
            "::{command} file={file},line={line},endLine={end_line}{columns},title={title}::{text}"
        );
    }
}

/// The message with its notes and help, one a line: an annotation shows no source.
fn message(diagnostic: &Diagnostic) -> String {
    let mut text = diagnostic.message.clone();
    for note in &diagnostic.notes {
        text.push_str("\nnote: ");
        text.push_str(note);
    }
    if let Some(help) = &diagnostic.help {
        text.push_str("\nhelp: ");
        text.push_str(help);
    }
    text
}

fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
