//! What the editor shows where the mouse rests on an instruction or a name.

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Range};
use ptx_syntax::lexer::{Lexer, Token, TokenKind};

use super::document::Document;
use crate::manual;
use crate::source::Kind;

/// The text for the word at a byte.
pub fn hover(document: &Document, offset: u32) -> Option<Hover> {
    if document.source.kind != Kind::Ptx {
        return None;
    }
    let token = token_at(&document.source.text, offset)?;
    let text = manual::markdown(document.text(token.span))?;
    let range = Range::new(document.position(token.span.start), document.position(token.span.end));
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text }),
        range: Some(range),
    })
}

/// The word that holds or ends at a byte.
fn token_at(text: &str, offset: u32) -> Option<Token> {
    let word = |token: &Token| matches!(token.kind, TokenKind::Name | TokenKind::Dotted);
    Lexer::new(text)
        .take_while(|token| token.span.start <= offset)
        .filter(|token| word(token) && token.span.end >= offset)
        .last()
}
