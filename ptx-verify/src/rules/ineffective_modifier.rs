use ptx_ir::isa::LeniencyReason;
use ptx_syntax::{Applicability, Diagnostic};

use crate::instruction::{Occurrence, Problem};
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a modifier that NVIDIA's assembler reads and then ignores: the manual has no such form of the
    /// instruction.
    ///
    /// ## Why is this bad
    /// Whoever wrote it expects an effect that it does not have.
    ///
    /// ## Example
    /// ```ptx
    /// mov.ftz.f32 %f1, %f2;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.f32 %f1, %f2;
    /// ```
    ///
    /// ## What it may miss
    /// Modifiers that the manual allows and that change nothing on a particular target.
    name: "ineffective-modifier",
    code: "H0201",
    class: Hazard,
    level: Warn,
    summary: "a modifier that has no effect",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Lenient(leniency) = occurrence.problem else { return None };
    if leniency.reason != LeniencyReason::Ineffective {
        return None;
    }
    let modifier = occurrence.part(&leniency.range);
    let message = format!("`{modifier}` has no effect on `{}`", occurrence.opcode());
    let finding = RULE
        .at(occurrence.place(&leniency.range), message)
        .with_note("the assembler reads it and ignores it; the manual has no such form")
        .with_help(format!("what the assembler does is `{}`", leniency.canonical));
    Some(occurrence.with_spelling(finding, &leniency.canonical, Applicability::Likely))
}
