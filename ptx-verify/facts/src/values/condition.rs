//! Conditions on a path that is walked backwards, as predicates of values.
//!
//! A condition is the sum of a predicate, so that equal conditions are equal numbers, through copies, negations and
//! repeated comparisons. Where the walk leaves a block by its start, what the block joins becomes what the edge brings;
//! where it goes around a loop, what the later turn computed is another value than what the earlier one did, and what is
//! known of it is forgotten.

use std::rc::Rc;

use petgraph::graph::NodeIndex;
use ptx_ir::isa::Computation;
use rustc_hash::{FxHashMap, FxHashSet};

use super::assume::Assumption;
use super::graph::{Kind, ValueId};
use super::linear::{Base, BaseId, Form, Sum};
use super::number::Number;
use super::propagate::{Engine, Fact};
use crate::FunctionFacts;

/// That a predicate is true or false.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Literal {
    predicate: Form,
    value: bool,
}

/// What comes of saying that a predicate has a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stated {
    /// It always has.
    Always,
    /// It never has.
    Never,
    /// It has where the literal holds.
    Where(Literal),
}

/// An edge that is walked backwards.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Edge {
    /// Where it leads.
    pub(crate) block: NodeIndex,
    /// Which of the inputs of the block's joins it brings.
    pub(crate) position: usize,
    /// Whether it goes around a loop.
    pub(crate) is_back: bool,
    /// Whether conditions that were not met before are followed over the edge, or forgotten.
    pub(crate) follows: bool,
}

/// Operations on operations are followed so deep.
const MAX_DEPTH: usize = 24;
/// Parts of a conjunction that are told apart.
const MAX_CONJUNCTS: usize = 8;
/// To tell what a condition is about, no deeper than this.
const LEAF_DEPTH: usize = 8;

/// What bases are before an edge: none where that is not known, and nothing else where they are the same.
type Before = FxHashMap<BaseId, Option<Option<Fact>>>;
/// Loops of more blocks are taken to contain every block.
const MAX_LOOP: usize = 256;
/// More literals are not kept together.
const MAX_LITERALS: usize = 40;

/// Answers that walks through a function ask for again and again: other paths lead across the same edges under the same
/// conditions.
#[derive(Default)]
pub(crate) struct Memo {
    /// Whether literals can hold together.
    possible: FxHashMap<Literals, bool>,
    /// What a predicate is made of, ascending.
    leaves: FxHashMap<Form, Rc<[BaseId]>>,
    /// What a predicate is before an edge: its place, and whether joins are followed.
    before: FxHashMap<(Form, NodeIndex, usize, bool), Option<Form>>,
    /// The blocks that join what a predicate is made of, ascending; none where it is made of too much.
    joins: FxHashMap<Form, Option<Rc<[NodeIndex]>>>,
}

impl Memo {
    fn leaves(&mut self, engine: &Engine<'_, '_>, predicate: Form) -> Rc<[BaseId]> {
        let known = self.leaves.entry(predicate).or_insert_with(|| {
            let mut leaves = Vec::new();
            engine.for_each_leaf(predicate, LEAF_DEPTH, &mut |id, _| leaves.push(id));
            leaves.sort_unstable();
            leaves.dedup();
            leaves.into()
        });
        Rc::clone(known)
    }

    /// Whether a predicate is the same before an edge, since nothing that it is made of is joined there.
    fn is_same_before(&mut self, engine: &Engine<'_, '_>, predicate: Form, edge: Edge) -> bool {
        let joins = self.joins.entry(predicate).or_insert_with(|| {
            let mut blocks = Vec::new();
            engine.joining(predicate, MAX_DEPTH, &mut FxHashSet::default(), &mut blocks)?;
            blocks.sort_unstable();
            blocks.dedup();
            Some(blocks.into())
        });
        !edge.is_back && joins.as_ref().is_some_and(|joins| joins.binary_search(&edge.block).is_err())
    }
}

/// Literals that hold together, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct Literals(Vec<Literal>);

impl Literals {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether all of these are among the others.
    pub(crate) fn are_among(&self, others: &Self) -> bool {
        let mut others = others.0.iter();
        self.0.iter().all(|literal| others.any(|other| other == literal))
    }

