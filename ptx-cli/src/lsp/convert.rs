//! Between the toolkit's data and the protocol's.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::{
    CodeDescription, DiagnosticRelatedInformation, DiagnosticSeverity, DiagnosticTag, DocumentChanges,
    Location, NumberOrString, OneOf, OptionalVersionedTextDocumentIdentifier, Position, Range,
    TextDocumentEdit, TextEdit, Uri, WorkspaceEdit,
};
use ptx_syntax::{Diagnostic, Severity, Span};

use super::document::Document;
use super::lines::Sweep;

/// The name of the server in what it finds.
pub const SOURCE: &str = "ptx-cli";

/// So many findings of a document are shown, the loudest.
pub const MAX_FINDINGS: usize = 1000;

/// So many further places of a finding are shown.
const MAX_LABELS: usize = 32;

/// Rules about what a program does not need: editors show it faded.
const UNNECESSARY: [&str; 11] = [
    "unused-variable",
    "unused-function",
    "unused-register",
    "unused-label",
    "unused-suppression",
    "unreachable-code",
    "dead-store",
    "carry-unused",
    "ineffective-modifier",
    "repeated-modifier",
    "asm-unused-operand",
];

/// A finding as the editor knows it.
pub struct Shown {
    /// The finding.
    pub found: Diagnostic,
    /// Its place in the editor.
    pub range: Range,
    /// Its text in the editor.
    pub message: String,
}

/// The places of spans of a document, in the order in which they are given. Each line is counted once.
pub fn ranges(document: &Document, spans: impl IntoIterator<Item = Span>) -> Vec<Range> {
    let offsets: Vec<u32> =
        spans.into_iter().flat_map(|span| [span.start, span.end.max(span.start)]).collect();
    let places = Sweep::new(&document.lines, &document.source.text, document.encoding).positions(&offsets);
    places.chunks_exact(2).map(|pair| Range::new(pair[0], pair[1])).collect()
}

/// The findings of a document as the editor shows them, and as they are kept for it. Of more than [`MAX_FINDINGS`], the
/// loudest are shown, and one more says how many there are besides.
pub fn diagnostics(document: &Document, found: Vec<Diagnostic>) -> (Vec<lsp_types::Diagnostic>, Vec<Shown>) {
    let (kept, rest) = loudest(found);
    let spans = kept.iter().flat_map(|found| {
        let labels = found.labels.iter().take(MAX_LABELS).map(|label| label.span);
        std::iter::once(found.span).chain(labels)
    });
    let mut ranges = ranges(document, spans.chain(rest.as_ref().map(|rest| rest.first))).into_iter();
    let mut next = || ranges.next().unwrap_or_default();
    let mut published = Vec::with_capacity(kept.len() + 1);
    let mut shown = Vec::with_capacity(kept.len());
    let uri = document.address();
    let mut pages = HashMap::new();
    for found in kept {
        let range = next();
        let related = found.labels.iter().take(MAX_LABELS).filter_map(|label| {
            let range = next();
            let location = Location::new(uri.clone()?, range);
            Some(DiagnosticRelatedInformation { location, message: label.message.clone() })
        });
        let related = related.collect();
        let message = message(&found);
        let severity = match found.severity {
            Severity::Error => DiagnosticSeverity::ERROR,
            Severity::Warning => DiagnosticSeverity::WARNING,
            Severity::Info => DiagnosticSeverity::INFORMATION,
        };
        published.push(lsp_types::Diagnostic {
            code: Some(NumberOrString::String(found.rule.to_owned())),
            code_description: pages.entry(found.rule).or_insert_with(|| description(found.rule)).clone(),
            related_information: Some(related),
            tags: UNNECESSARY.contains(&found.rule).then(|| vec![DiagnosticTag::UNNECESSARY]),
            ..plain(range, severity, message.clone())
        });
        shown.push(Shown { found, range, message });
    }
    published.extend(rest.map(|rest| plain(next(), DiagnosticSeverity::INFORMATION, rest.message())));
    (published, shown)
}

/// Where an editor's reader learns more of a rule.
fn description(rule: &str) -> Option<CodeDescription> {
    let href = Uri::from_str(&ptx_project::page_address(rule)?).ok()?;
    Some(CodeDescription { href })
}

/// Findings that are not shown.
struct Rest {
    count: usize,
    loud: usize,
    first: Span,
}

impl Rest {
    fn message(&self) -> String {
        let Self { count, loud, .. } = self;
        let errors = match loud {
            0 => "none of them an error".to_owned(),
            1 => "1 of them an error".to_owned(),
            loud => format!("{loud} of them errors"),
        };
        format!("{count} more findings, {errors}; `{SOURCE} verify` shows them all")
    }
}

/// The loudest findings, in the order of their places.
fn loudest(mut found: Vec<Diagnostic>) -> (Vec<Diagnostic>, Option<Rest>) {
    if found.len() <= MAX_FINDINGS {
        return (found, None);
    }
    let mut order: Vec<usize> = (0..found.len()).collect();
    order.sort_by_key(|&index| std::cmp::Reverse(found[index].severity));
    let kept: HashSet<usize> = order[..MAX_FINDINGS].iter().copied().collect();
    let hidden = || (0..found.len()).filter(|index| !kept.contains(index)).map(|index| &found[index]);
    let rest = Rest {
        count: found.len() - MAX_FINDINGS,
        loud: hidden().filter(|found| found.severity == Severity::Error).count(),
        first: hidden().next().map_or(Span::at(0), |found| found.span),
    };
    let mut index = 0..;
    found.retain(|_| index.next().is_some_and(|index| kept.contains(&index)));
    (found, Some(rest))
}

