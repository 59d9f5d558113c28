use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_facts::asynchronous::{Lives, left_open};
use ptx_ir::ir::FunctionKind;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::objects::tensor_events;
use crate::subject::protocol;
use ptx_ir::isa::{AsyncAction, AsyncGroup};

declare_rule! {
    /// ## What it does
    /// Reports a `tcgen05.alloc` of a kernel from which a way leads out of the kernel, where no `tcgen05.dealloc` of the
    /// kernel takes an address that was loaded from the place that it wrote.
    ///
    /// ## Why is this bad
    /// All tensor memory has to be freed before the kernel ends. PTX ISA manual, section "tcgen05.alloc". The
    /// next block that allocates waits for ever.
    ///
    /// ## Example
    /// ```ptx
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%r1], 64;
    /// ld.shared.u32 %r2, [%r1];
    /// tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r2, 64;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// A kernel that frees under another condition than the one under which it allocates, where its protocol is not executed to the
    /// end or frees in that execution; addresses that are not loaded
    /// from a known place; functions other than kernels.
    name: "tcgen05-missing-dealloc",
    code: "P0908",
    former: ["H0365"],
    class: Hazard,
    level: Warn,
    summary: "tensor memory that is allocated and not freed",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if facts.function.kind != FunctionKind::Entry {
        return;
    }
    if context.acting(AsyncGroup::Tcgen05Allocation, &[AsyncAction::Init]).is_empty() {
        return;
    }
    // One warp allocates and one frees, under conditions that need not look alike: any of them counts.
    let starts = Lives::new(facts, tensor_events(context)).never_released();
    if let Some((start, end)) = left_open(facts, &starts, &context.with_calls(&[])) {
        let finding = RULE.at(context.instruction_span(start), "nothing frees this tensor memory");
        let finding = match last_use(facts).filter(|last| *last != start) {
            Some(last) => finding.with_secondary(context.instruction_span(last), "last used here"),
            None => finding,
        };
        diagnostics.push(
            finding
                .with_secondary(context.instruction_span(end), "the kernel is left here")
                .with_help("free it with `tcgen05.dealloc`"),
        );
        return;
    }
    // Where some way frees it, an execution may go another one.
    let found = protocol::explained(context, |fault| fault.kind == FaultKind::NeverFreed);
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}

/// Whether an operation is one of tensor memory.
const fn is_tensor(group: AsyncGroup) -> bool {
    matches!(
        group,
        AsyncGroup::Tcgen05
            | AsyncGroup::Tcgen05Load
            | AsyncGroup::Tcgen05Store
            | AsyncGroup::Tcgen05Allocation
    )
}

/// The last instruction of the kernel that accesses tensor memory, or orders accesses of it.
fn last_use(facts: &FunctionFacts<'_>) -> Option<u32> {
    let is_of_tensor = |&each: &u32| {
        let acts = facts.instance(each).and_then(|instance| instance.effects.asynchronous);
        acts.is_some_and(|(group, action)| {
            let is_right = group == AsyncGroup::Tcgen05Allocation && action == AsyncAction::Relinquish;
            is_tensor(group) && !is_right
        })
    };
    facts.reaching_out().filter(is_of_tensor).max()
}
