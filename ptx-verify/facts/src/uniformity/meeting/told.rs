//! Loops whose turns other threads tell: who waits at a barrier, loads from shared memory what to do, and waits again
//! unless that is to leave.
//!
//! Triton's warps wait for their part of a kernel so. How often they come to the barrier is as others have stored it, who
//! know how often they come themselves: nothing here tells that the two differ. So it is with other barriers to which both
//! come.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashSet;

use super::need;
use crate::values::{Engine, Kind, ValueId, space_of};

/// Instructions between what is loaded and what is asked about it.
const MAX_DEPTH: usize = 4;

/// Whether one side of a branch leads to a loop around a barrier, out of which what is loaded after the barrier leads, and
/// the other side comes to the same barrier and stores to such memory. Both sides come to the barrier at `place`, if that is
/// another one.
pub(super) fn is_told(
    engine: &mut Engine<'_, '_>,
    branch: NodeIndex,
    place: u64,
    visits: &mut usize,
) -> bool {
    let (facts, graph) = (engine.facts(), engine.graph());
    let cfg = &facts.cfg;
    let sides: Vec<NodeIndex> =
        graph.successors(branch).iter().map(|(side, _)| NodeIndex::new(*side as usize)).collect();
    for &fork in cfg.reverse_postorder() {
        if !cfg.is_fork(fork) || !sides.iter().any(|&side| side != branch && cfg.dominates(side, fork)) {
            continue;
        }
        let Some(load) = decider(engine, fork).and_then(|value| loaded(engine, value, MAX_DEPTH)) else {
            continue;
        };
        let at = cfg.block_of(Handle::new(load));
        let before: Vec<u32> = cfg.instructions(at).filter(|instruction| *instruction < load).collect();
        let barrier = |instruction: u32| {
            let waits = facts.instance(instruction).is_some_and(|instance| instance.effects.barrier);
            need(engine, instruction).filter(|_| waits)?.place
        };
        let waited: Vec<u64> = before.into_iter().filter_map(barrier).collect();
        let Some(waited) = waited.iter().find(|&&other| other == place).or(waited.last()).copied() else {
            continue;
        };
        let mut leads_there = |side: NodeIndex| leads(engine, side, at, visits);
        let others: Vec<NodeIndex> =
            sides.iter().copied().filter(|&side| leads_there(side) == Some(false)).collect();
        let back: Vec<Option<bool>> = next(engine, fork).into_iter().map(&mut leads_there).collect();
        let is_left = back.contains(&Some(true)) && back.contains(&Some(false));
        // Those on the other side do not come to the loop: they are who tells.
        let is_told =
            is_left && others.len() + 1 == sides.len() && comes(engine, &others, waited, true, visits);
        let mut meet = |sides: &[NodeIndex]| waited == place || comes(engine, sides, place, false, visits);
        if is_told && meet(&others) && meet(&[fork]) {
            return true;
        }
    }
    false
}

/// What decides where control goes on after a block: a predicate, or the index into a list of targets.
fn decider(engine: &Engine<'_, '_>, fork: NodeIndex) -> Option<ValueId> {
    let (facts, graph) = (engine.facts(), engine.graph());
    let last = facts.cfg.instructions(fork).last()?;
    graph.branch_index(facts, fork).or_else(|| graph.guard(last))
}

/// Where control goes on after a block, through lists of targets.
fn next(engine: &Engine<'_, '_>, block: NodeIndex) -> Vec<NodeIndex> {
    let (cfg, graph) = (&engine.facts().cfg, engine.graph());
    let after =
        |block: NodeIndex| graph.successors(block).iter().map(|(next, _)| NodeIndex::new(*next as usize));
    let mut all = Vec::new();
    for next in after(block) {
        match cfg.instructions(next).is_empty() {
            true => all.extend(after(next)),
            false => all.push(next),
        }
    }
    all
}

/// Whether who begins at such blocks comes to a barrier at such a place, and, if it `tells`, may store what those read who
/// wait at it.
fn comes(
    engine: &mut Engine<'_, '_>,
    sides: &[NodeIndex],
    place: u64,
    tells: bool,
    visits: &mut usize,
) -> bool {
    let facts = engine.facts();
    let mut seen = FxHashSet::from_iter(sides.iter().copied());
    let mut open = sides.to_vec();
    let (mut waits, mut stores) = (false, !tells);
    while let Some(inside) = open.pop() {
        let Some(left) = visits.checked_sub(1) else { return false };
        *visits = left;
        for instruction in facts.cfg.instructions(inside) {
            let Some(instance) = facts.instance(instruction) else { continue };
            // An address of no space may be shared.
            let is_shared = || space_of(instance).is_none_or(|space| space == StateSpace::Shared);
            stores |= instance.effects.writes_memory && !instance.effects.barrier && is_shared();
            waits |= need(engine, instruction).is_some_and(|need| need.place == Some(place));
        }
        if waits && stores {
            return true;
        }
        let next = engine.graph().successors(inside).iter().map(|(next, _)| NodeIndex::new(*next as usize));
        open.extend(next.filter(|next| seen.insert(*next)));
    }
    false
}

/// Whether a path leads from one block to another; none where that takes too long.
fn leads(engine: &Engine<'_, '_>, from: NodeIndex, to: NodeIndex, visits: &mut usize) -> Option<bool> {
    let mut seen = FxHashSet::from_iter([from]);
    let mut open = vec![from];
    while let Some(inside) = open.pop() {
        if inside == to {
            return Some(true);
        }
        *visits = visits.checked_sub(1)?;
        let next = engine.graph().successors(inside).iter().map(|(next, _)| NodeIndex::new(*next as usize));
        open.extend(next.filter(|next| seen.insert(*next)));
    }
    Some(false)
}

/// The load from shared memory that decides about a value, if that and numbers are all that does.
fn loaded(engine: &Engine<'_, '_>, value: ValueId, depth: usize) -> Option<u32> {
    let (facts, graph) = (engine.facts(), engine.graph());
    let Kind::Computed { instruction, .. } = graph.kind(value) else { return None };
    let instance = facts.instance(instruction)?;
    if instance.effects.reads_memory && !instance.effects.writes_memory {
        return (space_of(instance) == Some(StateSpace::Shared)).then_some(instruction);
    }
    let mut read = facts.uses().range(instruction).filter_map(|at| graph.read(at));
    let (only, None) = (read.next()?, read.next()) else { return None };
    loaded(engine, only, depth.checked_sub(1)?)
}
