//! The contract: same tokens, same comments, idempotent.

use super::plan::Plan;
use super::render;
use super::sink::Comparison;
use super::{Unformatted, comment};
use ptx_syntax::Span;
use ptx_syntax::lexer::{Token, TokenKind};

/// Checks that `text` is what the formatter may make of `source`.
pub(super) fn check(source: &str, tokens: &[Token], plan: &Plan, text: &str) -> Result<(), Unformatted> {
    let formatted = super::tokens(text);
    same_tokens(source, tokens, text, &formatted)?;
    // The tokens are the same, therefore so is the tree and, with it, the plan.
    if plan.metrics.aligned {
        let again = render::to_string(text, &formatted, plan);
        return if again == text { Ok(()) } else { Err(Unformatted::NotIdempotent) };
    }
    let mut comparison = Comparison::new(text);
    render::render(text, &formatted, plan, &mut comparison);
    if comparison.is_same() { Ok(()) } else { Err(Unformatted::NotIdempotent) }
}

/// Compares tokens and comments; no comment may have moved past a token either.
fn same_tokens(source: &str, tokens: &[Token], text: &str, formatted: &[Token]) -> Result<(), Unformatted> {
    let mut right = formatted.iter();
    for left in tokens {
        let same = right.next().is_some_and(|right| {
            let (left_text, right_text) = (left.text(source), right.text(text));
            left.kind == right.kind
                && (left_text == right_text || left.kind.is_comment() && comment::same(left_text, right_text))
        });
        if !same {
            return Err(changed(left.kind, left.span));
        }
    }
    let end = Span::at(source.len() as u32);
    right.next().map_or(Ok(()), |token| Err(changed(token.kind, end)))
}

fn changed(kind: TokenKind, at: Span) -> Unformatted {
    if kind.is_comment() { Unformatted::CommentChanged { at } } else { Unformatted::TokenChanged { at } }
}
