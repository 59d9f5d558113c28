//! The walk backwards from a read to the writes that it may see.

use super::arithmetic::{Constraint, Test, are_possible};
use super::conditions::{Atom, Facts, Relation, Term, consequences};
use super::facts::FunctionFacts;
use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Register, Variable};
use ptx_ir::types::Type;
use rustc_hash::FxHashMap;

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

/// One place of the walk.
struct Place {
    block: NodeIndex,
    /// Instructions below this one are still to be looked at.
    before: u32,
    facts: Facts,
    /// What comparisons with constants say, where arithmetic is followed.
    constraints: Vec<Constraint>,
    /// Index of the step that explains how the read is reached from here.
    step: Option<u32>,
}

impl Place {
    /// The same place with other knowledge.
    fn with(&self, facts: Facts, constraints: Vec<Constraint>) -> Self {
        Self { block: self.block, before: self.before, facts, constraints, step: self.step }
    }

    /// The registers that something is known about.
    fn registers(&self) -> impl Iterator<Item = Register> + '_ {
        self.facts.registers().chain(self.constraints.iter().flat_map(Constraint::registers))
    }
}

/// The steps of all ways, each pointing to the one after it.
struct Step {
    instruction: u32,
    happened: bool,
    next: Option<u32>,
}

/// Walks backwards.
pub struct Walk<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    target: Target,
    result: Reaching,
    pending: Vec<Place>,
    steps: Vec<Step>,
    seen: FxHashMap<NodeIndex, Vec<(Facts, Vec<Constraint>)>>,
    arithmetic: bool,
    budget: usize,
}

/// What a read of `target` at `instruction` may see.
#[must_use]
pub fn reaching(
    facts: &FunctionFacts<'_>,
    target: Target,
    instruction: u32,
    budget: &mut Budget,
) -> Reaching {
    let block = facts.cfg.block_of(FunctionFacts::handle(instruction));
    let known = Facts::of(facts.condition(instruction));
    let place =
        || Place { block, before: instruction, facts: known.clone(), constraints: Vec::new(), step: None };
    let found = walk(facts, target, place(), budget, false);
    if found.unknown || found.undefined.is_none() || found.writers.is_empty() {
        return found;
    }
    // Some way leaves it undefined: is there one that arithmetic does not exclude? This is asked seldom.
    let exact = walk(facts, target, place(), budget, true);
    if exact.unknown { found } else { exact }
}

fn walk(
    facts: &FunctionFacts<'_>,
    target: Target,
    start: Place,
    budget: &mut Budget,
    arithmetic: bool,
) -> Reaching {
    // Exact walks are few, and each settles a finding: they may take longer.
    let steps = if arithmetic { MOST_EXACT_STEPS } else { budget.0.min(MOST_STEPS) };
    let mut walk = Walk {
        facts,
        target,
        result: Reaching::default(),
        pending: vec![start],
        steps: Vec::new(),
        seen: FxHashMap::default(),
        arithmetic,
        budget: steps,
    };
    while let Some(place) = walk.pending.pop() {
        walk.block(place);
        if walk.result.unknown {
            break;
        }
    }
    budget.0 = budget.0.saturating_sub(steps - walk.budget);
    walk.result.writers.sort_unstable();
    walk.result.writers.dedup();
    walk.result
}

/// What a comparison says as a test of a register with a constant.
fn constraint(atom: Atom, value: bool) -> Option<Constraint> {
    let Atom::Comparison(comparison) = atom else { return None };
    let ty = Type::parse(comparison.ty).filter(|ty| !ty.is_float())?;
    let unsigned = !comparison.ty.starts_with(".s");
    let (register, test, constant) = match (comparison.relation, comparison.left, comparison.right) {
        (Relation::Equal, Term::Register(register), Term::Constant(constant, 0)) => {
            (register, if value { Test::Equal } else { Test::Different }, constant)
        }
        (Relation::Less, Term::Register(register), Term::Constant(constant, 0)) if unsigned => {
            (register, if value { Test::Below } else { Test::NotBelow }, constant)
        }
        (Relation::Less, Term::Constant(constant, 0), Term::Register(register)) if unsigned => {
            let next = constant.checked_add(1)?;
            (register, if value { Test::NotBelow } else { Test::Below }, next)
        }
        _ => return None,
    };
    Some(Constraint::new(register, ty.bits(), test, constant))
}

impl Walk<'_, '_> {
    fn spend(&mut self) {
        match self.budget.checked_sub(1) {
            Some(rest) => self.budget = rest,
            None => self.result.unknown = true,
        }
    }

