use ptx_facts::FunctionFacts;
use ptx_facts::uniformity::{Cause, Divergent, Level, Uniformity};
use ptx_syntax::Diagnostic;

use crate::rule::{declare_rule, with_others};
use crate::subject::describe::register_name;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;
use ptx_ir::ir::{Handle, Register};
use rustc_hash::FxHashMap;

declare_rule! {
    /// ## What it does
    /// Reports an instruction that threads have to come to together, under a guard or after a branch that some of them
    /// take and others do not: a barrier, `shfl.sync` and others with a full mask, `mma`, `wgmma`, all that is
    /// `.aligned`. What follows one branch is one finding.
    ///
    /// Threads are told apart by what their values are computed from, bit by bit: `%tid.x / 32` is the same in a warp,
    /// and so are a sum that a butterfly of `shfl.sync` has made of all lanes, and a comparison with a multiple of 32.
    /// Without `.aligned`, threads may come from several places, if they say the same there as often.
    /// Of the lanes that a mask names, all have to come: where the mask is a number, or where a vote or `activemask` has
    /// found it out, the conditions on the way there are held against it. And no other lane may come: where a vote has
    /// found the mask out and nothing on the way asks the same, those come too for which the predicate is false; where the
    /// mask is a number and a condition tells groups of lanes apart, of which the mask names one, the others.
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
    /// What memory holds at one address, and what a function is passed, is taken to be the same in all threads, and what
    /// lies at an address that depends on the thread to differ. Threads that leave the function before the barrier are not
    /// counted, unless those that stay and those that leave both wait for others first. A call of a function that is declared
    /// `.noreturn` is taken to end the grid. Where lanes would say different numbers of threads at a barrier, one is taken to
    /// come alone, as in GCC's libraries. Of masks that
    /// come from elsewhere nothing is known. Blocks and their rows are taken to be whole warps, and
    /// where the place of a thread is divided by a parameter of the kernel, the block is taken to be one group. A block whose
    /// rows nobody asks for but to number its threads is taken to have one row. Rows by which threads are numbered, shorter than a
    /// warp, are taken to be as long as they are counted there, and all of them together to be whole warps. A loop that begins at `%tid.x`
    /// and goes on by a number, or by `%ntid.x` up to a multiple of a number, is taken to be made for rows of so many threads,
    /// unless the kernel says otherwise or asks for more of them. Where a loop goes on with what an earlier one has counted,
    /// up to a number that is the same for all, nobody is taken to be beyond that number.
    /// Where the elements of a grid are a power of two whose exponent the kernel is given, they are taken to be those of whole
    /// blocks. Of a function that is called, only a barrier
    /// that every path through it, and through what it calls, leads to counts.
    name: "divergent-barrier",
    code: "P0801",
    former: ["H0330"],
    class: Hazard,
    level: Warn,
    summary: "a barrier that only some threads reach",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if !context.module.features().has(Features::CONVERGENCE) {
        return;
    }
    let needs = |call: u32| {
        let module = context.module.module;
        let callee = module.callee(context.body, Handle::new(call));
        callee.is_some_and(|callee| context.module.summaries().needed(module, callee).is_some())
    };
    if Uniformity::may_part(facts, needs, || context.graph()) {
        diagnostics.append(&mut found(context, facts));
    }
}

/// An instruction that only some threads come to.
struct Found {
    divergent: Divergent,
    what: String,
}

/// One finding for each guard and each branch, whatever follows it.
fn found(context: &FlowContext<'_>, facts: &FunctionFacts<'_>) -> Vec<Diagnostic> {
    let mut by_cause: Vec<(Found, usize)> = Vec::new();
    let mut places: FxHashMap<Origin, usize> = FxHashMap::default();
    for found in each(context, facts) {
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
    Mask(u32),
    Parting(u32),
}

fn origin(facts: &FunctionFacts<'_>, found: &Divergent) -> Origin {
    match found.cause {
        Cause::Branch(branch) => Origin::Branch(branch),
        Cause::Mask(vote) => Origin::Mask(vote),
        Cause::Parting(branch) => Origin::Parting(branch),
        Cause::Guard => {
            let register = facts.condition(found.instruction).map(|condition| condition.register);
            let writes = register.map_or(&[][..], |register| facts.definitions(register));
            let last = writes.partition_point(|&write| write < found.instruction).checked_sub(1);
            Origin::Guard(register, last.map(|last| writes[last]))
        }
    }
}

/// The instructions that only some threads come to, in order of the text.
fn each(context: &FlowContext<'_>, facts: &FunctionFacts<'_>) -> Vec<Found> {
    let (uniformity, graph) = (context.uniformity(), context.graph());
    let mut all = Vec::new();
    for &divergent in uniformity.divergent() {
        if let Some(instance) = facts.instance(divergent.instruction) {
            all.push(Found { divergent, what: format!("this `{}`", instance.canonical) });
        }
    }
    for handle in context.body.instructions.handles() {
        let call = handle.index() as u32;
        if !facts.is_call(call) || uniformity.cause(facts, graph, call, Level::Warps).is_none() {
            continue;
        }
        let module = context.module.module;
        let Some(callee) = module.callee(context.body, handle) else { continue };
        let Some(least) = context.module.summaries().needed(module, callee) else { continue };
        if let Some(divergent) = uniformity.cause(facts, graph, call, least) {
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
    if let Cause::Mask(vote) = divergent.cause {
        let message = format!("lanes come to {where_to} that its mask does not name");
        let finding = RULE.at(
            context.instruction_span(divergent.instruction),
            with_others(message, others, "such instruction"),
        );
        let label = "the mask names those for which the predicate of this vote holds";
        return finding.with_secondary(context.instruction_span(vote), label);
    }
    if let Cause::Parting(branch) = divergent.cause {
        let message = format!("lanes may come to {where_to} that its mask does not name");
        let finding = RULE.at(
            context.instruction_span(divergent.instruction),
            with_others(message, others, "such instruction"),
        );
        let label = "nothing here keeps only the lanes of the mask, though lanes part";
        return match branch == divergent.instruction {
            true => finding.with_label(label),
            false => finding.with_secondary(context.instruction_span(branch), label),
        };
    }
    let who = if divergent.level == Level::Lanes { "some threads of a warp" } else { "some warps" };
    let message = with_others(format!("only {who} come to {where_to}"), others, "such instruction");
    let finding = RULE.at(context.instruction_span(divergent.instruction), message);
    let (place, what) = match divergent.cause {
        Cause::Guard => (divergent.instruction, "guard"),
        Cause::Branch(branch) | Cause::Mask(branch) | Cause::Parting(branch) => (branch, "branch"),
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
        Cause::Branch(branch) | Cause::Mask(branch) | Cause::Parting(branch) => {
            finding.with_secondary(context.instruction_span(branch), label)
        }
    }
}
