//! Which threads have to come to an instruction together.

use super::Variance;
use crate::dataflow::FunctionFacts;
use crate::dataflow::values::{Value, Values};
use crate::dataflow::ways::{Ends, Ways};
use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Convergence, Instance};

/// From which variance on it is a danger to call a function: that of the most demanding instruction that every way
/// through it leads to. `of_call` is the same for the function that a call goes to.
#[must_use]
pub fn needed_on_every_way(
    facts: &FunctionFacts<'_>,
    values: &Values,
    of_call: impl Fn(u32) -> Option<Variance>,
) -> Option<Variance> {
    let needed = |instruction: u32| {
        if facts.is_guarded(instruction) {
            return None;
        }
        if facts.is_call(instruction) {
            return of_call(instruction);
        }
        let instance = facts.instance(instruction).filter(|instance| !meets_anywhere(instance))?;
        needs(facts, values, instruction, instance)
    };
    let mut blocks = facts.cfg.reverse_postorder().iter().filter_map(|&block| {
        let least = facts.cfg.instructions(block).filter_map(needed).min()?;
        Some((block, least))
    });
    let mut most_demanding = None;
    while let Some((block, least)) = blocks.next().filter(|_| most_demanding != Some(Variance::Warp)) {
        if !is_avoidable(facts, block) {
            most_demanding = Some(most_demanding.map_or(least, |known: Variance| known.min(least)));
        }
    }
    most_demanding
}

/// Whether a way leads through the function without coming to a block.
fn is_avoidable(facts: &FunctionFacts<'_>, avoided: NodeIndex) -> bool {
    let first = facts.cfg.instructions(avoided).start;
    Ways::to(facts, Ends::Function, &[first]).at_entry().is_some()
}

/// Whether the lanes that a mask names compute the result together.
pub(super) fn is_collective(instance: &Instance) -> bool {
    instance.effects.convergence == Convergence::Participants && !instance.effects.barrier
}

/// From which variance on an instruction is in danger; none where it is not.
pub(super) fn needs(
    facts: &FunctionFacts<'_>,
    values: &Values,
    instruction: u32,
    instance: &Instance,
) -> Option<Variance> {
    let operands = facts.body.operands(Handle::new(instruction));
    let effects = &instance.effects;
    if effects.barrier && effects.convergence == Convergence::Aligned {
        // A barrier with a number of threads is meant for some of the warps.
        let counted = operands.len() > 1;
        return Some(if counted { Variance::Lane } else { Variance::Warp });
    }
    match effects.convergence {
        Convergence::Aligned => Some(Variance::Lane),
        Convergence::Participants if has_full_mask(facts, values, instance, operands) => Some(Variance::Lane),
        Convergence::Participants | Convergence::None => None,
    }
}

/// Whether lanes wait for each other here wherever they are: `bar.warp.sync`.
pub(super) fn meets_anywhere(instance: &Instance) -> bool {
    instance.effects.barrier && instance.effects.convergence == Convergence::Participants
}

/// Whether the mask of lanes names all of them.
fn has_full_mask(
    facts: &FunctionFacts<'_>,
    values: &Values,
    instance: &Instance,
    operands: &[Operand],
) -> bool {
    let is_mask = instance.operands.last().is_some_and(|spec| spec.name == "membermask");
    let mask = operands.last().filter(|_| is_mask);
    let value = mask.map(|&mask| values.operand(facts.module, mask));
    matches!(value, Some(Value::Number(bits)) if bits.value().is_some_and(|bits| bits as u32 == u32::MAX))
}
