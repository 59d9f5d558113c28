use ptx_ir::ir::{FunctionKind, Handle};
use ptx_ir::isa::Event;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports `setmaxnreg` in a kernel that does not say how many registers its threads begin with.
    ///
    /// ## Why is this bad
    /// `ptxas` ignores the instruction then, and the warps keep the registers that they have, unless an option of the command line
    /// tells the count. PTX ISA manual, section "setmaxnreg".
    ///
    /// ## Example
    /// ```ptx
    /// .visible .entry k() .maxntid 384
    /// {
    ///     setmaxnreg.dec.sync.aligned.u32 40;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .visible .entry k() .maxntid 384 .minnctapersm 1
    /// {
    ///     setmaxnreg.dec.sync.aligned.u32 40;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// `setmaxnreg` in functions that a kernel calls.
    name: "unknown-register-count",
    code: "P0926",
    former: [],
    class: Style,
    level: Info,
    summary: "`setmaxnreg` in a kernel that does not tell its registers",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.module.features().protocol {
        return;
    }
    let Some(facts) = context.facts() else { return };
    if facts.function.kind != FunctionKind::Entry || facts.function.first_registers().is_some() {
        return;
    }
    let hands_registers = |handle: &Handle<_>| {
        let instance = facts.instance(handle.index() as u32);
        let event = instance.and_then(|instance| instance.effects.event);
        matches!(event, Some(Event::GiveRegisters | Event::TakeRegisters))
    };
    let Some(first) = context.body.instructions.handles().find(hands_registers) else { return };
    let span = context.instruction_span(first.index() as u32);
    let message = "this has no effect: the kernel does not say how many registers its threads begin with";
    let help = "write `.maxnreg`, or `.minnctapersm` beside `.maxntid` or `.reqntid`, to the kernel";
    diagnostics.push(RULE.at(span, message).with_help(help));
}
