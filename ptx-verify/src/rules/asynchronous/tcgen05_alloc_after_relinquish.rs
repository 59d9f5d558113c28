use ptx_facts::reach::{Ends, Reach};
use ptx_ir::isa::{AsyncAction, AsyncGroup};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a `tcgen05.alloc` that every path comes to from a `tcgen05.relinquish_alloc_permit`.
    ///
    /// ## Why is this bad
    /// A block that has given up the right to allocate must not allocate any more. PTX ISA manual, section
    /// "tcgen05.relinquish_alloc_permit".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .b32 slot;
    /// tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .b32 slot;
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    /// tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
    /// ```
    ///
    /// ## What it may miss
    /// Reach that give up the right where others do not, and functions that are called.
    name: "tcgen05-alloc-after-relinquish",
    code: "P0911",
    former: ["H0372"],
    class: Hazard,
    level: Warn,
    summary: "an allocation of tensor memory after the right to allocate was given up",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let of = |action: AsyncAction| context.acting(AsyncGroup::Tcgen05Allocation, &[action]);
    let given_up = of(AsyncAction::Relinquish);
    if given_up.is_empty() {
        return;
    }
    let Some(facts) = context.facts() else { return };
    let certain: Vec<u32> = given_up.iter().copied().filter(|&each| !facts.is_guarded(each)).collect();
    let from_entry = Reach::from(facts, Ends::Function, &certain);
    let from_given_up = Reach::from(facts, Ends::Instructions(&given_up), &[]);
    for allocation in of(AsyncAction::Init) {
        let earlier = from_given_up.at(allocation);
        if let (None, Some(earlier)) = (from_entry.at(allocation), earlier) {
            let message = "this allocates after the right to allocate was given up";
            diagnostics.push(
                RULE.at(context.instruction_span(allocation), message)
                    .with_secondary(context.instruction_span(earlier), "given up here"),
            );
        }
    }
}
