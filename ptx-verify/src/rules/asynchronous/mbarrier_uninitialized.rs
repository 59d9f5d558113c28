use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;
use crate::subject::objects::{barrier_events, waits_for_threads};
use crate::subject::protocol;
use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::model::FaultKind;
use ptx_facts::asynchronous::{Event, Lives, next_step};
use ptx_facts::uniformity::Level;
use ptx_ir::ir::{FunctionKind, Handle};
use ptx_syntax::Diagnostic;

declare_rule! {
    /// ## What it does
    /// Reports an operation on an `mbarrier` object in a shared variable of a kernel that nowhere initialises that
    /// object, one that no way comes to from the initialisation, one that all threads come to without a barrier
    /// since some of them have initialised it, and one that every way comes to from its `mbarrier.inval`.
    ///
    /// ## Why is this bad
    /// What lies in shared memory is no barrier before `mbarrier.init` has made it one, and none behind
    /// `mbarrier.inval`; the behaviour is undefined. PTX ISA manual, sections "mbarrier.init" and "mbarrier.inval".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mbarrier.arrive.shared.b64 %rd1, [bar];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 8 .b64 bar;
    /// mbarrier.init.shared.b64 [bar], 32;
    /// mbarrier.arrive.shared.b64 %rd1, [bar];
    /// ```
    ///
    /// ## What it may miss
    /// Kernels that call functions with such instructions, objects at offsets that are no constants, and ways that
    /// miss the initialisation where others do not. Another thread may initialise an object: behind a
    /// barrier, or anything else that threads may wait with, the order of the two is not known.
    name: "mbarrier-uninitialized",
    code: "P0905",
    former: ["H0363"],
    class: Hazard,
    level: Warn,
    summary: "an `mbarrier` object that is used though nothing initialises it",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // A function may get its objects from elsewhere, and may initialise those of others.
    if !context.module.features().has(Features::MBARRIER) && !context.follows_calls() {
        return;
    }
    let Some(facts) = context.facts() else { return };
    if facts.function.kind != FunctionKind::Entry {
        return;
    }
    let before = diagnostics.len();
    if context.with_calls(&[]).is_empty() {
        let lives = Lives::new(facts, barrier_events(context));
        by_paths(context, facts, &lives, diagnostics);
    }
    if diagnostics.len() == before {
        let found = protocol::explained(context, |fault| fault.kind == FaultKind::NeverMade);
        diagnostics.extend(found.iter().map(|(span, explanation)| RULE.explained(*span, explanation)));
    }
}

/// The first barrier that all threads come to before an instruction.
fn first_meeting(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let block = |at: u32| facts.cfg.block_of(Handle::new(at));
    let meets = |&at: &u32| {
        let is_barrier = facts.instance(at).is_some_and(|instance| instance.effects.barrier);
        is_barrier && at < instruction && facts.cfg.dominates(block(at), block(instruction))
    };
    facts.reaching_out().filter(meets).min()
}

/// Other objects of which it is told where they are made.
const MAX_OTHERS: usize = 3;

/// What paths through the kernel tell by themselves.
fn by_paths(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    lives: &Lives<'_, '_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    if let Some(used) = lives.never_made() {
        let (name, span) = names(context, used);
        let message = match used.place.offset {
            Some(offset @ 1..) => format!("nothing initialises the `mbarrier` object at `{name}+{offset}`"),
            Some(0) | None => format!("nothing initialises an `mbarrier` object in `{name}`"),
        };
        let finding = RULE.at(place_of(context, used), message).with_secondary(span, "declared here");
        let mut finding = lives.made().take(MAX_OTHERS).fold(finding, |finding, other| {
            finding.with_secondary(context.instruction_span(other), "another object is initialised here")
        });
        if let Some(next) = lives.made().max().and_then(|last| next_step(facts, last)) {
            let span = context.instruction_span(next);
            finding = finding.with_secondary(span, "after the last of them threads go on here");
        }
        // All threads meet before they use it.
        if let Some(first) = first_meeting(facts, used.instruction) {
            let span = context.instruction_span(first);
            finding =
                finding.with_secondary(span, "the first meeting of all threads, before which it belongs");
        }
        diagnostics.push(finding.with_help("initialise it with `mbarrier.init`"));
        return;
    }
    let others = waits_for_threads(context);
    // The rule about that tells it with an execution.
    let is_unpublished = context.protocol().faults.iter().any(|fault| fault.kind == FaultKind::Unpublished);
    if let Some((used, made)) = lives.used_before_made(&others) {
        let message = "this `mbarrier` object is used before anything initialises it";
        let finding = RULE.at(place_of(context, used), message);
        diagnostics.push(finding.with_secondary(context.instruction_span(made), "initialised here"));
    } else if !is_unpublished {
        let is_divergent = |instruction: u32| {
            context.uniformity().cause(facts, context.graph(), instruction, Level::Warps).is_some()
        };
        if let Some((used, made)) = lives.made_by_some(&others, is_divergent) {
            let message = "threads may come here before the one that initialises this `mbarrier` object";
            let finding = RULE.at(place_of(context, used), message);
            diagnostics.push(
                finding
                    .with_secondary(context.instruction_span(made), "only some threads initialise it here")
                    .with_help("put a barrier between the two, `bar.sync 0`"),
            );
        }
    }
    for (used, released) in lives.after_release(|first, second| context.can_follow(first, second)) {
        let message = "this `mbarrier` object is used after `mbarrier.inval`";
        let finding = RULE.at(place_of(context, used), message);
        diagnostics.push(
            finding
                .with_secondary(context.instruction_span(released), "no longer an object from here on")
                .with_help("initialise it again with `mbarrier.init`"),
        );
    }
}

/// The place of the address of an object.
fn place_of(context: &FlowContext<'_>, event: Event) -> ptx_syntax::Span {
    let is_object = |access: &&ptx_facts::memory::Access| access.variable() == event.place.variable;
    let access = context.accesses_of(event.instruction).find(is_object);
    access.map_or_else(|| context.instruction_span(event.instruction), |access| access.span)
}

/// The variable of an object: its name, and where it is declared.
fn names<'a>(context: &FlowContext<'a>, event: Event) -> (&'a str, ptx_syntax::Span) {
    let module = context.module.module;
    match event.place.variable {
        Some(variable) => (module.name(module.variables[variable].name), module.variables[variable].span),
        None => ("", context.instruction_span(event.instruction)),
    }
}
