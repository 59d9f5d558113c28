use ptx_ir::isa::SpellingProblem;
use ptx_syntax::{Applicability, Diagnostic};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports modifiers whose order NVIDIA's assembler does not take. It takes many other orders than the
    /// manual's; those are `noncanonical-order`.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// mul24.u32.lo %r1, %r2, %r3;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mul24.lo.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "modifier-order",
    code: "P0208",
    former: ["E0207"],
    class: Invalid,
    level: Error,
    summary: "modifiers in an order that the assembler does not take",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Spelling(SpellingProblem::WrongOrder { range, canonical, exchanges }) = occurrence.problem
    else {
        return None;
    };
    let message =
        format!("modifier `{}` of `{}` is out of order", occurrence.part(range), occurrence.opcode());
    let finding = RULE.at(occurrence.place(range), message).with_help(format!("the order is `{canonical}`"));
    if !occurrence.has_modifiers_of(canonical) {
        return Some(finding);
    }
    // Whoever writes `.global.shared` may have meant a copy in the other direction.
    let applicability = if *exchanges { Applicability::Likely } else { Applicability::Certain };
    Some(occurrence.with_spelling(finding, canonical, applicability))
}
