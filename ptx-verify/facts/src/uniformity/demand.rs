//! What decides whether threads come together: the branches before barriers and the like, the values that these branches
//! ask, and in turn the branches that choose between such values. All else of a function is no matter, and most functions
//! ask nothing there that differs between threads.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Register};
use ptx_ir::isa::Computation;
use rustc_hash::FxHashSet;

use super::deciding;
use super::meeting::is_meeting;
use super::vary::begins;
use crate::FunctionFacts;
use crate::registers::Use;
use crate::values::{Graph, Growing, Kind, Slice};

/// What has to be followed.
pub(super) struct Demand {
    /// By block, whether the branch at its end counts.
    pub(super) forks: Vec<bool>,
    /// The values.
    pub(super) slice: Slice,
}

/// What there is to find.
pub(super) enum Look {
    /// Nothing: all threads come together.
    Together,
    /// Something, if the values that are demanded differ between threads.
    Demands(Demand),
    /// It needs a closer look.
    Unknown,
}

impl Demand {
    /// Looks at what decides whether the threads of a function come together. `needs` tells whether those that come to a
    /// call have to. The graph is made when it is needed.
    pub(super) fn look<'g>(
        facts: &FunctionFacts<'_>,
        needs: impl Fn(u32) -> bool,
        graph: impl FnOnce() -> &'g Graph,
    ) -> Look {
        let is_reached =
            |instruction: u32| facts.cfg.is_reachable(facts.cfg.block_of(Handle::new(instruction)));
        let meets = |&instruction: &u32| {
            let is_one = is_meeting(facts, instruction) || facts.is_call(instruction) && needs(instruction);
            is_one && is_reached(instruction)
        };
        let mut meetings: Vec<u32> = facts.reaching_out().filter(meets).collect();
        if meetings.is_empty() {
            return Look::Together;
        }
        meetings.sort_unstable();
        if has_found_mask(facts, &meetings) {
            return Look::Unknown;
        }
        let Some(controllers) = Controllers::new(facts) else { return Look::Unknown };
        let forks = controllers.above(facts, &meetings);
        if forks.is_empty() && !meetings.iter().any(|&instruction| facts.is_guarded(instruction)) {
            return Look::Together;
        }
        let graph = graph();
        let mut search = Search::new(facts, graph, controllers);
        forks.into_iter().for_each(|fork| search.demand(fork));
        let guards = meetings.iter().filter_map(|&instruction| graph.guard(instruction));
        guards.for_each(|guard| search.growing.want(guard));
        match search.close() {
            None => return Look::Unknown,
            Some(false) => return Look::Together,
            Some(true) => {}
        }
        deciding(facts, graph).into_iter().for_each(|value| search.growing.want(value));
        match search.close() {
            None => Look::Unknown,
            Some(_) => Look::Demands(Self { forks: search.demanded, slice: search.growing.finish() }),
        }
    }
}

/// The branches that decide whether control comes to each block: those of which one side always leads there, and another
/// one may not.
///
/// Ferrante, Ottenstein, Warren: *The program dependence graph and its use in optimization*, 1987.
struct Controllers {
    starts: Vec<u32>,
    forks: Vec<u32>,
}

/// Branches are many for each block where conditions nest deeply. So many are kept for each block on the average.
const MAX_PER_BLOCK: usize = 16;
/// As many any function may have.
const MIN_ENTRIES: usize = 4096;

impl Controllers {
    /// None where they are many, or where some block never leads to the end of the function.
    fn new(facts: &FunctionFacts<'_>) -> Option<Self> {
        let cfg = &facts.cfg;
        let (count, above) = (cfg.block_count(), facts.postdominators());
        let exit = count as u32;
        let limit = MIN_ENTRIES + MAX_PER_BLOCK * count;
        let mut pairs: Vec<(u32, u32)> = Vec::new();
        // The branch that each block was last told of.
        let mut told = vec![u32::MAX; count];
        for &fork in cfg.reverse_postorder().iter().filter(|&&block| cfg.is_fork(block)) {
            let index = fork.index() as u32;
            for (side, _) in cfg.successors(fork) {
                let mut block = side.index() as u32;
                while block != above[fork.index()] && block != exit && told.get(block as usize)? != &index {
                    told[block as usize] = index;
                    pairs.push((block, index));
                    block = above[block as usize];
                }
            }
            if pairs.len() > limit {
                return None;
            }
        }
        let mut starts = vec![0_u32; count + 2];
        pairs.iter().for_each(|(block, _)| starts[*block as usize + 2] += 1);
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut forks = vec![0; pairs.len()];
        for (block, fork) in pairs {
            let next = &mut starts[block as usize + 1];
            forks[*next as usize] = fork;
            *next += 1;
        }
        Some(Self { starts, forks })
    }

