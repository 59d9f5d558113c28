use ptx_syntax::lexer::Lexer;
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::rule::declare_rule;
use crate::subject::fragment::expand::{Problem, ProblemKind};
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports `%` that the compiler does not treat as the writer thought: `%%` in a template without operands, which
    /// nvcc passes on as it is; a single `%` before a name, and `%` before a character that is no name and no digit, which
    /// only nvcc takes.
    ///
    /// ## Why is this bad
    /// The assembler refuses `%%`. With operands, `%%laneid` is the form that every compiler takes; without, nvcc
    /// wants `%laneid`.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void f() { asm volatile("{ .reg .u32 t; mov.u32 t, %%laneid; }"); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void f() { asm volatile("{ .reg .u32 t; mov.u32 t, %laneid; }"); }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "asm-percent-escape",
    code: "P1013",
    former: ["E0614"],
    class: Invalid,
    level: Error,
    summary: "a `%` that is doubled, or not, where the compiler wants the other",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if unit.expanded.problems.is_empty() {
        return;
    }
    let comments = comments(unit);
    for problem in &unit.expanded.problems {
        // `%%` in a comment harms nobody.
        let harmless = problem.kind == ProblemKind::DoubledWithoutOperands && is_inside(&comments, problem);
        if !harmless {
            out.extend(finding(unit, problem));
        }
    }
}

/// The comments of the decoded template, in order.
pub(crate) fn comments(unit: &Unit<'_>) -> Vec<Span> {
    let tokens = Lexer::new(&unit.statement.template.text);
    tokens.filter(|token| token.kind.is_comment()).map(|token| token.span).collect()
}

/// Whether a problem lies in one of the comments.
pub(crate) fn is_inside(comments: &[Span], problem: &Problem) -> bool {
    let before = comments.partition_point(|comment| comment.start <= problem.decoded.start);
    before.checked_sub(1).is_some_and(|last| problem.decoded.end <= comments[last].end)
}

fn finding(unit: &Unit<'_>, problem: &Problem) -> Option<Diagnostic> {
    let map = &unit.statement.template.map;
    let span = map.span(problem.decoded);
    let (message, help, replacement) = match problem.kind {
        ProblemKind::DoubledWithoutOperands if unit.compiler.is_nvcc() || unit.statement.colons == 0 => (
            "`%%` in a template without operands reaches the assembler as it is".to_owned(),
            "write a single `%`, or give the statement an operand",
            "%",
        ),
        ProblemKind::NotDoubled if unit.compiler.is_clang() => {
            ("clang takes a single `%` before a name for an operand modifier".to_owned(), "write `%%`", "%%")
        }
        // clang knows `%{` and `%}`, which are braces.
        ProblemKind::Vanishes(character) if unit.compiler.is_clang() && !matches!(character, '{' | '}') => {
            let message = format!("clang has no escape `%{}`", character.escape_debug());
            return Some(RULE.at(span, message).with_help("write `%%` for a `%`"));
        }
        _ => return None,
    };
    let found = RULE.at(span, message).with_help(help);
    let percent = Span::new(problem.decoded.start, problem.decoded.start + replacement_source(problem));
    let editable = map.is_verbatim(percent) && !unit.statement.is_of_macro() && unit.statement.variant == 0;
    if !editable {
        return Some(found);
    }
    let edit = Edit { span: map.span(percent), replacement: replacement.into() };
    Some(found.with_fix(format!("write `{replacement}`"), Applicability::Certain, vec![edit]))
}

/// How many of the problem's characters are `%`.
fn replacement_source(problem: &Problem) -> u32 {
    if problem.kind == ProblemKind::DoubledWithoutOperands { 2 } else { 1 }
}
