use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports an access of another block's shared memory before that block is known to have begun, and a block that may end while
    /// others still access its memory. Also a copy to, or an arrival at, the block after the last one of the cluster, and an access of
    /// another block's memory by a load or store of `.shared::cta`, and an arrival or a wait that names `.cta` as its scope where the
    /// other side, in another block, names `.cluster`.
    ///
    /// ## Why is this bad
    /// The shared memory of a block is there while the block runs. PTX ISA manual, sections "Cooperative Thread Arrays" and
    /// "barrier.cluster".
    ///
    /// ## Example
    /// ```ptx
    /// .entry kernel()
    /// .reqntid 64
    /// .reqnctapercluster 2
    /// {
    ///     .shared .b32 place;
    ///     .reg .b32 %r<3>;
    ///     mov.u32 %r1, place;
    ///     mapa.shared::cluster.u32 %r2, %r1, 1;
    ///     st.shared::cluster.u32 [%r2], 1;
    ///     barrier.cluster.arrive;
    ///     barrier.cluster.wait;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .entry kernel()
    /// .reqntid 64
    /// .reqnctapercluster 2
    /// {
    ///     .shared .b32 place;
    ///     .reg .b32 %r<3>;
    ///     barrier.cluster.arrive;
    ///     barrier.cluster.wait;
    ///     mov.u32 %r1, place;
    ///     mapa.shared::cluster.u32 %r2, %r1, 1;
    ///     st.shared::cluster.u32 [%r2], 1;
    ///     barrier.cluster.arrive;
    ///     barrier.cluster.wait;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// The protocol of the kernel is executed, with the number of threads that `.reqntid` or `.maxntid` tells, else with
    /// several, and with parameters that let loops have turns. Memory that decides about control is
    /// assumed to have some number. Where an address in shared memory or a count depends on it, nothing is said.
    name: "cluster-lifetime",
    code: "P0922",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "another block's shared memory that may not be there",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_ours = |kind| {
        use FaultKind::{EarlyExit, EarlyRemote, NarrowScope, NoBlock, OwnWindow};
        matches!(kind, EarlyExit | EarlyRemote | NarrowScope | NoBlock | OwnWindow)
    };
    let found = protocol::explained(context, |fault| is_ours(fault.kind));
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
