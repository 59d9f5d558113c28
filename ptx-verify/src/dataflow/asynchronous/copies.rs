//! Shared memory that is read while a copy into it is in flight.

use super::groups::{BOUNDS, MOST_GROUPS, Row};
use crate::dataflow::facts::FunctionFacts;
use crate::dataflow::ways::{Ends, Ways, search};
use petgraph::Direction;
use ptx_ir::ir::Handle;
use ptx_ir::isa::{AsyncAction, AsyncGroup, OperandSpec};
use ptx_ir::space::StateSpace;
use std::ops::ControlFlow;

/// The first of some reads of shared memory that a way from the entry comes to after one of `starts` and without any of
/// `waits`: both instructions.
#[must_use]
pub fn read_before_wait(
    facts: &FunctionFacts<'_>,
    starts: &[u32],
    waits: &[u32],
    reads: &[u32],
) -> Option<(u32, u32)> {
    let in_front = Ways::from(facts, Ends::Function, waits);
    let first: Vec<u32> = starts.iter().copied().filter(|&start| in_front.at(start).is_some()).collect();
    if first.is_empty() {
        return None;
    }
    let copying = Ways::from(facts, Ends::Instructions(&first), waits);
    reads.iter().find_map(|&read| Some((read, copying.at(read)?)))
}

/// One of some reads of shared memory in a loop that copies and never waits: the read and the copy. What the loop copies in
/// one round it reads in another.
#[must_use]
pub fn read_in_loop_without_wait(
    facts: &FunctionFacts<'_>,
    starts: &[u32],
    waits: &[u32],
    reads: &[u32],
) -> Option<(u32, u32)> {
    // The copies of a block are in the same loops.
    let mut judged = None;
    starts.iter().find_map(|&start| {
        let block = facts.cfg.block_of(Handle::new(start));
        let again = Ways::to(facts, Ends::Instructions(&[start]), waits);
        if judged.replace(block) == Some(block) || again.at(start).is_none() {
            return None;
        }
        let behind = Ways::from(facts, Ends::Instructions(&[start]), waits);
        let read = reads.iter().find(|&&read| again.at(read).is_some() && behind.at(read).is_some());
        read.map(|&read| (read, start))
    })
}

/// A copy to a known place, and what else is done there.
#[derive(Clone, Debug)]
pub struct Copied {
    /// The copy.
    pub start: u32,
    /// The accesses of what it writes, ascending.
    pub accesses: Vec<u32>,
}

/// The first access of the place of a copy that a way comes to before a wait for the copy.
#[must_use]
pub fn accessed_in_flight(facts: &FunctionFacts<'_>, row: &Row, copied: &Copied) -> Option<u32> {
    // How many groups were closed since the start, its own among them.
    search(facts, Direction::Outgoing, (copied.start, 0), BOUNDS, |instruction, groups| {
        let covers = row.wait(instruction).is_some_and(|left| *groups > left || *groups == MOST_GROUPS);
        if instruction == copied.start || covers || row.calls.binary_search(&instruction).is_ok() {
            return ControlFlow::Break(None);
        }
        if row.commits.binary_search(&instruction).is_ok() {
            *groups = (*groups + 1).min(MOST_GROUPS);
        }
        if copied.accesses.binary_search(&instruction).is_ok() {
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
    let mut reads: Vec<u32> = super::reachable(facts).filter(reads_shared).collect();
    reads.sort_unstable();
    reads
}
