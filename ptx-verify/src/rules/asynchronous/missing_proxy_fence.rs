use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_facts::asynchronous::unseen_stores;
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports a write of shared memory by threads that a bulk copy, `wgmma` or `tcgen05` reads, without `fence.proxy.async`
    /// after the write in the thread that has written, or with it on the wrong side of the barrier between the two; and a
    /// write of global memory that a bulk copy reads from the same address afterwards, or from pages that the same list leads
    /// to, with no such fence on the way.
    ///
    /// ## Why is this bad
    /// Threads write through the generic proxy, and these operations read through the asynchronous one, which need not see
    /// the write though a barrier orders the threads. PTX ISA manual, sections "Proxies" and "Async proxy".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 16 .b8 tile[128];
    /// mov.u32 %r1, %tid.x;
    /// setp.eq.u32 %p1, %r1, 0;
    /// st.shared.u32 [tile], %r1;
    /// bar.sync 0;
    /// @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;
    /// @%p1 cp.async.bulk.commit_group;
    /// @%p1 cp.async.bulk.wait_group 0;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 16 .b8 tile[128];
    /// mov.u32 %r1, %tid.x;
    /// setp.eq.u32 %p1, %r1, 0;
    /// st.shared.u32 [tile], %r1;
    /// fence.proxy.async.shared::cta;
    /// bar.sync 0;
    /// @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;
    /// @%p1 cp.async.bulk.commit_group;
    /// @%p1 cp.async.bulk.wait_group 0;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// The protocol of the kernel is executed, with the number of threads that `.reqntid` or `.maxntid` tells, else with
    /// several, and with parameters that let loops have turns. Memory that decides about control is
    /// assumed to have some number. Where an address in shared memory or a count depends on it, nothing is said.
    name: "missing-proxy-fence",
    code: "P0915",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a write that the asynchronous proxy reads without a fence",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_ours = |kind| matches!(kind, FaultKind::MissingFence);
    let found = protocol::explained(context, |fault| is_ours(fault.kind));
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
    if !found.is_empty() || context.actions().is_empty() {
        return;
    }
    if let Some(unseen) = context.facts().and_then(unseen_stores) {
        let message = "this write of global memory need not be visible to the copy that reads it through the asynchronous proxy";
        diagnostics.push(
            RULE.at(context.instruction_span(unseen.store), message)
                .with_secondary(context.instruction_span(unseen.copy), "read here")
                .with_help("write `fence.proxy.async` in the threads that have written, before the barrier that they meet at"),
        );
    }
}
