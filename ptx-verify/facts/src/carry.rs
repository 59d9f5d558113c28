//! The carry flag `CC.CF`: for each instruction that reads it, which instructions may have produced it.
//!
//! PTX ISA manual, section "Extended-Precision Integer Arithmetic Instructions": the flag is not preserved across calls and
//! is undefined when a function is entered. In the graph of values it is a register of one bit, so most readers are
//! answered by one look; paths are walked for those that read a join or a guarded write.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Carry, Chain, Comparison};

use super::paths::{Reaching, Search, ToWriters, Tracked};
use super::values::{Engine, Graph, Kind, ValueId, Values};
use crate::FunctionFacts;

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
    /// Whether some search was given up, so that `unread` says nothing.
    pub unknown: bool,
}

/// Finds what each reader of the carry flag may see. What is known of the values is found where it is asked for.
#[must_use]
pub fn analyze(facts: &FunctionFacts<'_>, graph: &Graph, values: &mut Option<Values>) -> CarryFacts {
    let mut result = CarryFacts::default();
    // What a wrong spelling was meant to do with the flag cannot be told; it has been reported.
    let is_wrong = |spelling| facts.module.spellings[spelling].resolved.instances.is_empty();
    if facts.body.instructions.iter().any(|(_, instruction)| is_wrong(instruction.spelling)) {
        return CarryFacts { unknown: true, ..result };
    }
    let mut seen = Vec::new();
    let mut search = None;
    for (instruction, read) in graph.flags() {
        let (Some(carry), Some(value)) = (facts.carry(instruction), read) else { continue };
        let reaching = match graph.kind(value) {
            Kind::Computed { instruction, .. } => {
                Reaching { writers: vec![instruction], ..Reaching::default() }
            }
            _ => {
                let search = search.get_or_insert_with(|| {
                    let values = values.take().unwrap_or_else(|| Values::new(facts, graph));
                    Search::of(Engine::again(facts, graph, values))
                });
                searched(search, instruction, value)
            }
        };
        result.unknown |= reaching.unknown;
        seen.extend_from_slice(&reaching.writers);
        result.readers.push(Reader { instruction, carry, reaching });
    }
    if let Some(search) = search {
        *values = Some(search.engine.into_values());
    }
    seen.sort_unstable();
    let writers = graph.flags().map(|(instruction, _)| instruction).filter(|&each| facts.writes_carry(each));
    result.unread = writers.filter(|writer| seen.binary_search(writer).is_err()).collect();
    result
}

fn searched(search: &mut Search<'_, '_>, instruction: u32, value: ValueId) -> Reaching {
    search.begin();
    search.walk((instruction, None), Tracked::Value(value), 1, &[], &mut ToWriters);
    search.reaching()
}

/// Whether a reader may continue the chain of a writer: a carry is no borrow.
#[must_use]
pub fn fits(writer: Chain, reader: Chain) -> bool {
    writer == reader
}

/// Whether the flag of a subtraction is put into a register to undo the subtraction where it has borrowed: a branch asks
/// whether that register is 0, and only where it is, the difference is added to. Who writes so knows that the hardware sets
/// the flag where nothing was borrowed.
#[must_use]
pub fn is_undone_by_flag(facts: &FunctionFacts<'_>, graph: &Graph, reader: u32) -> bool {
    let block = facts.cfg.block_of(Handle::new(reader));
    let asks_zero = || {
        let flag = facts.uses().writing(reader).find_map(|at| graph.written(at))?;
        let guard = facts.cfg.instructions(block).last().and_then(|last| graph.guard(last))?;
        let Kind::Computed { instruction: asks, .. } = graph.kind(guard) else { return None };
        let is_of_flag = facts.uses().range(asks).any(|at| graph.read(at) == Some(flag));
        let is_zero = |operand: &Operand| matches!(operand, Operand::Integer { bits: 0, .. });
        let with_zero = facts.body.operands(Handle::new(asks)).iter().any(is_zero);
        match facts.instance(asks)?.effects.compares? {
            Comparison::Equal if is_of_flag && with_zero => Some(true),
            Comparison::NotEqual if is_of_flag && with_zero => Some(false),
            _ => None,
        }
    };
    let Some(asks_zero) = asks_zero() else { return false };
    let is_difference = |value: ValueId| match graph.kind(value) {
        Kind::Computed { instruction, .. } => {
            let is_of_chain = facts.carry(instruction).is_some_and(|carry| carry.chain == Chain::Sub);
            is_of_chain && facts.cfg.block_of(Handle::new(instruction)) == block
        }
        _ => false,
    };
    let undoes = |instruction: u32| {
        facts.carry(instruction).is_some_and(|carry| carry.chain == Chain::Add)
            && facts.uses().range(instruction).any(|at| graph.read(at).is_some_and(is_difference))
    };
    facts.cfg.successors(block).any(|(next, edge)| {
        edge.condition.is_some_and(|condition| condition.value == asks_zero)
            && facts.cfg.instructions(next).any(undoes)
    })
}
