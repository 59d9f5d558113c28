//! The walk backwards from a read to the writes that it may see.

use super::arithmetic::{Constraint, are_possible};
use super::conditions::{Comparisons, Facts, Literal};
use super::facts::FunctionFacts;
use super::formulas::{Cases, Formula};
use super::masks::{count_reads, masks};
use super::visited::{Visit, Visited};
use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Handle, Register, Variable};
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// What is looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Target {
    /// A register, or an element of a vector register.
    Register(Register),
    /// The carry flag.
    Carry,
    /// A variable of the `.param` space: a return value, or an argument of a call.
    Parameter(Handle<Variable>),
}

/// What leaves a target undefined.
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
    /// Where the target is undefined on a way to the read; none where it is always defined.
    pub undefined: Option<Undefined>,
    /// Whether the walk was given up: then neither list is complete, and nothing may be reported.
    pub unknown: bool,
}

/// A way to a read on which the target is undefined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Undefined {
    /// Why it is undefined.
    pub origin: Origin,
    /// The conditional branches and the skipped writes on the way, last first: instruction, and whether the
    /// branch was taken or the write ran.
    pub way: Vec<(u32, bool)>,
}

/// A walk ends after this many steps; a step is an event that changes what is known, or an edge.
const MOST_STEPS: usize = 1000;

/// A walk that comes to one block with more different facts than this is given up.
const MOST_VISITS: usize = 16;
/// Steps of a walk that follows arithmetic.
const MOST_EXACT_STEPS: usize = 4000;
/// Visits of a block on such a walk.
const MOST_EXACT_VISITS: usize = 200;

/// How many steps all walks of an analysis may take together.
#[derive(Clone, Copy, Debug)]
pub struct Budget(usize);

impl Budget {
    /// A number of steps.
    #[must_use]
    pub const fn new(steps: usize) -> Self {
        Self(steps)
    }
}

/// What comparisons with constants say, where arithmetic is followed. Places share it until one of them rewrites
/// it; where nothing is said there is none.
pub(super) type Constraints = Option<Rc<Vec<Constraint>>>;

/// One place of a walk.
#[derive(Clone)]
struct Place {
    block: NodeIndex,
    /// Instructions below this one are still to be looked at.
    before: u32,
    facts: Facts,
    constraints: Constraints,
    /// Index of the step that explains how the read is reached from here.
    step: Option<u32>,
}

/// The steps of all ways, each pointing to the one after it.
struct Step {
    instruction: u32,
    happened: bool,
    next: Option<u32>,
}

/// Walks backwards through a function, any number of times.
pub struct Walker<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    comparisons: Comparisons,
    formulas: FxHashMap<(u32, Register), Option<Formula>>,
    pending: Vec<Place>,
    steps: Vec<Step>,
    visited: Visited,
    concerned: Vec<Register>,
    /// How often each register is read, once it was asked for.
    reads: Option<Vec<u32>>,
}

/// One walk of a [`Walker`].
struct Walk<'w, 'f, 'm> {
    walker: &'w mut Walker<'f, 'm>,
    facts: &'f FunctionFacts<'m>,
    target: Target,
    result: Reaching,
    arithmetic: bool,
    budget: usize,
}

impl<'f, 'm> Walker<'f, 'm> {
    /// Walks through this function.
    #[must_use]
    pub fn new(facts: &'f FunctionFacts<'m>) -> Self {
        Self {
            facts,
            comparisons: Comparisons::default(),
            formulas: FxHashMap::default(),
            pending: Vec::new(),
            steps: Vec::new(),
            visited: Visited::default(),
            concerned: Vec::new(),
            reads: None,
        }
    }

    /// What a read of `target` at `instruction` may see.
    #[must_use]
    pub fn reaching(&mut self, target: Target, instruction: u32, budget: &mut Budget) -> Reaching {
        let found = self.walk(target, instruction, budget, false, &[]);
        if found.unknown || found.undefined.is_none() || found.writers.is_empty() {
            return found;
        }
        // Some way leaves it undefined: does the value matter there?
        if let Target::Register(register) = target {
            let reads = self.reads.get_or_insert_with(|| count_reads(self.facts));
            let masks = masks(self.facts, reads, register, instruction);
            if !masks.is_empty() {
                let masked = self.walk(target, instruction, budget, true, &masks);
                if !masked.unknown && masked.undefined.is_none() {
                    return masked;
                }
            }
        }
        // Is there a way that arithmetic does not exclude? This is asked seldom.
        let exact = self.walk(target, instruction, budget, true, &[]);
        if exact.unknown { found } else { exact }
    }