    /// Adds one; whether all of them can hold together as far as is known.
    pub(crate) fn add(&mut self, engine: &Engine<'_, '_>, memo: &mut Memo, literal: Literal) -> bool {
        match self.0.binary_search_by_key(&literal.predicate, |each| each.predicate) {
            Ok(place) => self.0[place].value == literal.value,
            Err(_) if self.0.len() >= MAX_LITERALS => true,
            Err(place) => {
                self.0.insert(place, literal);
                let mut rest: Vec<Literal> = self.0.iter().copied().filter(|each| *each != literal).collect();
                Self::related(literal, &mut rest, engine, memo).is_possible(engine, memo)
            }
        }
    }

    /// Keeps some of them.
    pub(crate) fn retain(&mut self, keep: impl Fn(Literal) -> bool) {
        self.0.retain(|literal| keep(*literal));
    }

    /// Takes those out of the rest that share something with a literal, or with others that do: no others can contradict
    /// it.
    fn related(literal: Literal, rest: &mut Vec<Literal>, engine: &Engine<'_, '_>, memo: &mut Memo) -> Self {
        let mut all = vec![literal];
        let mut next = 0;
        while let Some(one) = all.get(next) {
            next += 1;
            let leaves = memo.leaves(engine, one.predicate);
            let is_related = |other: &mut Literal| {
                let others = memo.leaves(engine, other.predicate);
                others.iter().any(|leaf| leaves.binary_search(leaf).is_ok())
            };
            all.extend(rest.extract_if(.., is_related));
        }
        all.sort_unstable();
        Self(all)
    }

    fn are_possible(&self, engine: &Engine<'_, '_>, memo: &mut Memo) -> bool {
        let mut rest = self.0.clone();
        while let Some(literal) = rest.pop() {
            if !Self::related(literal, &mut rest, engine, memo).is_possible(engine, memo) {
                return false;
            }
        }
        true
    }

    fn is_possible(&self, engine: &Engine<'_, '_>, memo: &mut Memo) -> bool {
        if let [one] = self.0.as_slice()
            && !engine.has_deep_form(one.predicate)
        {
            return true;
        }
        if let Some(known) = memo.possible.get(self) {
            return *known;
        }
        let mut assumption = Assumption::new(engine);
        // What the later ones say may decide the earlier ones.
        let twice = self.0.iter().chain(&self.0);
        let possible = twice.into_iter().all(|literal| {
            assumption.hold(literal.predicate, literal.value);
            !assumption.is_contradicted()
        }) && !assumption.is_impossible();
        memo.possible.insert(self.clone(), possible);
        possible
    }

    /// What holds before an edge where these hold after it; none where that cannot be.
    pub(crate) fn before(&self, engine: &mut Engine<'_, '_>, memo: &mut Memo, edge: Edge) -> Option<Self> {
        let mut before = Self::default();
        let mut changed = false;
        let mut known = Before::default();
        let next = engine.values.forms.next();
        for &literal in &self.0 {
            let key = (literal.predicate, edge.block, edge.position, edge.follows);
            let form = match memo.before.get(&key).copied() {
                Some(form) => form,
                None if memo.is_same_before(engine, literal.predicate, edge) => Some(literal.predicate),
                None => {
                    let form = engine.before(literal.predicate, edge, &mut known, MAX_DEPTH);
                    let form = form.filter(|form| edge.follows || *form < next);
                    memo.before.insert(key, form);
                    form
                }
            };
            let Some(form) = form else {
                changed = true;
                continue;
            };
            if form == literal.predicate {
                if !before.insert(literal) {
                    return None;
                }
                continue;
            }
            changed = true;
            match engine.stated(form, literal.value) {
                Stated::Always => {}
                Stated::Never => return None,
                Stated::Where(literal) => {
                    if !before.insert(literal) {
                        return None;
                    }
                }
            }
        }
        (!changed || before.are_possible(engine, memo)).then_some(before)
    }

    fn insert(&mut self, literal: Literal) -> bool {
        match self.0.binary_search_by_key(&literal.predicate, |each| each.predicate) {
            Ok(place) => self.0[place].value == literal.value,
            Err(place) => {
                self.0.insert(place, literal);
                true
            }
        }
    }
}

impl Engine<'_, '_> {
    /// That the sum of a predicate has a value.
    pub(crate) fn stated(&mut self, predicate: Form, value: bool) -> Stated {
        let sum = *self.values.forms.sum(predicate);
        let odd = sum.offset() & 1 != 0;
        if sum.value().is_some() {
            return if odd == value { Stated::Always } else { Stated::Never };
        }
        let plain = match odd {
            true => sum.plus(&Sum::constant(sum.width(), 1), u64::MAX).unwrap_or(sum),
            false => sum,
        };
        Stated::Where(Literal { predicate: self.values.forms.form(plain), value: value ^ odd })
    }

