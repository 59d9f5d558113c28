//! Whether anybody listens to what a test of a phase answers.

use ptx_ir::ir::Register;

use crate::FunctionFacts;

/// Registers that the answer is handed on to, and instructions after the test that are looked at first.
const MAX_REGISTERS: usize = 16;
const NEAR: u32 = 4;

/// Whether nothing depends on the answer of a test: no branch, no guard, nothing that is stored.
///
/// `mbarrier.try_wait` may come back before the phase is complete, and `mbarrier.test_wait` does at once.
pub(super) fn is_unheard(facts: &FunctionFacts<'_>, test: u32) -> bool {
    let written = facts.uses().of(test).iter().filter(|each| each.access().writes());
    let mut asked: Vec<Register> = written.map(|each| each.register).collect();
    let last = facts.body.instructions.len() as u32;
    // Mostly the next instruction goes back to the test.
    if (test..last.min(test + NEAR)).any(|each| decides(facts, each, &asked)) {
        return false;
    }
    let mut looked_at = 0;
    while looked_at < asked.len() {
        let from = looked_at;
        looked_at = asked.len();
        for each in 0..last {
            if decides(facts, each, &asked[from..]) {
                return false;
            }
            let uses = facts.uses().of(each).iter();
            if uses.clone().any(|each| each.access().reads() && asked[from..].contains(&each.register)) {
                let to = uses.filter(|each| each.access().writes()).map(|each| each.register);
                let new: Vec<Register> = to.filter(|to| !asked.contains(to)).collect();
                asked.extend(new);
            }
        }
        if asked.len() > MAX_REGISTERS {
            return false;
        }
    }
    true
}

/// Whether an instruction does something, or does not, as one of some registers says.
fn decides(facts: &FunctionFacts<'_>, instruction: u32, asked: &[Register]) -> bool {
    let is_guard = facts.condition(instruction).is_some_and(|guard| asked.contains(&guard.register));
    is_guard || {
        let mut uses = facts.uses().of(instruction).iter();
        let is_read = uses.any(|each| each.access().reads() && asked.contains(&each.register));
        is_read
            && facts.instance(instruction).is_none_or(|instance| {
                instance.effects.reach_out() || instance.effects.control != ptx_ir::isa::Control::Next
            })
    }
}
