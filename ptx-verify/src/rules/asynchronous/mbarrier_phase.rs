use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports a wait for a phase of an `mbarrier` object that passes before the phase it is meant for is complete, and one that
    /// nobody completes, so that threads wait for ever.
    ///
    /// ## Why is this bad
    /// A wait names a phase by its parity. With the wrong one it passes at once, on a phase that is long over, or waits for the
    /// end of one that has not begun. PTX ISA manual, section "mbarrier.test_wait, mbarrier.try_wait".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mbarrier.init.shared.b64 [bar], 32;
    /// mbarrier.arrive.shared.b64 _, [bar];
    /// WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
    /// @!%p1 bra WAIT;
    /// AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1;
    /// @!%p1 bra AGAIN;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mbarrier.init.shared.b64 [bar], 32;
    /// mbarrier.arrive.shared.b64 _, [bar];
    /// WAIT: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 0;
    /// @!%p1 bra WAIT;
    /// mbarrier.arrive.shared.b64 _, [bar];
    /// AGAIN: mbarrier.try_wait.parity.shared.b64 %p1, [bar], 1;
    /// @!%p1 bra AGAIN;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// The protocol of the kernel is executed, with the number of threads that `.reqntid` or `.maxntid` tells, else with
    /// several, and with parameters that let loops have turns. Where control or a count depends on what
    /// is loaded from memory, nothing is said of what comes after that.
    name: "mbarrier-phase",
    code: "P0917",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a wait for the wrong phase of an mbarrier object",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_ours = |kind| matches!(kind, FaultKind::WrongPhase | FaultKind::Phase);
    let found = protocol::explained(context, |fault| is_ours(fault.kind));
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