    /// That a predicate has a value.
    pub(crate) fn states(&mut self, predicate: ValueId, value: bool) -> Option<Stated> {
        let fact = self.values.of(predicate)?;
        Some(match fact.number.value() {
            Some(known) if (known != 0) == value => Stated::Always,
            Some(_) => Stated::Never,
            None => self.stated(fact.form, value),
        })
    }

    /// The literals that all hold where one does: both sides of a conjunction may be known in different places.
    pub(crate) fn conjuncts(&mut self, whole: Literal) -> Vec<Literal> {
        let mut found = Vec::new();
        let mut open = vec![whole];
        while let Some(literal) = open.pop() {
            let sum = *self.values.forms.sum(literal.predicate);
            let mut terms = sum.terms();
            let parts = match (literal.value, terms.next(), terms.next()) {
                (true, Some((base, _)), None) if found.len() + open.len() < MAX_CONJUNCTS => {
                    match self.values.forms.what(base) {
                        Base::Operation { computes: Computation::And, operands: [a, b, _], .. } => {
                            Some([a, b])
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
            let Some(parts) = parts else {
                found.push(literal);
                continue;
            };
            for part in parts {
                match self.stated(part, true) {
                    Stated::Where(literal) => open.push(literal),
                    Stated::Always => {}
                    // Nothing holds then, which the whole says.
                    Stated::Never => return vec![whole],
                }
            }
        }
        found
    }

    /// The value that a literal is about, and whether the literal says that it is true; none where it is about more.
    pub(crate) fn subject(&self, literal: Literal) -> Option<(Base, bool)> {
        let sum = self.values.forms.sum(literal.predicate);
        let mut terms = sum.terms();
        match (terms.next(), terms.next()) {
            (Some((base, _)), None) => Some((self.values.forms.what(base), literal.value)),
            _ => None,
        }
    }

    /// Whether a predicate alone may contradict itself: a comparison that assumptions look into.
    fn has_deep_form(&self, predicate: Form) -> bool {
        let mut terms = self.values.forms.sum(predicate).terms();
        terms.any(|(base, _)| matches!(self.values.forms.what(base), Base::Operation { .. }))
    }

    /// Calls `visit` for each base that a sum is made of, through operations.
    fn for_each_leaf(&self, form: Form, depth: usize, visit: &mut impl FnMut(BaseId, Base)) {
        for (id, _) in self.values.forms.sum(form).terms() {
            let base = self.values.forms.what(id);
            match (base, depth.checked_sub(1)) {
                (Base::Operation { operands, .. }, Some(depth)) => {
                    for operand in operands.into_iter().filter(|operand| *operand != Form::NONE) {
                        self.for_each_leaf(operand, depth, visit);
                    }
                }
                _ => visit(id, base),
            }
        }
    }

    /// Finds the blocks that join what a sum is made of; none where operations lie too deep in each other.
    fn joining(
        &self,
        form: Form,
        depth: usize,
        seen: &mut FxHashSet<BaseId>,
        blocks: &mut Vec<NodeIndex>,
    ) -> Option<()> {
        for (id, _) in self.values.forms.sum(form).terms() {
            match self.values.forms.what(id) {
                Base::Operation { .. } if !seen.insert(id) => {}
                Base::Operation { operands, .. } => {
                    let depth = depth.checked_sub(1)?;
                    for operand in operands.into_iter().filter(|operand| *operand != Form::NONE) {
                        self.joining(operand, depth, seen, blocks)?;
                    }
                }
                Base::Value(value) | Base::Steps(value) => {
                    if let Kind::Joined { block } = self.graph.kind(value) {
                        blocks.push(block);
                    }
                }
                _ => {}
            }
        }
        Some(())
    }

    /// Calls `visit` for each base of a value.
    pub(crate) fn for_each_leaf_of_value(&self, value: ValueId, visit: &mut impl FnMut(BaseId, Base)) {
        if let Some(fact) = self.values.of(value) {
            self.for_each_leaf(fact.form, LEAF_DEPTH, visit);
        }
    }

    /// Whether a value is made of what is the same from the function's entry to its end, and of numbers.
    pub(crate) fn is_invariant(&self, value: ValueId) -> bool {
        let mut is_invariant = self.values.of(value).is_some();
        self.for_each_leaf_of_value(value, &mut |_, base| {
            is_invariant &= match base {
                Base::Special(register) => !register.is_volatile(),
                Base::Lane | Base::Warp | Base::Rows(..) | Base::Symbol { .. } | Base::Code(_) => true,
                // What nobody changes, from where it is loaded on.
                Base::Loaded { .. } => true,
                _ => false,
            };
        });
        is_invariant
    }

    /// Whether a value is made of what is the same in all threads of a launch, as the parameters are, and of numbers.
    pub(crate) fn is_of_launch(&self, value: ValueId) -> bool {
        let mut is_of_launch = self.values.of(value).is_some();
        self.for_each_leaf_of_value(value, &mut |_, base| {
            is_of_launch &= matches!(base, Base::Loaded { .. });
        });
        is_of_launch
    }

    /// How many bases there are.
    pub(crate) fn base_count(&self) -> usize {
        self.values.forms.base_count()
    }

    /// Whether control can take the edge from the predecessor of a block at `position`.
    pub(crate) fn is_taken(&self, block: NodeIndex, position: usize) -> bool {
        self.values.is_taken(self.graph, block, position)
    }

    /// Calls `visit` for each base of a literal's predicate.
    pub(crate) fn for_each_leaf_of(&self, literal: Literal, visit: &mut impl FnMut(BaseId, Base)) {
        self.for_each_leaf(literal.predicate, LEAF_DEPTH, visit);
    }

    /// The block where a value is made.
    pub(crate) fn block_of(&self, value: ValueId) -> NodeIndex {
        match self.graph.kind(value) {
            Kind::Joined { block } => block,
            Kind::Computed { instruction, .. } | Kind::Guarded { instruction, .. } => {
                self.facts.cfg.block_of(FunctionFacts::handle(instruction))
            }
            Kind::Undefined | Kind::Entry | Kind::Opaque => NodeIndex::new(0),
        }
    }

    /// What a sum is before an edge; none where that is not known.
    fn before(&mut self, form: Form, edge: Edge, known: &mut Before, depth: usize) -> Option<Form> {
        let sum = *self.values.forms.sum(form);
        if sum.value().is_some() {
            return Some(form);
        }
        let width = sum.width();
        let mut result = Sum::constant(width, sum.offset());
        let mut changed = false;
        for (base, factor) in sum.terms() {
            let own = Sum::of(width, base);
            let term = match self.known_before(base, edge, known, depth)? {
                None => own,
                Some(other) => {
                    changed = true;
                    let other = self.extended(other, width, false);
                    *self.sum(other)
                }
            };
            result = result.plus(&term, factor)?;
        }
        if !changed {
            return Some(form);
        }
        let number = self.number_of(&result);
        if let Some(value) = number.value() {
            result = Sum::constant(width, value);
        }
        Some(self.values.forms.form(result))
    }

    fn known_before(
        &mut self,
        base: BaseId,
        edge: Edge,
        known: &mut Before,
        depth: usize,
    ) -> Option<Option<Fact>> {
        if let Some(before) = known.get(&base) {
            return *before;
        }
        let before = self.base_before(base, edge, known, depth);
        known.insert(base, before);
        before
    }

    fn base_before(
        &mut self,
        base: BaseId,
        edge: Edge,
        known: &mut Before,
        depth: usize,
    ) -> Option<Option<Fact>> {
        let what = self.values.forms.what(base);
        match what {
            Base::Value(value) | Base::Steps(value) if self.is_joined(value, edge.block) => {
                let input = *self.graph.inputs(value).get(edge.position)?;
                let input = self.values.of(input)?;
                if matches!(what, Base::Value(_)) {
                    return Some(Some(input));
                }
                // What the turns have added up to is the difference to what came from outside.
                let own = self.values.of(value)?;
                let steps = Sum::of(self.width(value), base);
                let start = self.sum(own).plus(&steps, u64::MAX)?;
                let added = self.sum(input).plus(&start, u64::MAX)?;
                let number = self.number_of(&added);
                Some(Some(Fact { number, form: self.values.forms.form(added) }))
            }
            Base::Value(value) | Base::Steps(value) => {
                let made = self.block_of(value);
                let is_outside = |engine: &mut Self| {
                    made != edge.block
                        && (engine.facts.cfg.dominates(made, edge.block) || !engine.is_in_loop(made, edge))
                };
                (!edge.is_back || is_outside(self)).then_some(None)
            }
            Base::Unknown(_) => (!edge.is_back).then_some(None),
            Base::Special(_)
            | Base::Lane
            | Base::Warp
            | Base::Rows(..)
            | Base::Symbol { .. }
            | Base::Code(_)
            | Base::Loaded { .. } => Some(None),
            Base::Operation { computes, detail, operands } => {
                let depth = depth.checked_sub(1)?;
                let mut before = operands;
                for operand in before.iter_mut().filter(|operand| **operand != Form::NONE) {
                    *operand = self.before(*operand, edge, known, depth)?;
                }
                if before == operands {
                    return Some(None);
                }
                let own = u32::from(self.values.forms.number(base).width);
                Some(Some(self.again_on(computes, detail, before, own)))
            }
        }
    }

    /// Whether control that comes from a block may come back over an edge that goes around a loop. What was made outside
    /// of the loop is not made again by its turns.
    fn is_in_loop(&mut self, block: NodeIndex, edge: Edge) -> bool {
        let (facts, graph) = (self.facts, self.graph);
        let inside = self.loops.entry((edge.block, edge.position)).or_insert_with(|| {
            let (latch, _) = graph.predecessors(edge.block).nth(edge.position)?;
            let mut inside = FxHashSet::from_iter([edge.block, latch]);
            let mut open = if latch == edge.block { Vec::new() } else { vec![latch] };
            while let Some(next) = open.pop() {
                open.extend(
                    facts.cfg.predecessors(next).map(|(from, _)| from).filter(|from| inside.insert(*from)),
                );
                if inside.len() > MAX_LOOP {
                    return None;
                }
            }
            Some(inside)
        });
        inside.as_ref().is_none_or(|inside| inside.contains(&block))
    }

    fn is_joined(&self, value: ValueId, block: NodeIndex) -> bool {
        matches!(self.graph.kind(value), Kind::Joined { block: own } if own == block)
    }

    fn known(&self, form: Form) -> Fact {
        let sum = *self.values.forms.sum(form);
        Fact { number: self.number_of(&sum), form }
    }

    /// An operation on other operands.
    fn again_on(&mut self, computes: Computation, detail: u64, operands: [Form; 3], width: u32) -> Fact {
        let [a, b, _] = operands;
        let (signed, more) = (detail >> 8 & 1 != 0, detail >> 16);
        self.current = None;
        match computes {
            Computation::And if b != Form::NONE => {
                let (a, b) = (self.known(a), self.known(b));
                self.and(a, b)
            }
            Computation::Compare if b == Form::NONE => {
                let a = self.known(a);
                let zero = self.constant(u32::from(a.number.width), 0);
                self.ordered(super::Order::Equal, a, zero, false)
            }
            Computation::Compare if more > 1 => {
                let (a, b) = (self.known(a), self.known(b));
                let answer = self.float_order(detail, a, b);
                answer.unwrap_or_else(|| self.operation(computes, detail, operands, Number::unknown(1)))
            }
            Computation::Compare => {
                let order = if more == 1 { super::Order::Less } else { super::Order::Equal };
                let (a, b) = (self.known(a), self.known(b));
                self.ordered(order, a, b, signed)
            }
            Computation::ShiftRight if !signed && b == Form::NONE => {
                let a = self.known(a);
                self.shifted_right(a, more)
            }
            Computation::Multiply => {
                let (a, b) = (self.known(a), self.known(b));
                self.multiplied(a, b)
            }
            Computation::Convert if b == Form::NONE => {
                let a = self.known(a);
                self.extended(a, (detail & 0xff) as u32, signed)
            }
            Computation::Select => {
                let condition = self.known(a).number.value();
                match condition {
                    Some(0) => self.known(operands[2]),
                    Some(_) => self.known(b),
                    None => self.operation(computes, detail, operands, Number::unknown(width)),
                }
            }
            _ => self.operation(computes, detail, operands, Number::unknown(width)),
        }
    }

    /// An operation of which no more is known than this.
    pub(super) fn operation(
        &mut self,
        computes: Computation,
        detail: u64,
        operands: [Form; 3],
        number: Number,
    ) -> Fact {
        let width = u32::from(number.width);
        let base =
            self.values.forms.base(Base::Operation { computes, detail, operands }, number, self.current);
        Fact { number, form: self.values.forms.form(Sum::of(width, base)) }
    }
}
