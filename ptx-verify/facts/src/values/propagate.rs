//! Constants, bits, limits and sums of all values of a function, and which branches are never taken.
//!
//! Wegman and Zadeck: *Constant propagation with conditional branches*, 1991: it is assumed that nothing is reached and
//! that nothing is known against a value until an edge or an input shows it. So a value that a loop gives back unchanged
//! is known, and what only an edge that is never taken brings does not count.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand};
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Graph, Kind, ValueId};
use super::launch::Launch;
use super::linear::{Base, BaseId, Form, Forms, Sum};
use super::number::{Number, mask};
use super::pointer::{Pointer, Pointers};
use super::shared::Shared;
use super::slice::Slice;
use crate::FunctionFacts;

/// Of a value to which the turns of a loop add in more ways nothing is known of what they add up to.
pub(crate) const MAX_STEPS: usize = 16;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fact {
    /// Its bits and limits.
    pub number: Number,
    /// The sum that it is.
    pub form: Form,
}

/// What is known of all values.
#[derive(Clone, Debug, Default)]
pub struct Values {
    /// By value; none where it is never computed.
    facts: Vec<Option<Fact>>,
    /// Sums and bases.
    pub(super) forms: Forms,
    /// The blocks that control can come to.
    pub(super) reached: Vec<bool>,
    /// The edges that control can take, in the order of the graph's predecessors.
    pub(super) taken: Vec<bool>,
    /// Whether the rows of blocks are taken to be whole warps.
    pub(super) whole_warps: bool,
    /// How many threads their rows are taken to have.
    row: Option<u64>,
    /// What the turns of loops add to values that the loops' heads join.
    pub(super) steps: FxHashMap<ValueId, Vec<Form>>,
}

impl Values {
    /// Follows the values of a function.
    #[must_use]
    pub fn new(facts: &FunctionFacts<'_>, graph: &Graph) -> Self {
        let mut engine = Engine::new(facts, graph, false);
        engine.run();
        engine.values
    }

    /// Whether the rows of blocks are taken to be whole warps.
    pub(crate) const fn has_whole_warps(&self) -> bool {
        self.whole_warps
    }

    /// The same where the rows of blocks are whole warps, as they are in nearly every kernel.
    #[must_use]
    pub fn of_whole_warps(facts: &FunctionFacts<'_>, graph: &Graph) -> Self {
        let mut engine = Engine::new(facts, graph, true);
        engine.run();
        engine.values
    }

    /// The values of a slice only. Branches that none of them decides are taken for possible.
    #[must_use]
    pub fn of_slice(facts: &FunctionFacts<'_>, graph: &Graph, slice: &Slice, whole_warps: bool) -> Self {
        let mut engine = Engine::new(facts, graph, whole_warps);
        engine.slice = Some(slice);
        engine.values.forms.reserve(slice.len());
        engine.run();
        engine.values
    }

    /// The same where the rows of blocks have a number of threads that is whole warps.
    #[must_use]
    pub(crate) fn of_rows(facts: &FunctionFacts<'_>, graph: &Graph, slice: &Slice, row: u64) -> Self {
        let mut engine = Engine::new(facts, graph, true);
        engine.slice = Some(slice);
        engine.take_rows(Some(row));
        engine.run();
        engine.values
    }

    /// The same where one value is a given number: in those executions only in which it is.
    #[must_use]
    pub fn where_is(
        facts: &FunctionFacts<'_>,
        graph: &Graph,
        slice: Option<&Slice>,
        whole_warps: bool,
        pinned: (ValueId, u64),
    ) -> Self {
        let mut engine = Engine::new(facts, graph, whole_warps);
        (engine.slice, engine.pinned) = (slice, Some(pinned));
        engine.run();
        engine.values
    }

    /// What is known of a value; none where it is never computed, or is undefined wherever it comes from.
    #[must_use]
    #[inline]
    pub fn of(&self, value: ValueId) -> Option<Fact> {
        self.facts.get(value.index()).copied().flatten()
    }

