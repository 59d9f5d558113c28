use ptx_ir::lower::Problem;
use ptx_syntax::{Diagnostic, Located};

use crate::rule::declare_rule;

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
}

fn check(problem: &Located<Problem>) -> Option<Diagnostic> {
    let Problem::BadOperand(explanation) = &problem.what else { return None };
    Some(RULE.explained(problem.span, explanation))
}