    fn step(&mut self, instruction: u32, happened: bool, next: Option<u32>) -> Option<u32> {
        self.steps.push(Step { instruction, happened, next });
        Some(self.steps.len() as u32 - 1)
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

    /// The last instruction before `place` that writes the target or something that facts are known about.
    fn last_event(&self, place: &Place, start: u32) -> Option<u32> {
        let last = |writes: &[u32]| {
            let index = writes.partition_point(|&write| write < place.before);
            writes[..index].last().copied().filter(|&write| write >= start)
        };
        let mut best = match self.target {
            Target::Register(register) => last(self.facts.definitions(register)),
            Target::Carry => last(self.facts.carry_writers()),
            Target::Parameter(variable) => last(self.facts.parameter_writers(variable)),
        };
        for register in place.registers() {
            best = best.max(last(self.facts.definitions(register)));
        }
        best
    }

    fn is_write(&self, instruction: u32) -> bool {
        match self.target {
            Target::Register(register) => {
                self.facts.definitions(register).binary_search(&instruction).is_ok()
            }
            Target::Carry => self.facts.carry_writers().binary_search(&instruction).is_ok(),
            Target::Parameter(variable) => {
                self.facts.parameter_writers(variable).binary_search(&instruction).is_ok()
            }
        }
    }

    /// Takes account of a write of the target; false where the way ends here.
    fn passes_write(&mut self, place: &mut Place, instruction: u32) -> bool {
        let Some(condition) = self.facts.condition(instruction) else {
            if self.facts.is_guarded(instruction) {
                // The guard names nothing, which has been reported: take the write for granted.
            }
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
            let step = &self.steps[index as usize];
            way.push((step.instruction, step.happened));
            next = step.next;
        }
        way.reverse();
        self.result.undefined = Some(Undefined { origin, way });
    }

    /// Takes account of an instruction that writes registers which facts are known about; false where the way
    /// ends here.
    fn passes_condition_write(&mut self, place: &mut Place, instruction: u32) -> bool {
        let concerned: Vec<Register> = {
            let mut registers: Vec<Register> = place
                .registers()
                .filter(|&register| self.facts.definitions(register).binary_search(&instruction).is_ok())
                .collect();
            registers.sort_unstable();
            registers.dedup();
            registers
        };
        if concerned.is_empty() {
            return true;
        }
        if let Some(condition) = self.facts.condition(instruction) {
            // What is known of a guard that the instruction overwrites is its new value.
            let overwritten = concerned.contains(&condition.register);
            let known = if overwritten { None } else { place.facts.holds(condition) };
            match known {
                Some(false) => return true,
                Some(true) => {}
                None => {
                    // Either it did not run, and all that is known stays; or it did.
                    let mut skipped = place.facts.clone();
                    if skipped.assume_condition(condition.negated()) {
                        self.pending.push(place.with(skipped, place.constraints.clone()));
                    }
                    if !overwritten && !place.facts.assume_condition(condition) {
                        return false;
                    }
                }
            }
        }
        self.substitute(place, instruction, &concerned)
    }

    /// Replaces what is known of the results of an instruction by what follows for its operands.
    fn substitute(&mut self, place: &mut Place, instruction: u32, concerned: &[Register]) -> bool {
        let mut cases = vec![Vec::new()];
        let condition = self.facts.condition(instruction);
        for &register in concerned {
            let value = place.facts.take(register);
            place.facts.forget(register);
            let Some(value) = value else { continue };
            let Some(follows) =
                consequences(self.facts.module, self.facts.body, instruction, register, value)
            else {
                continue;
            };
            cases = cases
                .iter()
                .flat_map(|case: &Vec<_>| {
                    follows.iter().map(move |more| case.iter().chain(more).copied().collect::<Vec<_>>())
                })
                .collect();
        }
        // What follows speaks of the values before the instruction, and so does its guard.
        if let Some(condition) = condition
            && !place.facts.assume_condition(condition)
        {
            return false;
        }
        for constraint in &mut place.constraints {
            for &register in concerned {
                constraint.substitute(self.facts, instruction, register);
            }
        }
        let mut possible = cases.into_iter().filter_map(|case| {
            let mut facts = place.facts.clone();
            let relevant = |atom: &Atom| self.arithmetic || self.facts.is_relevant(atom);
            let mut atoms = case.iter().filter(|(atom, _)| relevant(atom));
            if !atoms.all(|&(atom, value)| facts.assume(atom, value)) {
                return None;
            }
            let mut constraints = place.constraints.clone();
            if self.arithmetic {
                constraints.extend(case.iter().filter_map(|&(atom, value)| constraint(atom, value)));
            }
            are_possible(&constraints).then_some((facts, constraints))
        });
        let Some((facts, constraints)) = possible.next() else { return false };
        let rest: Vec<Place> = possible.map(|(facts, constraints)| place.with(facts, constraints)).collect();
        self.pending.extend(rest);
        place.facts = facts;
        place.constraints = constraints;
        if place.facts.is_too_large() {
            self.result.unknown = true;
            return false;
        }
        true
    }

    /// Goes on at the blocks that control may have come from.
    fn predecessors(&mut self, place: Place) {
        let seen = self.seen.entry(place.block).or_default();
        let is_known = |(facts, constraints): &(Facts, Vec<Constraint>)| {
            facts.is_subset(&place.facts) && constraints.iter().all(|each| place.constraints.contains(each))
        };
        if seen.iter().any(is_known) {
            return;
        }
        if seen.len() >= if self.arithmetic { MOST_EXACT_VISITS } else { MOST_VISITS } {
            self.result.unknown = true;
            return;
        }
        seen.push((place.facts.clone(), place.constraints.clone()));
        if place.block.index() == 0 {
            self.undefined(Origin::Entry, place.step);
        }
        let cfg = &self.facts.cfg;
        for (block, edge) in cfg.predecessors(place.block) {
            let condition = edge.condition;
            if !cfg.is_reachable(block) {
                continue;
            }
            self.spend();
            let before = self.facts.cfg.instructions(block).end;
            let mut facts = place.facts.clone();
            let mut step = place.step;
            if let Some(condition) = condition {
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
            let repeats = self.facts.cfg.place(block) >= self.facts.cfg.place(place.block);
            let constraints = if repeats { Vec::new() } else { place.constraints.clone() };
            self.pending.push(Place { block, before, facts, constraints, step });
        }
    }
}
