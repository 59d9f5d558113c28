use crate::rule::declare_rule;
use crate::subject::fragment::kernel::ANYTHING;
use crate::subject::function::FlowContext;
use crate::subject::protocol;
use ptx_facts::asynchronous::model::{Fault, FaultKind, ONE_OF_PAIR};
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports a barrier of the block, or of the cluster, that not all threads come to which it counts, because of another order of
    /// barriers, of another number of threads, or of threads that go elsewhere. Also a barrier that two groups of threads use
    /// where nothing lets the second one come after the first: warps of both may be counted together. And `setmaxnreg`, `tcgen05.alloc`
    /// and `tcgen05.dealloc` that only some threads of a warp, some warps of a group or one block of a pair come to. Threads that
    /// arrive at the barrier of the cluster again before they have waited, which the manual leaves undefined.
    ///
    /// ## Why is this bad
    /// The threads that have come wait for ever. PTX ISA manual, sections "bar, barrier" and "barrier.cluster".
    ///
    /// ## Example
    /// ```ptx
    /// mov.u32 %r1, %tid.x;
    /// setp.lt.u32 %p1, %r1, 32;
    /// setp.ge.u32 %p2, %r1, 32;
    /// setp.lt.and.u32 %p2, %r1, 64, %p2;
    /// @%p1 bar.arrive 1, 96;
    /// @%p2 bar.sync 1, 64;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.u32 %r1, %tid.x;
    /// setp.lt.u32 %p1, %r1, 32;
    /// setp.ge.u32 %p2, %r1, 32;
    /// setp.lt.and.u32 %p2, %r1, 64, %p2;
    /// @%p1 bar.arrive 1, 64;
    /// @%p2 bar.sync 1, 64;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// The protocol of the kernel is executed, with the number of threads that `.reqntid` or `.maxntid` tells, else with
    /// several, and with parameters that let loops have turns. Where control or a count depends on what
    /// is loaded from memory, nothing is said of what comes after that.
    name: "barrier-deadlock",
    code: "P0921",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a barrier that not all threads come to",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_ours = |kind| {
        matches!(
            kind,
            FaultKind::Barrier
                | FaultKind::BarrierCounts
                | FaultKind::ArrivesTwice
                | FaultKind::BarrierShared
                | FaultKind::Cluster
        )
    };
    // Of parts of warps and groups in PTX `divergent-barrier` tells.
    let is_told =
        |fault: &Fault| fault.counts == Some(ONE_OF_PAIR) || context.module.source.contains(ANYTHING);
    let found = protocol::explained(context, |fault| {
        is_ours(fault.kind) || fault.kind == FaultKind::Apart && is_told(fault)
    });
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
