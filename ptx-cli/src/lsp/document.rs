//! An open document. Nothing in it changes: a change of the text makes another document, so that one version can be
//! verified while the next is written.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::OnceLock;

use lsp_types::{Position, TextDocumentContentChangeEvent, Uri};
use ptx_syntax::Span;
use ptx_syntax::lexer::{Lexer, Token};
use ptx_syntax::names::Names;

use super::convert;
use super::lines::{Encoding, Lines};
use super::part::Cuda;
use crate::foreign::Name;
use crate::source::{Kind, Source};

/// Documents of more bytes are not worked on.
pub const MAX_BYTES: usize = 64 << 20;

/// The start of a token is known at least this often, in bytes.
const BYTES_BETWEEN_KNOWN: u32 = 4 << 10;

/// One version of a document as the editor has it.
pub struct Document {
    /// Its name to the editor: an address.
    pub uri: String,
    /// The file, where it is one.
    pub path: Option<PathBuf>,
    /// The version that the editor gave its text.
    pub version: i32,
    /// Its text; empty where it is too large.
    pub source: Source,
    /// Where its lines begin.
    pub lines: Lines,
    /// How its columns are counted.
    pub encoding: Encoding,
    /// Where some of its tokens begin: the first, and later ones that are not near each other.
    known_tokens: OnceLock<Vec<u32>>,
    /// Its names, where it is PTX.
    names: OnceLock<Names>,
    /// Its asm statements, where it is CUDA C++.
    cuda: OnceLock<Cuda>,
    /// Whether it is a configuration file.
    pub is_configuration: bool,
    /// How many bytes it has, where these are more than [`MAX_BYTES`].
    pub too_large: Option<usize>,
}

impl Document {
    /// A document that was opened.
    pub fn new(uri: &Uri, language: &str, version: i32, text: String, encoding: Encoding) -> Self {
        let path = convert::path(uri);
        let name = Name::from(path.as_deref().unwrap_or(Path::new(uri.as_str())));
        let kind = match (path.as_deref().and_then(Kind::by_extension), language) {
            (Some(kind), _) => kind,
            (None, "cuda-cpp" | "cuda" | "cpp" | "c") => Kind::Cuda,
            (None, _) => Kind::Ptx,
        };
        let lines = Lines::new(&text);
        Self::of(uri.as_str().to_owned(), path, name, kind, version, text, lines, encoding)
    }

    #[expect(clippy::too_many_arguments, reason = "the parts of a document, put together at one place")]
    fn of(
        uri: String,
        path: Option<PathBuf>,
        name: Name,
        kind: Kind,
        version: i32,
        text: String,
        lines: Lines,
        encoding: Encoding,
    ) -> Self {
        let too_large = Some(text.len()).filter(|length| *length > MAX_BYTES);
        let (text, lines) = if too_large.is_some() { (String::new(), Lines::new("")) } else { (text, lines) };
        let source = Source::new(name, kind, text.into_bytes());
        let (known_tokens, names, cuda) = (OnceLock::new(), OnceLock::new(), OnceLock::new());
        let file = uri.rsplit('/').next();
        let is_configuration = file == Some(ptx_project::config::FILE);
        Self {
            uri,
            path,
            version,
            source,
            lines,
            encoding,
            known_tokens,
            names,
            cuda,
            is_configuration,
            too_large,
        }
    }

    /// The document after the changes of an editor: parts of the text, each as the ones before have left it, or all of
    /// it.
    pub fn changed(&self, version: i32, changes: Vec<TextDocumentContentChangeEvent>) -> Self {
        let mut text = self.source.text.clone();
        let mut lines = self.lines.clone();
        for change in changes {
            match change.range {
                None => {
                    text = change.text;
                    lines = Lines::new(&text);
                }
                Some(range) => {
                    let start = lines.offset(&text, self.encoding, range.start);
                    let end = lines.offset(&text, self.encoding, range.end).max(start);
                    text.replace_range(start as usize..end as usize, &change.text);
                    lines.replace(&text, start..end, change.text.len() as u32);
                }
            }
        }
        let (name, kind) = (self.source.name.clone(), self.source.kind);
        Self::of(self.uri.clone(), self.path.clone(), name, kind, version, text, lines, self.encoding)
    }

    /// The names of a PTX text; found for the first question.
    pub fn names(&self) -> &Names {
        self.names.get_or_init(|| Names::new(&self.source.text))
    }

    /// The asm statements of a CUDA source; found for the first question.
    pub fn cuda(&self) -> &Cuda {
        self.cuda.get_or_init(|| Cuda::new(&self.source.text))
    }

    /// The tokens around a byte of a PTX text, in order: at least those that hold it or touch it.
    pub fn tokens_near(&self, offset: u32) -> impl Iterator<Item = Token> {
        self.tokens_from(offset).take_while(move |token| token.span.start <= offset)
    }

    /// The tokens of a PTX text from a bit before a byte on. All of the text is read for the first question only, so that
    /// hovering costs little in a large document.
    pub fn tokens_from(&self, offset: u32) -> impl Iterator<Item = Token> {
        let text = &self.source.text;
        let known = self.known_tokens.get_or_init(|| {
            let mut known = vec![0];
            for start in Lexer::new(text).map(|token| token.span.start) {
                if known.last().is_none_or(|last| last + BYTES_BETWEEN_KNOWN <= start) {
                    known.push(start);
                }
            }
            known
        });
        let before = known.partition_point(|start| *start < offset);
        let first = before.checked_sub(1).map_or(0, |index| known[index]);
        let tokens = Lexer::new(text.get(first as usize..).unwrap_or_default());
        tokens.map(move |token: Token| {
            let span = Span::new(first + token.span.start, first + token.span.end);
            Token { span, ..token }
        })
    }

    /// The byte at a place.
    pub fn offset(&self, position: Position) -> u32 {
        self.lines.offset(&self.source.text, self.encoding, position)
    }

    /// The place of a byte.
    pub fn position(&self, offset: u32) -> Position {
        self.lines.position(&self.source.text, self.encoding, offset)
    }

    /// The address in the protocol's type.
    pub fn address(&self) -> Option<Uri> {
        Uri::from_str(&self.uri).ok()
    }
}
