//! The order in which values are computed until nothing changes.
//!
//! Blocks are looked at once in reverse postorder, as control comes to them. Where a loop brings something else than what
//! was known before, only what reads it is computed again, and what reads that, in the same order: what lies before the
//! place where the propagation is waits until the next sweep, so that a loop is gone through once and not anew for each
//! of the values that it carries.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use petgraph::graph::NodeIndex;

use super::graph::{Graph, Kind, ValueId};
use super::linear::Base;
use super::propagate::Engine;
use super::slice::Slice;
use crate::FunctionFacts;

/// Instructions that are looked at: as often each, and as many in any function. Beyond that nothing is known.
const VISITS_PER_INSTRUCTION: usize = 64;
const MIN_VISITS: usize = 10_000;

/// Something to be computed: the place of its block, and what of the block, in the order in which that is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    place: u32,
    part: u32,
}

/// A part of a block.
enum Part {
    /// All of it, for the first time.
    Whole,
    /// A join, by its index among all.
    Join(usize),
    /// An instruction.
    Instruction(u32),
}

/// Parts from here on are instructions; those below are joins, and 0 is the block.
const FIRST_INSTRUCTION: u32 = 1 << 31;

impl Item {
    const fn whole(place: usize) -> Self {
        Self { place: place as u32, part: 0 }
    }

    const fn join(place: usize, index: usize) -> Self {
        Self { place: place as u32, part: index as u32 + 1 }
    }

    const fn instruction(place: usize, instruction: u32) -> Self {
        Self { place: place as u32, part: FIRST_INSTRUCTION | instruction }
    }

    const fn what(self) -> Part {
        match self.part {
            0 => Part::Whole,
            FIRST_INSTRUCTION.. => Part::Instruction(self.part & !FIRST_INSTRUCTION),
            _ => Part::Join(self.part as usize - 1),
        }
    }
}

/// What reads each value.
struct Readers {
    starts: Vec<u32>,
    items: Vec<Item>,
}

impl Readers {
    fn new(facts: &FunctionFacts<'_>, graph: &Graph, slice: Option<&Slice>) -> Self {
        let mut reads: Vec<(ValueId, Item)> = Vec::new();
        let is_wanted = |value: &ValueId| slice.is_none_or(|slice| slice.has(*value));
        for (place, &block) in facts.cfg.reverse_postorder().iter().enumerate() {
            for index in graph.join_range(block) {
                let join = graph.join_at(index);
                if is_wanted(&join) {
                    let item = Item::join(place, index);
                    reads.extend(
                        graph
                            .inputs(join)
                            .iter()
                            .filter(|input| is_wanted(input))
                            .map(|input| (*input, item)),
                    );
                }
            }
            let instructions = facts.cfg.instructions(block);
            let last = instructions.clone().last();
            let mut computes = |instruction: u32| {
                let item = Item::instruction(place, instruction);
                let uses = facts.uses().range(instruction).filter_map(|at| graph.read(at));
                reads.extend(uses.filter(is_wanted).map(|value| (value, item)));
                if facts.is_guarded(instruction) {
                    for written in facts.uses().range(instruction).filter_map(|at| graph.written(at)) {
                        if let Kind::Guarded { old, .. } = graph.kind(graph.after(written)) {
                            reads.extend(Some(old).filter(is_wanted).map(|old| (old, item)));
                        }
                    }
                }
                // That of the last instruction is told below.
                if Some(instruction) != last {
                    reads.extend(graph.guard(instruction).filter(is_wanted).map(|guard| (guard, item)));
                }
            };
            match slice {
                Some(slice) => {
                    let within = slice.within(instructions);
                    within.chunk_by(|one, other| one.0 == other.0).for_each(|group| computes(group[0].0));
                }
                None => instructions.for_each(&mut computes),
            }
            if let Some(last) = last
                && let Some(guard) = graph.guard(last).filter(is_wanted)
            {
                reads.push((guard, Item::instruction(place, last)));
            }
        }
        let mut starts = vec![0_u32; graph.len() + 2];
        reads.iter().for_each(|(value, _)| starts[value.index() + 2] += 1);
        for index in 2..starts.len() {
            starts[index] += starts[index - 1];
        }
        let mut items = vec![Item::whole(0); reads.len()];
        for (value, item) in reads {
            let next = &mut starts[value.index() + 1];
            items[*next as usize] = item;
            *next += 1;
        }
        Self { starts, items }
    }

    fn of(&self, value: ValueId) -> &[Item] {
        &self.items[self.starts[value.index()] as usize..self.starts[value.index() + 1] as usize]
    }
}

/// What is still to be computed, in sweeps over the function.
#[derive(Default)]
struct Agenda {
    now: BinaryHeap<Reverse<Item>>,
    later: Vec<Item>,
    /// What of these is there already: blocks by place, joins, instructions.
    blocks: Vec<bool>,
    joins: Vec<bool>,
    instructions: Vec<bool>,
    current: Option<Item>,
}

impl Agenda {
    fn new(facts: &FunctionFacts<'_>, graph: &Graph) -> Self {
        Self {
            blocks: vec![false; facts.cfg.reverse_postorder().len()],
            joins: vec![false; graph.join_count()],
            instructions: vec![false; facts.body.instructions.len()],
            ..Self::default()
        }
    }

    fn is_open(&mut self, item: Item) -> &mut bool {
        match item.what() {
            Part::Whole => &mut self.blocks[item.place as usize],
            Part::Join(index) => &mut self.joins[index],
            Part::Instruction(instruction) => &mut self.instructions[instruction as usize],
        }
    }

