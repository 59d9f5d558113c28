//! Between the toolkit's data and the protocol's.

use std::collections::HashMap;
use std::path::PathBuf;

use lsp_types::{
    CodeAction, CodeActionKind, DiagnosticRelatedInformation, DiagnosticSeverity, Location, NumberOrString,
    Position, Range, TextEdit, Uri, WorkspaceEdit,
};
use ptx_syntax::{Applicability, Diagnostic, Severity, Span};

use super::document::Document;

/// In which units the editor counts columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, the protocol's default.
    Utf16,
}

impl Encoding {
    fn len(self, text: &str) -> u32 {
        match self {
            Self::Utf8 => text.len() as u32,
            Self::Utf16 => text.encode_utf16().count() as u32,
        }
    }
}

/// The place of a byte; inside a character, the place of the character.
pub fn position(document: &Document, encoding: Encoding, offset: u32) -> Position {
    let at = document.index.position(offset);
    let line = document.line(at.line);
    let column = (0..=(at.column - 1) as usize).rev().find(|at| line.is_char_boundary(*at)).unwrap_or(0);
    Position::new(at.line - 1, encoding.len(&line[..column]))
}

/// The byte at a place; past the end of a line, the end of the line.
pub fn offset(document: &Document, encoding: Encoding, position: Position) -> u32 {
    let span = document.index.line_span(position.line.saturating_add(1));
    let line = document.text(span).trim_end_matches(['\n', '\r']);
    let reached = |(at, _): &(usize, char)| encoding.len(&line[..*at]) >= position.character;
    let inside = match encoding {
        Encoding::Utf8 => (position.character as usize).min(line.len()),
        Encoding::Utf16 => line.char_indices().find(reached).map_or(line.len(), |(at, _)| at),
    };
    span.start + inside as u32
}

fn range(document: &Document, encoding: Encoding, span: Span) -> Range {
    let start = position(document, encoding, span.start);
    Range::new(start, position(document, encoding, span.end.max(span.start)))
}

/// A finding as the editor shows it.
pub fn diagnostic(document: &Document, encoding: Encoding, found: &Diagnostic) -> lsp_types::Diagnostic {
    let related = found.labels.iter().map(|label| DiagnosticRelatedInformation {
        location: Location::new(document.uri.clone(), range(document, encoding, label.span)),
        message: label.message.clone(),
    });
    lsp_types::Diagnostic {
        range: range(document, encoding, found.span),
        severity: Some(match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Info => DiagnosticSeverity::INFORMATION,
        }),
        code: Some(NumberOrString::String(found.rule.to_owned())),
        source: Some("ptx-cli".to_owned()),
        message: message(found),
        related_information: Some(related.collect()),
        ..lsp_types::Diagnostic::default()
    }
}

fn message(found: &Diagnostic) -> String {
    let mut text = found.message.clone();
    if !found.label.is_empty() {
        text.push_str(&format!(" ({})", found.label));
    }
    for note in &found.notes {
        text.push_str(&format!("\nnote: {note}"));
    }
    if let Some(help) = &found.help {
        text.push_str(&format!("\nhelp: {help}"));
    }
    text
}

/// The fix of a finding as an action that the editor offers.
pub fn code_action(document: &Document, encoding: Encoding, found: &Diagnostic) -> Option<CodeAction> {
    let fix = found.fix.as_ref()?;
    let edits = fix.edits.iter().map(|edit| TextEdit {
        range: range(document, encoding, edit.span),
        new_text: edit.replacement.clone(),
    });
    #[expect(clippy::mutable_key_type, reason = "the protocol's type keys edits by address")]
    let changes = HashMap::from([(document.uri.clone(), edits.collect())]);
    Some(CodeAction {
        title: fix.message.clone(),
        kind: Some(CodeActionKind::QUICKFIX),
        diagnostics: Some(vec![diagnostic(document, encoding, found)]),
        edit: Some(WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }),
        is_preferred: Some(fix.applicability == Applicability::Certain),
        ..CodeAction::default()
    })
}

/// The path of a `file:` address.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let path = &rest[rest.find('/')?..];
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((byte, tail)) = rest.split_first() {
        let hex = tail.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        match hex.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            Some(decoded) if *byte == b'%' => {
                bytes.push(decoded);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*byte);
                rest = tail;
            }
        }
    }
    String::from_utf8(bytes).ok().map(PathBuf::from)
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use super::*;

    fn document(text: &str) -> Document {
        Document::new(Uri::from_str("file:///a%20b/k.ptx").unwrap(), "ptx", 1, text.to_owned())
    }

    #[test]
    fn places_are_counted_in_the_units_of_the_editor() {
        let document = document("ab\r\n// é𝄞x\n");
        let x = document.source.text.find('x').unwrap() as u32;
        assert_eq!(position(&document, Encoding::Utf8, x), Position::new(1, 9));
        assert_eq!(position(&document, Encoding::Utf16, x), Position::new(1, 6));
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (at, _) in document.source.text.char_indices().filter(|(_, each)| !"\r\n".contains(*each)) {
                let place = position(&document, encoding, at as u32);
                assert_eq!(offset(&document, encoding, place), at as u32);
            }
            assert_eq!(offset(&document, encoding, Position::new(0, 99)), 2);
            assert_eq!(
                offset(&document, encoding, Position::new(99, 0)) as usize,
                document.source.text.len()
            );
        }
    }

    #[test]
    fn addresses_become_paths() {
        assert_eq!(document("").path, Some(PathBuf::from("/a b/k.ptx")));
        assert_eq!(path(&Uri::from_str("untitled:Untitled-1").unwrap()), None);
    }
}
