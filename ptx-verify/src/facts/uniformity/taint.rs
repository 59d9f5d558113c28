//! A quick look at whether anything may be wrong: whether some branch may depend on the thread, by registers and not by
//! values, and something lies after it that threads have to come to together. Most functions are cleared by it.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Computation, Convergence, Instance};

use super::control::{has_meeting, joins};
use super::meeting::is_meeting;
use crate::facts::FunctionFacts;
use crate::facts::registers::{RegisterTable, Use};

/// Rounds over a function; what changes still after them is looked at with care.
const MAX_ROUNDS: usize = 6;
/// Blocks visited for the regions of branches, for each block of the function.
const VISITS_PER_BLOCK: usize = 16;
const MIN_VISITS: usize = 1000;

/// Whether some threads only may come to an instruction that threads have to come to together.
pub(super) fn may_part(facts: &FunctionFacts<'_>) -> bool {
    if has_found_mask(facts) {
        return true;
    }
    let mut tainted = facts.table(false);
    let mut regions = Regions::new(facts);
    for round in 0..MAX_ROUNDS {
        let mut changed = spread(facts, &mut tainted, round == 0);
        for &block in facts.cfg.reverse_postorder() {
            let Some(last) = facts.cfg.instructions(block).last() else { continue };
            let is_told = regions.told[block.index()];
            if is_told || !facts.cfg.is_fork(block) || !is_chosen(facts, &tainted, last) {
                continue;
            }
            match regions.mark(facts, &mut tainted, block) {
                None => return true,
                Some(more) => changed |= more,
            }
        }
        if !changed {
            return facts.cfg.reverse_postorder().iter().any(|&block| {
                regions.meets[block.index()]
                    && facts.cfg.instructions(block).any(|instruction| {
                        is_guarded(facts, &tainted, instruction)
                            && (is_meeting(facts, instruction) || facts.is_call(instruction))
                    })
            });
        }
    }
    true
}

/// Whether some mask of lanes is what a vote has found out: lanes may come that it does not name.
fn has_found_mask(facts: &FunctionFacts<'_>) -> bool {
    let computes = |instruction| facts.instance(instruction).and_then(|instance| instance.effects.computes);
    (0..facts.body.instructions.len() as u32).any(|instruction| {
        if !is_meeting(facts, instruction) {
            return false;
        }
        let mask = facts.instance(instruction).and_then(Instance::lane_mask);
        let of_mask = |each: &&Use| Some(each.operand()) == mask && each.access().reads();
        let register = mask.and_then(|_| facts.uses().of(instruction).iter().find(of_mask));
        register.is_some_and(|each| {
            let mut writes = facts.definitions(each.register).iter();
            writes.any(|&write| computes(write) == Some(Computation::Vote))
        })
    })
}

fn is_guarded(facts: &FunctionFacts<'_>, tainted: &RegisterTable<bool>, instruction: u32) -> bool {
    facts.condition(instruction).is_some_and(|condition| tainted.get(condition.register) == Some(&true))
}

/// Whether a branch may go different ways in different threads.
fn is_chosen(facts: &FunctionFacts<'_>, tainted: &RegisterTable<bool>, branch: u32) -> bool {
    is_guarded(facts, tainted, branch) || facts.uses().of(branch).iter().any(|each| tainted[each.register])
}

/// Goes over the instructions once, for the first time or again; whether more registers may differ.
fn spread(facts: &FunctionFacts<'_>, tainted: &mut RegisterTable<bool>, is_first: bool) -> bool {
    let mut changed = false;
    for &block in facts.cfg.reverse_postorder() {
        for instruction in facts.cfg.instructions(block) {
            let uses = facts.uses().of(instruction);
            if !uses.iter().any(|each| each.access().writes() && !tainted[each.register]) {
                continue;
            }
            let differs = is_guarded(facts, tainted, instruction)
                || uses.iter().any(|each| !each.access().writes() && tainted[each.register])
                || is_first && begins(facts, instruction);
            if differs {
                for each in uses.iter().filter(|each| each.access().writes()) {
                    tainted[each.register] = true;
                }
                changed = true;
            }
        }
    }
    changed
}

/// Whether what an instruction computes differs between threads though its operands do not.
fn begins(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let effects = facts.instance(instruction).map(|instance| &instance.effects);
    let makes = effects.is_some_and(|effects| {
        effects.thread_dependent || effects.atomic || effects.convergence == Convergence::Aligned
    });
    makes
        || facts.body.operands(Handle::new(instruction)).iter().any(|operand| match operand {
            Operand::Special(register) | Operand::SpecialSum { register, .. } => {
                super::vary::of_special(*register) != super::Vary::NONE
            }
            _ => false,
        })
}

/// What is set between branches and where their paths come together.
struct Regions {
    /// Where all paths from each block come together.
    joins: Vec<Option<u32>>,
    /// The blocks in which threads may have to come together.
    meets: Vec<bool>,
    /// The blocks whose branches were followed.
    told: Vec<bool>,
    /// The blocks in which everything that is set was marked.
    marked: Vec<bool>,
    /// The branch for which each block was visited last.
    visited: Vec<u32>,
    visits: usize,
    open: Vec<NodeIndex>,
}

impl Regions {
    fn new(facts: &FunctionFacts<'_>) -> Self {
        let count = facts.cfg.block_count();
        Self {
            joins: joins(facts),
            meets: (0..count).map(|block| has_meeting(facts, NodeIndex::new(block))).collect(),
            told: vec![false; count],
            marked: vec![false; count],
            visited: vec![u32::MAX; count],
            visits: MIN_VISITS + VISITS_PER_BLOCK * count,
            open: Vec::new(),
        }
    }

    /// Marks what is set between a branch and where its paths come together; none where something there needs a closer
    /// look.
    fn mark(
        &mut self,
        facts: &FunctionFacts<'_>,
        tainted: &mut RegisterTable<bool>,
        block: NodeIndex,
    ) -> Option<bool> {
        self.told[block.index()] = true;
        let (branch, join) = (block.index() as u32, self.joins[block.index()]);
        let mut changed = false;
        self.open.clear();
        self.open.push(block);
        while let Some(from) = self.open.pop() {
            for (next, _) in facts.cfg.successors(from) {
                let index = next.index();
                if Some(index as u32) == join || std::mem::replace(&mut self.visited[index], branch) == branch
                {
                    continue;
                }
                self.visits = self.visits.checked_sub(1)?;
                if self.meets[index] {
                    return None;
                }
                self.open.push(next);
                if std::mem::replace(&mut self.marked[index], true) {
                    continue;
                }
                for instruction in facts.cfg.instructions(next) {
                    for each in facts.uses().of(instruction).iter().filter(|each| each.access().writes()) {
                        changed |= !std::mem::replace(&mut tainted[each.register], true);
                    }
                }
            }
        }
        Some(changed)
    }
}