    fn of(&self, block: u32) -> &[u32] {
        &self.forks[self.starts[block as usize] as usize..self.starts[block as usize + 1] as usize]
    }

    /// All branches that decide whether control comes to some instructions.
    fn above(&self, facts: &FunctionFacts<'_>, instructions: &[u32]) -> Vec<u32> {
        let mut seen = vec![false; facts.cfg.block_count()];
        let mut open: Vec<u32> = Vec::new();
        let mut found = Vec::new();
        let block_of = |&instruction: &u32| facts.cfg.block_of(Handle::new(instruction)).index() as u32;
        // Several in a block come one after the other.
        open.extend(instructions.iter().map(block_of));
        open.dedup();
        while let Some(block) = open.pop() {
            for &fork in self.of(block) {
                if !std::mem::replace(&mut seen[fork as usize], true) {
                    found.push(fork);
                    open.push(fork);
                }
            }
        }
        found
    }
}

/// What is being found.
struct Search<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    graph: &'f Graph,
    controllers: Controllers,
    growing: Growing<'f, 'm>,
    demanded: Vec<bool>,
    /// Blocks that some path leads back to.
    repeats: Vec<bool>,
    /// The blocks whose joins were looked at, and those whose loops were.
    joined: Vec<bool>,
    looped: Vec<bool>,
    /// The join for which each block was looked at last.
    seen: Vec<u32>,
    open: Vec<u32>,
    left: usize,
}

/// Blocks looked at between joins and what they join: as many for each block, and as many in any function.
const LOOKS_PER_BLOCK: usize = 64;
const MIN_LOOKS: usize = 4096;

impl<'f, 'm> Search<'f, 'm> {
    fn new(facts: &'f FunctionFacts<'m>, graph: &'f Graph, controllers: Controllers) -> Self {
        let count = facts.cfg.block_count();
        Self {
            facts,
            graph,
            controllers,
            growing: Growing::new(facts, graph, true),
            demanded: vec![false; count],
            repeats: repeating(facts),
            joined: vec![false; count],
            looped: vec![false; count],
            seen: vec![u32::MAX; count],
            open: Vec::new(),
            left: MIN_LOOKS + LOOKS_PER_BLOCK * count,
        }
    }

    /// Takes account of a branch.
    fn demand(&mut self, fork: u32) {
        if std::mem::replace(&mut self.demanded[fork as usize], true) {
            return;
        }
        let (cfg, block) = (&self.facts.cfg, NodeIndex::new(fork as usize));
        match cfg.instructions(block).last() {
            Some(branch) => {
                let index = self.facts.uses().range(branch).filter_map(|at| self.graph.read(at));
                let chosen_by = self.graph.guard(branch).into_iter().chain(index);
                chosen_by.for_each(|value| self.growing.want(value));
            }
            // A list of targets that several branches share.
            None => {
                let sharing = cfg.predecessors(block).filter(|(before, _)| cfg.is_reachable(*before));
                sharing.for_each(|(before, _)| self.demand_branch(before));
            }
        }
    }

    fn demand_branch(&mut self, block: NodeIndex) {
        if !self.facts.cfg.instructions(block).is_empty() {
            self.demand(block.index() as u32);
        }
    }

