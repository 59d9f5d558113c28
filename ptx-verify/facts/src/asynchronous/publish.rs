//! Who sets a flag, and who has stored what it tells of: threads that tell others of the stores of their whole block have to
//! meet it before.

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Convergence};
use ptx_ir::special::SpecialRegister;

use super::reachable;
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// Registers that a condition or a number is computed of.
const MAX_REGISTERS: usize = 32;

/// Flags of one function that are looked at, and stores before each.
const MAX_FLAGS: usize = 16;
const MAX_STORES: usize = 64;

/// A store by more threads than those that tell others of it, without a meeting between the two: the first of some flags that
/// tells of such a store, and the store. `tells` says whether a flag may tell of a store.
#[must_use]
pub fn told_by_few(
    facts: &FunctionFacts<'_>,
    flags: &[u32],
    stores: &[u32],
    tells: impl Fn(u32, u32) -> bool,
) -> Option<(u32, u32)> {
    let mut few = flags.iter().copied().filter(|&flag| is_of_few(facts, flag)).take(MAX_FLAGS).peekable();
    few.peek()?;
    let mut meetings: Vec<u32> = reachable(facts).filter(|&each| meets(facts, each)).collect();
    meetings.sort_unstable();
    few.find_map(|flag| {
        let reach = Reach::to(facts, Ends::Instructions(&[flag]), &meetings);
        let is_before = |&store: &u32| store < flag && reach.at(store).is_some() && tells(flag, store);
        let mut before = stores.iter().rev().copied().filter(is_before).take(MAX_STORES);
        Some((flag, before.find(|&store| !is_of_few(facts, store))?))
    })
}

/// Whether threads meet others at an instruction, or it may be so.
fn meets(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_none_or(|instance| {
        let effects = &instance.effects;
        effects.barrier || effects.convergence != Convergence::None || effects.asynchronous.is_some()
    }) || facts.is_call(instruction)
}

/// Whether only some threads of a block come to an instruction, as a comparison of their number with a constant tells.
#[must_use]
pub fn is_of_few(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(instruction));
    let guard = facts.condition(instruction).map(|condition| condition.register);
    if guard.is_some_and(|guard| chooses_threads(facts, guard)) {
        return true;
    }
    cfg.reverse_postorder().iter().any(|&block| {
        if block == own || !cfg.dominates(block, own) {
            return false;
        }
        let mut leads_here = cfg.successors(block).filter(|(next, _)| cfg.dominates(*next, own));
        let mut all = cfg.successors(block);
        let (Some(_), Some(_)) = (all.next(), all.next()) else { return false };
        leads_here.any(|(next, edge)| {
            // Nobody comes there another way.
            let is_only = cfg.predecessors(next).count() == 1;
            is_only && edge.condition.is_some_and(|condition| chooses_threads(facts, condition.register))
        })
    })
}

/// Whether a predicate compares the number of a thread with a constant, or says that it was elected.
fn chooses_threads(facts: &FunctionFacts<'_>, predicate: Register) -> bool {
    let (mut pending, mut seen) = (vec![predicate], Vec::new());
    while let Some(register) = pending.pop() {
        if seen.contains(&register) || seen.len() > MAX_REGISTERS {
            continue;
        }
        seen.push(register);
        for &write in facts.definitions(register) {
            let operands = facts.body.operands(Handle::new(write));
            let given = || operands.iter().skip(1);
            let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
            match computes {
                Some(Computation::Elect) => return true,
                Some(Computation::Compare) => {
                    let has_constant = given().any(|operand| is_constant(facts, *operand));
                    if has_constant && given().any(|operand| is_of_thread(facts, *operand)) {
                        return true;
                    }
                    // A truth value that was kept as a number.
                    pending.extend(given().filter_map(register_of));
                }
                Some(Computation::Load) | None => {}
                Some(_) => pending.extend(given().filter_map(register_of)),
            }
        }
    }
    false
}

fn register_of(operand: &Operand) -> Option<Register> {
    match *operand {
        Operand::Register { register, .. } | Operand::Negated { register, .. } => Some(register),
        _ => None,
    }
}

fn is_constant(facts: &FunctionFacts<'_>, operand: Operand) -> bool {
    match operand {
        Operand::Integer { .. } | Operand::WarpSize => true,
        Operand::Register { register, .. } => match facts.definitions(register) {
            [only] => {
                let moves = facts.instance(*only).and_then(|instance| instance.effects.computes);
                let from = facts.body.operands(Handle::new(*only)).get(1);
                moves == Some(Computation::Move) && matches!(from, Some(Operand::Integer { .. }))
            }
            _ => false,
        },
        _ => false,
    }
}

/// Whether a number is computed of that of the thread in its block or warp, and of constants.
fn is_of_thread(facts: &FunctionFacts<'_>, operand: Operand) -> bool {
    let (mut pending, mut seen, mut is_of_thread) = (vec![operand], Vec::new(), false);
    while let Some(operand) = pending.pop() {
        match operand {
            Operand::Special(
                SpecialRegister::TID
                | SpecialRegister::TID_X
                | SpecialRegister::TID_Y
                | SpecialRegister::TID_Z
                | SpecialRegister::LANEID
                | SpecialRegister::WARPID,
            ) => is_of_thread = true,
            _ if is_constant(facts, operand) => {}
            Operand::Register { register, .. } => {
                if seen.contains(&register) {
                    continue;
                }
                let [only] = facts.definitions(register) else { return false };
                let computes = facts.instance(*only).and_then(|instance| instance.effects.computes);
                if seen.len() == MAX_REGISTERS || computes.is_none_or(|each| each == Computation::Load) {
                    return false;
                }
                seen.push(register);
                let given = facts.body.operands(Handle::new(*only)).iter().skip(1).copied();
                if given.clone().all(|operand| is_constant(facts, operand)) {
                    return false;
                }
                pending.extend(given);
            }
            _ => return false,
        }
    }
    is_of_thread
}
