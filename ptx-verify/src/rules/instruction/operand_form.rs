use ptx_ir::lower::Problem;
use ptx_syntax::{Diagnostic, Located};

use crate::rule::declare_rule;
use crate::rules::instruction::beyond_manual;

declare_rule! {
    /// ## What it does
    /// Reports text that follows the grammar of operands and that no instruction takes: `[%rd1-4]` with a minus, an offset
    /// that is no constant, a component that the vector does not have.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// ld.global.u32 %r1, [%rd1-4];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// ld.global.u32 %r1, [%rd1+-4];
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "operand-form",
    code: "P0202",
    former: ["E0105"],
    class: Invalid,
    level: Error,
    summary: "an operand that no instruction takes",
    check: Lowering(check),
    also: [beyond_manual::RULE],
}

fn check(problem: &Located<Problem>) -> Option<Diagnostic> {
    match &problem.what {
        Problem::BadOperand(explanation) => Some(RULE.explained(problem.span, explanation)),
        Problem::NoSecondResult { rest } => Some(beyond_manual::second_result(problem.span, *rest)),
        _ => None,
    }
}
