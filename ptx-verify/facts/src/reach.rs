//! Which instructions a path leads to, or comes from, without passing certain others.

use super::FunctionFacts;
use petgraph::Direction;
use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::Control;
use std::borrow::Cow;
use std::cell::Cell;
use std::hash::Hash;
use std::ops::{ControlFlow, Range};

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
        let mut onward = vec![None; facts.cfg.block_count()];
        let mut leaving = Vec::new();
        let mut marked = &[][..];
        match ends {
            Ends::Instructions(ends) => marked = ends,
            Ends::Function if direction == Direction::Incoming => {
                onward[0] = Some(0);
                leaving.push(NodeIndex::new(0));
            }
            Ends::Function => {
                for &block in facts.cfg.reverse_postorder() {
                    let exit = exit_of(facts, block);
                    onward[block.index()] = exit;
                    leaving.extend(exit.map(|_| block));
                }
            }
        }
        let marks = merged(marked, stops);
        let mut paths = Self { facts, direction, marks, onward };
        paths.spread(leaving);
        paths
    }

    /// Takes each end from block to block, against the direction of the paths. `leaving` are blocks at whose edge a path ends.
    fn spread(&mut self, leaving: Vec<NodeIndex>) {
        let cfg = &self.facts.cfg;
        // No path ends in a block without marks.
        let mut first = leaving;
        let mut known = 0;
        for &(instruction, _) in &self.marks {
            if instruction >= known {
                let block = cfg.block_of(Handle::new(instruction));
                known = cfg.instructions(block).end;
                first.push(block);
            }
        }
        first.retain(|&block| cfg.is_reachable(block));
        first.sort_unstable_by_key(|&block| cfg.place(block));
        first.dedup();
        let mut pending = Vec::new();
        for block in first {
            pending.extend(self.through(block).map(|end| (block, end)));
        }
        while let Some((block, end)) = pending.pop() {
            for next in cfg.graph().neighbors_directed(block, self.direction.opposite()) {
                if cfg.is_reachable(next) && self.onward[next.index()].is_none() {
                    self.onward[next.index()] = Some(end);
                    if self.marks_of(cfg.instructions(next)).is_empty() {
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
    fn first(&self, block: NodeIndex, range: Range<u32>) -> Option<u32> {
        let marks = self.marks_of(range);
        let nearest = match self.direction {
            Direction::Outgoing => marks.first(),
            Direction::Incoming => marks.last(),
        };
        nearest.map_or(self.onward[block.index()], |(_, end)| *end)
    }

    fn marks_of(&self, range: Range<u32>) -> &[(u32, Option<u32>)] {
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

/// Ends, with themselves, and stops as one list, ascending. An end that is a stop as well counts as an end.
fn merged(ends: &[u32], stops: &[u32]) -> Vec<(u32, Option<u32>)> {
    let [ends, stops] = [ends, stops].map(ascending);
    let (mut ends, mut stops) = (&*ends, &*stops);
    let mut marks = Vec::with_capacity(ends.len() + stops.len());
    while let Some((&stop, later)) = stops.split_first() {
        let before = ends.partition_point(|&end| end <= stop);
        marks.extend(ends[..before].iter().map(|&end| (end, Some(end))));
        ends = &ends[before..];
        stops = later;
        if marks.last().is_none_or(|&(last, _)| last != stop) {
            marks.push((stop, None));
        }
    }
    marks.extend(ends.iter().map(|&end| (end, Some(end))));
    marks.dedup_by_key(|&mut (instruction, _)| instruction);
    marks
}

/// Most come in order.
fn ascending(instructions: &[u32]) -> Cow<'_, [u32]> {
    if instructions.is_sorted() {
        return Cow::Borrowed(instructions);
    }
    let mut sorted = instructions.to_vec();
    sorted.sort_unstable();
    Cow::Owned(sorted)
}

/// The last instruction of a block where it leaves the function.
fn exit_of(facts: &FunctionFacts<'_>, block: NodeIndex) -> Option<u32> {
    let last = facts.cfg.instructions(block).last()?;
    let leaves = match facts.control(last) {
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
    /// Marks looked at.
    pub marks: usize,
}

/// What all walks in one function may cost together: where it is spent, nothing more is found.
pub struct Budget(Cell<usize>);

impl Budget {
    /// In proportion to the function.
    #[must_use]
    pub fn of(facts: &FunctionFacts<'_>) -> Self {
        const VISITS_PER_INSTRUCTION: usize = 16;
        const MIN_VISITS: usize = 100_000;
        Self(Cell::new(MIN_VISITS + VISITS_PER_INSTRUCTION * facts.body.instructions.len()))
    }

    fn spend(&self) -> Option<()> {
        self.0.set(self.0.get().checked_sub(1)?);
        Some(())
    }
}

/// The instructions that are of interest to a walk, ascending, with what they are to it.
pub struct Marks<M>(Vec<(u32, M)>);

impl<M> Marks<M> {
    /// Of marks in any order. Those of one instruction become one by `join`.
    pub fn new(mut marks: Vec<(u32, M)>, join: impl Fn(&mut M, &M)) -> Self {
        marks.sort_by_key(|(instruction, _)| *instruction);
        marks.dedup_by(|(instruction, mark), (last, joined)| {
            let is_same = instruction == last;
            if is_same {
                join(joined, mark);
            }
            is_same
        });
        Self(marks)
    }

    /// Those within a block, in the order of a walk in a direction.
    fn within(&self, range: Range<u32>, direction: Direction) -> impl Iterator<Item = &(u32, M)> {
        let from = match direction {
            Direction::Outgoing => range.start,
            Direction::Incoming => range.end,
        };
        let place = self.0.partition_point(|(instruction, _)| *instruction < from);
        let (after, before) = match direction {
            Direction::Outgoing => (&self.0[place..], &[][..]),
            Direction::Incoming => (&[][..], &self.0[..place]),
        };
        after
            .iter()
            .chain(before.iter().rev())
            .take_while(move |(instruction, _)| range.contains(instruction))
    }
}

/// Goes along all paths that begin after an instruction, or end before it, from mark to mark, and carries a state along. A
/// path ends where it comes back to that instruction. `visit` breaks off a path, or the whole search with what it found.
pub fn search<S: Copy + Eq + Hash, M, R>(
    facts: &FunctionFacts<'_>,
    direction: Direction,
    (start, state): (u32, S),
    marks: &Marks<M>,
    (bounds, all): (Bounds, &Budget),
    mut visit: impl FnMut(u32, &M, &mut S) -> ControlFlow<Option<R>>,
) -> Option<R> {
    let first = facts.cfg.block_of(Handle::new(start));
    let range = facts.cfg.instructions(first);
    let (part, back) = match direction {
        Direction::Outgoing => (start + 1..range.end, range.start..start),
        Direction::Incoming => (range.start..start, start + 1..range.end),
    };
    let mut pending = vec![(first, part, state)];
    let mut seen = rustc_hash::FxHashSet::default();
    let mut budget = bounds.marks;
    let mut is_first = true;
    'paths: while let Some((block, part, mut state)) = pending.pop() {
        all.spend()?;
        for (instruction, mark) in marks.within(part, direction) {
            budget = budget.checked_sub(1)?;
            all.spend()?;
            match visit(*instruction, mark, &mut state) {
                ControlFlow::Continue(()) => {}
                ControlFlow::Break(None) => continue 'paths,
                ControlFlow::Break(found) => return found,
            }
        }
        if block == first && !std::mem::replace(&mut is_first, false) {
            continue;
        }
        for next in facts.cfg.graph().neighbors_directed(block, direction) {
            if facts.cfg.is_reachable(next) && seen.len() < bounds.blocks && seen.insert((next, state)) {
                let part = if next == first { back.clone() } else { facts.cfg.instructions(next) };
                pending.push((next, part, state));
            }
        }
    }
    None
}
