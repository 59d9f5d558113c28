use ptx_ir::isa::{AsyncAction, AsyncGroup, Event, Instance, Mode};
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use crate::facts::FunctionFacts;
use crate::facts::asynchronous::{Poll, is_weak, orders, polls, reachable};
use crate::facts::reach::{Ends, Reach};
use crate::rule::declare_rule;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a loop that waits for another thread by looking at global memory with a plain load, which need not see the
    /// store, or with one of scope `.cta`, which sees the stores of its own block; a bulk copy after such a loop without
    /// `fence.proxy.async`; and a store of a flag with `.relaxed` after plain stores, without a fence between.
    ///
    /// ## Why is this bad
    /// A flag tells that data is there if it is released after the data and acquired before it. Copies through the
    /// asynchronous proxy are ordered by a fence of the proxy besides. PTX ISA manual, sections "Memory Consistency Model"
    /// and "Proxies".
    ///
    /// ## Example
    /// ```ptx
    /// WAIT: ld.global.u32 %r1, [%rd1];
    /// setp.eq.u32 %p1, %r1, 0;
    /// @%p1 bra WAIT;
    /// ld.global.u32 %r2, [%rd2];
    /// st.global.u32 [%rd2], %r2;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// WAIT: ld.acquire.gpu.global.u32 %r1, [%rd1];
    /// setp.eq.u32 %p1, %r1, 0;
    /// @%p1 bra WAIT;
    /// ld.global.u32 %r2, [%rd2];
    /// st.global.u32 [%rd2], %r2;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// A loop that looks with `.cg` or `.cv` and has a fence, which sees the store though the memory model does not promise
    /// that. What is loaded after a loop that looks with `.relaxed` or `.volatile`, since it may be no data of the flag. Loops that do more than wait, flags that are counted with atomic operations, and data that is ordered by a barrier
    /// of the block on the way, where the fence may be in another thread.
    name: "unordered-flag",
    code: "P0924",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a flag in global memory that orders nothing",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let polls = polls(facts);
    for poll in &polls {
        let Some(instance) = facts.instance(poll.load) else { continue };
        // Behind a fence in each turn, what does not come from the multiprocessor's own cache is what was stored: libraries
        // for targets without `ld.relaxed` wait so.
        let sees = instance.is(Mode::Coherent) && poll.is_fenced;
        let (message, help) = match () {
            () if is_weak(facts, poll.load, false) && !sees => (
                "this loop waits for another thread with a plain load, which need not see what that stores",
                "load with `ld.acquire` in the scope of both threads",
            ),
            () if instance.is(Mode::BlockScope) && names_global(instance) => (
                "this loop waits for a flag in global memory in the scope of the block only",
                "a flag that another block sets needs the scope `.gpu`, one of another device or the host `.sys`",
            ),
            () => continue,
        };
        diagnostics.push(RULE.at(context.instruction_span(poll.load), message).with_help(help));
    }
    if diagnostics.iter().any(|each| each.rule == RULE.info.name) {
        return;
    }
    after_polls(context, facts, &polls, diagnostics);
    if context.module.features().flags {
        before_flags(context, facts, diagnostics);
    }
}

fn names_global(instance: &Instance) -> bool {
    let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
    accesses.any(|access| access.space == Some(StateSpace::Global))
}

/// What is read after a flag was seen.
fn after_polls(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    polls: &[Poll],
    diagnostics: &mut Vec<Diagnostic>,
) {
    if polls.is_empty() {
        return;
    }
    let fences = ascending(reachable(facts).filter(|&each| {
        facts.instance(each).is_none_or(|instance| instance.effects.event == Some(Event::ProxyFence))
            || facts.is_call(each)
    }));
    let copies = ascending(reachable(facts).filter(|&each| {
        facts.instance(each).is_some_and(|instance| {
            instance.effects.asynchronous == Some((AsyncGroup::Mbarrier, AsyncAction::Start))
                && names_global(instance)
        })
    }));
    for poll in polls {
        let ends = [poll.end];
        if let Some(copy) = first_reached(facts, &ends, &fences, &copies) {
            let message = "this copy reads through the asynchronous proxy what the flag was seen for through the generic one";
            diagnostics.push(
                RULE.at(context.instruction_span(copy), message)
                    .with_secondary(context.instruction_span(poll.load), "the flag is seen here")
                    .with_help("write `fence.proxy.async` between the two"),
            );
            return;
        }
    }
}

/// What was written before a flag is set.
fn before_flags(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let is_flag = |&each: &u32| {
        facts.instance(each).is_some_and(|instance| {
            let effects = &instance.effects;
            let stores = effects.writes_memory && !effects.reads_memory && !effects.atomic;
            stores && instance.is(Mode::Relaxed) && !instance.is(Mode::BlockScope) && names_global(instance)
        })
    };
    let flags = ascending(reachable(facts).filter(is_flag));
    if flags.is_empty() {
        return;
    }
    let ordering = ascending(reachable(facts).filter(|&each| orders(facts, each)));
    let stores = ascending(reachable(facts).filter(|&each| is_weak(facts, each, true)));
    for flag in flags {
        let reach = Reach::to(facts, Ends::Instructions(&[flag]), &ordering);
        // Before it, and not only in another round of a loop that it is in.
        let before = |store: &&u32| **store < flag && reach.at(**store).is_some();
        if let Some(&store) = stores.iter().rev().find(before) {
            let message = "this store tells others of what was stored before, and orders nothing";
            diagnostics.push(
                RULE.at(context.instruction_span(flag), message)
                    .with_secondary(context.instruction_span(store), "stored here")
                    .with_help("store the flag with `st.release`, or write `fence.acq_rel` before it"),
            );
            return;
        }
    }
}

fn ascending(instructions: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = instructions.collect();
    all.sort_unstable();
    all
}

/// The first of some instructions that a path leads to without one of `stops`.
fn first_reached(facts: &FunctionFacts<'_>, from: &[u32], stops: &[u32], wanted: &[u32]) -> Option<u32> {
    if wanted.is_empty() {
        return None;
    }
    let reach = Reach::from(facts, Ends::Instructions(from), stops);
    wanted.iter().copied().find(|&each| !from.contains(&each) && each > from[0] && reach.at(each).is_some())
}
