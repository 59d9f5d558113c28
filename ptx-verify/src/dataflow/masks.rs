//! Reads whose value matters under a condition only.
//!
//! Compilers compute before they know whether they need it: `setp` of a register that one way leaves unset, and an
//! `and.pred` behind it with the predicate that says whether the other way was taken. Nobody sees what was read
//! where that predicate is false. The same goes for the operand that `selp` does not choose, and for a result that
//! only a guarded instruction reads.

use super::facts::FunctionFacts;
use super::uses::Use;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Operand, Register};
use ptx_ir::isa::Computation;
use ptx_ir::types::Type;

/// A value is followed through this many instructions.
const MOST_INSTRUCTIONS: usize = 8;

/// How often each register of a function is read.
pub(super) fn count_reads(facts: &FunctionFacts<'_>) -> Vec<u32> {
    let mut counts = vec![0; facts.body.register_count as usize];
    for each in facts.uses().all().iter().filter(|each| each.access().reads()) {
        counts[each.register.0 as usize] += 1;
    }
    for (_, instruction) in facts.body.instructions.iter() {
        if let Some(register) = instruction.guard.and_then(|guard| guard.register) {
            counts[register.0 as usize] += 1;
        }
    }
    counts
}

/// What has to hold in front of `instruction` for the value of `register`, which it reads, to matter.
pub(super) fn masks(
    facts: &FunctionFacts<'_>,
    reads: &[u32],
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

/// The result of an instruction and the one instruction that reads it, further down in the same block.
fn only_reader(facts: &FunctionFacts<'_>, reads: &[u32], instruction: u32) -> Option<(Register, u32)> {
    if !facts.instance(instruction)?.effects.is_pure() {
        return None;
    }
    let written: Vec<&Use> =
        facts.uses().of(instruction).iter().filter(|each| each.access().writes()).collect();
    let [result] = written.as_slice() else { return None };
    let result = result.register;
    if facts.definitions(result).len() != 1 || reads.get(result.0 as usize) != Some(&1) {
        return None;
    }
    let block = facts.cfg.block_of(FunctionFacts::handle(instruction));
    let rest = instruction + 1..facts.cfg.instructions(block).end;
    let reader = rest.into_iter().find(|&other| {
        facts.uses().of(other).iter().any(|each| each.register == result && each.access().reads())
    })?;
    Some((result, reader))
}
