//! Which values differ between the threads of a block or of a warp, and which code only some of them run.
//!
//! A value is uniform, or the same within each warp, or the same in each warp for each lane, or different from thread to
//! thread. It comes from special
//! registers, goes through data, and, where a register is written on both sides of a branch that threads take
//! differently, through control.

mod balance;
mod meeting;
mod variance;

use super::FunctionFacts;
use super::registers::RegisterTable;
use super::values::Values;
use balance::is_balanced;
use meeting::{meets_anywhere, needs};
use petgraph::graph::{DiGraph, NodeIndex};
use ptx_ir::dominators::immediate_dominators;
use ptx_ir::ir::{Handle, Register};
use ptx_ir::isa::Control;
use rustc_hash::FxHashMap;

pub use meeting::needed_on_every_way;
pub use variance::Variance;

/// Why not all threads come to an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Its own guard.
    Guard,
    /// A branch, at this instruction.
    Branch(u32),
}

/// An instruction that threads have to reach together, and not all of them do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergent {
    /// The instruction.
    pub instruction: u32,
    /// Why.
    pub cause: Cause,
    /// Whether the threads of one warp differ, or only warps.
    pub variance: Variance,
}

/// What is known about the divergence of a function.
#[derive(Clone, Debug, Default)]
pub struct Divergence {
    registers: RegisterTable<Variance>,
    /// For each block the branch with the largest variance that it depends on.
    blocks: Vec<Option<(Variance, u32)>>,
    /// Where the ways from each block come together.
    joins: Vec<Option<u32>>,
    /// How the branch at the end of each block varies.
    branches: Vec<Variance>,
    /// What registers that are written several times hold since they were written in the block being looked at.
    recent: FxHashMap<Register, Variance>,
    /// What they hold where each block is entered; only where that is followed.
    entries: Option<Vec<FxHashMap<Register, Variance>>>,
}

/// Rounds of data and control until nothing changes; more are not made.
const MOST_ROUNDS: usize = 6;
/// Registers that are written several times, times blocks: beyond that they are not followed from block to block.
const MOST_ENTRIES: usize = 4_000_000;
/// Blocks visited for the regions of branches, in all.
const MOST_VISITS: usize = 2_000_000;

impl Divergence {
    /// Follows the variance of values; a register is one value, wherever it is written. Nothing is known where that
    /// would take too long.
    #[must_use]
    pub fn new(facts: &FunctionFacts<'_>, values: &Values) -> Self {
        Self::follow(facts, values, None)
    }

    /// The same, and a register that is written several times is followed from block to block. That costs more, and
    /// is for functions in which something seems to be wrong.
    #[must_use]
    pub fn by_blocks(facts: &FunctionFacts<'_>, values: &Values) -> Self {
        let several = facts.registers().filter(|&register| facts.definitions(register).len() > 1).count();
        let blocks = facts.cfg.block_count();
        let entries = (several * blocks <= MOST_ENTRIES).then(|| vec![FxHashMap::default(); blocks]);
        Self::follow(facts, values, entries)
    }

    fn follow(
        facts: &FunctionFacts<'_>,
        values: &Values,
        entries: Option<Vec<FxHashMap<Register, Variance>>>,
    ) -> Self {
        let mut result = Self {
            registers: facts.table(Variance::Unset),
            blocks: vec![None; facts.cfg.block_count()],
            joins: post_dominators(facts),
            branches: vec![Variance::Uniform; facts.cfg.block_count()],
            recent: FxHashMap::default(),
            entries,
        };
        let mut visits = MOST_VISITS;
        for _ in 0..MOST_ROUNDS {
            let data = result.data(facts, values);
            let control = result.control(facts, &mut visits);
            match control {
                None => return Self::default(),
                Some(false) if !data => return result,
                Some(_) => {}
            }
        }
        Self::default()
    }

    /// How a register varies.
    #[must_use]
    pub fn of(&self, register: Register) -> Variance {
        let joined = self.registers.get(register).copied().unwrap_or(Variance::Uniform);
        self.recent.get(&register).copied().unwrap_or(joined)
    }

