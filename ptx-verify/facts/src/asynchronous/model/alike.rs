//! Stores that give the same in each warp.

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Computation;
use ptx_ir::special::{SpecialRegister, Varies};

use super::drawn::variable;
use crate::FunctionFacts;

/// Registers that a number is computed of.
const MAX_REGISTERS: usize = 48;
/// The last lane of a warp.
const LAST_LANE: u64 = 31;
/// Bytes of the largest number.
const MAX_BYTES: u64 = 8;

/// Whether a store, in each warp, stores to a place what the other warps store there: what is stored is computed of what the
/// kernel is given, of the block, the lane, and of what is loaded from addresses that are computed so.
pub(super) fn stores_alike(facts: &FunctionFacts<'_>, store: u32) -> bool {
    let uses = facts.uses();
    let address = facts.address_in_register(store).map(|(register, _)| register);
    if adds(facts, store) {
        return false;
    }
    let read = uses.of(store).iter().filter(|each| each.reads() && Some(each.register) != address);
    let mut open: Vec<Register> = read.map(|each| each.register).collect();
    let mut seen = open.clone();
    while let Some(register) = open.pop() {
        for &write in facts.definitions(register) {
            if is_lane(facts, write) {
                continue;
            }
            let is_own = |operand: &Operand| match *operand {
                Operand::Special(special) => differs(special),
                _ => false,
            };
            let changes = facts.instance(write).is_none_or(|instance| {
                instance.effects.atomic
                    || instance.effects.event.is_some()
                    || instance.effects.computes.is_none()
            });
            if changes || facts.body.operands(Handle::new(write)).iter().any(is_own) {
                return false;
            }
            for each in uses.of(write).iter().filter(|each| each.reads()) {
                if !seen.contains(&each.register) {
                    seen.push(each.register);
                    open.push(each.register);
                }
            }
            if seen.len() > MAX_REGISTERS {
                return false;
            }
        }
    }
    true
}

/// Whether a store is of a single number that is loaded just before: each warp adds to what the one before has stored. What is computed
/// of fractions is not known in C++.
fn adds(facts: &FunctionFacts<'_>, store: u32) -> bool {
    let block = facts.cfg.block_of(Handle::new(store));
    (facts.cfg.instructions(block).start..store).any(|at| {
        let computes = facts.instance(at).and_then(|each| each.effects.computes);
        computes == Some(Computation::Load) && is_one_number(facts, at, store)
    })
}

/// Whether two accesses are of one variable that is a single number.
fn is_one_number(facts: &FunctionFacts<'_>, one: u32, other: u32) -> bool {
    let Some(own) = variable(facts, one) else { return false };
    let size = facts.module.variables[own].size();
    variable(facts, other) == Some(own) && size.is_some_and(|size| size <= MAX_BYTES)
}

/// Whether a special register may have another number in another warp.
fn differs(special: SpecialRegister) -> bool {
    matches!(special, SpecialRegister::TID_Y | SpecialRegister::TID_Z)
        || matches!(special.varies(), Varies::Warp | Varies::Thread)
}

/// Whether an instruction takes the lane from the number of the thread.
fn is_lane(facts: &FunctionFacts<'_>, write: u32) -> bool {
    let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
    let [_, Operand::Register { register, .. }, Operand::Integer { bits: ..=LAST_LANE, .. }] =
        facts.body.operands(Handle::new(write))
    else {
        return false;
    };
    let is_thread = |&made: &u32| {
        let operands = facts.body.operands(Handle::new(made));
        matches!(operands.get(1), Some(Operand::Special(SpecialRegister::TID_X)))
    };
    computes == Some(Computation::And) && facts.definitions(*register).iter().all(is_thread)
}
