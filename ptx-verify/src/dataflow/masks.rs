//! Reads whose value matters under a condition only.
//!
//! Compilers compute before they know whether they need it: `setp` of a register that one way leaves unset, and an
//! `and.pred` behind it with the predicate that says whether the other way was taken. Nobody sees what was read
//! where that predicate is false. The same goes for the operand that `selp` does not choose, and for a result that
//! only a guarded instruction reads.

use super::arithmetic::{Constraint, are_possible};
use super::conditions::Comparisons;
use super::facts::FunctionFacts;
use super::formulas::Formula;
use super::registers::RegisterTable;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Operand, Register};
use ptx_ir::isa::Computation;
use ptx_ir::types::Type;

/// A value is followed through this many instructions.
const MOST_INSTRUCTIONS: usize = 8;
/// A row of selections is followed so far.
const MOST_SELECTIONS: usize = 80;
/// What they ask for is followed back through this many instructions.
const MOST_REWRITES: usize = 6;

/// How often each register of a function is read, and where.
pub(super) struct Reads {
    counts: RegisterTable<u32>,
    last: RegisterTable<u32>,
}

impl Reads {
    pub(super) fn new(facts: &FunctionFacts<'_>) -> Self {
        let mut reads = Self { counts: facts.table(0), last: facts.table(0) };
        for (handle, instruction) in facts.body.instructions.iter() {
            let reader = handle.index() as u32;
            let guard = instruction.guard.and_then(|guard| guard.register);
            let operands = facts.uses().of(reader).iter().filter(|each| each.access().reads());
            for register in operands.map(|each| each.register).chain(guard) {
                reads.counts[register] += 1;
                reads.last[register] = reader;
            }
        }
        reads
    }

    /// The one instruction that reads a register.
    fn only(&self, register: Register) -> Option<u32> {
        (self.counts.get(register) == Some(&1)).then(|| self.last[register])
    }
}

/// What has to hold in front of `instruction` for the value of `register`, which it reads, to matter.
pub(super) fn masks(
    facts: &FunctionFacts<'_>,
    reads: &Reads,
    mut register: Register,
    instruction: u32,
) -> Vec<Condition> {
    let mut masks = Vec::new();
    let mut at = instruction;
    for _ in 0..MOST_INSTRUCTIONS {
        // Only what has the same value in front of the read is known there.
        let unchanged = |mask: &Condition| {
            !facts.definitions(mask.register).iter().any(|write| (instruction..at).contains(write))
        };
        masks.extend(mask_of(facts, register, at).filter(unchanged));
        if at != instruction {
            masks.extend(facts.condition(at).filter(unchanged));
        }
        let Some((result, reader)) = only_reader(facts, reads, at) else { break };
        (register, at) = (result, reader);
    }
    masks
}

/// Under which condition the result of an instruction depends on a register that it reads.
fn mask_of(facts: &FunctionFacts<'_>, register: Register, instruction: u32) -> Option<Condition> {
    let instance = facts.instance(instruction)?;
    let is =
        |operand: &Operand| matches!(operand, Operand::Register { register: each, .. } if *each == register);
    let condition = |operand: &Operand, value: bool| match *operand {
        Operand::Register { register, .. } => Some(Condition { register, value }),
        Operand::Negated { register, .. } => Some(Condition { register, value: !value }),
        _ => None,
    };
    let handle = FunctionFacts::handle(instruction);
    match (instance.effects.computes?, facts.body.operands(handle)) {
        (Computation::Select, [_, chosen, other, by]) if is(chosen) != is(other) && !is(by) => {
            condition(by, is(chosen))
        }
        (computation @ (Computation::And | Computation::Or), [_, left, right])
            if instance.ty == Some(Type::Pred) && is(left) != is(right) =>
        {
            condition(if is(left) { right } else { left }, computation == Computation::And)
        }
        _ => None,
    }
}

/// Whether the value of `register`, which `instruction` reads, is always replaced before anything depends on it: a row
/// of selections takes another value for each value that the number can have which they ask for. That is how a
/// compiler writes "the result of this round, where it is the turn of this lane".
pub(super) fn is_always_replaced(
    facts: &FunctionFacts<'_>,
    comparisons: &mut Comparisons,
    reads: &Reads,
    mut register: Register,
    instruction: u32,
) -> bool {
    let mut constraints: Vec<Constraint> = Vec::new();
    let mut at = instruction;
    for _ in 0..MOST_SELECTIONS {
        let new =
            mask_of(facts, register, at).and_then(|mask| constraint(facts, comparisons, mask, instruction));
        if let Some(new) = new {
            constraints.push(new);
        }
        let Some((result, reader)) = next_reader(facts, reads, at) else { break };
        (register, at) = (result, reader);
    }
    // Two selections at least: with one, what is known on the way to the read decides.
    if constraints.len() < 2 {
        return false;
    }
    for _ in 0..MOST_REWRITES {
        if !are_possible(&constraints) {
            return true;
        }
        let Some(number) = constraints.iter().flat_map(Constraint::registers).next() else { return false };
        let [write] = *facts.definitions(number) else { return false };
        if is_lane(facts, write) {
            constraints.iter_mut().for_each(|constraint| constraint.take_for_lane(number));
            return !are_possible(&constraints);
        }
        for constraint in &mut constraints {
            constraint.substitute(facts, write, number, None);
        }
    }
    false
}

