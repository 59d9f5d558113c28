use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports an `mbarrier` object that another thread uses though nothing tells it that `mbarrier.init` was executed: a barrier
    /// of the block, or of the cluster where another block uses it; and one that ends, or is made again, while another thread may
    /// still use it.
    ///
    /// ## Why is this bad
    /// What lies in shared memory before the initialisation is no object; the behaviour is undefined. PTX ISA manual, sections
    /// "mbarrier.init" and "membar, fence".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mov.u32 %r1, %tid.x;
    /// setp.eq.u32 %p1, %r1, 0;
    /// @%p1 mbarrier.init.shared.b64 [bar], 64;
    /// mbarrier.arrive.shared.b64 _, [bar];
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mov.u32 %r1, %tid.x;
    /// setp.eq.u32 %p1, %r1, 0;
    /// @%p1 mbarrier.init.shared.b64 [bar], 64;
    /// bar.sync 0;
    /// mbarrier.arrive.shared.b64 _, [bar];
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// The protocol of the kernel is executed, with the number of threads that `.reqntid` or `.maxntid` tells, else with
    /// several, and with parameters that let loops have turns. Memory that decides about control is
    /// assumed to have some number. Where an address in shared memory or a count depends on it, nothing is said.
    name: "mbarrier-unpublished",
    code: "P0918",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "an mbarrier object that others use before it is made",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_ours = |kind| matches!(kind, FaultKind::Unpublished | FaultKind::Remade);
    let found = protocol::explained(context, |fault| is_ours(fault.kind));
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
