use ptx_ir::isa::{FormId, LeniencyReason, forms};
use ptx_syntax::{Applicability, Diagnostic};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports a modifier that the instruction does not have, where NVIDIA's assembler takes it and does nothing
    /// with it. There is a fix unless the modifier is a memory ordering or a scope: whoever wrote that may need another
    /// instruction, and not one modifier less.
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
    code: "P0226",
    former: ["S0203"],
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
    if orders_memory(modifier) {
        return Some(
            finding
                .with_help("where an ordering or a scope is needed, another instruction or a fence has it"),
        );
    }
    Some(occurrence.with_spelling(finding, &leniency.canonical, Applicability::Certain))
}

/// Whether a modifier is a memory ordering or a scope where the instruction table has it.
fn orders_memory(modifier: &str) -> bool {
    forms().flat_map(FormId::slots).any(|slot| {
        let orders = slot.name.split('_').any(|word| matches!(word, "sem" | "scope"));
        // One value may be an ordering and its scope.
        orders
            && slot
                .values
                .iter()
                .any(|value| value.split('.').any(|word| modifier.strip_prefix('.') == Some(word)))
    })
}
