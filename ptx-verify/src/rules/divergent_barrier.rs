use ptx_ir::ir::Handle;
use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::divergence::{Cause, Divergence, Variance};
use crate::instruction::register_name;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a barrier, or another instruction that the threads of a warp have to execute together (`.aligned`,
    /// `shfl.sync` with a full mask, `mma`, `wgmma`), under a guard or a branch that depends on the thread, with
    /// code behind that all threads come to.
    ///
    /// ## Why is this bad
    /// The threads that come wait for those that do not: the kernel hangs, or the result is undefined. PTX ISA
    /// manual, sections "bar" and "barrier": with `.aligned`, all threads of the warp must execute the same
    /// instruction.
    ///
    /// ## Example
    /// ```ptx
    /// mov.u32 %r1, %tid.x;
    /// setp.lt.u32 %p1, %r1, 7;
    /// @%p1 bar.sync 0;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// bar.sync 0;
    /// ```
    ///
    /// ## What it may miss
    /// Conditions that were loaded from memory or passed to a function are taken to be the same in all threads.
    /// Threads that leave the function before the barrier are not counted. Whole warps may be told apart
    /// without a finding where only the threads of one warp have to be together.
    name: "divergent-barrier",
    code: "H0330",
    class: Hazard,
    level: Warn,
    summary: "a barrier that only some threads reach",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if !context.module.features().convergence {
        return;
    }
    let divergence = Divergence::new(facts);
    for found in divergence.divergent(facts, context.values()) {
        let Some(instance) = facts.instance(found.instruction) else { continue };
        let who = if found.variance >= Variance::Lane { "some threads of a warp" } else { "some warps" };
        let what = &instance.canonical;
        let message = format!("only {who} come to this `{what}`");
        let finding = RULE.at(context.instruction_span(found.instruction), message);
        let (place, what) = match found.cause {
            Cause::Guard => (found.instruction, "guard"),
            Cause::Branch(branch) => (branch, "branch"),
        };
        let name = facts
            .condition(place)
            .map(|condition| register_name(context.module.module, context.body, condition.register));
        let label = match name {
            Some(name) => format!("this {what} depends on the thread through `{name}`"),
            None => format!("this {what} depends on the thread"),
        };
        let span = match found.cause {
            Cause::Guard => context.body.span(Handle::new(place)),
            Cause::Branch(branch) => context.instruction_span(branch),
        };
        diagnostics.push(match found.cause {
            Cause::Guard => finding.with_label(label),
            Cause::Branch(_) => finding.with_secondary(span, label),
        });
    }
}
