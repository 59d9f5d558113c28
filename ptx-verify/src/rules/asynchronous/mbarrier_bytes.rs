use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports a phase of an `mbarrier` object that expects another number of bytes than the copies which complete on the object in
    /// that phase bring, and copies whose bytes nobody expects. How much a copy by a tensor map brings is what its phase expects: there a
    /// read that goes on after its end, in memory that nothing writes, tells that it is too little, and so does a matrix of `wgmma` or
    /// `tcgen05.mma` whose rows lie further.
    ///
    /// ## Why is this bad
    /// With fewer bytes expected the phase ends before the data is there; with more it never ends. PTX ISA manual, section
    /// "Tracking asynchronous operations by the mbarrier object".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// .shared .align 16 .b8 tile[128];
    /// mbarrier.init.shared.b64 [bar], 1;
    /// mbarrier.arrive.expect_tx.shared.b64 _, [bar], 256;
    /// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 128, [bar];
    /// WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
    /// @!%p1 bra WAIT;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// .shared .align 16 .b8 tile[128];
    /// mbarrier.init.shared.b64 [bar], 1;
    /// mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;
    /// cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [tile], [%rd1], 128, [bar];
    /// WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
    /// @!%p1 bra WAIT;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// The protocol of the kernel is executed, with the number of threads that `.reqntid` or `.maxntid` tells, else with
    /// several, and with parameters that let loops have turns. Where control or a count depends on what
    /// is loaded from memory, nothing is said of what comes after that.
    name: "mbarrier-bytes",
    code: "P0919",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a phase that expects other bytes than its copies bring",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_ours = |kind| matches!(kind, FaultKind::Bytes | FaultKind::TooFewBytes | FaultKind::OtherBytes);
    let found = protocol::explained(context, |fault| is_ours(fault.kind));
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
