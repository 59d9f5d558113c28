//! Where the parts of a spelling stand in the source.
//!
//! The IR keeps the place of an instruction, not that of its spelling. A finding looks for it: behind the guard,
//! and through the blanks and comments that PTX allows in front of a modifier (`ld.global .u32`).

use std::ops::Range;

use ptx_ir::ir::{Handle, Instruction};
use ptx_syntax::Span;
use ptx_syntax::lexer::{Lexer, Token, TokenKind};

use crate::subject::function::FunctionContext;

/// Where the spelling of an instruction stands.
pub(crate) fn of_opcode(context: &FunctionContext<'_>, handle: Handle<Instruction>) -> Span {
    let spelling = context.body.instructions[handle].spelling;
    let length = context.module.module.spellings[spelling].text.len();
    of_spelling(context.module.source, context.body.span(handle), &(0..length))
}

/// Where a modifier of an instruction stands, which is given with its dot; none where it has no such modifier.
pub(crate) fn of_modifier(source: &str, instruction: Span, modifier: &str) -> Option<Span> {
    pieces(source, instruction).into_iter().find_map(|piece| {
        let at = piece.text(source).match_indices(modifier).map(|(at, _)| at).find(|at| {
            let rest = piece.text(source).as_bytes().get(at + modifier.len());
            matches!(rest, None | Some(b'.'))
        })?;
        let start = piece.start + at as u32;
        Some(Span::new(start, start + modifier.len() as u32))
    })
}

/// The place of bytes `range` of the spelling of the instruction at `instruction`. The whole instruction where
/// the source has no such bytes.
pub(super) fn of_spelling(source: &str, instruction: Span, range: &Range<usize>) -> Span {
    let pieces = pieces(source, instruction);
    let start = offset(&pieces, range.start, false);
    let end = offset(&pieces, range.end, range.end > range.start);
    match (start, end) {
        (Some(start), Some(end)) if start <= end => Span::new(start, end),
        _ => instruction,
    }
}

/// The tokens that together are the spelling.
pub(super) fn pieces(source: &str, instruction: Span) -> Vec<Span> {
    let text = instruction.text(source);
    let mut tokens = Lexer::new(text).filter(|token| !token.kind.is_trivia()).peekable();
    if tokens.next_if(|token| token.kind == TokenKind::At).is_some() {
        let _not = tokens.next_if(|token| token.kind == TokenKind::Not);
        let _predicate = tokens.next();
    }
    let mut pieces: Vec<Span> = tokens.next().map(|token| token.span).into_iter().collect();
    let modifier = |token: &Token| token.text(text).starts_with('.') && token.kind != TokenKind::Float;
    while let Some(token) = tokens.next_if(modifier) {
        pieces.push(token.span);
    }
    for piece in &mut pieces {
        *piece = Span::new(piece.start + instruction.start, piece.end + instruction.start);
    }
    pieces
}

/// Where byte `at` of the joined pieces stands. At a seam, `behind` asks for the end of the piece before.
fn offset(pieces: &[Span], mut at: usize, behind: bool) -> Option<u32> {
    for (index, piece) in pieces.iter().enumerate() {
        let length = piece.len() as usize;
        if at < length || (at == length && (behind || index + 1 == pieces.len())) {
            return Some(piece.start + at as u32);
        }
        at -= length;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::of_spelling;
    use ptx_syntax::Span;

    fn place(source: &str, part: std::ops::Range<usize>) -> &str {
        of_spelling(source, Span::new(0, source.len() as u32), &part).text(source)
    }

    #[test]
    fn parts_are_found_behind_guards_and_through_blanks() {
        assert_eq!(place("add.u32 a, b, c;", 3..7), ".u32");
        assert_eq!(place("@!%p1 add.u32 a, b, c;", 0..7), "add.u32");
        assert_eq!(place("@ ! %p1 ld.global /* x */ .u32 a, [b];", 9..13), ".u32");
        assert_eq!(place("ld.global .u32 a, [b];", 0..13), "ld.global .u32");
        assert_eq!(place("ld .global.u32 a, [b];", 2..9), ".global");
        assert_eq!(place("ret;", 0..3), "ret");
        assert_eq!(place("ret;", 3..3), "");
    }

    #[test]
    fn a_source_without_the_spelling_gives_the_instruction() {
        assert_eq!(place("", 0..3), "");
        assert_eq!(of_spelling("ret;", Span::new(0, 4), &(1..9)), Span::new(0, 4));
    }
}
