//! `concise`: one line a finding, as compilers print them for editors to parse.

use std::io::Write;

use ptx_syntax::Diagnostic;

use super::position::Positions;
use super::severity_color;

/// Renders `file:line:column: severity[code] message`.
pub fn render(out: &mut Vec<u8>, positions: &Positions<'_>, diagnostics: &[Diagnostic], color: bool) {
    let file = &positions.source.name;
    for diagnostic in diagnostics {
        let place = positions.place(diagnostic.span);
        let (on, off) = if color { (severity_color(diagnostic.severity), "\x1b[0m") } else { ("", "") };
        let (severity, code) = (diagnostic.severity.as_str(), diagnostic.code);
        let message = &diagnostic.message;
        // Writing to a vector cannot fail.
        let _ =
            writeln!(out, "{file}:{}:{}: {on}{severity}[{code}]{off} {message}", place.line, place.column);
    }
}
