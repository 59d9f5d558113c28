//! Stores that are executed only for addresses of a thread's own memory: what is written in C++ for any object asks where the
//! object lies, and has a way without atomic operations for those of the thread alone.

use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Comparison, Computation};
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashMap;

use crate::FunctionFacts;
use crate::values::space_of;

/// Blocks on the way to a store that are looked at; to compare an object byte by byte takes many.
const MAX_BLOCKS: usize = 32;
/// Steps from a condition back to the question where an address lies.
const MAX_STEPS: usize = 4;

/// Which blocks are entered only where an address was found to lie in local memory.
pub struct OwnMemory<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    of_blocks: FxHashMap<NodeIndex, bool>,
}

impl<'f, 'm> OwnMemory<'f, 'm> {
    /// Nothing is asked yet.
    #[must_use]
    pub fn new(facts: &'f FunctionFacts<'m>) -> Self {
        Self { facts, of_blocks: FxHashMap::default() }
    }

    /// Whether an instruction is executed only for an address in local memory.
    #[must_use]
    pub fn has(&mut self, instruction: u32) -> bool {
        let facts = self.facts;
        let block = facts.cfg.block_of(Handle::new(instruction));
        let is_own = || entered_for_own(facts, block);
        facts.condition(instruction).is_some_and(|guard| asks_for_own(facts, guard))
            || *self.of_blocks.entry(block).or_insert_with(is_own)
    }
}

fn entered_for_own(facts: &FunctionFacts<'_>, mut block: NodeIndex) -> bool {
    let cfg = &facts.cfg;
    for _ in 0..MAX_BLOCKS {
        let mut before = cfg.predecessors(block);
        if let (Some((_, edge)), None) = (before.next(), before.next())
            && edge.condition.is_some_and(|condition| asks_for_own(facts, condition))
        {
            return true;
        }
        match cfg.immediate_dominator(block) {
            Some(above) => block = above,
            None => return false,
        }
    }
    false
}

/// Whether a condition holds only where an address lies in local memory.
fn asks_for_own(facts: &FunctionFacts<'_>, condition: Condition) -> bool {
    let Condition { mut register, mut value } = condition;
    for _ in 0..MAX_STEPS {
        let [write] = facts.definitions(register) else { return false };
        let Some(instance) = facts.instance(*write) else { return false };
        let operands = facts.body.operands(Handle::new(*write));
        match (instance.effects.computes, operands) {
            // No computation and no access, and yet a result and the name of a space: the question where an address lies.
            (None, [_, _]) if !instance.accesses && instance.effects.event.is_none() => {
                return value && space_of(instance) == Some(StateSpace::Local);
            }
            (Some(Computation::Move), [_, Operand::Register { register: from, .. }]) => register = *from,
            (Some(Computation::Not), [_, Operand::Register { register: from, .. }]) => {
                (register, value) = (*from, !value);
            }
            // What asm statements give as 1 or 0.
            (Some(Computation::Compare), [_, Operand::Register { register: number, .. }, other])
                if is_integer(other, 0) =>
            {
                let holds = match instance.effects.compares {
                    Some(Comparison::Equal) => !value,
                    Some(Comparison::NotEqual) => value,
                    _ => return false,
                };
                let Some(from) = chosen_by(facts, *number) else { return false };
                (register, value) = (from, holds);
            }
            _ => return false,
        }
    }
    false
}

/// The predicate of which a number is 1 where it holds, and 0 where not.
fn chosen_by(facts: &FunctionFacts<'_>, number: Register) -> Option<Register> {
    let [write] = facts.definitions(number) else { return None };
    let computes = facts.instance(*write)?.effects.computes;
    match (computes, facts.body.operands(Handle::new(*write))) {
        (Some(Computation::Select), [_, one, nought, Operand::Register { register, .. }])
            if is_integer(one, 1) && is_integer(nought, 0) =>
        {
            Some(*register)
        }
        _ => None,
    }
}

fn is_integer(operand: &Operand, number: u64) -> bool {
    matches!(operand, Operand::Integer { bits, .. } if *bits == number)
}
