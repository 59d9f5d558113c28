//! Which paths lead to a read: asked only of reads that an undefined value may come to.
//!
//! The walk goes backwards from the read, block by block, and follows a value through joins, guarded writes and what
//! computes it. The guards and branches that it passes are conditions on values, and so is what decides whether an operand
//! matters at all: a `selp` takes it, an `and` of predicates does not drop it. Conditions that contradict each other show
//! that nobody comes this way. The work is bounded for a function; where the bound is hit the answer is not known.

mod walker;

use std::cell::RefCell;

use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Mode};
use ptx_ir::types::Type;
use rustc_hash::FxHashMap;

use super::uniformity::Uniformity;
use super::values::linear::{Base, Form};
use super::values::{
    Assumption, Edge, Engine, Graph, Kind, Literal, Literals, Memo, Stated, ValueId, Values, Variable,
};
use crate::FunctionFacts;

pub use walker::Walker;

/// What leaves a thing undefined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// The function is entered.
    Entry,
    /// A call returns, at this instruction.
    Call(u32),
}

/// What a read may see.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reaching {
    /// Writes that the read may see, ascending.
    pub writers: Vec<u32>,
    /// A path on which nothing was written; none where the read always sees a write.
    pub undefined: Option<Undefined>,
    /// Whether the search was given up: then neither of the two is complete, and nothing may be reported.
    pub unknown: bool,
}

/// A path to a read on which nothing was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// Where it begins.
    pub origin: Origin,
    /// The conditional branches and the skipped writes on the path, first to last: instruction, and whether the branch was
    /// taken or the write ran.
    pub path: Vec<(u32, bool)>,
}

/// What is followed backwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Tracked {
    /// A value.
    Value(ValueId),
    /// What the writes of a question write.
    Writes,
    /// Nothing any more: whether control comes here at all.
    Nothing(Origin),
}

/// A read: the instruction, and the use; none for the guard.
pub(super) type Read = (u32, Option<usize>);

/// A place of a walk.
#[derive(Clone, Debug)]
pub(super) struct Place {
    block: NodeIndex,
    /// Instructions below this one are still to be looked at.
    before: u32,
    tracked: Tracked,
    /// The bits of it that are looked at.
    bits: u64,
    /// The read that saw it.
    read: Read,
    literals: Literals,
    /// Turns of loops on the way here that have changed what is known: those of the last loop, its head, and all.
    turns: u8,
    head: NodeIndex,
    all_turns: u8,
    step: u32,
}

/// The steps of all paths, each with the one after it.
struct Step {
    instruction: u32,
    happened: bool,
    next: u32,
}

const NO_STEP: u32 = u32::MAX;

/// Something that a walk came to.
#[derive(Clone, Debug)]
pub(super) struct Found {
    /// The read that saw it.
    pub(super) read: Read,
    /// The write, or why there is none.
    pub(super) what: Result<u32, Undefined>,
}

/// What decides where a walk goes on behind something that is computed.
pub(super) trait Follow {
    /// Calls `visit` for each use that an instruction reads to compute the value, or for the carry flag, with the bits that
    /// count. Nothing is visited where the walk ends with the write.
    fn operands(
        &mut self,
        engine: &mut Engine<'_, '_>,
        instruction: u32,
        at: Option<usize>,
        bits: u64,
        visit: &mut dyn FnMut(Option<usize>, ValueId, u64),
    );

    /// Whether a value need not be followed.
    fn is_settled(&self, value: ValueId) -> bool;

    /// Whether the caller sets a register.
    fn is_set(&self, register: Register) -> bool;

    /// Whether a write is of interest.
    fn wants_writers(&self) -> bool;
}

/// Steps that any function may take,
const MIN_STEPS: usize = 1200;
/// and one more for so many instructions.
const INSTRUCTIONS_PER_STEP: usize = 32;
/// Turns of a loop for which what changes is followed from turn to turn,
const MAX_TURNS: u8 = 3;
/// and of all loops on a path.
const MAX_ALL_TURNS: u8 = 16;
/// States in which a walk comes to one block.
const MAX_VISITS: usize = 32;

