//! Which instructions a path leads to, or comes from, without passing certain others.

use super::FunctionFacts;
use petgraph::Direction;
use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::Control;
use std::cell::Cell;
use std::hash::Hash;
use std::ops::ControlFlow;

/// Where paths end that lead somewhere, or begin that come from somewhere.
#[derive(Clone, Copy, Debug)]
pub enum Ends<'a> {
    /// These instructions, ascending.
    Instructions(&'a [u32]),
    /// Reach that lead out of the function, or come from its entry.
    Function,
}

/// For each place of a function one of the ends that a path leads to, or comes from, without a stop on it. Found in one
/// look at each block.
pub struct Reach<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    direction: Direction,
    /// Ends, with themselves, and stops, ascending. Nothing else is of interest within a block.
    marks: Vec<(u32, Option<u32>)>,
    /// For each block the end that is reached from the edge where paths go on to other blocks.
    onward: Vec<Option<u32>>,
}

impl<'f, 'm> Reach<'f, 'm> {
    /// Reach that lead to `ends`.
    #[must_use]
    pub fn to(facts: &'f FunctionFacts<'m>, ends: Ends<'_>, stops: &[u32]) -> Self {
        Self::new(facts, Direction::Outgoing, ends, stops)
    }

    /// Reach that come from `ends`.
    #[must_use]
    pub fn from(facts: &'f FunctionFacts<'m>, ends: Ends<'_>, stops: &[u32]) -> Self {
        Self::new(facts, Direction::Incoming, ends, stops)
    }

    fn new(facts: &'f FunctionFacts<'m>, direction: Direction, ends: Ends<'_>, stops: &[u32]) -> Self {
        let mut marks: Vec<(u32, Option<u32>)> = stops.iter().map(|&stop| (stop, None)).collect();
        let mut onward = vec![None; facts.cfg.block_count()];
        match ends {
            // An end that is a stop as well counts as an end: it comes first.
            Ends::Instructions(ends) => marks.extend(ends.iter().map(|&end| (end, Some(end)))),
            Ends::Function if direction == Direction::Incoming => onward[0] = Some(0),
            Ends::Function => {
                for &block in facts.cfg.reverse_postorder() {
                    onward[block.index()] = exit_of(facts, block);
                }
            }
        }
        marks.sort_unstable_by_key(|&(instruction, end)| (instruction, end.is_none()));
        marks.dedup_by_key(|&mut (instruction, _)| instruction);
        let mut paths = Self { facts, direction, marks, onward };
        paths.spread();
        paths
    }

    /// Takes each end from block to block, against the direction of the paths.
    fn spread(&mut self) {
        let mut pending = Vec::new();
        for &block in self.facts.cfg.reverse_postorder() {
            pending.extend(self.through(block).map(|end| (block, end)));
        }
        while let Some((block, end)) = pending.pop() {
            let graph = self.facts.cfg.graph();
            for next in graph.neighbors_directed(block, self.direction.opposite()) {
                if self.facts.cfg.is_reachable(next) && self.onward[next.index()].is_none() {
                    self.onward[next.index()] = Some(end);
                    if self.marks_of(self.facts.cfg.instructions(next)).is_empty() {
                        pending.push((next, end));
                    }
                }
            }
        }
    }

    /// The end that is reached by going through a whole block.
    fn through(&self, block: NodeIndex) -> Option<u32> {
        self.first(block, self.facts.cfg.instructions(block))
    }

    /// The end that is reached by going through a part of a block and on.
    fn first(&self, block: NodeIndex, range: std::ops::Range<u32>) -> Option<u32> {
        let marks = self.marks_of(range);
        let nearest = match self.direction {
            Direction::Outgoing => marks.first(),
            Direction::Incoming => marks.last(),
        };
        nearest.map_or(self.onward[block.index()], |(_, end)| *end)
    }

    fn marks_of(&self, range: std::ops::Range<u32>) -> &[(u32, Option<u32>)] {
        let place = |wanted: u32| self.marks.partition_point(|(instruction, _)| *instruction < wanted);
        let start = place(range.start);
        &self.marks[start..start.max(place(range.end))]
    }

    /// The end of a path that begins at the entry of the function.
    #[must_use]
    pub fn at_entry(&self) -> Option<u32> {
        self.through(NodeIndex::new(0))
    }

    /// The end of a path that begins behind an instruction; for paths that come from somewhere, the beginning of one
    /// that ends before it.
    #[must_use]
    pub fn at(&self, instruction: u32) -> Option<u32> {
        let block = self.facts.cfg.block_of(Handle::new(instruction));
        let range = self.facts.cfg.instructions(block);
        match self.direction {
            Direction::Outgoing => self.first(block, instruction + 1..range.end),
            Direction::Incoming => self.first(block, range.start..instruction),
        }
    }
}

/// The last instruction of a block where it leaves the function.
fn exit_of(facts: &FunctionFacts<'_>, block: NodeIndex) -> Option<u32> {
    let last = facts.cfg.instructions(block).last()?;
    let leaves = match facts.instance(last)?.effects.control {
        Control::Return | Control::Exit => true,
        Control::Next | Control::Call => facts.cfg.successors(block).next().is_none(),
        Control::Branch | Control::IndexedBranch | Control::Trap => false,
    };
    leaves.then_some(last)
}

/// What a bounded walk costs at most.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Blocks looked at, each once in each state.
    pub blocks: usize,
    /// Instructions looked at.
    pub instructions: usize,
}

/// What all walks in one function may cost together: where it is spent, nothing more is found.
pub struct Budget(Cell<usize>);

impl Budget {
    /// In proportion to the function.
    #[must_use]
    pub fn of(facts: &FunctionFacts<'_>) -> Self {
        const VISITS_PER_INSTRUCTION: usize = 64;
        const MIN_VISITS: usize = 100_000;
        Self(Cell::new(MIN_VISITS + VISITS_PER_INSTRUCTION * facts.body.instructions.len()))
    }

    fn spend(&self) -> Option<()> {
        self.0.set(self.0.get().checked_sub(1)?);
        Some(())
    }
}

/// Goes along all paths that begin after an instruction, or end before it, one instruction after the other, and
/// carries a state along. `visit` breaks off a path, or the whole search with what it found.
pub fn search<S: Copy + Eq + Hash, R>(
    facts: &FunctionFacts<'_>,
    direction: Direction,
    (start, state): (u32, S),
    (bounds, all): (Bounds, &Budget),
    mut visit: impl FnMut(u32, &mut S) -> ControlFlow<Option<R>>,
) -> Option<R> {
    let block = facts.cfg.block_of(Handle::new(start));
    let range = facts.cfg.instructions(block);
    let part = match direction {
        Direction::Outgoing => start + 1..range.end,
        Direction::Incoming => range.start..start,
    };
    let mut pending = vec![(block, part, state)];
    let mut seen = rustc_hash::FxHashSet::default();
    let mut budget = bounds.instructions;
    'paths: while let Some((block, mut part, mut state)) = pending.pop() {
        loop {
            let next = match direction {
                Direction::Outgoing => part.next(),
                Direction::Incoming => part.next_back(),
            };
            let Some(instruction) = next else { break };
            budget = budget.checked_sub(1)?;
            all.spend()?;
            match visit(instruction, &mut state) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(None) => continue 'paths,
                ControlFlow::Break(found) => return found,
            }
        }
        for next in facts.cfg.graph().neighbors_directed(block, direction) {
            if facts.cfg.is_reachable(next) && seen.len() < bounds.blocks && seen.insert((next, state)) {
                pending.push((next, facts.cfg.instructions(next), state));
            }
        }
    }
    None
}