    /// Whether control can come to a block.
    #[must_use]
    #[inline]
    pub fn is_reached(&self, block: NodeIndex) -> bool {
        self.reached.get(block.index()).copied().unwrap_or(false)
    }

    /// Whether control can take the edge from the predecessor of a block at `position`.
    #[must_use]
    pub fn is_taken(&self, graph: &Graph, block: NodeIndex, position: usize) -> bool {
        self.taken.get(graph.edge(block, position)).copied().unwrap_or(false)
    }

    /// What the turns of a loop add to a value, where [`Base::Steps`] is what they have added up to.
    #[must_use]
    pub fn steps(&self, value: ValueId) -> &[Form] {
        self.steps.get(&value).map_or(&[], Vec::as_slice)
    }

    /// Whether turns of some loop add what is made in the function, rather than what it is given.
    pub(crate) fn has_open_steps(&self) -> bool {
        let is_made =
            |base| matches!(self.forms.what(base), Base::Value(_) | Base::Steps(_) | Base::Operation { .. });
        let is_open = |form: &Form| self.forms.sum(*form).terms().any(|(base, _)| is_made(base));
        self.steps.values().flatten().any(is_open)
    }

    /// Where each value points to, where that is known.
    #[must_use]
    pub fn pointers(&self, facts: &FunctionFacts<'_>, graph: &Graph) -> Vec<Option<Pointer>> {
        let engine = Engine::again(facts, graph, self.clone());
        let mut pointers = Pointers::new(&engine);
        graph.values().map(|value| pointers.of(self.of(value)?.form)).collect()
    }

    /// The sums and bases.
    #[must_use]
    pub fn forms(&self) -> &Forms {
        &self.forms
    }
}

/// How many edges to one block are looked at for the index that takes them.
const MAX_SAME_TARGETS: usize = 256;
/// Changes of a join before limits that still move are given up,
const PRECISE_TURNS: u8 = 3;
/// and before all of its number is.
const MAX_TURNS: u8 = 8;
/// What is being found.
pub struct Engine<'f, 'm> {
    pub(crate) facts: &'f FunctionFacts<'m>,
    pub(crate) graph: &'f Graph,
    pub(crate) values: Values,
    /// The values that are wanted; none where all are.
    pub(super) slice: Option<&'f Slice>,
    /// A value that is taken to be a number.
    pinned: Option<(ValueId, u64)>,
    pub(super) launch: Launch,
    /// Whether the rows of blocks are single warps, where that was asked.
    pub(super) rows_are_warps: Option<bool>,
    /// Whether a block is taken to have one row, where that was asked for.
    pub(super) has_one_row: Option<bool>,
    /// The variables of shared memory that instructions name, where that was asked.
    pub(super) shared: Option<Shared>,
    /// The value that is computed.
    pub(super) current: Option<ValueId>,
    /// What has changed where the propagation is.
    pub(super) changed: Vec<ValueId>,
    /// How often each join has changed.
    turns: Vec<u8>,
    /// The blocks of loops, by the edge that goes around each: its head and position. None where there are many.
    pub(super) loops: FxHashMap<(NodeIndex, usize), Option<FxHashSet<NodeIndex>>>,
}

impl<'f, 'm> Engine<'f, 'm> {
    fn new(facts: &'f FunctionFacts<'m>, graph: &'f Graph, whole_warps: bool) -> Self {
        let values = Values {
            facts: vec![None; graph.len()],
            forms: Forms::default(),
            reached: vec![false; facts.cfg.block_count()],
            taken: vec![false; graph.edge_count()],
            steps: FxHashMap::default(),
            whole_warps,
            row: None,
        };
        Self {
            facts,
            graph,
            values,
            slice: None,
            pinned: None,
            launch: Launch::of(facts),
            rows_are_warps: None,
            has_one_row: None,
            shared: None,
            current: None,
            changed: Vec::new(),
            turns: vec![0; graph.len()],
            loops: FxHashMap::default(),
        }
    }

