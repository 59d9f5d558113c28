//! What the editor shows where the mouse rests on an instruction or a name.

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind, Range};
use ptx_syntax::lexer::{Token, TokenKind};

use super::document::Document;
use crate::manual;
use crate::source::Kind;

/// The text for the word at a byte.
pub fn hover(document: &Document, offset: u32) -> Option<Hover> {
    if document.source.kind != Kind::Ptx {
        return None;
    }
    let token = token_at(document, offset)?;
    let text = manual::markdown(document.text(token.span))?;
    let range = Range::new(document.position(token.span.start), document.position(token.span.end));
    Some(Hover {
        contents: HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text }),
        range: Some(range),
    })
}

/// The word that holds or ends at a byte.
fn token_at(document: &Document, offset: u32) -> Option<Token> {
    let word = |token: &Token| matches!(token.kind, TokenKind::Name | TokenKind::Dotted);
    document.tokens_near(offset).filter(|token| word(token) && token.span.end >= offset).last()
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use lsp_types::Uri;

    use super::super::lines::Encoding;
    use super::*;

    #[test]
    fn a_word_is_found_wherever_it_is_in_a_large_text() {
        let piece = "/* a comment\n of two lines */ add.u32 %r1, %r1, 1; // mul\n";
        let text = piece.repeat(1000);
        let uri = Uri::from_str("file:///a.ptx").unwrap();
        let document = Document::new(&uri, "ptx", 1, text.clone(), Encoding::Utf8);
        let word_at = |offset: usize| {
            token_at(&document, offset as u32).map(|token| token.span.text(&text)).unwrap_or_default()
        };
        for at in (0..1000).map(|index| index * piece.len()) {
            let add = at + piece.find("add").unwrap();
            assert_eq!([add, add + 3, add + 7].map(word_at), ["add.u32"; 3]);
            assert_eq!(word_at(at + piece.find("comment").unwrap()), "");
            assert_eq!(word_at(at + piece.find("lines").unwrap()), "");
            assert_eq!(word_at(at + piece.find("mul").unwrap()), "");
        }
        assert_eq!(word_at(text.len() + 9), "");
    }
}