/// Whether an instruction asks for the lane. Where each of 32 has its turn, `%tid.x` is taken for it: the rows of such
/// a block are one warp wide.
fn is_lane(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    match facts.body.operands(FunctionFacts::handle(instruction)) {
        [_, Operand::Special(special)] => matches!(special.name(), "%laneid" | "%tid.x"),
        _ => false,
    }
}

/// Whether `register`, which `instruction` packs with others, is cut off again: the one reader of the result takes as
/// many low bits as come before it. Compilers leave the upper half unset where they know that.
pub(super) fn is_cut_off(
    facts: &FunctionFacts<'_>,
    reads: &Reads,
    register: Register,
    instruction: u32,
) -> bool {
    let operands = |instruction| facts.body.operands(FunctionFacts::handle(instruction));
    let [_, Operand::Vector(parts)] = operands(instruction) else { return false };
    let parts = facts.body.children(*parts);
    let is = |part: &Operand| matches!(part, Operand::Register { register: each, .. } if *each == register);
    let Some(place) = parts.iter().position(is) else { return false };
    let Some((result, reader)) = next_reader(facts, reads, instruction) else { return false };
    let cuts = facts.instance(reader).is_some_and(|instance| {
        instance.effects.computes == Some(Computation::Convert) && !instance.has(".sat")
    });
    let [Operand::Register { register: kept, .. }, Operand::Register { .. }] = operands(reader) else {
        return false;
    };
    let bits = |register| facts.body.register_type(register).map(Type::bits);
    match (bits(*kept), bits(result)) {
        (Some(kept), Some(all)) if cuts => all as usize * place >= kept as usize * parts.len(),
        _ => false,
    }
}

/// A condition as a test of a register that was written before `instruction` and not since.
fn constraint(
    facts: &FunctionFacts<'_>,
    comparisons: &mut Comparisons,
    condition: Condition,
    instruction: u32,
) -> Option<Constraint> {
    let [write] = *facts.definitions(condition.register) else { return None };
    if facts.is_guarded(write) {
        return None;
    }
    let cases = Formula::of(facts, comparisons, write, condition.register)?.cases(condition.value);
    let mut cases = cases.iter();
    let (case, None) = (cases.next()?, cases.next()) else { return None };
    let &[literal] = case.literals() else { return None };
    let constraint = Constraint::of_comparison(comparisons.of(literal)?, literal.value())?;
    let is_settled = |register: Register| match *facts.definitions(register) {
        [write] => !facts.is_guarded(write) && comes_before(facts, write, instruction),
        _ => false,
    };
    let settled = constraint.registers().all(is_settled);
    settled.then_some(constraint)
}

/// Whether all ways to an instruction lead through another one.
fn comes_before(facts: &FunctionFacts<'_>, first: u32, second: u32) -> bool {
    let block = |instruction| facts.cfg.block_of(FunctionFacts::handle(instruction));
    let (one, other) = (block(first), block(second));
    if one == other { first < second } else { facts.cfg.dominates(one, other) }
}

/// The result of an instruction and the one instruction that reads it, further down in the same block.
fn only_reader(facts: &FunctionFacts<'_>, reads: &Reads, instruction: u32) -> Option<(Register, u32)> {
    let (result, reader) = next_reader(facts, reads, instruction)?;
    let block = facts.cfg.block_of(FunctionFacts::handle(instruction));
    facts.cfg.instructions(block).contains(&reader).then_some((result, reader))
}

/// The result of an instruction and the one instruction that reads it, to which all ways lead through this one.
fn next_reader(facts: &FunctionFacts<'_>, reads: &Reads, instruction: u32) -> Option<(Register, u32)> {
    if !facts.instance(instruction)?.effects.is_pure() {
        return None;
    }
    let mut written = facts.uses().of(instruction).iter().filter(|each| each.access().writes());
    let (result, None) = (written.next()?.register, written.next()) else { return None };
    if facts.definitions(result).len() != 1 {
        return None;
    }
    let reader = reads.only(result)?;
    comes_before(facts, instruction, reader).then_some((result, reader))
}