    /// Adds all that what is demanded depends on; whether anything of it differs between threads. None where that cannot
    /// be told.
    fn close(&mut self) -> Option<bool> {
        let mut differs = false;
        while let Some(value) = self.growing.next() {
            let made = match self.graph.kind(value) {
                Kind::Computed { instruction, .. } => {
                    differs |= begins(self.facts, instruction);
                    self.facts.cfg.block_of(Handle::new(instruction))
                }
                Kind::Guarded { instruction, .. } => self.facts.cfg.block_of(Handle::new(instruction)),
                Kind::Joined { block } => {
                    self.join(block)?;
                    block
                }
                Kind::Opaque => return None,
                Kind::Undefined | Kind::Entry => continue,
            };
            self.leave_loops(made.index() as u32);
        }
        Some(differs)
    }

    /// Demands the branches from which disjoint paths may lead to a block where values join: all that decide which
    /// predecessor control comes from, behind the last block that every path leads through.
    fn join(&mut self, block: NodeIndex) -> Option<()> {
        if std::mem::replace(&mut self.joined[block.index()], true) {
            return Some(());
        }
        let cfg = &self.facts.cfg;
        let above = cfg.immediate_dominator(block);
        let join = block.index() as u32;
        for (before, _) in self.graph.predecessors(block) {
            if cfg.is_fork(before) {
                self.demand(before.index() as u32);
            }
            self.open.push(before.index() as u32);
        }
        while let Some(at) = self.open.pop() {
            for index in self.controllers.starts[at as usize]..self.controllers.starts[at as usize + 1] {
                let fork = self.controllers.forks[index as usize];
                let is_between =
                    above.is_none_or(|above| cfg.dominates(above, NodeIndex::new(fork as usize)));
                if is_between && std::mem::replace(&mut self.seen[fork as usize], join) != join {
                    self.left = self.left.checked_sub(1)?;
                    self.demand(fork);
                    self.open.push(fork);
                }
            }
        }
        Some(())
    }

    /// Demands the branches by which threads may leave the loops that a block is in: those who are behind a loop have its
    /// values of different turns.
    fn leave_loops(&mut self, block: u32) {
        if std::mem::replace(&mut self.looped[block as usize], true) {
            return;
        }
        self.open.push(block);
        while let Some(at) = self.open.pop() {
            for index in self.controllers.starts[at as usize]..self.controllers.starts[at as usize + 1] {
                let fork = self.controllers.forks[index as usize];
                if self.repeats[fork as usize] {
                    self.demand(fork);
                }
                if !std::mem::replace(&mut self.looped[fork as usize], true) {
                    self.open.push(fork);
                }
            }
        }
    }
}

/// By block, whether it may lie on a path that leads back to it. Every such path has an edge back in the order of the
/// blocks, and those of its blocks that lie between the ends of such an edge are all that it has.
fn repeating(facts: &FunctionFacts<'_>) -> Vec<bool> {
    let cfg = &facts.cfg;
    let order = cfg.reverse_postorder();
    let mut change = vec![0_i32; order.len() + 1];
    for &block in order {
        for (next, _) in cfg.successors(block).filter(|(next, _)| cfg.place(*next) <= cfg.place(block)) {
            change[cfg.place(next)] += 1;
            change[cfg.place(block) + 1] -= 1;
        }
    }
    let mut repeats = vec![false; cfg.block_count()];
    let mut edges = 0;
    for (place, &block) in order.iter().enumerate() {
        edges += change[place];
        repeats[block.index()] = edges > 0;
    }
    repeats
}

/// Whether the mask of one of the instructions is what a vote has found out: lanes may come that it does not name.
fn has_found_mask(facts: &FunctionFacts<'_>, meetings: &[u32]) -> bool {
    let mask_of = |&instruction: &u32| {
        let mask = facts.instance(instruction)?.lane_mask()?;
        let of_mask = |each: &&Use| each.operand() == mask && each.access().reads();
        facts.uses().of(instruction).iter().find(of_mask).map(|each| each.register)
    };
    // Many may have one register for their mask.
    let masks: FxHashSet<Register> = meetings.iter().filter_map(mask_of).collect();
    let computes = |instruction| facts.instance(instruction).and_then(|instance| instance.effects.computes);
    let is_vote = |&write: &u32| computes(write) == Some(Computation::Vote);
    masks.into_iter().any(|mask| facts.definitions(mask).iter().any(is_vote))
}
