//! Barriers on both sides of a branch.
//!
//! A barrier counts warps, not places: where a branch parts whole warps, and both sides come to as many barriers, all
//! meet. Code in which some warps do more than others is written so.

use super::Variance;
use super::meeting::needs;
use crate::dataflow::FunctionFacts;
use crate::dataflow::values::Values;
use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand};
use rustc_hash::FxHashMap;

/// Whether all ways from the end of a block to where they come together lead past the same barriers, each as often.
pub(super) fn is_balanced(
    facts: &FunctionFacts<'_>,
    values: &Values,
    block: NodeIndex,
    join: NodeIndex,
) -> bool {
    // What all ways to a block have met, as a sum over the barriers.
    let mut met: FxHashMap<NodeIndex, u64> = FxHashMap::default();
    let mut pending: Vec<(NodeIndex, u64)> = facts.cfg.successors(block).map(|(next, _)| (next, 0)).collect();
    while let Some((next, before)) = pending.pop() {
        match met.insert(next, before) {
            Some(other) if other != before => return false,
            Some(_) => continue,
            None if next == join => continue,
            None => {}
        }
        let mut after = before;
        for instruction in facts.cfg.instructions(next) {
            let Some(barrier) = barrier(facts, values, instruction) else { continue };
            if facts.is_guarded(instruction) {
                return false;
            }
            after = after.wrapping_add(barrier);
        }
        pending.extend(facts.cfg.successors(next).map(|(next, _)| (next, after)));
    }
    true
}

/// A number for the barrier that all warps have to come to at an instruction.
fn barrier(facts: &FunctionFacts<'_>, values: &Values, instruction: u32) -> Option<u64> {
    const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
    let instance = facts.instance(instruction).filter(|instance| instance.effects.barrier)?;
    if needs(facts, values, instruction, instance) != Some(Variance::Warp) {
        return None;
    }
    let name = match facts.body.operands(Handle::new(instruction)).first() {
        Some(Operand::Integer { bits, .. }) => *bits,
        Some(Operand::Register { register, .. }) => u64::from(register.0) << 32,
        _ => 0,
    };
    Some((name + 1).wrapping_mul(SPREAD))
}
