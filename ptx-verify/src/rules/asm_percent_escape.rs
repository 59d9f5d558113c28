use ptx_syntax::lexer::Lexer;
use ptx_syntax::{Applicability, Diagnostic, Edit};

use crate::asm::expand::{Problem, ProblemKind};
use crate::asm::unit::Unit;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports `%` that the compiler does not treat as the writer thought: `%%` in a template without operands, which
    /// nvcc passes on as it is; a single `%` before a name, which only nvcc takes; and `%` before anything else, which
    /// vanishes together with it.
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
    code: "E0614",
    class: Invalid,
    level: Error,
    summary: "a `%` that is doubled, or not, where the compiler wants the other",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let said: Vec<&Problem> =
        unit.expanded.problems.iter().filter(|problem| !in_comment(unit, problem)).collect();
    for problem in said {
        out.extend(finding(unit, problem));
    }
}

/// Without operands a decoded place is a place of the PTX text, up to wildcards.
fn in_comment(unit: &Unit<'_>, problem: &Problem) -> bool {
    if problem.kind != ProblemKind::DoubledWithoutOperands || unit.expanded.has_wildcards {
        return false;
    }
    let covers = |token: ptx_syntax::lexer::Token| {
        token.kind.is_comment()
            && token.span.start <= problem.decoded.start
            && problem.decoded.end <= token.span.end
    };
    Lexer::new(&unit.expanded.text).any(covers)
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
        ProblemKind::Vanishes(character) => {
            let message = format!("`%{}` vanishes from a template with operands", character.escape_debug());
            return Some(RULE.at(span, message).with_help("write `%%` for a `%`"));
        }
        _ => return None,
    };
    let found = RULE.at(span, message).with_help(help);
    let percent =
        ptx_syntax::Span::new(problem.decoded.start, problem.decoded.start + replacement_source(problem));
    let editable =
        map.is_verbatim(percent) && unit.statement.macro_definition.is_none() && unit.statement.variant == 0;
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
