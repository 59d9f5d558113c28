use ptx_ir::isa::{AsyncAction, AsyncGroup};
use ptx_syntax::Diagnostic;

use crate::subject::function::FlowContext;
use crate::dataflow::asynchronous::Life;
use crate::subject::objects::{columns, tensor_events};
use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a `tcgen05.dealloc` of another number of columns than the `tcgen05.alloc` that its address comes from.
    ///
    /// ## Why is this bad
    /// All columns of an allocation are freed at once, so that the two numbers have to be the same; the behaviour is
    /// undefined otherwise. PTX ISA manual, section "tcgen05.dealloc".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .b32 slot;
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    /// ld.shared.u32 %r2, [slot];
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 128;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .b32 slot;
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    /// ld.shared.u32 %r2, [slot];
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;
    /// ```
    ///
    /// ## What it may miss
    /// Addresses that are not loaded from the place that the allocation wrote, and numbers that are no constants.
    name: "tcgen05-dealloc-mismatch",
    code: "P0909",
    former: ["H0370"],
    class: Hazard,
    level: Warn,
    summary: "tensor memory that is freed with another number of columns than it was allocated with",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if context.acting(AsyncGroup::Tcgen05Allocation, &[AsyncAction::Init]).is_empty() {
        return;
    }
    let events = tensor_events(context);
    let of = |life: Life| events.iter().filter(move |event| event.life == life);
    for freed in of(Life::Released).filter(|event| event.place.is_known()) {
        let Some(count) = columns(context, freed.instruction) else { continue };
        let made: Vec<(u32, Option<i64>)> = of(Life::Made)
            .filter(|event| event.place.may_be(freed.place))
            .map(|event| (event.instruction, columns(context, event.instruction)))
            .collect();
        let differs = made.iter().all(|(_, other)| other.is_some_and(|other| other != count));
        if let Some((first, Some(other))) = made.first().filter(|_| differs) {
            let message = format!("this frees {count} columns of an allocation of {other}");
            diagnostics.push(
                RULE.at(context.instruction_span(freed.instruction), message)
                    .with_secondary(context.instruction_span(*first), "allocated here"),
            );
        }
    }
}
