//! Whether what an instruction brings decides about anything but where data is.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::Control;
use rustc_hash::FxHashSet;

use crate::FunctionFacts;

/// Instructions of a function in which it is looked for.
const MAX_INSTRUCTIONS: usize = 1 << 13;
/// Rounds in which that is carried on.
const MAX_ROUNDS: usize = 16;

/// Whether control, or what is in memory, may depend on the result of an instruction. That a wait at an object is for a phase which it
/// tells counts for nothing: who waits there meets those who arrive.
pub(super) fn decides(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let count = facts.body.instructions.len();
    if count > MAX_INSTRUCTIONS {
        return true;
    }
    let uses = facts.uses();
    let written =
        |at: u32| uses.of(at).iter().filter(|each| each.access().writes()).map(|each| each.register);
    let mut reached: FxHashSet<_> = written(instruction).collect();
    for _ in 0..MAX_ROUNDS {
        let before = reached.len();
        for at in (0..count as u32).filter(|at| *at != instruction) {
            let guard = facts.body.instructions[Handle::new(at)].guard.and_then(|guard| guard.register);
            if guard.is_some_and(|guard| reached.contains(&guard)) {
                return true;
            }
            let reads = || uses.of(at).iter().filter(|each| each.access().reads());
            if !reads().any(|each| reached.contains(&each.register)) {
                continue;
            }
            let Some(instance) = facts.instance(at).filter(|_| facts.control(at) == Control::Next) else {
                return true;
            };
            let effects = &instance.effects;
            if effects.event.is_some() || effects.asynchronous.is_some() {
                continue;
            }
            if effects.writes_memory {
                let mut stored =
                    facts.body.operands(Handle::new(at)).iter().flat_map(|operand| match operand {
                        Operand::Vector(run) => facts.body.children(*run).to_vec(),
                        other => vec![*other],
                    });
                let is_stored = |operand: &Operand| matches!(operand, Operand::Register { register, .. } if reached.contains(register));
                if stored.any(|operand| is_stored(&operand)) {
                    return true;
                }
                continue;
            }
            if !effects.reads_memory {
                reached.extend(written(at));
            }
        }
        if reached.len() == before {
            return false;
        }
    }
    true
}
