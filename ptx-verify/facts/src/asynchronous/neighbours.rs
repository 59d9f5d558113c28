//! What threads do next to an instruction, and before it: between these belongs what is missing there.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::{AsyncAction, Control, Convergence, Event};
use rustc_hash::FxHashSet;

use super::parting::rounds;
use crate::FunctionFacts;

/// Blocks that are looked at on the way.
const MAX_STEPS: usize = 4;
/// Loops within each other in which a meeting is looked for.
const MAX_LOOPS: usize = 3;
/// Blocks that are looked at on the way up to where threads meet: before a loop within a loop.
const MAX_ABOVE: usize = 16;

/// The next instruction that threads meet at, tell others something with, or branch at. Where an operation starts others of
/// its kind belong to it.
#[must_use]
pub fn next_step(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let mut block = cfg.block_of(Handle::new(instruction));
    let mut from = instruction + 1;
    for _ in 0..MAX_STEPS {
        let found = (from..cfg.instructions(block).end).find(|&at| is_other_step(facts, at, instruction));
        if found.is_some() {
            return found;
        }
        block = cfg.successors(block).next()?.0;
        from = cfg.instructions(block).start;
    }
    None
}

/// The last of them before an instruction, on all ways there.
#[must_use]
pub fn step_before(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    before(facts, instruction, MAX_STEPS, |at| is_other_step(facts, at, instruction))
}

/// The last instruction before it at which threads meet others, or wait.
pub(super) fn meeting_before(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    before(facts, instruction, MAX_ABOVE, |at| is_meeting(facts, at))
}

/// Where it is decided who comes to the last one on some ways of a round, which others leave out: a condition may leave out too many.
pub(super) fn meeting_on_some_ways(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(instruction));
    let mut inner = own;
    for _ in 0..MAX_LOOPS {
        let (head, blocks) = rounds(facts, inner)?;
        let found = meeting_of_round(facts, instruction, head, &blocks);
        if found.is_some() {
            return found;
        }
        inner = cfg.immediate_dominator(head)?;
    }
    None
}

/// The same of the rounds of one loop.
fn meeting_of_round(
    facts: &FunctionFacts<'_>,
    instruction: u32,
    head: NodeIndex,
    blocks: &FxHashSet<NodeIndex>,
) -> Option<u32> {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(instruction));
    let (mut pending, mut seen) = (vec![own], vec![own]);
    let mut found = None;
    while let Some(block) = pending.pop() {
        if seen.len() > MAX_ABOVE {
            break;
        }
        let end = if block == own { instruction } else { cfg.instructions(block).end };
        let last = (cfg.instructions(block).start..end).rfind(|&at| is_meeting(facts, at));
        if let Some(at) = last {
            if !cfg.dominates(block, own) {
                let above = cfg.immediate_dominator(block).and_then(|above| cfg.instructions(above).last());
                let branch = above.filter(|&branch| facts.control(branch) == Control::Branch);
                found = found.max(branch.or(Some(at)));
            }
            continue;
        }
        if block == head {
            continue;
        }
        for (above, _) in cfg.predecessors(block) {
            if blocks.contains(&above) && !seen.contains(&above) && cfg.place(above) < cfg.place(block) {
                seen.push(above);
                pending.push(above);
            }
        }
    }
    found
}

/// Whether threads meet others there, or wait.
fn is_meeting(facts: &FunctionFacts<'_>, at: u32) -> bool {
    facts.instance(at).is_some_and(|instance| {
        let waits = [AsyncAction::Test, AsyncAction::Wait, AsyncAction::WaitAll];
        let acts = instance.effects.asynchronous;
        let meets = matches!(instance.effects.event, Some(Event::BarrierSync | Event::ClusterWait));
        meets || acts.is_some_and(|(_, action)| waits.contains(&action))
    })
}

fn before(
    facts: &FunctionFacts<'_>,
    instruction: u32,
    blocks: usize,
    wanted: impl Fn(u32) -> bool,
) -> Option<u32> {
    let cfg = &facts.cfg;
    let mut block = cfg.block_of(Handle::new(instruction));
    let mut to = instruction;
    for _ in 0..blocks {
        let found = (cfg.instructions(block).start..to).rfind(|&at| wanted(at));
        if found.is_some() {
            return found;
        }
        block = cfg.immediate_dominator(block)?;
        to = cfg.instructions(block).end;
    }
    None
}

fn is_other_step(facts: &FunctionFacts<'_>, at: u32, of: u32) -> bool {
    let kind = |at: u32| facts.instance(at).and_then(|instance| instance.effects.asynchronous);
    let is_alike = matches!(kind(at), Some((_, AsyncAction::Start))) && kind(at) == kind(of);
    !is_alike && is_step(facts, at)
}

/// Whether threads meet there, tell others something, or branch.
pub(super) fn is_step(facts: &FunctionFacts<'_>, at: u32) -> bool {
    facts.instance(at).is_some_and(|instance| {
        let effects = &instance.effects;
        effects.asynchronous.is_some()
            || effects.event.is_some()
            || effects.convergence != Convergence::None
            || effects.control != Control::Next
    })
}
