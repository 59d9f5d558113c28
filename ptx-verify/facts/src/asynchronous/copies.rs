//! Shared memory that is read while a copy into it is in flight.

use super::groups::{BOUNDS, GroupMark};
use crate::FunctionFacts;
use crate::components::cycles;
use crate::reach::{Budget, Ends, Marks, Reach, search};
use petgraph::Direction;
use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::{AsyncAction, AsyncGroup, OperandSpec};
use ptx_ir::space::StateSpace;
use rustc_hash::{FxHashMap, FxHashSet};
use std::ops::ControlFlow;

/// The first of some reads of shared memory that a path from the entry comes to after one of `starts` and without any of
/// `waits`: both instructions.
#[must_use]
pub fn read_before_wait(
    facts: &FunctionFacts<'_>,
    starts: &[u32],
    waits: &[u32],
    reads: &[u32],
) -> Option<(u32, u32)> {
    let in_front = Reach::from(facts, Ends::Function, waits);
    let first: Vec<u32> = starts.iter().copied().filter(|&start| in_front.at(start).is_some()).collect();
    if first.is_empty() {
        return None;
    }
    let copying = Reach::from(facts, Ends::Instructions(&first), waits);
    reads.iter().find_map(|&read| Some((read, copying.at(read)?)))
}

/// One of some reads of shared memory in a loop that copies and never waits: the read and the copy. What the loop copies in
/// one round it reads in another. Where a wait is in a branch of the loop, the last round alone may pass it by.
#[must_use]
pub fn read_in_loop_without_wait(
    facts: &FunctionFacts<'_>,
    starts: &[u32],
    waits: &[u32],
    reads: &[u32],
) -> Option<(u32, u32)> {
    let block_of = |instruction: u32| facts.cfg.block_of(Handle::new(instruction));
    let waiting: FxHashSet<NodeIndex> = waits.iter().map(|&wait| block_of(wait)).collect();
    // A path that comes back passes whole blocks, so that only those count in which nothing waits.
    let loop_of = cycles(&facts.cfg, |block| !waiting.contains(&block));
    let mut first_read = FxHashMap::default();
    for &read in reads {
        if let Some(around) = loop_of[block_of(read).index()] {
            first_read.entry(around).or_insert(read);
        }
    }
    // The head of a loop comes before the others.
    let head = |around: u32| {
        let mut order = facts.cfg.reverse_postorder().iter().copied();
        order.find(|block| loop_of[block.index()] == Some(around))
    };
    let mut passed_by: FxHashMap<u32, bool> = FxHashMap::default();
    starts.iter().find_map(|&start| {
        let around = loop_of[block_of(start).index()]?;
        let read = *first_read.get(&around)?;
        let is_passed_by = passed_by
            .entry(around)
            .or_insert_with(|| head(around).is_none_or(|head| waits_in_round(facts, head, &waiting)));
        (!*is_passed_by).then_some((read, start))
    })
}

/// Whether one of some blocks is in the loop with this head: whether a path leads from there back to the head, without
/// leaving what the head dominates. The loop around it is left out, for its head comes before.
fn waits_in_round(facts: &FunctionFacts<'_>, head: NodeIndex, waiting: &FxHashSet<NodeIndex>) -> bool {
    let inside = |block: NodeIndex| facts.cfg.is_reachable(block) && facts.cfg.dominates(head, block);
    let mut seen = FxHashSet::default();
    let mut open = vec![head];
    while let Some(block) = open.pop() {
        for (before, _) in facts.cfg.predecessors(block).filter(|(before, _)| inside(*before)) {
            if before != head && seen.insert(before) {
                open.push(before);
            }
        }
    }
    waiting.iter().any(|block| seen.contains(block))
}

/// The first instruction that `touches` what a copy writes and that a path comes to from the copy before a wait for it, of
/// those that the marks of its row tell to touch anything.
#[must_use]
pub fn accessed_in_flight(
    facts: &FunctionFacts<'_>,
    marks: &Marks<GroupMark>,
    start: u32,
    budget: &Budget,
    touches: impl Fn(u32) -> bool,
) -> Option<u32> {
    search(facts, Direction::Outgoing, (start, 0), marks, (BOUNDS, budget), |instruction, mark, groups| {
        if !mark.pass(groups) {
            return ControlFlow::Break(None);
        }
        if mark.touches && touches(instruction) {
            return ControlFlow::Break(Some(instruction));
        }
        ControlFlow::Continue(())
    })
}

/// The instructions that load from shared memory, and do nothing else there, and operations on matrices in it.
#[must_use]
pub fn reads_of_shared(facts: &FunctionFacts<'_>) -> Vec<u32> {
    let reads_shared = |&instruction: &u32| {
        let Some(instance) = facts.instance(instruction) else { return false };
        let effects = &instance.effects;
        let loads = effects.reads_memory && !effects.writes_memory && effects.asynchronous.is_none();
        let mut memory = instance.operands.iter().filter_map(|operand| operand.access?.space);
        // Operations on matrices find them through descriptors of 64 bits.
        let is_matrix = matches!(
            effects.asynchronous,
            Some((AsyncGroup::Wgmma | AsyncGroup::Tcgen05, AsyncAction::Start))
        );
        let is_descriptor = |operand: &OperandSpec| operand.ty.is_some_and(|ty| ty.bits() == 64);
        loads && memory.any(|space| space.base() == StateSpace::Shared)
            || is_matrix && instance.operands.iter().any(is_descriptor)
    };
    let mut reads: Vec<u32> = facts.reaching_out().filter(reads_shared).collect();
    reads.sort_unstable();
    reads
}
