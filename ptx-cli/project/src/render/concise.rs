//! `concise`: one line a finding, as compilers print them for editors to parse.

use std::io::Write;

use ptx_syntax::Diagnostic;

use super::position::Positions;
use super::{Style, link, severity_color};
use crate::options::page_address;

/// Renders `file:line:column: severity[code] message`.
pub fn render(out: &mut Vec<u8>, positions: &Positions<'_>, diagnostics: &[Diagnostic], style: Style) {
    let file = &positions.source.name;
    for diagnostic in diagnostics {
        let place = positions.place(diagnostic.span);
        let (on, off) = if style.color { (severity_color(diagnostic.severity), "\x1b[0m") } else { ("", "") };
        let severity = diagnostic.severity.as_str();
        let address = page_address(diagnostic.rule).filter(|_| style.links);
        let code = address.map_or_else(|| diagnostic.code.to_owned(), |to| link(diagnostic.code, &to));
        let message = &diagnostic.message;
        // Writing to a vector cannot fail.
        let _ =
            writeln!(out, "{file}:{}:{}: {on}{severity}[{code}]{off} {message}", place.line, place.column);
    }
}