    /// A walk from a place where the masks hold.
    fn walk(
        &mut self,
        target: Target,
        instruction: u32,
        budget: &mut Budget,
        arithmetic: bool,
        masks: &[Condition],
    ) -> Reaching {
        // Exact walks are few, and each settles a finding: they may take longer.
        let steps = if arithmetic { MOST_EXACT_STEPS } else { budget.0.min(MOST_STEPS) };
        self.pending.clear();
        self.steps.clear();
        self.visited.clear(self.facts.cfg.block_count());
        let facts = self.facts;
        let mut known = Facts::of(facts.condition(instruction));
        if !masks.iter().all(|&mask| known.assume_condition(mask)) {
            return Reaching::default();
        }
        self.pending.push(Place {
            block: facts.cfg.block_of(FunctionFacts::handle(instruction)),
            before: instruction,
            facts: known,
            constraints: None,
            step: None,
        });
        let result = Reaching::default();
        let mut walk = Walk { walker: self, facts, target, result, arithmetic, budget: steps };
        while let Some(place) = walk.walker.pending.pop() {
            walk.block(place);
            if walk.result.unknown {
                break;
            }
        }
        budget.0 = budget.0.saturating_sub(steps - walk.budget);
        let mut result = walk.result;
        result.writers.sort_unstable();
        result.writers.dedup();
        result
    }

    /// What follows where a result of an instruction has a value; none where that is not followed.
    fn consequences(&mut self, instruction: u32, register: Register, value: bool) -> Option<Cases> {
        let (facts, comparisons) = (self.facts, &mut self.comparisons);
        let formula = self
            .formulas
            .entry((instruction, register))
            .or_insert_with(|| Formula::of(facts, comparisons, instruction, register));
        Some(formula.as_ref()?.cases(value))
    }

    /// Whether something else on a way may depend on the same condition.
    fn is_relevant(&mut self, literal: Literal) -> bool {
        let Some(comparison) = self.comparisons.of(literal) else { return true };
        self.facts.repeats(comparison)
    }
}

