//! Which predicates a walk has to remember.
//!
//! What a branch says about its predicate matters only where something else on the way depends on the same
//! condition: another guard or branch on the predicate or on one computed from it, or another comparison of
//! the same operands. Most branches of real programs stand alone, and a walk that forgets them visits each
//! block once.

use super::conditions::{Comparison, Term};
use super::facts::FunctionFacts;
use super::formulas::operands_compared;
use super::registers::RegisterTable;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Class;
use rustc_hash::FxHashMap;

/// For each register whether more than one thing depends on its condition.
#[derive(Clone, Debug, Default)]
pub(super) struct Relevance {
    /// How often each register is read, as an operand or as a guard; stops at 2.
    uses: RegisterTable<u8>,
    /// How many comparisons there are of a pair of operands.
    comparisons: FxHashMap<(Term, Term), u32>,
}

/// Copies and negations are followed so far.
const MOST_COPIES: u32 = 4;

impl Relevance {
    pub(super) fn new(facts: &FunctionFacts<'_>) -> Self {
        let mut result = Self { uses: facts.table(0), comparisons: FxHashMap::default() };
        for (handle, instruction) in facts.body.instructions.iter() {
            if let Some(register) = instruction.guard.and_then(|guard| guard.register) {
                result.count(register);
            }
            let predicates = facts.body.operands(handle).iter().any(|operand| match operand {
                Operand::Register { class, .. } | Operand::Negated { class, .. } => *class == Class::RegPred,
                Operand::Pair(_) | Operand::List(_) => true,
                _ => false,
            });
            if !predicates {
                continue;
            }
            for each in facts.uses().of(handle.index() as u32) {
                if each.access().reads() {
                    result.count(each.register);
                }
            }
            if let Some(pair) = operands_compared(facts, handle) {
                *result.comparisons.entry(pair).or_default() += 1;
            }
        }
        result
    }

    fn count(&mut self, register: Register) {
        if let Some(count) = self.uses.get_mut(register) {
            *count = count.saturating_add(1);
        }
    }

    /// Whether a walk should remember the value of a predicate at a branch.
    pub(super) fn matters(&self, facts: &FunctionFacts<'_>, register: Register) -> bool {
        self.matters_through(facts, register, MOST_COPIES)
    }

    /// Whether the operands of a comparison are compared more than once.
    pub(super) fn repeats(&self, comparison: &Comparison) -> bool {
        let (left, right) = (comparison.left, comparison.right);
        let pair = if left <= right { (left, right) } else { (right, left) };
        self.comparisons.get(&pair).is_some_and(|&count| count > 1)
    }

    fn matters_through(&self, facts: &FunctionFacts<'_>, register: Register, copies: u32) -> bool {
        if self.uses.get(register).is_none_or(|&uses| uses > 1) {
            return true;
        }
        facts.definitions(register).iter().any(|&write| {
            let handle = Handle::new(write);
            if facts.is_guarded(write) {
                return true;
            }
            if let Some(pair) = operands_compared(facts, handle) {
                let third = facts.body.operands(handle).len() > 3;
                return third || self.comparisons.get(&pair).is_none_or(|&count| count > 1);
            }
            match facts.body.operands(handle) {
                [_, Operand::Register { register, class: Class::RegPred }] if copies > 0 => {
                    self.matters_through(facts, *register, copies - 1)
                }
                // What is computed in another way tells nothing that could be compared.
                operands => operands.iter().skip(1).any(|operand| match operand {
                    Operand::Register { class, .. } | Operand::Negated { class, .. } => {
                        *class == Class::RegPred
                    }
                    Operand::Integer { .. } => true,
                    _ => false,
                }),
            }
        })
    }
}
