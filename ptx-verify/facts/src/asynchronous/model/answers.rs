//! Whether anybody listens to what a test of a phase answers.

use ptx_ir::ir::Register;

use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// Places where the answer is written that are followed, and instructions after the test that are looked at first.
const MAX_PLACES: usize = 16;
const NEAR: u32 = 6;

/// A test whose answer decides about nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unheard {
    pub(super) test: u32,
    /// The last instruction that its answer comes to.
    pub(super) end: u32,
}

/// The test, if nothing depends on its answer: no branch, no guard, nothing that is stored.
///
/// `mbarrier.try_wait` may come back before the phase is complete, and `mbarrier.test_wait` does at once.
pub(super) fn unheard(facts: &FunctionFacts<'_>, test: u32) -> Option<Unheard> {
    let last = facts.body.instructions.len() as u32;
    if is_heard_near(facts, test, last) {
        return None;
    }
    // Where the answer is, and what has put it there.
    let mut places: Vec<(u32, Register)> = written(facts, test).map(|register| (test, register)).collect();
    let mut looked_at = 0;
    while let Some(&(from, register)) = places.get(looked_at) {
        looked_at += 1;
        let is_other = |write: &u32| *write != from && !facts.is_guarded(*write);
        let others: Vec<u32> = facts.definitions(register).iter().copied().filter(is_other).collect();
        // Kernels have one predicate for many waits: what another test answers is another answer.
        let reach = (!others.is_empty()).then(|| Reach::from(facts, Ends::Instructions(&[from]), &others));
        for each in 0..last {
            let decides = decides(facts, each, &[register]);
            if !decides && !reads(facts, each, &[register]) {
                continue;
            }
            if reach.as_ref().is_some_and(|reach| reach.at(each).is_none()) {
                continue;
            }
            if decides {
                return None;
            }
            for to in written(facts, each) {
                if !places.contains(&(each, to)) {
                    places.push((each, to));
                }
            }
        }
        if places.len() > MAX_PLACES {
            return None;
        }
    }
    let end = places.iter().map(|(at, _)| *at).max().unwrap_or(test);
    Some(Unheard { test, end })
}

/// Whether one of the next instructions decides as the answer says: mostly one of them goes back to the test.
fn is_heard_near(facts: &FunctionFacts<'_>, test: u32, last: u32) -> bool {
    let mut asked: Vec<Register> = written(facts, test).collect();
    for each in test + 1..last.min(test + NEAR) {
        if decides(facts, each, &asked) {
            return true;
        }
        let hands_on = reads(facts, each, &asked);
        for register in written(facts, each) {
            match asked.iter().position(|own| *own == register) {
                None if hands_on => asked.push(register),
                Some(own) if !hands_on && !facts.is_guarded(each) => {
                    asked.swap_remove(own);
                }
                _ => {}
            }
        }
    }
    false
}

fn written(facts: &FunctionFacts<'_>, instruction: u32) -> impl Iterator<Item = Register> {
    let writes = facts.uses().of(instruction).iter().filter(|each| each.access().writes());
    writes.map(|each| each.register)
}

fn reads(facts: &FunctionFacts<'_>, instruction: u32, asked: &[Register]) -> bool {
    let mut uses = facts.uses().of(instruction).iter();
    uses.any(|each| each.access().reads() && asked.contains(&each.register))
}

/// Whether an instruction does something, or does not, as one of some registers says.
fn decides(facts: &FunctionFacts<'_>, instruction: u32, asked: &[Register]) -> bool {
    let is_guard = facts.condition(instruction).is_some_and(|guard| asked.contains(&guard.register));
    is_guard || {
        reads(facts, instruction, asked)
            && facts.instance(instruction).is_none_or(|instance| {
                instance.effects.reach_out() || instance.effects.control != ptx_ir::isa::Control::Next
            })
    }
}