    fn data(&mut self, facts: &FunctionFacts<'_>, values: &Values) -> bool {
        let mut changed_at_all = false;
        loop {
            let mut changed = false;
            for &block in facts.cfg.reverse_postorder() {
                let control = self.blocks[block.index()].map_or(Variance::Uniform, |(variance, _)| variance);
                if let Some(entries) = &self.entries {
                    self.recent.clone_from(&entries[block.index()]);
                }
                let mut leaving = self.recent.clone();
                for instruction in facts.cfg.instructions(block) {
                    changed |= self.instruction(facts, values, instruction, control, &mut leaving);
                }
                if let Some(last) = facts.cfg.instructions(block).last() {
                    self.branches[block.index()] = self.branch(facts, block, last);
                }
                self.recent.clear();
                changed |= self.leave(facts, block, &leaving);
            }
            changed_at_all |= changed;
            if !changed {
                return changed_at_all;
            }
        }
    }

    /// Takes what holds at the end of a block to those that follow; whether that is anything new.
    fn leave(
        &mut self,
        facts: &FunctionFacts<'_>,
        block: NodeIndex,
        leaving: &FxHashMap<Register, Variance>,
    ) -> bool {
        let Some(entries) = &mut self.entries else { return false };
        let mut changed = false;
        for (next, _) in facts.cfg.successors(block) {
            for (&register, &variance) in leaving {
                let known = entries[next.index()].entry(register).or_default();
                let joined = known.join(variance);
                changed |= joined != *known;
                *known = joined;
            }
        }
        changed
    }

    /// Takes account of what an instruction writes; whether that is anything new. `leaving` is what registers that
    /// are written several times hold for those who come from this block.
    fn instruction(
        &mut self,
        facts: &FunctionFacts<'_>,
        values: &Values,
        instruction: u32,
        control: Variance,
        leaving: &mut FxHashMap<Register, Variance>,
    ) -> bool {
        let handle = Handle::new(instruction);
        let statement = &facts.body.instructions[handle];
        let Some(instance) = facts.module.instance(statement) else { return false };
        let mut result = self.result(facts, values, handle, instance);
        if let Some(register) = statement.guard.and_then(|guard| guard.register) {
            result = result.join(self.of(register).through());
        }
        let mut changed = false;
        for each in facts.uses().of(instruction).iter().filter(|each| each.access().writes()) {
            let register = each.register;
            // Only a register that is written elsewhere too shows which way a thread has come.
            let several = facts.definitions(register).len() > 1;
            let value = if several { result.under(control) } else { result };
            if several {
                // From here to the end of the block it is what this instruction wrote, in all threads that are here.
                let before = self.of(register);
                let now = if statement.guard.is_some() { before.join(result) } else { result };
                self.recent.insert(register, now);
                if self.entries.is_some() {
                    leaving.insert(register, now.under(control));
                }
            }
            let old = self.registers[register];
            let new = old.join(value);
            changed |= new != old;
            self.registers[register] = new;
        }
        changed
    }

    /// Finds which blocks depend on branches that threads take differently; none where that takes too long.
    fn control(&mut self, facts: &FunctionFacts<'_>, visits: &mut usize) -> Option<bool> {
        let mut changed = false;
        for &block in facts.cfg.reverse_postorder() {
            let Some(last) = facts.cfg.instructions(block).last() else { continue };
            let variance = self.branches[block.index()];
            if variance < Variance::Warp {
                continue;
            }
            // Where one side leaves the function, those that are left go on without the others.
            let Some(join) = self.joins[block.index()] else { continue };
            changed |= self.region(facts, block, NodeIndex::new(join as usize), (variance, last), visits)?;
        }
        Some(changed)
    }

    fn branch(&self, facts: &FunctionFacts<'_>, block: NodeIndex, last: u32) -> Variance {
        if !facts.cfg.is_fork(block) {
            return Variance::Uniform;
        }
        match facts.condition(last) {
            Some(condition) => self.of(condition.register).through(),
            None => {
                let operands = facts.body.operands(Handle::new(last));
                operands.first().map_or(Variance::Uniform, |index| self.operand(facts, *index).through())
            }
        }
    }

    fn region(
        &mut self,
        facts: &FunctionFacts<'_>,
        block: NodeIndex,
        join: NodeIndex,
        cause: (Variance, u32),
        visits: &mut usize,
    ) -> Option<bool> {
        let mut changed = false;
        let mut seen = rustc_hash::FxHashSet::default();
        let mut stack: Vec<NodeIndex> = facts.cfg.successors(block).map(|(next, _)| next).collect();
        while let Some(next) = stack.pop() {
            if next == join || !seen.insert(next) {
                continue;
            }
            *visits = visits.checked_sub(1)?;
            let slot = &mut self.blocks[next.index()];
            let known = slot.map_or(Variance::Unset, |(variance, _)| variance);
            let joined = known.join(cause.0);
            if joined != known {
                *slot = Some((joined, cause.1));
                changed = true;
            }
            stack.extend(facts.cfg.successors(next).map(|(next, _)| next));
        }
        Some(changed)
    }

