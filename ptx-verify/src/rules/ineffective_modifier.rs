use ptx_ir::isa::LeniencyReason;
use ptx_syntax::{Applicability, Diagnostic};

use crate::instruction::{Occurrence, Problem};
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a modifier that the instruction does not have, where NVIDIA's assembler takes it and does nothing
    /// with it.
    ///
    /// ## Why is this bad
    /// Whoever wrote it expects something of it.
    ///
    /// ## Example
    /// ```ptx
    /// rcp.rn.ftz.f64 %fd1, %fd2;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// rcp.rn.f64 %fd1, %fd2;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "ineffective-modifier",
    code: "S0203",
    class: Style,
    level: Warn,
    summary: "a modifier that does nothing",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Lenient(leniency) = occurrence.problem else { return None };
    if leniency.reason != LeniencyReason::Ineffective {
        return None;
    }
    let modifier = occurrence.part(&leniency.range);
    let finding = RULE
        .at(occurrence.place(&leniency.range), format!("`{modifier}` does nothing here"))
        .with_note("the assembler takes it though the manual has no such form");
    Some(occurrence.with_spelling(finding, &leniency.canonical, Applicability::Certain))
}