    fn add(&mut self, item: Item) {
        if std::mem::replace(self.is_open(item), true) {
            return;
        }
        match self.current {
            Some(current) if item <= current => self.later.push(item),
            _ => self.now.push(Reverse(item)),
        }
    }

    fn next(&mut self) -> Option<Item> {
        if self.now.is_empty() {
            self.now.extend(self.later.drain(..).map(Reverse));
        }
        let Reverse(item) = self.now.pop()?;
        self.current = Some(item);
        *self.is_open(item) = false;
        Some(item)
    }
}

impl Engine<'_, '_> {
    /// Computes what control comes to until nothing changes; whether that came to an end.
    pub(super) fn settle(&mut self) -> bool {
        let (facts, graph) = (self.facts, self.graph);
        let order = facts.cfg.reverse_postorder();
        let comes_back = |block: &NodeIndex| {
            graph.predecessors(*block).any(|(from, _)| facts.cfg.place(from) >= facts.cfg.place(*block))
        };
        if !order.iter().any(comes_back) {
            self.settle_at_once(order);
            return true;
        }
        let readers = Readers::new(facts, graph, self.slice);
        let mut agenda = Agenda::new(facts, graph);
        agenda.add(Item::whole(0));
        let mut left = MIN_VISITS + VISITS_PER_INSTRUCTION * facts.body.instructions.len();
        let mut is_confirmed = false;
        loop {
            let Some(item) = agenda.next() else {
                if std::mem::replace(&mut is_confirmed, true) {
                    return true;
                }
                self.confirm_steps(order, &mut agenda);
                continue;
            };
            let block = order[item.place as usize];
            let instructions = facts.cfg.instructions(block);
            let cost = if item.part == 0 { 1 + instructions.len() } else { 1 };
            let Some(rest) = left.checked_sub(cost) else { return false };
            left = rest;
            self.changed.clear();
            match item.what() {
                Part::Whole => {
                    self.look_at(block);
                    self.leave(block, &mut agenda);
                }
                Part::Join(index) => self.join(block, graph.join_at(index)),
                Part::Instruction(instruction) => {
                    self.compute_again(instruction);
                    if Some(instruction) == instructions.last() {
                        self.leave(block, &mut agenda);
                    }
                }
            }
            let changed = std::mem::take(&mut self.changed);
            is_confirmed &= changed.is_empty();
            for &value in &changed {
                for &reader in readers.of(value) {
                    // What follows in a block that is looked at for the first time reads what is known now.
                    let follows =
                        item.part == 0 && reader.place == item.place && reader.part >= FIRST_INSTRUCTION;
                    if self.values.reached[order[reader.place as usize].index()] && !follows {
                        agenda.add(reader);
                    }
                }
            }
            self.changed = changed;
        }
    }

    /// Looks again at what turns are said to add to. A turn that sets something anew was not computed again when that was
    /// said, and adds nothing.
    fn confirm_steps(&self, order: &[NodeIndex], agenda: &mut Agenda) {
        if self.values.steps.is_empty() {
            return;
        }
        agenda.current = None;
        for (place, &block) in order.iter().enumerate() {
            for index in self.graph.join_range(block) {
                if self.values.steps.contains_key(&self.graph.join_at(index)) {
                    agenda.add(Item::join(place, index));
                }
            }
        }
    }

    /// The same without loops: everything is known when it is read.
    fn settle_at_once(&mut self, order: &[NodeIndex]) {
        for &block in order {
            let comes = |at: usize| self.values.taken[self.graph.edge(block, at)];
            if block.index() != 0 && !(0..self.graph.predecessor_count(block)).any(comes) {
                continue;
            }
            self.changed.clear();
            self.look_at(block);
            for &(next, position) in self.graph.successors(block) {
                let next = NodeIndex::new(next as usize);
                if self.can_take(block, next, position as usize) {
                    self.values.taken[self.graph.edge(next, position as usize)] = true;
                }
            }
        }
    }

    fn look_at(&mut self, block: NodeIndex) {
        self.values.reached[block.index()] = true;
        for &join in self.graph.joins(block) {
            if self.is_wanted(join) {
                self.join(block, join);
            }
        }
        self.block(block);
    }

    /// Takes the edges that control can take now.
    fn leave(&mut self, block: NodeIndex, agenda: &mut Agenda) {
        let (facts, graph) = (self.facts, self.graph);
        for &(next, position) in graph.successors(block) {
            let next = NodeIndex::new(next as usize);
            let edge = graph.edge(next, position as usize);
            if self.values.taken[edge] || !self.can_take(block, next, position as usize) {
                continue;
            }
            self.values.taken[edge] = true;
            let place = facts.cfg.place(next);
            if !self.values.reached[next.index()] {
                agenda.add(Item::whole(place));
                continue;
            }
            for index in graph.join_range(next).filter(|&index| self.is_wanted(graph.join_at(index))) {
                agenda.add(Item::join(place, index));
            }
        }
    }

    /// Computes an instruction some of whose operands have changed.
    fn compute_again(&mut self, instruction: u32) {
        let graph = self.graph;
        for at in self.facts.uses().range(instruction) {
            let Some(value) = graph.written(at).filter(|value| self.is_wanted(*value)) else { continue };
            self.written(instruction, at);
            // What is known of a sum depends on what is known of its terms.
            for value in [value, graph.after(value)] {
                if !self.changed.contains(&value) && self.is_of_others(value) {
                    self.changed.push(value);
                }
            }
        }
    }

    /// Whether a value is a sum of others.
    fn is_of_others(&self, value: ValueId) -> bool {
        let Some(fact) = self.values.of(value) else { return false };
        self.sum(fact).terms().any(|(base, _)| self.base(base) != Base::Value(value))
    }
}