    /// An engine that answers about values that were found before.
    pub fn again(facts: &'f FunctionFacts<'m>, graph: &'f Graph, values: Values) -> Self {
        let launch = Launch::of(facts).with_row(values.row);
        Self {
            facts,
            graph,
            values,
            slice: None,
            pinned: None,
            launch,
            rows_are_warps: None,
            has_one_row: None,
            shared: None,
            current: None,
            changed: Vec::new(),
            turns: Vec::new(),
            loops: FxHashMap::default(),
        }
    }

    fn take_rows(&mut self, row: Option<u64>) {
        self.values.row = row;
        self.launch = self.launch.with_row(row);
    }

    /// The function that they are about.
    #[inline]
    pub fn facts(&self) -> &'f FunctionFacts<'m> {
        self.facts
    }

    /// What was found, with what the questions since have added.
    pub fn into_values(self) -> Values {
        self.values
    }

    #[inline]
    pub(crate) fn graph(&self) -> &'f Graph {
        self.graph
    }

    /// Whether control can come to a block.
    #[inline]
    pub fn is_reached(&self, block: NodeIndex) -> bool {
        self.values.is_reached(block)
    }

    fn run(&mut self) {
        for value in self.graph.values() {
            if matches!(self.graph.kind(value), Kind::Entry | Kind::Opaque) {
                let own = self.own(value);
                self.values.facts[value.index()] = Some(own);
            }
        }
        if self.settle() {
            return;
        }
        // Nothing that is known holds for sure.
        let (slice, row) = (self.slice, self.values.row);
        *self = Self::new(self.facts, self.graph, self.values.whole_warps);
        self.slice = slice;
        self.take_rows(row);
        self.values.reached.fill(true);
        self.values.taken.fill(true);
        for value in self.graph.values() {
            if self.is_wanted(value) {
                let own = self.own(value);
                self.values.facts[value.index()] = Some(own);
            }
        }
    }

    #[inline]
    pub(super) fn is_wanted(&self, value: ValueId) -> bool {
        self.slice.is_none_or(|slice| slice.has(value))
    }

    fn taken(&self, block: NodeIndex, position: usize) -> bool {
        self.values.taken[self.graph.edge(block, position)]
    }

    pub(super) fn can_take(&self, block: NodeIndex, next: NodeIndex, position: usize) -> bool {
        if let Some((value, index)) = self.index_of(block, next, position)
            && let Some(fact) = self.values.of(value)
            && !(fact.number.low..=fact.number.high).contains(&index)
        {
            return false;
        }
        let Some(condition) = self.graph.condition(next, position) else { return true };
        let guard = self.facts.cfg.instructions(block).last().and_then(|last| self.graph.guard(last));
        let known = guard.and_then(|guard| self.values.of(guard)).and_then(|fact| fact.number.value());
        known.is_none_or(|value| (value != 0) == condition.value)
    }

    /// What an indexed branch at the end of a block is decided by, and the index with which it takes the edge from there
    /// to `next`, whose predecessor it is at `position`.
    pub(crate) fn index_of(
        &self,
        block: NodeIndex,
        next: NodeIndex,
        position: usize,
    ) -> Option<(ValueId, u64)> {
        let cfg = &self.facts.cfg;
        let index = self.graph.branch_index(self.facts, block).filter(|_| position < MAX_SAME_TARGETS)?;
        let mut before = cfg.predecessors(next).filter(|(before, _)| cfg.is_reachable(*before));
        let (_, edge) = before.nth(position)?;
        Some((index, u64::from(edge.index?)))
    }

    /// Computes what the instructions of a block write.
    pub(super) fn block(&mut self, block: NodeIndex) {
        let instructions = self.facts.cfg.instructions(block);
        if let Some(slice) = self.slice {
            for &(instruction, at) in slice.within(instructions) {
                self.written(instruction, at as usize);
            }
            return;
        }
        for instruction in instructions {
            for at in self.facts.uses().writing(instruction) {
                self.written(instruction, at);
            }
        }
    }

    pub(super) fn written(&mut self, instruction: u32, at: usize) {
        let Some(value) = self.graph.written(at) else { return };
        self.current = Some(value);
        let new = self.compute(value, instruction, at).unwrap_or_else(|| self.own(value));
        self.put(value, new);
        let after = self.graph.after(value);
        if after != value
            && let Kind::Guarded { old, .. } = self.graph.kind(after)
            && let Some(merged) = self.guarded(after, instruction, new, old)
        {
            self.put(after, merged);
        }
    }

    /// Whether the guard of an instruction holds; none where that is not known, or there is none.
    pub(crate) fn runs(&self, instruction: u32) -> Option<bool> {
        let guard = self.values.of(self.graph.guard(instruction)?)?.number.value()?;
        Some((guard != 0) == self.facts.condition(instruction)?.value)
    }

    /// The new value or the old one.
    fn guarded(&mut self, value: ValueId, instruction: u32, new: Fact, old: ValueId) -> Option<Fact> {
        let runs = self.runs(instruction);
        let old = self.values.of(old);
        match (runs, old) {
            (Some(true), _) | (None, None) => Some(new),
            (Some(false), old) => old,
            (None, Some(old)) => Some(self.merged(value, new, old)),
        }
    }

    /// What is joined at the head of a loop, as what comes from outside and what the turns have added to it.
    fn stepped(&mut self, block: NodeIndex, join: ValueId) -> Option<Form> {
        let graph = self.graph;
        let own = self.own_form(join);
        // What was given up once stays so.
        let before = self.values.of(join).map(|fact| fact.form);
        if before == Some(own) {
            return None;
        }
        let mut entry: Option<Form> = None;
        let mut turns = Vec::new();
        for (position, &input) in graph.inputs(join).iter().enumerate() {
            let from = graph.predecessors(block).nth(position).map(|(from, _)| from);
            if from.is_some() && !self.taken(block, position) {
                continue;
            }
            let Some(fact) = self.values.of(input) else { continue };
            if from.is_some_and(|from| self.facts.cfg.dominates(block, from)) {
                turns.push(fact.form);
            } else if entry.replace(fact.form).is_some_and(|other| other != fact.form) {
                return None;
            }
        }
        let entry = entry?;
        let width = self.width(join);
        let start = *self.values.forms.sum(entry);
        let steps = self.values.forms.base(Base::Steps(join), Number::unknown(width), Some(join));
        let sum = start.plus(&Sum::of(width, steps), 1)?;
        let form = self.values.forms.form(sum);
        // Turns add to what was known here last, which what comes from outside may have changed since; at first, to that.
        let last = before.map(|before| *self.values.forms.sum(before));
        let now = last.filter(|last| last.terms().any(|(base, _)| base == steps)).unwrap_or(start);
        let mut added = Vec::new();
        for turn in turns {
            let step = self.values.forms.sum(turn).plus(&now, u64::MAX)?;
            if step.terms().any(|(base, _)| base == steps) {
                return None;
            }
            added.push(self.values.forms.form(step));
        }
        added.sort_unstable();
        added.dedup();
        self.values.steps.insert(join, added);
        Some(form)
    }

    fn merged(&mut self, value: ValueId, one: Fact, other: Fact) -> Fact {
        let number = one.number.join(other.number);
        let form = if one.form == other.form { one.form } else { self.own_form(value) };
        Fact { number, form }
    }

    pub(super) fn join(&mut self, block: NodeIndex, join: ValueId) {
        let graph = self.graph;
        let mut merged: Option<Fact> = None;
        let inputs = graph.inputs(join);
        for (position, &input) in inputs.iter().enumerate() {
            let comes = position >= graph.predecessor_count(block) || self.taken(block, position);
            let Some(fact) = self.values.of(input).filter(|_| comes) else { continue };
            merged = Some(match merged {
                None => fact,
                Some(known) => self.merged(join, known, fact),
            });
        }
        let Some(mut merged) = merged else { return };
        let own = self.own_form(join);
        if merged.form != own && self.is_of_a_turn(merged.form) && !self.comes_from_outside(block, join) {
            merged.form = own;
        }
        let mut counts = false;
        if merged.form == own {
            let stepped = self.stepped(block, join);
            counts = stepped.is_some();
            merged.form = stepped.or_else(|| self.division(block, join)).unwrap_or(own);
        }
        let turn = self.turns[join.index()];
        if turn >= PRECISE_TURNS
            && let Some(before) = self.values.of(join)
        {
            merged.number = match turn < MAX_TURNS {
                true => merged.number.widened(before.number),
                false if merged.number == before.number => before.number,
                false => Number::unknown(u32::from(before.number.width)),
            };
            // Where nothing comes from outside, each turn may be another sum of the one before. What turns are counted from
            // moves while the loops before are looked at.
            if merged.form != before.form && !(counts && turn < MAX_TURNS) {
                merged.form = own;
            }
        }
        if self.put(join, merged) {
            self.turns[join.index()] = turn.saturating_add(1);
        }
    }

    /// Whether a join takes something known that no turn of a loop brings.
    fn comes_from_outside(&self, block: NodeIndex, join: ValueId) -> bool {
        let (cfg, graph) = (&self.facts.cfg, self.graph);
        let is_known = |input: &ValueId| self.values.of(*input).is_some();
        let inputs = graph.inputs(join);
        let (over_edges, at_start) = inputs.split_at(graph.predecessor_count(block));
        let mut edges = graph.predecessors(block).zip(over_edges).enumerate();
        at_start.iter().any(is_known)
            || edges.any(|(position, ((from, _), input))| {
                is_known(input) && self.taken(block, position) && !cfg.dominates(block, from)
            })
    }

    /// Whether a sum may be another one in each turn of a loop: what it was in the turn before is not what it is now.
    fn is_of_a_turn(&self, form: Form) -> bool {
        let sum = self.values.forms.sum(form);
        sum.terms().any(|(base, _)| {
            let base = self.values.forms.what(base);
            matches!(base, Base::Value(_) | Base::Steps(_) | Base::Unknown(_) | Base::Operation { .. })
        })
    }

    fn put(&mut self, value: ValueId, fact: Fact) -> bool {
        let fact = match self.pinned {
            Some((pinned, number)) if pinned == value => {
                let width = self.width(value);
                let form = self.values.forms.form(Sum::constant(width, number));
                Fact { number: Number::constant(width, number & mask(width)), form }
            }
            _ => fact,
        };
        let slot = &mut self.values.facts[value.index()];
        let changed = *slot != Some(fact);
        *slot = Some(fact);
        if changed {
            self.changed.push(value);
        }
        changed
    }

    pub(crate) fn width(&self, value: ValueId) -> u32 {
        self.graph.width(value)
    }

    /// The width of the first result of an instruction.
    pub(super) fn result_width(&self, instruction: u32) -> Option<u32> {
        match self.facts.body.operands(Handle::new(instruction)).first()? {
            Operand::Register { register, .. } => {
                self.facts.body.register_type(*register).map(super::number::width)
            }
            _ => None,
        }
    }

    fn own_form(&mut self, value: ValueId) -> Form {
        let width = self.width(value);
        let base = self.values.forms.base(Base::Value(value), Number::unknown(width), Some(value));
        self.values.forms.form(Sum::of(width, base))
    }

    /// A value of which nothing else is known.
    fn own(&mut self, value: ValueId) -> Fact {
        Fact { number: Number::unknown(self.width(value)), form: self.own_form(value) }
    }

    /// Something of which nothing is known, and that no value is: it is not the same as anything.
    pub(super) fn anything(&mut self, width: u32) -> Fact {
        let base = match self.current {
            Some(value) => Base::Value(value),
            None => Base::Unknown(self.values.forms.base_count() as u32),
        };
        let base = self.values.forms.base(base, Number::unknown(width), self.current);
        let form = self.values.forms.form(Sum::of(width, base));
        Fact { number: Number::unknown(width), form }
    }

    /// What a term of a sum is about.
    pub fn base(&self, base: BaseId) -> Base {
        self.values.forms.what(base)
    }

    /// A value as a sum of what it is made of.
    pub fn sum(&self, fact: Fact) -> &Sum {
        self.values.forms.sum(fact.form)
    }

    /// What is known of a base as a number of a width.
    pub(crate) fn base_number(&self, base: BaseId, width: u32) -> Number {
        let known = match self.values.forms.what(base) {
            Base::Value(value) => self.values.of(value).map(|fact| fact.number),
            // From 0 on, turns add multiples of what divides all of their steps.
            Base::Steps(value) => {
                let own = |base| match self.values.forms.what(base) {
                    Base::Steps(_) => 0,
                    _ => self.base_number(base, width).zeros.trailing_ones(),
                };
                let zeros = |form: &Form| {
                    let sum = self.values.forms.sum(*form);
                    let terms = sum.terms().map(|(base, factor)| factor.trailing_zeros() + own(base));
                    terms.chain([sum.offset().trailing_zeros()]).min().unwrap_or(0)
                };
                let steps = self.values.steps(value);
                if steps.len() > MAX_STEPS {
                    return Number::unknown(width);
                }
                let zeros = steps.iter().map(zeros).min().unwrap_or(0).min(width);
                return Number::unknown(width).with_bits(mask(zeros), 0);
            }
            _ => None,
        };
        known.unwrap_or(self.values.forms.number(base)).extended(width)
    }

    /// What is known of a sum.
    pub(crate) fn number_of(&self, sum: &Sum) -> Number {
        let width = sum.width();
        sum.terms().fold(Number::constant(width, sum.offset()), |number, (base, factor)| {
            number.plus_times(self.base_number(base, width), factor)
        })
    }

    /// What is known of an operand as a number of a width.
    pub fn operand(&mut self, instruction: u32, index: usize, width: u32) -> Option<Fact> {
        let operand = *self.facts.body.operands(Handle::new(instruction)).get(index)?;
        self.one(instruction, index, operand, width)
    }

    /// The same of an element of a list.
    pub(super) fn part(&mut self, instruction: u32, index: usize, part: usize, width: u32) -> Option<Fact> {
        let operands = self.facts.body.operands(Handle::new(instruction));
        let Operand::Vector(run) = *operands.get(index)? else { return None };
        let operand = *self.facts.body.children(run).get(part)?;
        self.one(instruction, index, operand, width)
    }

    fn one(&mut self, instruction: u32, index: usize, operand: Operand, width: u32) -> Option<Fact> {
        Some(match operand {
            Operand::Register { register, .. } => {
                let fact = self.register(instruction, index, register)?;
                self.extended(fact, width, false)
            }
            Operand::Negated { register, .. } => {
                let fact = self.register(instruction, index, register)?;
                self.negated(fact)
            }
            Operand::Sum { register, offset, .. } => {
                let fact = self.register(instruction, index, register)?;
                let fact = self.extended(fact, width, false);
                let sum = self.sum(fact).plus(&Sum::constant(width, offset as u64), 1)?;
                let number = fact.number.plus(Number::constant(width, offset as u64));
                Fact { number, form: self.values.forms.form(sum) }
            }
            Operand::Integer { bits, .. } if width == 1 => self.constant(1, u64::from(bits != 0)),
            Operand::Integer { bits, .. } => self.constant(width, bits),
            Operand::WarpSize => self.constant(width, 32),
            Operand::SingleBits(bits) => self.constant(width, u64::from(bits)),
            Operand::DoubleBits(bits) => self.constant(width, bits),
            Operand::Special(register) => self.special(register, width),
            Operand::Variable { variable, offset, .. } => self.symbol(variable, offset, width)?,
            Operand::Function(function) => self.code(function, width),
            _ => return None,
        })
    }

    /// A predicate among the operands.
    pub(crate) fn predicate(&mut self, instruction: u32, index: usize) -> Option<Fact> {
        self.operand(instruction, index, 1)
    }

    pub(super) fn register(
        &mut self,
        instruction: u32,
        index: usize,
        register: ptx_ir::ir::Register,
    ) -> Option<Fact> {
        let uses = self.facts.uses();
        let mut range = uses.range(instruction);
        let at = range.find(|&at| {
            let each = uses.all()[at];
            each.operand() == index && each.register == register && each.access().reads()
        })?;
        self.values.of(self.graph.read(at)?)
    }
}
