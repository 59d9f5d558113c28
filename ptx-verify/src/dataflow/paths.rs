//! What a read may see: asked of a [`Walker`], which walks backwards from the read.

use super::conditions::{Comparisons, Literal};
use super::facts::FunctionFacts;
use super::formulas::{Cases, Formula};
use super::masks::{Reads, is_always_replaced, is_cut_off, masks};
use super::visited::Visited;
use super::walk::{Place, Step, Walk};
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Handle, Register, Variable};
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
    /// Nothing: the walk goes on to the entry, if control can come from there.
    Nothing,
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
    /// Whether the target is undefined only where its value does not matter to this read.
    pub masked: bool,
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

/// Steps of a walk that follows arithmetic.
const MOST_EXACT_STEPS: usize = 4000;

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

/// Walks backwards through a function, any number of times.
pub struct Walker<'f, 'm> {
    pub(super) facts: &'f FunctionFacts<'m>,
    pub(super) comparisons: Comparisons,
    formulas: FxHashMap<(u32, Register), Option<Formula>>,
    pub(super) pending: Vec<Place>,
    pub(super) steps: Vec<Step>,
    pub(super) visited: Visited,
    pub(super) concerned: Vec<Register>,
    /// Where each register is read, once it was asked for.
    reads: Option<Reads>,
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
        let mut found = self.walk(target, instruction, budget, false, &[]);
        // What follows arithmetic as well may come to an end sooner, and may take longer.
        let was_unknown = found.unknown && budget.0 > 0;
        if was_unknown {
            found = self.walk(target, instruction, budget, true, &[]);
        }
        if !found.unknown && found.undefined.is_none() {
            return found;
        }
        // Some way leaves it undefined: does the value matter there?
        if let Target::Register(register) = target {
            let reads = self.reads.get_or_insert_with(|| Reads::new(self.facts));
            if is_cut_off(self.facts, reads, register, instruction) {
                return Reaching { undefined: None, unknown: false, masked: true, ..found };
            }
        }
        // Registers that nothing sets may be many; a closer look at all of them would take too long.
        let is_never_set = found.writers.is_empty();
        if found.unknown || is_never_set && budget.0 == 0 {
            return found;
        }
        if let Target::Register(register) = target {
            let reads = self.reads.get_or_insert_with(|| Reads::new(self.facts));
            if is_always_replaced(self.facts, &mut self.comparisons, reads, register, instruction) {
                return Reaching { undefined: None, masked: true, ..found };
            }
            let masks = masks(self.facts, reads, register, instruction);
            if !masks.is_empty() {
                let masked = self.walk(target, instruction, budget, true, &masks);
                if !masked.unknown && masked.undefined.is_none() {
                    return Reaching { masked: true, ..masked };
                }
            }
        }
        if was_unknown {
            return found;
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
        let (mut result, rest) = Walk::new(self, target, arithmetic, steps).run(instruction, masks);
        budget.0 = budget.0.saturating_sub(steps - rest);
        result.writers.sort_unstable();
        result.writers.dedup();
        result
    }

    /// What follows where a result of an instruction has a value; none where that is not followed.
    pub(super) fn consequences(
        &mut self,
        instruction: u32,
        register: Register,
        value: bool,
    ) -> Option<Cases> {
        let (facts, comparisons) = (self.facts, &mut self.comparisons);
        let formula = self
            .formulas
            .entry((instruction, register))
            .or_insert_with(|| Formula::of(facts, comparisons, instruction, register));
        Some(formula.as_ref()?.cases(value))
    }

    /// Whether something else on a way may depend on the same condition.
    pub(super) fn is_relevant(&mut self, literal: Literal) -> bool {
        let Some(comparison) = self.comparisons.of(literal) else { return true };
        self.facts.repeats(comparison)
    }
}
