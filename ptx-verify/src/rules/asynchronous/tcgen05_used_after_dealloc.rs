use ptx_facts::asynchronous::{Life, Lives};
use ptx_ir::isa::{AsyncAction, AsyncGroup};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::objects::tensor_events;

declare_rule! {
    /// ## What it does
    /// Reports tensor memory that is used, or freed once more, where every path from its `tcgen05.alloc` has passed its
    /// `tcgen05.dealloc`.
    ///
    /// ## Why is this bad
    /// The memory may belong to another block by then. PTX ISA manual, section "tcgen05.dealloc".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .b32 slot;
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [slot], 64;
    /// ld.shared.u32 %r2, [slot];
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;
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
    /// Addresses that are not loaded from the place that the allocation wrote, and ways that free the memory where others
    /// do not.
    name: "tcgen05-used-after-dealloc",
    code: "P0910",
    former: ["H0371"],
    class: Hazard,
    level: Warn,
    summary: "tensor memory that is used after it was freed",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if context.acting(AsyncGroup::Tcgen05Allocation, &[AsyncAction::Release]).is_empty() {
        return;
    }
    let Some(facts) = context.facts() else { return };
    for (late, freed) in Lives::new(facts, tensor_events(context))
        .after_release(|first, second| context.can_follow(first, second))
    {
        let message = match late.life {
            Life::Released => "this tensor memory is freed a second time",
            Life::Used | Life::Made => "this tensor memory is used after it was freed",
        };
        diagnostics.push(
            RULE.at(context.instruction_span(late.instruction), message)
                .with_secondary(context.instruction_span(freed), "freed here"),
        );
    }
}
