//! Breaking statements that are too long for a line, after their commas.

use super::metrics::Metrics;
use super::plan::{Mark, Separator};
use ptx_syntax::lexer::{Token, TokenKind};

/// Breaks a statement: `tokens` are its tokens, comments included, `marks` those of the others.
///
/// An operand goes to the next line where it does not fit on this one and does fit there. One that fits
/// nowhere stays, and is broken within, after its own commas; a long name is not helped by a break.
pub(super) fn fill(tokens: &[Token], marks: &mut [Mark], metrics: Metrics) {
    let Metrics { tab, width: limit, .. } = metrics;
    let tokens: Vec<Token> = tokens.iter().copied().filter(|token| !token.kind.is_trivia()).collect();
    let Some(&first) = marks.first() else { return };
    let mut column = usize::from(first.depth) * tab + length(tokens[0]);
    let mut brackets = 0_u32;
    // Whether the operand at hand is broken within. A statement without a tab has all in one piece.
    let mut within =
        width(&tokens, marks, true, limit.saturating_sub(usize::from(first.depth) * tab), metrics).is_none();
    for index in 1..tokens.len().min(marks.len()) {
        let behind_comma = tokens[index - 1].kind == TokenKind::Comma;
        if behind_comma && (brackets == 0 || within) {
            let start = usize::from(marks[index].depth) * tab;
            let room = limit.saturating_sub(start);
            let piece = width(&tokens[index..], &marks[index..], brackets == 0, room, metrics);
            let fits_here = piece.is_some_and(|piece| column + 1 + piece <= limit);
            if brackets == 0 {
                within = piece.is_none();
            }
            if !fits_here && piece.is_some() {
                marks[index].separator = Separator::Tight;
            }
        } else if brackets == 0 && marks[index].separator == Separator::Tab {
            // The first operand stays after its opcode.
            within = width(&tokens[index..], &marks[index..], true, limit.saturating_sub(column), metrics)
                .is_none();
        }
        column = advance(column, marks[index], metrics) + length(tokens[index]);
        match tokens[index].kind {
            TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen => brackets += 1,
            TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen => {
                brackets = brackets.saturating_sub(1);
            }
            _ => {}
        }
    }
}

fn length(token: Token) -> usize {
    token.span.len() as usize
}

/// The column after the separator of `mark`, from `column`.
fn advance(column: usize, mark: Mark, metrics: Metrics) -> usize {
    match mark.separator {
        Separator::Line
        | Separator::Beside
        | Separator::First
        | Separator::Last
        | Separator::Tight
        | Separator::Apart => usize::from(mark.depth) * metrics.tab,
        separator => metrics.after(column, separator),
    }
}

/// The width of the tokens up to the next comma, the comma included; up to one outside of all brackets
/// for a `whole` operand. None where that is more than `room`.
fn width(tokens: &[Token], marks: &[Mark], whole: bool, room: usize, metrics: Metrics) -> Option<usize> {
    let mut width = 0;
    let mut brackets = 0_i32;
    for (index, (token, mark)) in tokens.iter().zip(marks).enumerate() {
        if index > 0 {
            width = advance(width, *mark, metrics);
        }
        width += length(*token);
        if width > room {
            return None;
        }
        match token.kind {
            TokenKind::OpenBrace | TokenKind::OpenBracket | TokenKind::OpenParen => brackets += 1,
            TokenKind::CloseBrace | TokenKind::CloseBracket | TokenKind::CloseParen => brackets -= 1,
            TokenKind::Comma if !whole || brackets <= 0 => break,
            _ => {}
        }
    }
    Some(width)
}
