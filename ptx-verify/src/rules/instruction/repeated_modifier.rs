use ptx_ir::isa::LeniencyReason;
use ptx_syntax::{Applicability, Diagnostic};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports a modifier that is given twice in one spelling, where NVIDIA's assembler takes that.
    ///
    /// ## Why is this bad
    /// The second one says nothing. Often another modifier was meant.
    ///
    /// ## Example
    /// ```ptx
    /// add.cc.cc.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.cc.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "repeated-modifier",
    code: "P0225",
    former: ["S0202"],
    class: Style,
    level: Warn,
    summary: "a modifier that is given twice",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Lenient(leniency) = occurrence.problem else { return None };
    if leniency.reason != LeniencyReason::Repeated {
        return None;
    }
    let modifier = occurrence.part(&leniency.range);
    let finding = RULE
        .at(occurrence.place(&leniency.range), format!("`{modifier}` is repeated"))
        .with_note("the assembler takes it though the manual has no such form");
    Some(occurrence.with_spelling(finding, &leniency.canonical, Applicability::Certain))
}
