//! Long programs without those accesses that are like others next to them.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Control, Event, Instance, Purpose};
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashSet;

use super::decode::may_be_shared;
use super::program::Program;
use super::slice::{Decoded, MAX_PLAIN, decoded};
use crate::FunctionFacts;

/// Makes the program of a kernel. `calls` are those of functions that may take part in it, ascending. Of long programs in
/// which threads wait for nobody but all others a part is left out.
pub(super) fn program(facts: &FunctionFacts<'_>, calls: &[u32]) -> Decoded {
    if !is_surely_long(facts, calls) {
        match decoded(facts, calls, FxHashSet::default()) {
            Decoded::Long => {}
            other => return other,
        }
    }
    // Much is done there in the same way with neighbouring data.
    match decoded(facts, calls, alike(facts)) {
        Decoded::Program(program) => Decoded::Program(Program { is_thinned: true, ..program }),
        other => other,
    }
}

/// Whether a program is long as far as a quick look tells: there are many copies and accesses of shared memory, and threads
/// wait for nobody but all others.
fn is_surely_long(facts: &FunctionFacts<'_>, calls: &[u32]) -> bool {
    let (mut steps, mut copies) = (0, false);
    for instruction in 0..facts.body.instructions.len() as u32 {
        let Some(instance) = facts.instance(instruction) else { continue };
        let effects = &instance.effects;
        if effects.control == Control::Call && calls.binary_search(&instruction).is_ok() {
            return false;
        }
        let operands = facts.body.operands(Handle::new(instruction));
        match (effects.event, effects.asynchronous) {
            (None, None) => {
                let accesses = instance.accesses && (effects.reads_memory || effects.writes_memory);
                steps += usize::from(accesses && names_shared(instance, operands));
            }
            (None, Some((AsyncGroup::CpAsync, _))) => {
                copies = true;
                steps += 1;
            }
            (Some(Event::BarrierSync), None) => {
                if instance.operand_for(Purpose::Threads).is_some_and(|index| index < operands.len()) {
                    return false;
                }
            }
            (Some(Event::Fence | Event::GridWait | Event::ProxyFence), None) => {}
            _ => return false,
        }
    }
    copies && steps > MAX_PLAIN
}

/// Whether an access names shared memory, with an address in a register.
fn names_shared(instance: &Instance, operands: &[Operand]) -> bool {
    instance.operands.iter().zip(operands).any(|(spec, operand)| {
        let space = spec.access.and_then(|access| access.space);
        matches!(operand, Operand::RegisterAddress { .. })
            && space.is_some_and(|space| space.base() == StateSpace::Shared)
    })
}

/// How many accesses or copies are looked at of those that nothing orders among each other: the first and the last ones.
const MAX_ALIKE: usize = 4;

/// The accesses and copies that are left out: those in the middle of a row of them.
fn alike(facts: &FunctionFacts<'_>) -> FxHashSet<u32> {
    let mut left_out = FxHashSet::default();
    let leave_out = |row: &mut Vec<u32>, left_out: &mut FxHashSet<u32>| {
        if row.len() > MAX_ALIKE {
            left_out.extend(&row[MAX_ALIKE / 2..row.len() - MAX_ALIKE / 2]);
        }
        row.clear();
    };
    for &block in facts.cfg.reverse_postorder() {
        // Reads, writes and copies.
        let mut rows: [Vec<u32>; 3] = Default::default();
        for instruction in facts.cfg.instructions(block) {
            let Some(instance) = facts.instance(instruction) else { continue };
            let effects = &instance.effects;
            let row = match (effects.event, effects.asynchronous) {
                (None, None) if effects.barrier => None,
                (None, None) => match (effects.reads_memory, effects.writes_memory) {
                    _ if !(instance.accesses && instance.operands.iter().any(may_be_shared)) => continue,
                    (true, false) => Some(0),
                    (false, true) => Some(1),
                    _ => continue,
                },
                (None, Some((AsyncGroup::CpAsync, AsyncAction::Start))) => Some(2),
                _ => None,
            };
            match row {
                Some(row) => rows[row].push(instruction),
                None => rows.iter_mut().for_each(|row| leave_out(row, &mut left_out)),
            }
        }
        rows.iter_mut().for_each(|row| leave_out(row, &mut left_out));
    }
    left_out
}
