//! Shared memory that is read while a copy into it is in flight.

use crate::dataflow::facts::FunctionFacts;
use crate::dataflow::ways::{Ends, Ways};
use ptx_ir::ir::Handle;
use ptx_ir::space::StateSpace;

/// The first read of shared memory that a way from the entry comes to after one of `starts` and without any of
/// `waits`: both instructions.
#[must_use]
pub fn read_before_wait(facts: &FunctionFacts<'_>, starts: &[u32], waits: &[u32]) -> Option<(u32, u32)> {
    let in_front = Ways::from(facts, Ends::Function, waits);
    let first: Vec<u32> = starts.iter().copied().filter(|&start| in_front.at(start).is_some()).collect();
    if first.is_empty() {
        return None;
    }
    let copying = Ways::from(facts, Ends::Instructions(&first), waits);
    reads_of_shared(facts).into_iter().find_map(|read| Some((read, copying.at(read)?)))
}

/// A read of shared memory in a loop that copies and never waits: the read and the copy. What the loop copies in
/// one round it reads in another.
#[must_use]
pub fn read_in_loop_without_wait(
    facts: &FunctionFacts<'_>,
    starts: &[u32],
    waits: &[u32],
) -> Option<(u32, u32)> {
    let reads = reads_of_shared(facts);
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

/// The instructions that load from shared memory, and do nothing else there.
fn reads_of_shared(facts: &FunctionFacts<'_>) -> Vec<u32> {
    let reads_shared = |&instruction: &u32| {
        let Some(instance) = facts.instance(instruction) else { return false };
        let effects = &instance.effects;
        let loads = effects.reads_memory && !effects.writes_memory && effects.asynchronous.is_none();
        let mut memory = instance.operands.iter().filter_map(|operand| operand.access?.space);
        loads && memory.any(|space| space.base() == StateSpace::Shared)
    };
    let mut reads: Vec<u32> = super::reachable(facts).filter(reads_shared).collect();
    reads.sort_unstable();
    reads
}