/// Walks backwards through a function, any number of times.
pub(super) struct Search<'f, 'm> {
    pub(super) engine: Engine<'f, 'm>,
    pending: Vec<Place>,
    steps: Vec<Step>,
    visited: FxHashMap<(u32, Tracked, Read), Vec<(u64, Literals)>>,
    /// How many conditions each base is part of.
    conditions: Vec<u8>,
    /// Whether literals about a predicate are relevant.
    relevant: RefCell<FxHashMap<Literal, bool>>,
    memo: Memo,
    /// Whether control can come to a block.
    blocks: FxHashMap<NodeIndex, bool>,
    /// The calls that leave the carry flag undefined, by the value that it has after them.
    calls: FxHashMap<ValueId, u32>,
    /// How values differ between threads, once that was asked.
    uniformity: Option<Uniformity>,
    budget: usize,
    exhausted: bool,
    /// Whether some path was not followed to its end since the last beginning.
    pub(super) gave_up: bool,
    pub(super) found: Vec<Found>,
}

impl<'f, 'm> Search<'f, 'm> {
    /// Walks through a function of which these values are known.
    pub(super) fn of(engine: Engine<'f, 'm>) -> Self {
        let (facts, graph) = (engine.facts(), engine.graph());
        let conditions = conditions(&engine);
        let budget = MIN_STEPS + facts.body.instructions.len() / INSTRUCTIONS_PER_STEP;
        Self {
            engine,
            pending: Vec::new(),
            steps: Vec::new(),
            visited: FxHashMap::default(),
            conditions,
            relevant: RefCell::default(),
            memo: Memo::default(),
            blocks: FxHashMap::default(),
            calls: graph.lost_flags().collect(),
            uniformity: None,
            budget,
            exhausted: false,
            gave_up: false,
            found: Vec::new(),
        }
    }

    fn facts(&self) -> &'f FunctionFacts<'m> {
        self.engine.facts()
    }

