use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;
use ptx_facts::asynchronous::early_uses;
use ptx_facts::asynchronous::model::{Fault, FaultKind};
use ptx_ir::isa::AsyncGroup;
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports an asynchronous operation that writes shared memory which other threads may still read, or which another operation
    /// may still read or write; an arrival that gives memory free before its last use; a write of what an operation may still
    /// read; an operation on what other threads may still be writing; and accesses of shared memory by two warps that nothing
    /// orders, in kernels with roles, and in those with asynchronous operations that say how many threads they have.
    ///
    /// ## Why is this bad
    /// The operation runs on its own. What orders it with the accesses of threads are waits, arrivals and barriers. PTX ISA
    /// manual, section "Asynchronous Operations".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 16 .b8 tile[128];
    /// cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;
    /// cp.async.bulk.commit_group;
    /// st.shared.u32 [tile], 0;
    /// cp.async.bulk.wait_group 0;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 16 .b8 tile[128];
    /// cp.async.bulk.global.shared::cta.bulk_group [%rd1], [tile], 128;
    /// cp.async.bulk.commit_group;
    /// cp.async.bulk.wait_group.read 0;
    /// st.shared.u32 [tile], 0;
    /// cp.async.bulk.wait_group 0;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// The protocol of the kernel is executed, with the number of threads that `.reqntid` or `.maxntid` tells, else with
    /// several, and with parameters that let loops have turns. Memory that decides about control is
    /// assumed to have some number. Where an address in shared memory or a count depends on it, nothing is said. Each warp of a
    /// group multiplies rows of its own of the first matrix of `wgmma`: only those of the first warp are known.
    /// Of an atomic operation on another block's memory whose place depends on data the variable is known. Who gives tensor
    /// memory back has to come after all who use it.
    /// Where threads look at what volatile or atomic accesses of shared memory give, they may be in order, and accesses of two
    /// warps are not compared. Where each warp stores what it reads, with the same instruction, it counts as the same number.
    name: "async-race",
    code: "P0916",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "memory that is used while an asynchronous operation works on it",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let mut found = protocol::explained(context, |fault| {
        matches!(
            fault.kind,
            FaultKind::Overwrite
                | FaultKind::EarlyRelease
                | FaultKind::EarlyRelinquish
                | FaultKind::SourceReused
                | FaultKind::TwoCopies
                | FaultKind::Unordered
                | FaultKind::LanesApart
                | FaultKind::LanesRead
                | FaultKind::Race
        )
    });
    // What a look at single paths tells besides.
    let is_early = |fault: &Fault| fault.kind == FaultKind::EarlyTensor;
    if context.protocol().faults.iter().any(is_early) {
        let told = context
            .facts()
            .map_or_else(Vec::new, |facts| early_uses(facts, context.actions(), &context.with_calls(&[])));
        let is_new = |fault: &Fault| {
            is_early(fault)
                && !told.iter().any(|early| early.access.instruction == context.place(fault.instruction).own)
        };
        found.extend(protocol::explained(context, is_new));
    }
    // Where a kernel ends, nobody reads what a matrix operation makes.
    let matrices = protocol::unawaited(context, &[AsyncGroup::Wgmma, AsyncGroup::Tcgen05]);
    let matrices = matrices.into_iter().filter(|fault| fault.kind != FaultKind::LeftRunning);
    found.extend(matrices.map(|fault| protocol::explained_fault(context, fault)));
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
