use ptx_syntax::Diagnostic;

use super::asm_percent_escape::{comments, is_inside};
use crate::rule::declare_rule;
use crate::subject::fragment::expand::ProblemKind;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports `%` and a character that is no letter, digit or `%`, as in `%{`, in a template with operands.
    ///
    /// ## Why is this bad
    /// nvcc takes it and removes both characters: with `%{` and `%}`, which are braces for gcc and clang, the scope is
    /// gone, and a `%` for a remainder is gone with what follows.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int twice(int x) { int y; asm("%{ add.s32 %0, %1, %1; %}" : "=r"(y) : "r"(x)); return y; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int twice(int x) { int y; asm("{ add.s32 %0, %1, %1; }" : "=r"(y) : "r"(x)); return y; }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known. In a comment of the template it is not reported.
    name: "asm-vanishing-escape",
    code: "P1028",
    former: ["H0630"],
    class: Hazard,
    level: Warn,
    summary: "a `%` that vanishes with the character after it",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if !unit.compiler.is_nvcc() || unit.expanded.problems.is_empty() {
        return;
    }
    let comments = comments(unit);
    for problem in &unit.expanded.problems {
        let ProblemKind::Vanishes(character) = problem.kind else { continue };
        if is_inside(&comments, problem) {
            continue;
        }
        let character = character.escape_debug();
        let help = match problem.kind {
            ProblemKind::Vanishes(brace @ ('{' | '}')) => format!("write `{brace}`"),
            _ => "write `%%` for a `%`".into(),
        };
        let span = unit.statement.template.map.span(problem.decoded);
        out.push(
            RULE.at(span, format!("`%{character}` vanishes from a template with operands"))
                .with_label("nvcc removes both characters")
                .with_help(help),
        );
    }
}
