use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports an `mbarrier` object whose phases are complete before all who use the memory that it guards have arrived, and one
    /// that is made for no arrivals.
    ///
    /// ## Why is this bad
    /// The number that `mbarrier.init` gets is that of the arrivals of each phase: of threads where each thread arrives, of warps
    /// where one of each does. PTX ISA manual, section "mbarrier.init".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mov.u32 %r1, 0;
    /// mbarrier.init.shared.b64 [bar], %r1;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mov.u32 %r1, 1;
    /// mbarrier.init.shared.b64 [bar], %r1;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// The protocol of the kernel is executed, with the number of threads that `.reqntid` or `.maxntid` tells, else with
    /// several, and with parameters that let loops have turns. Where control or a count depends on what
    /// is loaded from memory, nothing is said of what comes after that.
    name: "mbarrier-count",
    code: "P0920",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "an mbarrier object that counts too few arrivals, or none",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_ours = |kind| matches!(kind, FaultKind::NoArrivals | FaultKind::TooFewArrivals);
    let found = protocol::explained(context, |fault| is_ours(fault.kind));
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