impl Walk<'_, '_, '_> {
    fn spend(&mut self) {
        match self.budget.checked_sub(1) {
            Some(rest) => self.budget = rest,
            None => self.result.unknown = true,
        }
    }

    fn step(&mut self, instruction: u32, happened: bool, next: Option<u32>) -> Option<u32> {
        self.walker.steps.push(Step { instruction, happened, next });
        Some(self.walker.steps.len() as u32 - 1)
    }

    /// Looks at one block from `place.before` to its start.
    fn block(&mut self, mut place: Place) {
        let start = self.facts.cfg.instructions(place.block).start;
        while let Some(event) = self.last_event(&place, start) {
            self.spend();
            if self.result.unknown {
                return;
            }
            place.before = event;
            if self.is_write(event) && !self.passes_write(&mut place, event) {
                return;
            }
            if !self.passes_condition_write(&mut place, event) {
                return;
            }
        }
        self.predecessors(place);
    }

    /// Where the target is written.
    fn writes(&self) -> &[u32] {
        match self.target {
            Target::Register(register) => self.facts.definitions(register),
            Target::Carry => self.facts.carry_writers(),
            Target::Parameter(variable) => self.facts.parameter_writers(variable),
        }
    }

    /// The last instruction before `place` that writes the target or something that facts are known about.
    fn last_event(&self, place: &Place, start: u32) -> Option<u32> {
        let last = |writes: &[u32]| {
            let write = match writes {
                // Most predicates are written once.
                [only] => (*only < place.before).then_some(*only),
                _ => {
                    let index = writes.partition_point(|&write| write < place.before);
                    writes[..index].last().copied()
                }
            };
            write.filter(|&write| write >= start)
        };
        let mut best = last(self.writes());
        let mut consider = |register: Option<Register>| {
            if let Some(register) = register {
                best = best.max(last(self.facts.definitions(register)));
            }
        };
        for &literal in place.facts.literals() {
            let (first, second) = self.walker.comparisons.registers(literal);
            consider(first);
            consider(second);
        }
        for constraint in place.constraints.iter().flat_map(|all| all.iter()) {
            constraint.registers().for_each(|register| consider(Some(register)));
        }
        best
    }

    fn is_write(&self, instruction: u32) -> bool {
        self.writes().binary_search(&instruction).is_ok()
    }

    /// Takes account of a write of the target; false where the way ends here.
    fn passes_write(&mut self, place: &mut Place, instruction: u32) -> bool {
        // A guard that names nothing has been reported: the write is taken for granted.
        let Some(condition) = self.facts.condition(instruction) else {
            self.found(instruction, place.step);
            return false;
        };
        // What is known of a guard that the instruction overwrites is its new value.
        let known = if self.facts.writes(instruction, condition.register) {
            None
        } else {
            place.facts.holds(condition)
        };
        match known {
            Some(true) => {
                self.found(instruction, place.step);
                false
            }
            Some(false) => true,
            None => {
                self.found(instruction, place.step);
                place.step = self.step(instruction, false, place.step);
                // The write did not happen on the rest of this way.
                place.facts.assume_condition(condition.negated())
            }
        }
    }

    fn found(&mut self, instruction: u32, step: Option<u32>) {
        if self.target == Target::Carry && !self.facts.writes_carry(instruction) {
            self.undefined(Origin::Call(instruction), step);
        } else {
            self.result.writers.push(instruction);
        }
    }

    fn undefined(&mut self, origin: Origin, step: Option<u32>) {
        if self.result.undefined.is_some() {
            return;
        }
        let mut way = Vec::new();
        let mut next = step;
        while let Some(index) = next {
            let step = &self.walker.steps[index as usize];
            way.push((step.instruction, step.happened));
            next = step.next;
        }
        way.reverse();
        self.result.undefined = Some(Undefined { origin, way });
    }

    /// The registers that an instruction writes and that something is known about, sorted.
    fn concerned(&self, place: &Place, instruction: u32, concerned: &mut Vec<Register>) {
        concerned.clear();
        for each in self.facts.uses().of(instruction) {
            let register = Some(each.register);
            let is_known = |literal: &Literal| {
                let (first, second) = self.walker.comparisons.registers(*literal);
                first == register || second == register
            };
            let is_constrained = || {
                let mut all = place.constraints.iter().flat_map(|all| all.iter());
                all.any(|constraint| constraint.registers().any(|other| other == each.register))
            };
            if each.access().writes() && (place.facts.literals().iter().any(is_known) || is_constrained()) {
                concerned.push(each.register);
            }
        }
        concerned.sort_unstable();
        concerned.dedup();
    }

    /// Takes account of an instruction that writes registers which facts are known about; false where the way
    /// ends here.
    fn passes_condition_write(&mut self, place: &mut Place, instruction: u32) -> bool {
        let mut concerned = std::mem::take(&mut self.walker.concerned);
        self.concerned(place, instruction, &mut concerned);
        let passes = concerned.is_empty() || self.passes_write_of(place, instruction, &concerned);
        self.walker.concerned = concerned;
        passes
    }

    fn passes_write_of(&mut self, place: &mut Place, instruction: u32, concerned: &[Register]) -> bool {
        if let Some(condition) = self.facts.condition(instruction) {
            // What is known of a guard that the instruction overwrites is its new value.
            let overwritten = concerned.contains(&condition.register);
            let known = if overwritten { None } else { place.facts.holds(condition) };
            match known {
                Some(false) => return true,
                Some(true) => {}
                None => {
                    // Either it did not run, and all that is known stays; or it did.
                    let mut skipped = place.facts;
                    if skipped.assume_condition(condition.negated()) {
                        self.walker.pending.push(Place { facts: skipped, ..place.clone() });
                    }
                    if !overwritten && !place.facts.assume_condition(condition) {
                        return false;
                    }
                }
            }
        }
        self.substitute(place, instruction, concerned)
    }

    /// Replaces what is known of the results of an instruction by what follows for its operands.
    fn substitute(&mut self, place: &mut Place, instruction: u32, concerned: &[Register]) -> bool {
        let mut cases = Cases::anything();
        for &register in concerned {
            let value = place.facts.take(register);
            place.facts.forget(register, &self.walker.comparisons);
            let follows = value.and_then(|value| self.walker.consequences(instruction, register, value));
            if let Some(both) = follows.and_then(|follows| cases.and(&follows)) {
                cases = both;
            }
        }
        // What follows speaks of the values before the instruction, and so does its guard.
        if let Some(condition) = self.facts.condition(instruction)
            && !place.facts.assume_condition(condition)
        {
            return false;
        }
        let speaks = |constraint: &Constraint| constraint.registers().any(|each| concerned.contains(&each));
        if place.constraints.as_ref().is_some_and(|all| all.iter().any(speaks)) {
            for constraint in Rc::make_mut(place.constraints.get_or_insert_default()) {
                for &register in concerned {
                    constraint.substitute(self.facts, instruction, register);
                }
            }
            if place.constraints.as_ref().is_some_and(|all| !are_possible(all)) {
                return false;
            }
        }
        // The first case that can be goes on here, the others wait. Nearly always there is but one.
        let mut waiting = None;
        let mut cases = cases.iter().peekable();
        let mut goes_on = false;
        while let Some(case) = cases.next() {
            let mut other = match cases.peek() {
                Some(_) => place.clone(),
                None if !goes_on => {
                    goes_on = self.assume(place, case.literals());
                    break;
                }
                None => place.clone(),
            };
            if self.assume(&mut other, case.literals()) {
                if goes_on {
                    self.walker.pending.push(other);
                } else {
                    (waiting, goes_on) = (Some(other), true);
                }
            }
        }
        if let Some(first) = waiting {
            *place = first;
        }
        if goes_on && place.facts.is_too_large() {
            self.result.unknown = true;
            return false;
        }
        goes_on
    }

    /// Adds what holds at a place too; false where that cannot be.
    fn assume(&mut self, place: &mut Place, literals: &[Literal]) -> bool {
        for &literal in literals {
            if (self.arithmetic || self.walker.is_relevant(literal))
                && !place.facts.assume(literal, &self.walker.comparisons)
            {
                return false;
            }
        }
        if !self.arithmetic {
            return true;
        }
        let mut is_new = false;
        for &literal in literals {
            let comparison = self.walker.comparisons.of(literal);
            let new = comparison.and_then(|each| Constraint::of_comparison(each, literal.value()));
            if let Some(new) = new {
                Rc::make_mut(place.constraints.get_or_insert_default()).push(new);
                is_new = true;
            }
        }
        !is_new || place.constraints.as_ref().is_none_or(|all| are_possible(all))
    }

    /// Goes on at the blocks that control may have come from.
    fn predecessors(&mut self, place: Place) {
        let most = if self.arithmetic { MOST_EXACT_VISITS } else { MOST_VISITS };
        match self.walker.visited.visit(place.block, &place.facts, &place.constraints, most) {
            Visit::Known => return,
            Visit::TooMany => {
                self.result.unknown = true;
                return;
            }
            Visit::New => {}
        }
        if place.block.index() == 0 {
            self.undefined(Origin::Entry, place.step);
        }
        let cfg = &self.facts.cfg;
        for (block, edge) in cfg.predecessors(place.block) {
            if !cfg.is_reachable(block) {
                continue;
            }
            self.spend();
            let before = cfg.instructions(block).end;
            let mut facts = place.facts;
            let mut step = place.step;
            if let Some(condition) = edge.condition {
                let known = facts.holds(condition);
                if known == Some(false) {
                    continue;
                }
                if known.is_none() && (self.arithmetic || self.facts.matters(condition.register)) {
                    // Nothing is known of the register itself; a comparison may still contradict it later.
                    let _possible = facts.assume_condition(condition);
                }
                let guard = self.facts.condition(before.saturating_sub(1));
                step = self.step(before.saturating_sub(1), guard == Some(condition), step);
            }
            if facts.is_too_large() {
                self.result.unknown = true;
                return;
            }
            // What was computed before another round of a loop is another value.
            let repeats = cfg.place(block) >= cfg.place(place.block);
            let constraints = if repeats { None } else { place.constraints.clone() };
            self.walker.pending.push(Place { block, before, facts, constraints, step });
        }
    }
}
