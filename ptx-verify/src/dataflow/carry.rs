//! The carry flag `CC.CF`: for each instruction that reads it, which instructions may have produced it.
//!
//! PTX ISA manual, section "Extended-Precision Integer Arithmetic Instructions": the flag is not preserved
//! across calls and is undefined when a function is entered.

use super::facts::FunctionFacts;
use super::paths::{Budget, Reaching, Target, Walker};
use ptx_ir::isa::{Carry, Chain};

/// Steps of the walks that every function may have.
const LEAST_STEPS: usize = 4000;
/// Steps that each instruction adds.
const STEPS_PER_INSTRUCTION: usize = 2;

/// An instruction that reads the carry flag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reader {
    /// The instruction.
    pub instruction: u32,
    /// How it uses the flag.
    pub carry: Carry,
    /// What it may see.
    pub reaching: Reaching,
}

/// What is known about the carry flag of a function.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CarryFacts {
    /// Reachable readers, in order of the text.
    pub readers: Vec<Reader>,
    /// Reachable writers whose flag no reader sees, in order of the text.
    pub unread: Vec<u32>,
    /// Whether some walk was given up, so that `unread` says nothing.
    pub unknown: bool,
}

/// Finds what each reader of the carry flag may see.
#[must_use]
pub fn analyze(facts: &FunctionFacts<'_>) -> CarryFacts {
    let mut result = CarryFacts::default();
    let mut seen = Vec::new();
    let mut writers = Vec::new();
    if !facts.module.spellings.iter().any(|(_, spelling)| {
        spelling.resolved.instances.iter().any(|instance| instance.effects.carry.is_some())
    }) {
        return result;
    }
    // What a wrong spelling was meant to do with the flag cannot be told; it has been reported.
    let is_wrong = |spelling| facts.module.spellings[spelling].resolved.instances.is_empty();
    if facts.body.instructions.iter().any(|(_, instruction)| is_wrong(instruction.spelling)) {
        return CarryFacts { unknown: true, ..result };
    }
    let mut budget = Budget::new(LEAST_STEPS + STEPS_PER_INSTRUCTION * facts.body.instructions.len());
    let mut walker = Walker::new(facts);
    for block in facts.cfg.graph().node_indices() {
        if !facts.cfg.is_reachable(block) {
            continue;
        }
        for instruction in facts.cfg.instructions(block) {
            let Some(carry) = facts.carry(instruction) else { continue };
            if carry.writes {
                writers.push(instruction);
            }
            if carry.reads {
                let reaching = walker.reaching(Target::Carry, instruction, &mut budget);
                result.unknown |= reaching.unknown;
                seen.extend_from_slice(&reaching.writers);
                result.readers.push(Reader { instruction, carry, reaching });
            }
        }
    }
    seen.sort_unstable();
    writers.sort_unstable();
    result.readers.sort_by_key(|reader| reader.instruction);
    result.unread = writers.into_iter().filter(|writer| seen.binary_search(writer).is_err()).collect();
    result
}

/// Whether a reader may continue the chain of a writer: a carry is no borrow.
#[must_use]
pub fn fits(writer: Chain, reader: Chain) -> bool {
    writer == reader
}
