use ptx_facts::memory::Access;
use ptx_facts::values::pointer::{Notation, Object, Pointer};
use ptx_ir::isa::AsyncGroup;
use ptx_ir::space::StateSpace;
use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports an access in one state space at an address that came from another: `ld.shared` of a global
    /// variable, a generic access at an address that was not made generic, `cvta` of another space than the
    /// address has, and `cvta.to` of an address that has been converted already.
    ///
    /// ## Why is this bad
    /// Each state space has its own addresses: the same number means another place. PTX ISA manual, sections
    /// "State Spaces" and "Generic Addressing".
    ///
    /// ## Example
    /// ```ptx
    /// mov.u64 %rd1, global_array;
    /// ld.shared.u32 %r1, [%rd1];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.u64 %rd1, global_array;
    /// ld.global.u32 %r1, [%rd1];
    /// ```
    ///
    /// ## What it may miss
    /// Addresses that come from memory or from other functions. A variable named in a generic access is accessed in its
    /// own space, which the assembler sees to. Global addresses are the same numbers as generic
    /// ones, so an access that mixes these two is not reported; a conversion that is made twice is. Instructions for `mbarrier`
    /// objects and for tensor memory work in shared memory alone, and the assembler makes the same code for both kinds of
    /// addresses: there it is a warning. So it is where a generic address of shared memory is cut to 32 bits: the manual does not
    /// say what is left, but the assembler makes it the address in `.shared` from `sm_90` on.
    name: "state-space-mismatch",
    code: "P0703",
    former: ["H0322"],
    class: Hazard,
    level: Error,
    summary: "an address that is used in another state space than it has",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for access in context.accesses() {
        let Some(pointer) = access.pointer() else { continue };
        let message = wrong(context, access, pointer).filter(|_| context.can_come(access.instruction));
        if let Some(message) = message {
            let mut finding = RULE.at(access.span, message);
            // What works in shared memory alone is made the same code for both kinds of addresses.
            let is_same_code = pointer.space == StateSpace::Shared && works_in_shared(context, access);
            // Only a way through several writes leaves a doubt.
            if is_same_code
                || is_low_word(context, access, pointer)
                || pointer.notation == Notation::Unknown && pointer.object == Object::Unknown
            {
                finding.severity = Severity::Warning;
            }
            if let Some(variable) = access.variable() {
                let variable = &context.module.module.variables[variable];
                finding =
                    finding.with_secondary(variable.span, format!("declared in `{}` here", variable.space));
            }
            diagnostics.push(finding);
        }
    }
    for conversion in context.conversions() {
        let Some(address) = conversion.source else { continue };
        let space = conversion.space;
        let message = if address.space != space {
            format!("this converts an address of `{}` as one of `{space}`", address.space)
        } else if conversion.to_generic && address.notation == Notation::Generic {
            "this address is generic already".to_owned()
        } else if !conversion.to_generic && address.notation == Notation::Space {
            format!("this is an address of `{space}` already, not a generic one")
        } else {
            continue;
        };
        // A conversion harms nobody until the result is used.
        let mut finding = RULE.at(conversion.span, message);
        finding.severity = Severity::Warning;
        diagnostics.push(finding);
    }
}

fn wrong(context: &FlowContext<'_>, access: &Access, address: Pointer) -> Option<String> {
    match access.space.map(StateSpace::base) {
        Some(space) if space != address.space => {
            Some(format!("an access in `{space}` at an address of `{}`", address.space))
        }
        Some(StateSpace::Global) => None,
        Some(space) if address.notation == Notation::Generic && names_space(context, access) => {
            Some(format!("an access in `{space}` at a generic address"))
        }
        Some(_) => None,
        None if address.notation == Notation::Space
            && !access.direct
            && matches!(address.space, StateSpace::Shared | StateSpace::Local) =>
        {
            Some(format!("a generic access at an address of `{}` that was not made generic", address.space))
        }
        None => None,
    }
}

/// Whether the address is the low word of a generic one. From `sm_90` on the assembler makes a generic address of a shared one
/// by a word above it, so that the low word is the address in its space; before, the driver says what is added.
fn is_low_word(context: &FlowContext<'_>, access: &Access, address: Pointer) -> bool {
    let module = context.module.module;
    let is_narrow = || u32::from(access.number().width) < module.header.address_bits();
    address.notation == Notation::Generic && address.space == StateSpace::Shared && is_narrow()
}

/// Whether the instruction is for objects in shared memory, whatever it says of the space.
fn works_in_shared(context: &FlowContext<'_>, access: &Access) -> bool {
    let instance = context.facts().and_then(|facts| facts.instance(access.instruction));
    instance.is_some_and(|instance| {
        let group = instance.effects.asynchronous.map(|(group, _)| group);
        instance.effects.event.is_some()
            || matches!(group, Some(AsyncGroup::Tcgen05 | AsyncGroup::Tcgen05Allocation))
    })
}

/// Whether the instruction says in which space it works. Those of `mbarrier` and their like work in shared memory in any
/// case, and without its name they take generic addresses.
fn names_space(context: &FlowContext<'_>, access: &Access) -> bool {
    let instance = context.facts().and_then(|facts| facts.instance(access.instruction));
    instance.is_none_or(|instance| {
        let mut spaces = instance.modifiers.iter().filter_map(|word| StateSpace::parse(word));
        spaces.any(|space| Some(space.base()) == access.space.map(StateSpace::base))
    })
}
