//! Where some threads leave the others to do something, and where all go on together.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use rustc_hash::FxHashSet;

use super::loops::latches;
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// Blocks of a loop that is looked at.
const MAX_BLOCKS: usize = 4096;
/// How many blocks are looked at on the way up.
const MAX_STEPS: usize = 16;

/// The first instruction that those come to, too, who do not come to this one: a barrier after it belongs there.
#[must_use]
pub fn joins_after(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(instruction));
    if facts.is_guarded(instruction) {
        let rest = instruction + 1..cfg.instructions(own).end;
        return rest.into_iter().find(|&after| !facts.is_guarded(after));
    }
    let (above, mut block) = (facts.postdominators(), own);
    for _ in 0..MAX_STEPS {
        let next = *above.get(block.index())?;
        if next as usize >= cfg.block_count() {
            return None;
        }
        block = NodeIndex::new(next as usize);
        if !cfg.dominates(own, block) {
            return cfg.instructions(block).next();
        }
    }
    None
}

/// The last place where all threads come between an instruction and another one: a barrier before it belongs there.
#[must_use]
pub fn common_before(facts: &FunctionFacts<'_>, first: u32, last: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let [own, mut block] = [first, last].map(|at| cfg.block_of(Handle::new(at)));
    let above = facts.postdominators();
    for _ in 0..MAX_STEPS {
        if block != own && always_comes(above, own, block) {
            return cfg.instructions(block).next();
        }
        block = cfg.immediate_dominator(block)?;
    }
    None
}

/// The branch that keeps others from an instruction, in the same rounds: a barrier before it belongs there.
#[must_use]
pub fn parts_before(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(instruction));
    let (above, mut block) = (facts.postdominators(), own);
    for _ in 0..MAX_STEPS {
        block = cfg.immediate_dominator(block)?;
        if cfg.successors(block).count() < 2 {
            continue;
        }
        if always_comes(above, block, own) {
            continue;
        }
        let is_same = match rounds(facts, own) {
            // Where it ends the rounds it chooses nobody.
            Some((_, blocks)) => cfg.successors(block).all(|(next, _)| blocks.contains(&next)),
            None => rounds(facts, block).is_none(),
        };
        return is_same.then(|| cfg.instructions(block).next_back()).flatten();
    }
    None
}

/// Whether all paths from the end of a block lead through another one, or the next turn through itself.
fn always_comes(above: &[u32], from: NodeIndex, to: NodeIndex) -> bool {
    let mut after = from.index();
    (0..MAX_STEPS).any(|_| {
        after = above.get(after).map_or(u32::MAX, |&next| next) as usize;
        after == to.index()
    })
}

/// Whether a branch decides if control comes to an instruction after it, or comes there again.
pub(super) fn chooses(facts: &FunctionFacts<'_>, branch: u32, instruction: u32) -> bool {
    let block = |at: u32| facts.cfg.block_of(Handle::new(at));
    !always_comes(facts.postdominators(), block(branch), block(instruction))
        && Reach::from(facts, Ends::Instructions(&[branch]), &[]).at(instruction).is_some()
}

/// The first instruction that is executed after the rounds of one instruction, of which another one is no part.
#[must_use]
pub fn after_rounds(facts: &FunctionFacts<'_>, instruction: u32, other: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let [own, other] = [instruction, other].map(|at| cfg.block_of(Handle::new(at)));
    let (head, mut blocks) = rounds(facts, own).filter(|(_, blocks)| !blocks.contains(&other))?;
    // Several ways may lead to the next round.
    for (_, latch) in latches(facts).filter(|(other, _)| *other == head) {
        blocks.extend(cfg.natural_loop(head, latch, MAX_BLOCKS).into_iter().flatten());
    }
    if blocks.contains(&other) {
        return None;
    }
    let ends = blocks.iter().flat_map(|&block| cfg.successors(block)).map(|(next, _)| next);
    let end = ends.filter(|next| !blocks.contains(next)).min()?;
    cfg.instructions(end).next()
}

/// The first instruction of the largest loop around an instruction.
#[must_use]
pub fn rounds_around(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(instruction));
    let around = latches(facts).filter(|(head, _)| cfg.dominates(*head, own));
    let loops = around.filter_map(|(head, latch)| {
        let blocks = cfg.natural_loop(head, latch, MAX_BLOCKS)?;
        blocks.contains(&own).then_some((blocks.len(), head))
    });
    let (_, head) = loops.max_by_key(|(count, _)| *count)?;
    cfg.instructions(head).next()
}

/// The smallest loop around a block: its head and its blocks.
pub(super) fn rounds(
    facts: &FunctionFacts<'_>,
    block: NodeIndex,
) -> Option<(NodeIndex, FxHashSet<NodeIndex>)> {
    let around = latches(facts).filter(|(head, _)| facts.cfg.dominates(*head, block));
    let loops = around.filter_map(|(head, latch)| {
        let blocks = facts.cfg.natural_loop(head, latch, MAX_BLOCKS)?;
        blocks.contains(&block).then_some((head, blocks))
    });
    loops.min_by_key(|(_, blocks)| blocks.len())
}
