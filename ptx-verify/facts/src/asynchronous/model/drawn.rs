//! Which counters in memory lead to a place: nobody knows what those have when a kernel begins.

use std::collections::BTreeSet;

use ptx_ir::ir::{Handle, Operand, Register, Variable};
use ptx_ir::isa::Computation;
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashSet;

use crate::FunctionFacts;
use crate::values::space_of;

/// Registers that an address is computed of.
const MAX_REGISTERS: usize = 512;
/// Steps from an address to its variable.
const MAX_STEPS: usize = 16;

/// The atomic operations whose results the address of an access is computed of, through registers and shared memory.
pub(super) fn counters(facts: &FunctionFacts<'_>, access: u32) -> BTreeSet<u32> {
    let mut found = BTreeSet::new();
    let Some((base, _)) = facts.address_in_register(access) else { return found };
    let (mut pending, mut seen) = (vec![base], FxHashSet::default());
    let mut variables: Vec<Option<Handle<Variable>>> = Vec::new();
    while let Some(register) = pending.pop() {
        if !seen.insert(register) || seen.len() > MAX_REGISTERS {
            continue;
        }
        for &write in facts.definitions(register) {
            let Some(instance) = facts.instance(write) else { continue };
            if instance.effects.atomic {
                found.insert(write);
                continue;
            }
            let is_load = instance.effects.computes == Some(Computation::Load);
            let is_shared = space_of(instance).map(StateSpace::base) == Some(StateSpace::Shared);
            if is_load && is_shared {
                let variable = variable(facts, write);
                if !variables.contains(&variable) {
                    variables.push(variable);
                    pending.extend(stored(facts, variable));
                }
            } else if !is_load {
                let read = facts.uses().of(write).iter().filter(|each| each.access().reads());
                pending.extend(read.map(|each| each.register));
            }
        }
    }
    found
}

/// What is stored in a shared variable, or in any where it is not known which.
fn stored(facts: &FunctionFacts<'_>, wanted: Option<Handle<Variable>>) -> Vec<Register> {
    let is_there = |store: &u32| {
        facts.instance(*store).is_some_and(|instance| {
            let effects = &instance.effects;
            effects.writes_memory
                && !effects.reads_memory
                && space_of(instance).is_none_or(|space| space.base() == StateSpace::Shared)
        }) && {
            let own = variable(facts, *store);
            own.is_none() || wanted.is_none() || own == wanted
        }
    };
    let stores = facts.reaching_out().filter(is_there);
    stores
        .filter_map(|store| match facts.body.operands(Handle::new(store)).get(1) {
            Some(Operand::Register { register, .. }) => Some(*register),
            _ => None,
        })
        .collect()
}

/// The variable that an access is in.
pub(super) fn variable(facts: &FunctionFacts<'_>, access: u32) -> Option<Handle<Variable>> {
    let operands = facts.body.operands(Handle::new(access));
    let mut register = operands.iter().find_map(|operand| match *operand {
        Operand::VariableAddress { variable, .. } | Operand::Element { variable, .. } => Some(Err(variable)),
        Operand::RegisterAddress { base, .. } => Some(Ok(base)),
        _ => None,
    })?;
    for _ in 0..MAX_STEPS {
        let from = match register {
            Err(variable) => return Some(variable),
            Ok(register) => register,
        };
        let [write] = facts.definitions(from) else { return None };
        register = match facts.body.operands(Handle::new(*write)).get(1)? {
            Operand::Variable { variable, .. } => Err(*variable),
            Operand::Register { register, .. } => Ok(*register),
            _ => return None,
        };
    }
    None
}
