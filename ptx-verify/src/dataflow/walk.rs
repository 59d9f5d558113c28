//! A walk backwards from a read to the writes that it may see.
//!
//! The walk goes from event to event: a write of what is looked for, or of a register that something is known
//! about. At a write that a guard may skip it goes on with what the guard tells, at a predicate with what
//! follows for its operands, and at the start of a block in each block that control may have come from.

use super::arithmetic::{Constraint, are_possible};
use super::conditions::{Facts, Literal};
use super::facts::FunctionFacts;
use super::formulas::Cases;
use super::paths::{Origin, Reaching, Target, Undefined, Walker};
use super::visited::Visit;
use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Operand, Register};
use ptx_ir::isa::Computation;
use std::rc::Rc;

/// A walk that comes to one block with more different facts than this is given up.
const MOST_VISITS: usize = 16;
/// Visits of a block on such a walk.
const MOST_EXACT_VISITS: usize = 200;

/// What comparisons with constants say, where arithmetic is followed. Places share it until one of them rewrites
/// it; where nothing is said there is none.
pub(super) type Constraints = Option<Rc<Vec<Constraint>>>;

/// One place of a walk.
#[derive(Clone)]
pub(super) struct Place {
    block: NodeIndex,
    /// Instructions below this one are still to be looked at.
    before: u32,
    facts: Facts,
    constraints: Constraints,
    /// Index of the step that explains how the read is reached from here.
    step: Option<u32>,
}

/// The steps of all ways, each pointing to the one after it.
pub(super) struct Step {
    instruction: u32,
    happened: bool,
    next: Option<u32>,
}

/// One walk.
pub(super) struct Walk<'w, 'f, 'm> {
    walker: &'w mut Walker<'f, 'm>,
    facts: &'f FunctionFacts<'m>,
    target: Target,
    result: Reaching,
    arithmetic: bool,
    budget: usize,
    /// Calls that ways come from, with what holds in front of them: whether control can come to them is still open.
    calls: Vec<Place>,
}

impl<'w, 'f, 'm> Walk<'w, 'f, 'm> {
    /// A walk of at most so many steps.
    pub(super) fn new(
        walker: &'w mut Walker<'f, 'm>,
        target: Target,
        arithmetic: bool,
        budget: usize,
    ) -> Self {
        let facts = walker.facts;
        Self { walker, facts, target, result: Reaching::default(), arithmetic, budget, calls: Vec::new() }
    }

    /// Walks from an instruction, in front of which the masks hold; what was found, and how many steps are left.
    pub(super) fn run(mut self, instruction: u32, masks: &[Condition]) -> (Reaching, usize) {
        let mut known = Facts::of(self.facts.condition(instruction));
        if masks.iter().all(|&mask| known.assume_condition(mask)) {
            self.walker.pending.push(Place {
                block: self.facts.cfg.block_of(FunctionFacts::handle(instruction)),
                before: instruction,
                facts: known,
                constraints: None,
                step: None,
            });
        }
        self.go_on();
        for place in std::mem::take(&mut self.calls) {
            if self.result.undefined.is_none() && !self.result.unknown && self.is_reached(place.clone()) {
                self.undefined(Origin::Call(place.before), place.step);
            }
        }
        (self.result, self.budget)
    }

    fn go_on(&mut self) {
        while let Some(place) = self.walker.pending.pop() {
            self.block(place);
            if self.result.unknown {
                break;
            }
        }
    }