    fn graph(&self) -> &'f Graph {
        self.engine.graph()
    }

    /// Forgets where walks have been, so that the next one goes everywhere.
    pub(super) fn begin(&mut self) {
        self.visited.clear();
        self.steps.clear();
        self.found.clear();
        self.gave_up = false;
    }

    /// Walks from a read of an instruction, in front of which its guard holds unless it is the guard that is read.
    pub(super) fn walk(
        &mut self,
        (instruction, at): Read,
        tracked: Tracked,
        bits: u64,
        writes: &[u32],
        follow: &mut dyn Follow,
    ) {
        let block = self.facts().cfg.block_of(FunctionFacts::handle(instruction));
        let mut place = Place {
            block,
            before: instruction,
            tracked,
            bits,
            read: (instruction, at),
            literals: Literals::default(),
            turns: 0,
            head: NodeIndex::end(),
            all_turns: 0,
            step: NO_STEP,
        };
        let reads_guard = at.is_none()
            && matches!(tracked, Tracked::Value(value) if self.graph().guard(instruction) == Some(value));
        if self.exhausted {
            self.gave_up = true;
            return;
        }
        if !reads_guard && !self.runs(&mut place, instruction, true) {
            return;
        }
        self.pending.clear();
        self.pending.push(place);
        while let Some(place) = self.pending.pop() {
            if self.exhausted {
                self.gave_up = true;
                return;
            }
            self.block(place, writes, follow);
        }
    }

    /// What was found since the beginning.
    pub(super) fn reaching(&mut self) -> Reaching {
        let mut reaching = Reaching { unknown: self.gave_up, ..Reaching::default() };
        for found in self.found.drain(..) {
            match found.what {
                Ok(writer) => reaching.writers.push(writer),
                // A path from the entry says more than one from a call.
                Err(undefined) => match &reaching.undefined {
                    Some(known) if known.origin <= undefined.origin => {}
                    _ => reaching.undefined = Some(undefined),
                },
            }
        }
        reaching.writers.sort_unstable();
        reaching.writers.dedup();
        reaching
    }

    fn spend(&mut self) -> bool {
        match self.budget.checked_sub(1) {
            Some(rest) => self.budget = rest,
            None => self.exhausted = true,
        }
        !self.exhausted
    }

    /// Assumes that a guarded instruction ran, or did not; whether that can be.
    fn runs(&mut self, place: &mut Place, instruction: u32, runs: bool) -> bool {
        let Some(condition) = self.facts().condition(instruction) else { return runs };
        self.assume(place, self.graph().guard(instruction), condition.value == runs)
    }

    /// Assumes that a predicate has a value; whether that can be.
    fn assume(&mut self, place: &mut Place, predicate: Option<ValueId>, value: bool) -> bool {
        let Some(stated) = predicate.and_then(|predicate| self.engine.states(predicate, value)) else {
            return true;
        };
        match stated {
            Stated::Always => true,
            Stated::Never => false,
            Stated::Where(literal) => self.add(place, literal),
        }
    }

    fn add(&mut self, place: &mut Place, literal: Literal) -> bool {
        self.engine.conjuncts(literal).into_iter().all(|literal| {
            let is_possible =
                !self.is_relevant(literal) || place.literals.add(&self.engine, &mut self.memo, literal);
            is_possible && self.voted(place, literal)
        })
    }

    /// What a vote says of the predicate that this thread gave to it: more where all lanes gave the same.
    fn voted(&mut self, place: &mut Place, literal: Literal) -> bool {
        let Some((Base::Value(value), holds)) = self.engine.subject(literal) else { return true };
        let Kind::Computed { instruction, at: Some(_) } = self.graph().kind(value) else { return true };
        let Some(instance) = self.facts().instance(instruction) else { return true };
        if instance.effects.computes != Some(Computation::Vote) || instance.ty != Some(Type::Pred) {
            return true;
        }
        let tells = match holds {
            _ if instance.is(Mode::Uniform) => false,
            true => instance.is(Mode::All) || self.is_uniform(instruction),
            false => instance.is(Mode::Any) || self.is_uniform(instruction),
        };
        let given = self.facts().given(instruction).filter(|_| tells);
        let Some(voted) = given.and_then(|given| self.engine.predicate(instruction, given)) else {
            return true;
        };
        match self.engine.stated(voted.form, holds) {
            Stated::Always => true,
            Stated::Never => false,
            Stated::Where(literal) => place.literals.add(&self.engine, &mut self.memo, literal),
        }
    }

    /// Whether all who vote give the same: the lanes of a warp, or the threads at a barrier.
    fn is_uniform(&mut self, instruction: u32) -> bool {
        let (facts, graph) = (self.facts(), self.graph());
        let (uses, given) = (facts.uses(), facts.given(instruction));
        let mut reads = uses.range(instruction).filter(|&at| Some(uses.all()[at].operand()) == given);
        let given = reads.find_map(|at| graph.read(at));
        // What is no register is a constant.
        let Some(given) = given else { return true };
        let uniformity = self
            .uniformity
            .get_or_insert_with(|| Uniformity::new(facts, graph, Values::of_whole_warps(facts, graph)));
        match facts.instance(instruction).is_some_and(|instance| instance.effects.barrier) {
            true => uniformity.is_uniform(given),
            false => uniformity.is_uniform_in_warps(given),
        }
    }

    /// Whether something else on a path may depend on the same condition, or what joins bring decides it.
    fn is_relevant(&self, literal: Literal) -> bool {
        if let Some(known) = self.relevant.borrow().get(&literal) {
            return *known;
        }
        let relevant = self.may_decide(literal);
        self.relevant.borrow_mut().insert(literal, relevant);
        relevant
    }

    fn may_decide(&self, literal: Literal) -> bool {
        let (mut is_shared, mut is_joined) = (false, true);
        self.engine.for_each_leaf_of(literal, &mut |id, base| {
            is_shared |= self.conditions.get(id.index()).is_none_or(|count| *count > 1);
            is_joined &= match base {
                Base::Steps(_) => true,
                Base::Value(value) => matches!(self.graph().kind(value), Kind::Joined { .. }),
                _ => false,
            };
        });
        is_shared || is_joined
    }

    fn step(&mut self, instruction: u32, happened: bool, next: u32) -> u32 {
        self.steps.push(Step { instruction, happened, next });
        self.steps.len() as u32 - 1
    }

    fn note(&mut self, place: &Place, what: Result<u32, Origin>) {
        let what = what.map_err(|origin| {
            let mut path = Vec::new();
            let mut next = place.step;
            while let Some(step) = self.steps.get(next as usize) {
                path.push((step.instruction, step.happened));
                next = step.next;
            }
            Undefined { origin, path }
        });
        self.found.push(Found { read: place.read, what });
    }

    /// Looks at a block from a place in it to its start.
    fn block(&mut self, mut place: Place, writes: &[u32], follow: &mut dyn Follow) {
        while self.spend() {
            let goes_on = match place.tracked {
                Tracked::Value(value) => self.value(&mut place, value, follow),
                Tracked::Writes => self.write(&mut place, writes),
                // Where nothing is known, only the way to the block can contradict itself.
                Tracked::Nothing(origin) if place.literals.is_empty() => {
                    if self.can_be_in(place.block) {
                        self.note(&place, Err(origin));
                    }
                    Some(false)
                }
                Tracked::Nothing(_) => None,
            };
            match goes_on {
                Some(true) => {}
                Some(false) => return,
                None => return self.predecessors(place, follow),
            }
        }
    }

    /// Whether the branches that lead to a block can all go there.
    fn can_be_in(&mut self, block: NodeIndex) -> bool {
        if let Some(&known) = self.blocks.get(&block) {
            return known;
        }
        let mut assumption = Assumption::new(&self.engine);
        assumption.be_in(block);
        let possible = !assumption.is_impossible();
        self.blocks.insert(block, possible);
        possible
    }

    fn is_here(&self, place: &Place, instruction: u32) -> bool {
        self.facts().cfg.block_of(FunctionFacts::handle(instruction)) == place.block
    }

    /// Goes on from a value to what it is made of: whether the walk goes on in this block, or ends; none where the value
    /// was made before the block, or joins what comes into it.
    fn value(&mut self, place: &mut Place, value: ValueId, follow: &mut dyn Follow) -> Option<bool> {
        if follow.is_settled(value) {
            return Some(false);
        }
        match self.graph().kind(value) {
            Kind::Guarded { instruction, new, old } if self.is_here(place, instruction) => {
                let mut ran = place.clone();
                ran.before = instruction + 1;
                ran.tracked = Tracked::Value(new);
                if self.runs(&mut ran, instruction, true) {
                    self.pending.push(ran);
                }
                place.before = instruction;
                place.tracked = Tracked::Value(old);
                place.step = self.step(instruction, false, place.step);
                Some(self.runs(place, instruction, false))
            }
            Kind::Computed { instruction, at } if self.is_here(place, instruction) => {
                place.before = instruction;
                if follow.wants_writers() {
                    self.note(place, Ok(instruction));
                } else {
                    self.operands(place, instruction, at.map(|at| at as usize), follow);
                }
                Some(false)
            }
            Kind::Undefined => match self.graph().variable(value) {
                Variable::Register(register) if follow.is_set(register) => Some(false),
                Variable::Register(_) => {
                    place.tracked = Tracked::Nothing(Origin::Entry);
                    Some(true)
                }
                Variable::Carry => match self.calls.get(&value) {
                    Some(&call) if !self.is_here(place, call) => None,
                    Some(&call) => {
                        place.before = call;
                        place.tracked = Tracked::Nothing(Origin::Call(call));
                        Some(true)
                    }
                    None => {
                        place.tracked = Tracked::Nothing(Origin::Entry);
                        Some(true)
                    }
                },
            },
            Kind::Entry => Some(false),
            Kind::Opaque => {
                self.gave_up = true;
                Some(false)
            }
            Kind::Guarded { .. } | Kind::Computed { .. } | Kind::Joined { .. } => None,
        }
    }

    /// Goes on at the operands of an instruction.
    fn operands(&mut self, place: &Place, instruction: u32, at: Option<usize>, follow: &mut dyn Follow) {
        let mut next: Vec<(Option<usize>, ValueId, u64)> = Vec::new();
        let mut visit = |at: Option<usize>, value: ValueId, bits: u64| next.push((at, value, bits));
        follow.operands(&mut self.engine, instruction, at, place.bits, &mut visit);
        // The first one is looked at first.
        for (at, value, bits) in next.into_iter().rev() {
            let mut operand = place.clone();
            operand.tracked = Tracked::Value(value);
            operand.bits = bits;
            operand.read = (instruction, at);
            if at.is_none_or(|at| self.matters(&mut operand, instruction, at)) {
                self.pending.push(operand);
            }
        }
    }

    /// The operand that has to have a value, so that another one matters, and that value.
    fn asked(&self, instruction: u32, at: usize) -> Option<(usize, bool)> {
        let facts = self.facts();
        let operand = facts.uses().all()[at].operand();
        let instance = facts.instance(instruction)?;
        let (index, value) = match (instance.effects.computes, operand) {
            (Some(Computation::Select), 1) => (3, true),
            (Some(Computation::Select), 2) => (3, false),
            (Some(Computation::And), 1 | 2) if instance.ty == Some(Type::Pred) => (3 - operand, true),
            (Some(Computation::Or), 1 | 2) if instance.ty == Some(Type::Pred) => (3 - operand, false),
            (Some(Computation::Compare), 1 | 2) if instance.is(Mode::And) => (3, true),
            (Some(Computation::Compare), 1 | 2) if instance.is(Mode::Or) => (3, false),
            _ => return None,
        };
        let condition = facts.body.operands(Handle::new(instruction)).get(index)?;
        (!matches!(condition, Operand::Sink)).then_some((index, value))
    }

    /// Assumes that an operand matters: whether it can.
    fn matters(&mut self, place: &mut Place, instruction: u32, at: usize) -> bool {
        let Some((index, value)) = self.asked(instruction, at) else { return true };
        let Some(condition) = self.engine.predicate(instruction, index) else { return true };
        match self.engine.stated(condition.form, value) {
            Stated::Always => true,
            Stated::Never => false,
            Stated::Where(literal) => {
                self.can_hold_in(place.block, condition.form, value)
                    && place.literals.add(&self.engine, &mut self.memo, literal)
                    && self.voted(place, literal)
            }
        }
    }

    /// Whether the branches that lead to a block allow that a predicate has a value there.
    fn can_hold_in(&self, block: NodeIndex, predicate: Form, value: bool) -> bool {
        let mut assumption = Assumption::new(&self.engine);
        assumption.be_in(block);
        assumption.hold(predicate, value);
        !assumption.is_impossible()
    }

    /// Whether a read can matter by what is asked of it and leads to it alone, however it was set.
    pub(super) fn can_matter(&mut self, (instruction, at): Read) -> bool {
        let block = self.facts().cfg.block_of(FunctionFacts::handle(instruction));
        if !self.can_be_in(block) {
            return false;
        }
        let Some((index, value)) = at.and_then(|at| self.asked(instruction, at)) else { return true };
        let condition = self.engine.predicate(instruction, index);
        condition.is_none_or(|condition| self.can_hold_in(block, condition.form, value))
    }

    /// Goes on at the last write of a question in the block.
    fn write(&mut self, place: &mut Place, writes: &[u32]) -> Option<bool> {
        let start = self.facts().cfg.instructions(place.block).start;
        let index = writes.partition_point(|&write| write < place.before);
        let write = *writes[..index].last().filter(|&&write| write >= start)?;
        place.before = write;
        let mut ran = place.clone();
        if self.runs(&mut ran, write, true) {
            self.note(&ran, Ok(write));
        }
        place.step = self.step(write, false, place.step);
        Some(self.facts().is_guarded(write) && self.runs(place, write, false))
    }

    /// Goes on at the blocks that control comes from.
    fn predecessors(&mut self, place: Place, follow: &mut dyn Follow) {
        let (graph, cfg) = (self.graph(), &self.facts().cfg);
        let count = graph.predecessor_count(place.block);
        for (position, (from, condition)) in graph.predecessors(place.block).enumerate() {
            if !self.spend() {
                return;
            }
            if !self.engine.is_taken(place.block, position) {
                continue;
            }
            let is_back = cfg.place(from) >= cfg.place(place.block);
            let Some(mut next) = self.across(&place, position, is_back, follow) else { continue };
            next.block = from;
            next.before = cfg.instructions(from).end;
            let edge = (place.block, position);
            if self.takes(&mut next, condition) && self.has_index(&mut next, edge) && self.is_new(&next) {
                self.pending.push(next);
            }
        }
        if place.block.index() == 0
            && let Some(mut first) = self.across(&place, count, false, follow)
        {
            match first.tracked {
                Tracked::Nothing(origin) => self.note(&first, Err(origin)),
                Tracked::Writes => self.note(&first, Err(Origin::Entry)),
                Tracked::Value(value) => {
                    // A join of the entry may bring a register that nothing has set.
                    if self.value(&mut first, value, follow) == Some(true) {
                        self.note(&first, Err(Origin::Entry));
                    }
                }
            }
        }
    }

    /// The place before an edge; none where nobody comes this way, or nothing is to be found there.
    fn across(
        &mut self,
        place: &Place,
        position: usize,
        is_back: bool,
        follow: &mut dyn Follow,
    ) -> Option<Place> {
        let turns = if place.head == place.block { place.turns } else { 0 };
        let follows = !is_back || turns < MAX_TURNS && place.all_turns < MAX_ALL_TURNS;
        let edge = Edge { block: place.block, position, is_back, follows };
        let tracked = match place.tracked {
            Tracked::Value(value) if matches!(self.graph().kind(value), Kind::Joined { block } if block == place.block) =>
            {
                let input = *self.graph().inputs(value).get(position)?;
                if follow.is_settled(input) {
                    return None;
                }
                Tracked::Value(input)
            }
            other => other,
        };
        let literals = place.literals.before(&mut self.engine, &mut self.memo, edge)?;
        // What does not change from turn to turn is not followed for ever.
        let mut before = Place { tracked, literals, ..place.clone() };
        if is_back && follows && before.literals != place.literals {
            (before.turns, before.head) = (turns + 1, place.block);
            before.all_turns += 1;
        }
        before.literals = self.still_relevant(before.literals);
        Some(before)
    }

    fn still_relevant(&self, mut literals: Literals) -> Literals {
        literals.retain(|literal| self.is_relevant(literal));
        literals
    }

    /// Assumes what an edge says of the branch at the end of the block; whether that can be.
    fn takes(&mut self, place: &mut Place, condition: Option<Condition>) -> bool {
        let Some(condition) = condition else { return true };
        let Some(branch) = place.before.checked_sub(1) else { return true };
        let taken = self.facts().condition(branch) == Some(condition);
        place.step = self.step(branch, taken, place.step);
        self.assume(place, self.graph().guard(branch), condition.value)
    }

    /// Assumes of an edge from the place's block that the index of a branch there takes it; whether that can be.
    fn has_index(&mut self, place: &mut Place, (block, position): (NodeIndex, usize)) -> bool {
        let Some((value, index)) = self.engine.index_of(place.block, block, position) else { return true };
        let Some(condition) = self.engine.is_index(value, index) else { return true };
        match self.engine.stated(condition.form, true) {
            Stated::Always => true,
            Stated::Never => false,
            Stated::Where(literal) => self.add(place, literal),
        }
    }

    /// Whether a walk comes to the end of a block with less known than ever before.
    fn is_new(&mut self, place: &Place) -> bool {
        // What is undefined is told of the read that saw it.
        let read = if matches!(place.tracked, Tracked::Nothing(_)) { place.read } else { (0, None) };
        let all = self.visited.entry((place.block.index() as u32, place.tracked, read)).or_default();
        let is_known = |(bits, literals): &(u64, Literals)| {
            place.bits & !bits == 0 && literals.are_among(&place.literals)
        };
        if all.iter().any(is_known) {
            return false;
        }
        if all.len() >= MAX_VISITS {
            self.gave_up = true;
            return false;
        }
        all.push((place.bits, place.literals.clone()));
        true
    }
}

