//! Reads of a register that may be unset, whose value has no consequence where it is.
//!
//! One thread of a warp takes a ticket and `shfl` hands it to the others: all of them give the register to the
//! shuffle, those without a ticket too. Which thread's value is taken cannot be told here, so what only goes into
//! shuffles is trusted. And what a guarded instruction sets may be computed with before a guard that implies that
//! one: compilers put guards on loads and stores, and none on the arithmetic between them.

use super::facts::FunctionFacts;
use super::roles::Access;
use super::uses::Use;
use ptx_ir::ir::Register;
use ptx_ir::isa::{Computation, Convergence};

/// A value is followed to this many instructions.
const MOST_INSTRUCTIONS: usize = 64;

/// Where registers are read: pairs of register and instruction, sorted.
pub(super) struct Readers(Vec<(Register, u32)>);

impl Readers {
    pub(super) fn new(facts: &FunctionFacts<'_>) -> Self {
        let mut all = Vec::new();
        for instruction in 0..facts.body.instructions.len() as u32 {
            let read = facts.uses().of(instruction).iter().filter(|each| each.access() != Access::Write);
            all.extend(read.map(|each| (each.register, instruction)));
            all.extend(facts.condition(instruction).map(|guard| (guard.register, instruction)));
        }
        all.sort_unstable();
        all.dedup();
        Self(all)
    }

    fn of(&self, register: Register) -> &[(Register, u32)] {
        let start = self.0.partition_point(|(each, _)| *each < register);
        let end = self.0.partition_point(|(each, _)| *each <= register);
        &self.0[start..end]
    }
}

/// The guarded instructions that the value of `register`, as `instruction` reads it, comes to through arithmetic; what
/// goes into shuffles is left out. None where it comes to anything else, or goes nowhere.
pub(super) fn consumers(
    facts: &FunctionFacts<'_>,
    readers: &Readers,
    register: Register,
    instruction: u32,
) -> Option<Vec<u32>> {
    let mut consumers = Vec::new();
    let mut seen = vec![(register, instruction)];
    let mut next = 0;
    while let Some(&(register, instruction)) = seen.get(next) {
        next += 1;
        if seen.len() > MOST_INSTRUCTIONS {
            return None;
        }
        let reads = |each: &&Use| each.register == register && each.access() != Access::Write;
        let reads: Vec<_> = facts.uses().of(instruction).iter().filter(reads).collect();
        // A guard is no operand, and a branch on the value is a consequence.
        if reads.is_empty() || facts.condition(instruction).is_some_and(|guard| guard.register == register) {
            return None;
        }
        let effects = facts.instance(instruction)?.effects;
        if effects.computes == Some(Computation::Exchange) && reads.iter().all(|each| each.operand() == 1) {
            continue;
        }
        if !effects.is_pure() || effects.convergence != Convergence::None {
            facts.condition(instruction)?;
            consumers.push(instruction);
            continue;
        }
        let mut goes_nowhere = true;
        for write in facts.uses().of(instruction).iter().filter(|each| each.access() != Access::Read) {
            let read_at = match facts.definitions(write.register) {
                [_] => readers.of(write.register).iter().map(|(_, reader)| *reader).collect(),
                _ => until_overwritten(facts, write.register, instruction)?,
            };
            for reader in read_at {
                goes_nowhere = false;
                if !seen.contains(&(write.register, reader)) {
                    seen.push((write.register, reader));
                }
            }
        }
        if goes_nowhere {
            return None;
        }
    }
    Some(consumers)
}

/// The instructions that read what `instruction` writes into a register, where it is overwritten in the same block.
fn until_overwritten(facts: &FunctionFacts<'_>, register: Register, instruction: u32) -> Option<Vec<u32>> {
    let block = facts.cfg.block_of(FunctionFacts::handle(instruction));
    let mut read_at = Vec::new();
    for other in instruction + 1..facts.cfg.instructions(block).end {
        let guard = facts.condition(other);
        let mut here = facts.uses().of(other).iter().filter(|each| each.register == register);
        if guard.is_some_and(|guard| guard.register == register)
            || here.clone().any(|each| each.access() != Access::Write)
        {
            read_at.push(other);
        }
        let overwritten = here.any(|each| each.access().writes());
        if overwritten && (!facts.is_guarded(other) || same_guard(facts, instruction, other)) {
            return Some(read_at);
        }
    }
    None
}

/// Whether two instructions of a block run under one guard, which is not written between them.
fn same_guard(facts: &FunctionFacts<'_>, first: u32, second: u32) -> bool {
    let (Some(a), Some(b)) = (facts.condition(first), facts.condition(second)) else { return false };
    a == b && !facts.definitions(a.register).iter().any(|write| (first..second).contains(write))
}
