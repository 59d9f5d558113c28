use ptx_facts::values::number::mask;
use ptx_facts::values::pointer::{Object, Pointer};
use ptx_ir::isa::{AsyncAction, AsyncGroup};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;

declare_rule! {
    /// ## What it does
    /// Reports an operation on an `mbarrier` object at an address that is known not to be a multiple of 8, or
    /// in a variable that is declared with less alignment.
    ///
    /// ## Why is this bad
    /// An `mbarrier` object is 64 bits wide and needs an address that is a multiple of 8. PTX ISA manual,
    /// section "Size and alignment of mbarrier object".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 4 .b8 bar[8];
    /// mbarrier.init.shared.b64 [bar], 32;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 8 .b8 bar[8];
    /// mbarrier.init.shared.b64 [bar], 32;
    /// ```
    ///
    /// ## What it may miss
    /// Addresses that come from memory or from other functions.
    name: "mbarrier-misaligned",
    code: "P0906",
    former: ["H0364"],
    class: Hazard,
    level: Warn,
    summary: "an `mbarrier` object that is not aligned to 8 bytes",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    const SIZE: u64 = 8;
    if !context.module.features().has(Features::MBARRIER) {
        return;
    }
    let Some(facts) = context.facts() else { return };
    let mut reported = Vec::new();
    for access in context.accesses() {
        let object = facts.instance(access.instruction).and_then(|instance| instance.effects.asynchronous);
        let of_object = matches!(
            object,
            Some((
                AsyncGroup::Mbarrier,
                AsyncAction::Init | AsyncAction::Arrive | AsyncAction::Test | AsyncAction::Release
            ))
        );
        let Some(Pointer { object: Object::Variable(handle), .. }) = access.pointer() else { continue };
        if !of_object || reported.contains(&handle) {
            continue;
        }
        let variable = &context.module.module.variables[handle];
        let alignment = u64::from(variable.alignment());
        let distance = access.span_from_start().unwrap_or(access.number());
        let remainder = distance.ones & (SIZE - 1) & mask(distance.known_low());
        if alignment % SIZE == 0 && remainder == 0 {
            continue;
        }
        let name = context.module.module.name(variable.name);
        let message = if alignment % SIZE != 0 {
            format!("an `mbarrier` object needs 8 bytes of alignment, and `{name}` has {alignment}")
        } else {
            format!("this `mbarrier` object lies {remainder} bytes after a multiple of 8")
        };
        reported.push(handle);
        diagnostics.push(RULE.at(access.span, message).with_secondary(variable.span, "declared here"));
    }
}