    /// Whether control can come to a place from the entry.
    fn is_reached(&mut self, place: Place) -> bool {
        self.walker.visited.clear(self.facts.cfg.block_count());
        self.walker.pending.clear();
        self.walker.pending.push(place);
        let mut to_entry = Walk::new(self.walker, Target::Nothing, self.arithmetic, self.budget);
        to_entry.go_on();
        let (result, rest) = (to_entry.result, to_entry.budget);
        self.budget = rest;
        self.result.unknown |= result.unknown;
        result.undefined.is_some()
    }

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
            Target::Nothing => &[],
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
            self.found(instruction, place, None);
            return false;
        };
        // What is known of a guard that the instruction overwrites is its new value.
        let overwritten = self.facts.writes(instruction, condition.register);
        let known = if overwritten { None } else { place.facts.holds(condition) };
        match known {
            Some(true) => {
                self.found(instruction, place, None);
                false
            }
            Some(false) => true,
            None => {
                self.found(instruction, place, (!overwritten).then_some(condition));
                place.step = self.step(instruction, false, place.step);
                // The write did not happen on the rest of this way.
                place.facts.assume_condition(condition.negated())
            }
        }
    }

    /// Notes a write of the target that runs under a condition.
    fn found(&mut self, instruction: u32, place: &Place, condition: Option<Condition>) {
        if self.target != Target::Carry || self.facts.writes_carry(instruction) {
            self.result.writers.push(instruction);
        } else if self.arithmetic {
            let mut called = place.clone();
            if condition.is_none_or(|condition| called.facts.assume_condition(condition)) {
                self.calls.push(called);
            }
        } else {
            self.undefined(Origin::Call(instruction), place.step);
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
        if place.constraints.as_ref().is_some_and(|all| all.iter().any(speaks))
            && !self.rewrite(place, instruction, concerned)
        {
            return false;
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

    /// Rewrites the constraints for the place before an instruction; false where they cannot hold there. What a `selp`
    /// chooses is looked at under both conditions.
    fn rewrite(&mut self, place: &mut Place, instruction: u32, concerned: &[Register]) -> bool {
        let Some((condition, sources)) = selection(self.facts, instruction) else {
            return self.rewrite_as(place, instruction, concerned, None);
        };
        let mut other = place.clone();
        let under = |place: &mut Place, condition: Condition, source: Operand| {
            place.facts.assume_condition(condition)
                && self.rewrite_as(place, instruction, concerned, Some(source))
        };
        let first = under(place, condition, sources[0]);
        let second = under(&mut other, condition.negated(), sources[1]);
        match (first, second) {
            (true, true) => self.walker.pending.push(other),
            (false, true) => *place = other,
            (true | false, false) => {}
        }
        first || second
    }

    /// The same, where the result of the instruction is a copy of `source`, if there is one.
    fn rewrite_as(
        &self,
        place: &mut Place,
        instruction: u32,
        concerned: &[Register],
        source: Option<Operand>,
    ) -> bool {
        for constraint in Rc::make_mut(place.constraints.get_or_insert_default()) {
            for &register in concerned {
                constraint.substitute(self.facts, instruction, register, source);
            }
        }
        place.constraints.as_ref().is_none_or(|all| are_possible(all))
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
            // What was computed before another round of a loop is another value. What a register is compared with
            // stays; sums would go on from round to round.
            let repeats = cfg.place(block) >= cfg.place(place.block);
            let constraints = match &place.constraints {
                Some(all) if repeats => {
                    let plain: Vec<Constraint> = all.iter().filter(|each| each.is_plain()).cloned().collect();
                    (!plain.is_empty()).then(|| Rc::new(plain))
                }
                all => all.clone(),
            };
            self.walker.pending.push(Place { block, before, facts, constraints, step });
        }
    }
}

/// What a `selp` of numbers chooses from, and the condition under which it takes the first.
fn selection(facts: &FunctionFacts<'_>, instruction: u32) -> Option<(Condition, [Operand; 2])> {
    if facts.instance(instruction)?.effects.computes != Some(Computation::Select) {
        return None;
    }
    match *facts.body.operands(FunctionFacts::handle(instruction)) {
        [_, first, second, Operand::Register { register, .. }] => {
            Some((Condition { register, value: true }, [first, second]))
        }
        [_, first, second, Operand::Negated { register, .. }] => {
            Some((Condition { register, value: false }, [first, second]))
        }
        _ => None,
    }
}
