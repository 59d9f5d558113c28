use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::FunctionFacts;
use crate::dataflow::divergence::{Cause, Divergence, Divergent, Variance};
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
    /// without a finding where only the threads of one warp have to be together, or where both sides come to the same
    /// barriers. Blocks and their rows are taken to be whole warps. Of a function that is called,
    /// only a barrier that every way through it, and through what it calls, leads to counts.
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
    // Most functions are cleared by the cheaper look.
    if !found(context, facts, &Divergence::new(facts, context.values())).is_empty() {
        diagnostics.append(&mut found(context, facts, &Divergence::by_blocks(facts, context.values())));
    }
}

fn found(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, divergence: &Divergence) -> Vec<Diagnostic> {
    let mut findings = Vec::new();
    for found in divergence.divergent(facts, context.values()) {
        if let Some(instance) = facts.instance(found.instruction) {
            findings.push(finding(context, facts, &found, &format!("this `{}`", instance.canonical)));
        }
    }
    for handle in context.body.instructions.handles() {
        let call = handle.index() as u32;
        if !facts.is_call(call) || divergence.cause(facts, call, Variance::Warp).is_none() {
            continue;
        }
        let module = context.module.module;
        let Some(callee) = module.callee(context.body, handle) else { continue };
        let Some(least) = context.module.summaries().needed(module, callee) else { continue };
        if let Some(found) = divergence.cause(facts, call, least) {
            let name = module.name(module.functions[callee].name);
            let what = format!("this call, and all have to come to a barrier in `{name}`");
            findings.push(finding(context, facts, &found, &what));
        }
    }
    findings
}

fn finding(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    found: &Divergent,
    where_to: &str,
) -> Diagnostic {
    let who = if found.variance >= Variance::Lane { "some threads of a warp" } else { "some warps" };
    let finding =
        RULE.at(context.instruction_span(found.instruction), format!("only {who} come to {where_to}"));
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
    match found.cause {
        Cause::Guard => finding.with_label(label),
        Cause::Branch(branch) => finding.with_secondary(context.instruction_span(branch), label),
    }
}
