//! Long programs without those accesses that are like others next to them.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Control, Event, Instance, Purpose};
use ptx_ir::space::StateSpace;

use super::program::Program;
use super::slice::{MAX_PLAIN, Unfit, decoded};
use crate::FunctionFacts;

/// Makes the program of a kernel. `calls` are those of functions that may take part in it, ascending. Of long programs in
/// which threads wait for nobody but all others a part is left out.
pub(super) fn program(facts: &FunctionFacts<'_>, calls: &[u32]) -> Result<Program, Unfit> {
    let mut looked_at = candidates(facts, |instance| instance.may_access_shared);
    if !is_surely_long(facts, calls, &looked_at) {
        match decoded(facts, calls, &looked_at, MAX_PLAIN, false) {
            Err(Unfit::Long) => {}
            other => return other,
        }
    }
    // Much is done there in the same way with neighbouring data.
    let left_out = alike(facts, &looked_at);
    looked_at.retain(|instruction| left_out.binary_search(instruction).is_err());
    let most = if facts.body.instructions.len() <= SHORT_FUNCTION { MAX_THINNED } else { MAX_PLAIN };
    decoded(facts, calls, &looked_at, most, false).map(|program| Program { is_thinned: true, ..program })
}

/// The same with the accesses of global memory.
pub(super) fn program_of_grid(facts: &FunctionFacts<'_>, calls: &[u32]) -> Result<Program, Unfit> {
    let looked_at = candidates(facts, |instance| instance.accesses);
    decoded(facts, calls, &looked_at, MAX_WITH_GLOBAL, true)
}

/// Steps of a program with accesses of global memory.
const MAX_WITH_GLOBAL: usize = 4_000;

/// The instructions that may take part in a protocol, in order of the blocks: of accesses those that are wanted.
fn candidates(facts: &FunctionFacts<'_>, wanted: impl Fn(&Instance) -> bool) -> Vec<u32> {
    let takes_part = |&instruction: &u32| {
        facts.instance(instruction).is_some_and(|instance| {
            let effects = &instance.effects;
            wanted(instance)
                || effects.event.is_some()
                || effects.asynchronous.is_some()
                || effects.barrier
                || effects.control == Control::Call
        })
    };
    facts.reaching_out().filter(takes_part).collect()
}

/// Whether a program is long as far as a quick look tells: there are many copies and accesses of shared memory, and threads
/// wait for nobody but all others.
fn is_surely_long(facts: &FunctionFacts<'_>, calls: &[u32], candidates: &[u32]) -> bool {
    let (mut steps, mut copies) = (0, false);
    for &instruction in candidates {
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
            (
                Some(
                    Event::Fence
                    | Event::GridBegin
                    | Event::GridWait
                    | Event::ProxyFence
                    | Event::GlobalProxyFence,
                ),
                None,
            ) => {}
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

/// Steps of a program of which a part is left out, in a short function.
const MAX_THINNED: usize = 1200;
/// Instructions of a short function. With twice as many, a module of matrix products took 7 % longer.
const SHORT_FUNCTION: usize = 1200;

/// The accesses and copies that are left out: those in the middle of a row of them, ascending.
fn alike(facts: &FunctionFacts<'_>, candidates: &[u32]) -> Vec<u32> {
    let mut left_out = Vec::new();
    let leave_out = |row: &mut Vec<u32>, left_out: &mut Vec<u32>| {
        if row.len() > MAX_ALIKE {
            left_out.extend(&row[MAX_ALIKE / 2..row.len() - MAX_ALIKE / 2]);
        }
        row.clear();
    };
    // Reads, writes and copies.
    let mut rows: [Vec<u32>; 3] = Default::default();
    let mut before = None;
    for &instruction in candidates {
        let block = facts.cfg.block_of(Handle::new(instruction));
        if before.replace(block) != Some(block) {
            rows.iter_mut().for_each(|row| leave_out(row, &mut left_out));
        }
        let Some(instance) = facts.instance(instruction) else { continue };
        let effects = &instance.effects;
        let row = match (effects.event, effects.asynchronous) {
            (None, None) if effects.barrier => None,
            (None, None) => match (effects.reads_memory, effects.writes_memory) {
                _ if !instance.may_access_shared => continue,
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
    left_out.sort_unstable();
    left_out
}