/// How many conditions each base is part of; stops at 2.
fn conditions(engine: &Engine<'_, '_>) -> Vec<u8> {
    let (facts, graph) = (engine.facts(), engine.graph());
    let mut counts = vec![0_u8; engine.base_count()];
    let uses = facts.uses().all();
    let is_predicate = |at: &usize| facts.body.register_type(uses[*at].register) == Some(Type::Pred);
    let reads = (0..uses.len()).filter(is_predicate).filter_map(|at| graph.read(at));
    for value in graph.deciders(facts).chain(reads) {
        engine.for_each_leaf_of_value(value, &mut |id, _| {
            if let Some(count) = counts.get_mut(id.index()) {
                *count = count.saturating_add(1);
            }
        });
    }
    counts
}

/// Walks that end at each write.
pub(super) struct ToWriters;

impl Follow for ToWriters {
    fn operands(
        &mut self,
        _: &mut Engine<'_, '_>,
        _: u32,
        _: Option<usize>,
        _: u64,
        _: &mut dyn FnMut(Option<usize>, ValueId, u64),
    ) {
    }

    fn is_settled(&self, _: ValueId) -> bool {
        false
    }

    fn is_set(&self, _: Register) -> bool {
        false
    }

    fn wants_writers(&self) -> bool {
        true
    }
}
