use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::FunctionFacts;
use crate::dataflow::divergence::{Cause, Divergence, Divergent, Variance};
use crate::instruction::register_name;
use crate::registry::{declare_rule, with_others};
use ptx_ir::ir::Register;
use rustc_hash::FxHashMap;

declare_rule! {
    /// ## What it does
    /// Reports a barrier, or another instruction that the threads of a warp have to execute together (`.aligned`,
    /// `shfl.sync` with a full mask, `mma`, `wgmma`), under a guard or a branch that depends on the thread, with
    /// code behind that all threads come to. What follows one branch is one finding.
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

/// An instruction that only some threads come to.
struct Found {
    divergent: Divergent,
    what: String,
}

/// One finding for each guard and each branch, whatever follows it.
fn found(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, divergence: &Divergence) -> Vec<Diagnostic> {
    let mut by_cause: Vec<(Found, usize)> = Vec::new();
    let mut places: FxHashMap<Origin, usize> = FxHashMap::default();
    for found in each(context, facts, divergence) {
        let place = *places.entry(origin(facts, &found.divergent)).or_insert(by_cause.len());
        match by_cause.get_mut(place) {
            Some((_, others)) => *others += 1,
            None => by_cause.push((found, 0)),
        }
    }
    by_cause.iter().map(|(found, others)| finding(context, facts, found, *others)).collect()
}

/// What makes threads part: a branch, or the register of a guard where it was set last.
#[derive(PartialEq, Eq, Hash)]
enum Origin {
    Branch(u32),
    Guard(Option<Register>, Option<u32>),
}

fn origin(facts: &FunctionFacts<'_>, found: &Divergent) -> Origin {
    match found.cause {
        Cause::Branch(branch) => Origin::Branch(branch),
        Cause::Guard => {
            let register = facts.condition(found.instruction).map(|condition| condition.register);
            let writes = register.map_or(&[][..], |register| facts.definitions(register));
            let last = writes.partition_point(|&write| write < found.instruction).checked_sub(1);
            Origin::Guard(register, last.map(|last| writes[last]))
        }
    }
}

/// The instructions that only some threads come to, in order of the text.
fn each(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, divergence: &Divergence) -> Vec<Found> {
    let mut all = Vec::new();
    for divergent in divergence.divergent(facts, context.values()) {
        if let Some(instance) = facts.instance(divergent.instruction) {
            all.push(Found { divergent, what: format!("this `{}`", instance.canonical) });
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
        if let Some(divergent) = divergence.cause(facts, call, least) {
            let name = module.name(module.functions[callee].name);
            let what = format!("this call, and all have to come to a barrier in `{name}`");
            all.push(Found { divergent, what });
        }
    }
    all.sort_by_key(|found| found.divergent.instruction);
    all
}

fn finding(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, found: &Found, others: usize) -> Diagnostic {
    let Found { divergent, what: where_to } = found;
    let who = if divergent.variance >= Variance::Lane { "some threads of a warp" } else { "some warps" };
    let message = with_others(format!("only {who} come to {where_to}"), others, "such instruction");
    let finding = RULE.at(context.instruction_span(divergent.instruction), message);
    let (place, what) = match divergent.cause {
        Cause::Guard => (divergent.instruction, "guard"),
        Cause::Branch(branch) => (branch, "branch"),
    };
    let name = facts
        .condition(place)
        .map(|condition| register_name(context.module.module, context.body, condition.register));
    let label = match name {
        Some(name) => format!("this {what} depends on the thread through `{name}`"),
        None => format!("this {what} depends on the thread"),
    };
    match divergent.cause {
        Cause::Guard => finding.with_label(label),
        Cause::Branch(branch) => finding.with_secondary(context.instruction_span(branch), label),
    }
}
