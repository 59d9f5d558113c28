use ptx_syntax::Diagnostic;
use ptx_syntax::cuda::PieceKind;
use ptx_syntax::lexer::{Lexer, TokenKind};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports a comment `//` in a template that goes on over the end of its string, with an instruction in the next.
    ///
    /// ## Why is this bad
    /// The strings of a template are joined without line ends: everything after the `//` is a comment up to the next
    /// `\n`, so instructions that are on lines of their own in the source are never executed.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int next(int x) {
    ///   asm("add.s32 %0, %0, 1; // one"
    ///       "add.s32 %0, %0, 2;" : "+r"(x));
    ///   return x;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int next(int x) {
    ///   asm("add.s32 %0, %0, 1; // one\n"
    ///       "add.s32 %0, %0, 2;" : "+r"(x));
    ///   return x;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Instructions in the string where the comment begins, which may have been put out of use on purpose.
    name: "asm-code-in-comment",
    code: "P1027",
    former: ["H0628"],
    class: Hazard,
    level: Warn,
    summary: "an instruction after a `//` of the string before it",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let template = &unit.statement.template;
    if !template.text.contains("//") {
        return;
    }
    let comments = Lexer::new(&template.text).filter(|token| token.kind == TokenKind::LineComment);
    for comment in comments.map(|token| token.span) {
        let first = template.pieces.partition_point(|piece| piece.decoded.start <= comment.start);
        let begun = template.pieces[first..].iter().take_while(|piece| piece.decoded.start < comment.end);
        let swallowed = begun.into_iter().find(|piece| {
            piece.kind == PieceKind::Literal && {
                let end = comment.end.min(piece.decoded.end);
                template.text[piece.decoded.start as usize..end as usize].contains(';')
            }
        });
        if let Some(piece) = swallowed {
            let start = ptx_syntax::Span::new(comment.start, comment.start + 2);
            out.push(
                RULE.at(piece.source, "this string is part of the comment in the string before it")
                    .with_label("never executed")
                    .with_secondary(template.map.span(start), "the comment begins here")
                    .with_help("end the line of the comment: `\\n` before the closing quote"),
            );
        }
    }
}
