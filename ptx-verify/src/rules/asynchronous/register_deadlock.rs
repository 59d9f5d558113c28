use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::protocol;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports `setmaxnreg.inc` that asks for more registers than the other warps of the block give back.
    ///
    /// ## Why is this bad
    /// It waits until the block has as many registers left, which is for ever. PTX ISA manual, section "setmaxnreg".
    ///
    /// ## Example
    /// A block of 384 threads begins with 168 registers each. 40 in four of the twelve warps and 240 in the others are more.
    /// ```ptx
    /// .visible .entry k() .maxntid 384 .minnctapersm 1
    /// {
    ///     .reg .pred %p;
    ///     .reg .b32 %r;
    ///     mov.u32 %r, %tid.x;
    ///     setp.lt.u32 %p, %r, 128;
    ///     @%p bra PRODUCER;
    ///     setmaxnreg.inc.sync.aligned.u32 240;
    ///     bar.sync 0;
    ///     ret;
    /// PRODUCER:
    ///     setmaxnreg.dec.sync.aligned.u32 40;
    ///     bar.sync 0;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .visible .entry k() .maxntid 384 .minnctapersm 1
    /// {
    ///     .reg .pred %p;
    ///     .reg .b32 %r;
    ///     mov.u32 %r, %tid.x;
    ///     setp.lt.u32 %p, %r, 128;
    ///     @%p bra PRODUCER;
    ///     setmaxnreg.inc.sync.aligned.u32 232;
    ///     bar.sync 0;
    ///     ret;
    /// PRODUCER:
    ///     setmaxnreg.dec.sync.aligned.u32 40;
    ///     bar.sync 0;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// The kernel is executed as for `barrier-deadlock`. It has to say how many registers its threads begin with: by `.maxnreg`, or
    /// by `.minnctapersm` together with `.reqntid` or `.maxntid`. Registers of warps that have ended count as given back.
    name: "register-deadlock",
    code: "P0925",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "`setmaxnreg.inc` that waits for registers that no warp gives back",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let found = protocol::explained(context, |fault| fault.kind == FaultKind::Registers);
    diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
}
