use ptx_ir::isa::LeniencyReason;
use ptx_syntax::{Applicability, Diagnostic};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports modifiers that are in another order than the manual's, where NVIDIA's assembler takes both.
    ///
    /// ## Why is this bad
    /// No manual says that the other order is right: another assembler, or the next version of this one, may
    /// refuse it, and searching for an instruction finds only one of its spellings.
    ///
    /// ## Example
    /// ```ptx
    /// ld.u32.global %r1, [%rd1];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// ld.global.u32 %r1, [%rd1];
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "noncanonical-order",
    code: "P0224",
    former: ["S0201"],
    class: Style,
    level: Info,
    summary: "modifiers in another order than the manual's",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Lenient(leniency) = occurrence.problem else { return None };
    if leniency.reason != LeniencyReason::Order {
        return None;
    }
    let modifier = occurrence.part(&leniency.range);
    let message = format!("modifier `{modifier}` of `{}` is out of order", occurrence.opcode());
    let finding = RULE
        .at(occurrence.place(&leniency.range), message)
        .with_note("the assembler takes this order though the manual has another one")
        .with_help(format!("the order is `{}`", leniency.canonical));
    Some(occurrence.with_spelling(finding, &leniency.canonical, Applicability::Certain))
}