/// A finding without a rule.
pub fn plain(range: Range, severity: DiagnosticSeverity, message: String) -> lsp_types::Diagnostic {
    lsp_types::Diagnostic {
        range,
        severity: Some(severity),
        source: Some(SOURCE.to_owned()),
        message,
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

/// The edits of a document. `versioned` editors refuse edits of a text that has changed since.
pub fn workspace_edit(document: &Document, uri: Uri, edits: Vec<TextEdit>, versioned: bool) -> WorkspaceEdit {
    if versioned {
        let version = Some(document.version);
        let edit = TextDocumentEdit {
            text_document: OptionalVersionedTextDocumentIdentifier { uri, version },
            edits: edits.into_iter().map(OneOf::Left).collect(),
        };
        let document_changes = Some(DocumentChanges::Edits(vec![edit]));
        return WorkspaceEdit { document_changes, ..WorkspaceEdit::default() };
    }
    #[expect(clippy::mutable_key_type, reason = "the protocol's type keys edits by address")]
    let changes = HashMap::from([(uri, edits)]);
    WorkspaceEdit { changes: Some(changes), ..WorkspaceEdit::default() }
}

/// The path of a `file:` address.
pub fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
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
    let path = String::from_utf8(bytes).ok()?;
    Some(PathBuf::from(if cfg!(windows) { windows_path(host, &path) } else { path }))
}

/// What Windows calls the path of an address: `/c:/a` is on a drive, and where there is a host, on the network.
fn windows_path(host: &str, path: &str) -> String {
    let path = match path.as_bytes() {
        [b'/', letter, b':', ..] if letter.is_ascii_alphabetic() => &path[1..],
        _ => path,
    };
    let path = path.replace('/', "\\");
    if host.is_empty() || host == "localhost" { path } else { format!("\\\\{host}{path}") }
}

/// The host and path of an address for an absolute path of Windows, which may have the prefix that canonical ones have.
fn windows_address(path: &str) -> String {
    let path = match path.strip_prefix(r"\\?\") {
        Some(rest) => rest.strip_prefix(r"UNC\").map_or_else(|| rest.to_owned(), |rest| format!(r"\\{rest}")),
        None => path.to_owned(),
    };
    let path = path.replace('\\', "/");
    path.strip_prefix("//").map_or_else(|| format!("/{path}"), str::to_owned)
}

/// The `file:` address of an absolute path.
pub fn address(path: &Path) -> String {
    let mut text = String::from("file://");
    let windows = cfg!(windows).then(|| windows_address(&path.to_string_lossy()));
    let path = windows.as_ref().map_or(path.as_os_str().as_encoded_bytes(), |path| path.as_bytes());
    for byte in path {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(byte) {
            text.push(char::from(*byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

/// The place of a range of bytes in a text that is no document.
pub fn place(text: &str, bytes: std::ops::Range<usize>, encoding: super::lines::Encoding) -> Range {
    let lines = super::lines::Lines::new(text);
    let at = |offset: usize| -> Position { lines.position(text, encoding, offset as u32) };
    Range::new(at(bytes.start), at(bytes.end))
}

#[cfg(test)]
mod tests {
    use ptx_syntax::Class;

    use super::super::lines::Encoding;
    use super::*;

    fn document(text: &str) -> Document {
        let uri = Uri::from_str("file:///a%20b/k.ptx").unwrap();
        Document::new(&uri, "ptx", 1, text.to_owned(), Encoding::Utf16)
    }

    #[test]
    fn addresses_become_paths_and_paths_addresses() {
        let names = if cfg!(windows) {
            [r"C:\a b\k.ptx", r"\\server\é\%41#.toml"]
        } else {
            ["/a b/k.ptx", "/é/%41?#.toml"]
        };
        assert_eq!(path(&Uri::from_str("untitled:Untitled-1").unwrap()), None);
        for name in names {
            assert_eq!(path(&Uri::from_str(&address(Path::new(name))).unwrap()), Some(PathBuf::from(name)));
        }
    }

    #[test]
    fn addresses_are_those_of_windows_there() {
        for (host, address, path) in [
            ("", "/c:/a b/k.ptx", r"c:\a b\k.ptx"),
            ("", "/C:/", r"C:\"),
            ("server", "/share/k.ptx", r"\\server\share\k.ptx"),
        ] {
            assert_eq!(windows_path(host, address), path);
            assert_eq!(windows_address(path), format!("{host}{address}"));
        }
        assert_eq!(windows_address(r"\\?\C:\k.ptx"), "/C:/k.ptx");
        assert_eq!(windows_address(r"\\?\UNC\server\share\k.ptx"), "server/share/k.ptx");
    }

    #[test]
    fn what_is_faded_are_rules() {
        for rule in UNNECESSARY {
            assert_eq!(ptx_verify::find_rule(rule).map(|found| found.name), Some(rule));
        }
    }

    #[test]
    fn of_many_findings_the_loudest_are_shown_and_the_others_counted() {
        let text = "x".repeat(5000);
        let found = |at: u32| {
            let severity = if at % 2 == 1 { Severity::Error } else { Severity::Info };
            Diagnostic::new(Class::Style, severity, "S1", "r", Span::new(at, at + 1), "m")
        };
        let (published, shown) = diagnostics(&document(&text), (0..1200).map(found).collect());
        assert_eq!((published.len(), shown.len()), (MAX_FINDINGS + 1, MAX_FINDINGS));
        assert_eq!(shown.iter().filter(|shown| shown.found.severity == Severity::Error).count(), 600);
        assert!(shown.is_sorted_by_key(|shown| shown.range.start));
        let last = published.last().unwrap();
        assert_eq!(last.message, "200 more findings, none of them an error; `ptx-cli verify` shows them all");
        let (published, _) = diagnostics(&document(&text), (0..1000).map(found).collect());
        assert_eq!(published.len(), 1000);
    }
}
