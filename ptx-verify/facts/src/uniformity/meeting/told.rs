//! Loops whose turns other threads tell: who waits at a barrier, loads from shared memory what to do, and waits again
//! unless that is to leave.
//!
//! Triton's warps wait for their part of a kernel so. How often they come to the barrier is as others have stored it, who
//! know how often they come themselves: nothing here tells that the two differ.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashSet;

use super::need;
use crate::values::{Engine, Kind, ValueId, space_of};

/// Instructions between what is loaded and what is asked about it.
const MAX_DEPTH: usize = 4;

/// Whether one side of a branch leads to a loop around a barrier at such a place, out of which what is loaded after the
/// barrier leads, and the other side comes to the same barrier and stores to such memory.
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
        let Some(guard) = cfg.instructions(fork).last().and_then(|last| graph.guard(last)) else { continue };
        let Some(load) = loaded(engine, guard, MAX_DEPTH) else { continue };
        let at = cfg.block_of(Handle::new(load));
        let before: Vec<u32> = cfg.instructions(at).filter(|instruction| *instruction < load).collect();
        let waits =
            |instruction: u32| need(engine, instruction).is_some_and(|need| need.place == Some(place));
        if !before.into_iter().any(waits) {
            continue;
        }
        let mut leads_there = |side: NodeIndex| leads(engine, side, at, visits);
        let others: Vec<NodeIndex> =
            sides.iter().copied().filter(|&side| leads_there(side) == Some(false)).collect();
        let next = graph.successors(fork).iter().map(|(next, _)| NodeIndex::new(*next as usize));
        let back: Vec<Option<bool>> = next.map(&mut leads_there).collect();
        let is_left = back.contains(&Some(true)) && back.contains(&Some(false));
        // Those on the other side do not come to the loop: they are who tells.
        if is_left && others.len() + 1 == sides.len() && tells(engine, &others, place, visits) {
            return true;
        }
    }
    false
}

/// Whether who begins at such blocks comes to a barrier at such a place, and may store what those read who wait at it.
fn tells(engine: &mut Engine<'_, '_>, sides: &[NodeIndex], place: u64, visits: &mut usize) -> bool {
    let facts = engine.facts();
    let mut seen = FxHashSet::from_iter(sides.iter().copied());
    let mut open = sides.to_vec();
    let (mut waits, mut stores) = (false, false);
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
