use ptx_syntax::cuda::{OddityKind, PieceKind};
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports asm statements whose parts the compiler refuses: a comma without an operand after it, a constraint
    /// without its expression, a fifth colon, no template, a wide string as template, an output that is a value such as
    /// `x + 1`.
    ///
    /// ## Why is this bad
    /// The source does not compile, at the latest where the branch or the template around it is used.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int copy(int a) { int r; asm("mov.s32 %0, %1;" : "=r"(r) : "r"(a), ); return r; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int copy(int a) { int r; asm("mov.s32 %0, %1;" : "=r"(r) : "r"(a)); return r; }
    /// ```
    ///
    /// ## What it may miss
    /// Statements in `#define` bodies, whose parts may come from arguments.
    name: "asm-statement",
    code: "P1015",
    former: ["E0616"],
    class: Invalid,
    level: Error,
    summary: "an asm statement whose parts the compiler refuses",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let statement = unit.statement;
    out.extend(open_brace(unit));
    if statement.is_of_macro() {
        return;
    }
    for output in statement.outputs.iter().filter(|output| output.is_no_output) {
        let expression = output.expression.text(unit.source);
        out.push(
            RULE.at(output.expression, format!("nothing can be stored to the output `{expression}`"))
                .with_help("an output is a variable, an element or a member"),
        );
    }
    for oddity in &statement.oddities {
        let message = match oddity.kind {
            OddityKind::TrailingComma => "an operand is missing after the comma",
            OddityKind::MissingExpression => "a constraint needs an expression in parentheses after it",
            OddityKind::MissingConstraint => "an operand needs a constraint string before its parentheses",
            OddityKind::EmptyExpression => "the parentheses of an operand hold no expression",
            OddityKind::Unterminated => "this asm statement has no closing parenthesis",
            OddityKind::ExtraColon => "an asm statement has at most four colons",
            OddityKind::MissingTemplate => "an asm statement needs a template",
            OddityKind::Unexpected => "this is no part of an asm statement",
            OddityKind::MissingComma | OddityKind::RepeatedQualifier => continue,
        };
        out.push(RULE.at(oddity.span, message));
    }
    if statement.colons == 4 && !statement.goto && unit.compiler.is_nvcc() {
        out.push(RULE.at(statement.keyword, "an asm statement without `goto` has at most three colons"));
    }
    // Other hosts have the text of a template at its place, which may begin with these letters.
    let wide = |piece: &&ptx_syntax::cuda::Piece| {
        statement.host.is_cuda()
            && piece.kind == PieceKind::Literal
            && piece.source.text(unit.source).starts_with(['L', 'U'])
    };
    for piece in statement.template.pieces.iter().filter(wide) {
        out.push(
            RULE.at(piece.source, "a wide string cannot be a template").with_help("leave the prefix out"),
        );
    }
}

/// A brace of the template without a partner, in the template or in any other of the file.
fn open_brace(unit: &Unit<'_>) -> Option<Diagnostic> {
    let open = unit.open_braces;
    if open == 0 || unit.broken || unit.expanded.has_wildcards || !unit.statement.complete {
        return None;
    }
    if unit.siblings.have_partner(unit.statement) {
        return None;
    }
    let (brace, action) = if open > 0 { ('{', "closes") } else { ('}', "opens") };
    let text = &unit.expanded.text;
    let at = if open > 0 { text.find(brace) } else { text.rfind(brace) }? as u32;
    let place = unit.expanded.source(&unit.statement.template.map, Span::new(at, at + 1))?;
    Some(RULE.at(place, format!("nothing {action} the scope of this `{brace}`")))
}