    /// Why threads that differ by `least` or more do not all come to an instruction; none where they do.
    #[must_use]
    pub fn cause(&self, facts: &FunctionFacts<'_>, instruction: u32, least: Variance) -> Option<Divergent> {
        let block = facts.cfg.block_of(Handle::new(instruction));
        let guard = facts.condition(instruction).map(|condition| self.of(condition.register).through());
        let by_guard = guard.map(|variance| (variance, Cause::Guard));
        let by_branch = self.blocks.get(block.index()).copied().flatten();
        let by_branch = by_branch.map(|(variance, branch)| (variance, Cause::Branch(branch)));
        let (variance, cause) =
            by_guard.into_iter().chain(by_branch).find(|(variance, _)| *variance >= least)?;
        Some(Divergent { instruction, cause, variance })
    }

    /// The instructions that threads have to reach together though not all of them do.
    #[must_use]
    pub fn divergent(&self, facts: &FunctionFacts<'_>, values: &Values) -> Vec<Divergent> {
        let mut found = Vec::new();
        let mut balanced: FxHashMap<u32, bool> = FxHashMap::default();
        if self.blocks.is_empty() {
            return found;
        }
        for block in facts.cfg.graph().node_indices() {
            if !facts.cfg.is_reachable(block) {
                continue;
            }
            for instruction in facts.cfg.instructions(block) {
                let Some(instance) = facts.instance(instruction) else { continue };
                let Some(least) = needs(facts, values, instruction, instance) else { continue };
                // The warp may meet at several places, one on each side of a branch; under a guard there is but
                // this one.
                let Some(here) = self.cause(facts, instruction, least) else { continue };
                let meets = match here.cause {
                    Cause::Guard => false,
                    Cause::Branch(_) if meets_anywhere(instance) => true,
                    Cause::Branch(branch) if here.variance == Variance::Warp => *balanced
                        .entry(branch)
                        .or_insert_with(|| self.meet_on_both_sides(facts, values, branch)),
                    Cause::Branch(_) => false,
                };
                if !meets {
                    found.push(here);
                }
            }
        }
        found.sort_by_key(|each| each.instruction);
        found
    }

    /// Whether warps that a branch parts come to the same barriers.
    fn meet_on_both_sides(&self, facts: &FunctionFacts<'_>, values: &Values, branch: u32) -> bool {
        let block = facts.cfg.block_of(Handle::new(branch));
        let join = self.joins.get(block.index()).copied().flatten();
        join.is_some_and(|join| is_balanced(facts, values, block, NodeIndex::new(join as usize)))
    }
}

/// Whether a block does nothing but leave the function.
fn only_leaves(facts: &FunctionFacts<'_>, mut block: NodeIndex) -> bool {
    const MOST_BLOCKS: usize = 4;
    for _ in 0..MOST_BLOCKS {
        let idle = |instruction: u32| {
            facts.instance(instruction).is_some_and(|instance| instance.effects.control != Control::Next)
                && !facts.is_call(instruction)
        };
        if !facts.cfg.instructions(block).all(idle) {
            return false;
        }
        let mut next = facts.cfg.successors(block);
        match (next.next(), next.next()) {
            (None, _) => return true,
            (Some((only, _)), None) => block = only,
            _ => return false,
        }
    }
    false
}

/// For each block the block that all its ways come together in; none where that is the end of the function.
fn post_dominators(facts: &FunctionFacts<'_>) -> Vec<Option<u32>> {
    let count = facts.cfg.block_count();
    let mut reversed: DiGraph<(), ()> = DiGraph::with_capacity(count + 1, count * 2);
    for _ in 0..=count {
        reversed.add_node(());
    }
    let exit = NodeIndex::new(count);
    for block in facts.cfg.graph().node_indices() {
        let mut leaves = true;
        for (next, edge) in facts.cfg.successors(block) {
            reversed.add_edge(next, block, ());
            leaves &= edge.condition.is_some();
        }
        if leaves && facts.cfg.successors(block).count() < 2 {
            reversed.add_edge(exit, block, ());
        }
    }
    let dominators = immediate_dominators(&reversed, exit);
    facts
        .cfg
        .graph()
        .node_indices()
        .map(|block| {
            let join = dominators[block.index()];
            let join = (join != u32::MAX).then(|| NodeIndex::new(join as usize))?;
            (join != exit && !only_leaves(facts, join)).then_some(join.index() as u32)
        })
        .collect()
}
