//! An open document.

use std::path::{Path, PathBuf};

use lsp_types::{Position, Range, TextEdit, Uri};
use ptx_syntax::{Diagnostic, LineIndex, Span};

use super::convert::{self, Encoding};
use crate::foreign::Name;
use crate::options::Options;
use crate::pipeline;
use crate::source::{Kind, Source};

/// A document as the editor has it.
pub struct Document {
    /// Its name to the editor.
    pub uri: Uri,
    /// The file, where it is one.
    pub path: Option<PathBuf>,
    /// The version that the editor gave its text.
    pub version: i32,
    /// Its text.
    pub source: Source,
    /// Where its lines begin.
    pub index: LineIndex,
    /// What was found in it.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether it has changed since it was verified.
    pub is_stale: bool,
}

impl Document {
    /// A document that was opened.
    pub fn new(uri: Uri, language: &str, version: i32, text: String) -> Self {
        let path = convert::path(&uri);
        let name = Name::from(path.as_deref().unwrap_or(Path::new(uri.as_str())));
        let kind = match (path.as_deref().and_then(Kind::by_extension), language) {
            (Some(kind), _) => kind,
            (None, "cuda-cpp" | "cuda" | "cpp" | "c") => Kind::Cuda,
            (None, _) => Kind::Ptx,
        };
        let index = LineIndex::new(&text);
        let source = Source::new(name, kind, text.into_bytes());
        Self { uri, path, version, source, index, diagnostics: Vec::new(), is_stale: true }
    }

    /// Takes a new text.
    pub fn change(&mut self, version: i32, text: String) {
        self.version = version;
        self.index = LineIndex::new(&text);
        self.source = Source::new(self.source.name.clone(), self.source.kind, text.into_bytes());
        self.is_stale = true;
    }

    /// What is found in it now.
    pub fn verify(&self, options: &Options) -> Vec<Diagnostic> {
        pipeline::verify(&self.source, options, 1)
    }

    /// The edits that lay it out anew: none where it is as it should be.
    pub fn format(&self, encoding: Encoding) -> Result<Vec<TextEdit>, String> {
        if self.source.kind != Kind::Ptx {
            return Err("only PTX is formatted".to_owned());
        }
        let text = pipeline::format(&self.source)?;
        if text == self.source.text {
            return Ok(Vec::new());
        }
        let end = convert::position(self, encoding, self.source.text.len() as u32);
        Ok(vec![TextEdit { range: Range::new(Position::new(0, 0), end), new_text: text }])
    }

    /// The text of a line, from 1, with its end.
    pub fn line(&self, line: u32) -> &str {
        self.index.line_span(line).text(&self.source.text)
    }

    /// The text of a span.
    pub fn text(&self, span: Span) -> &str {
        span.text(&self.source.text)
    }
}
