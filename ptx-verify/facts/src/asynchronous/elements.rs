//! Loads of the next element of an array: lists of parts say in one element where a part begins, and in the next where it ends.

use std::collections::BTreeMap;

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Computation;

use crate::FunctionFacts;

/// What an address is computed of: registers, with what they are multiplied by, and what is added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Form {
    terms: BTreeMap<Register, i64>,
    added: i64,
}

/// Instructions that are looked at for one address.
const MAX_STEPS: usize = 32;
/// Loads that one is compared with.
const MAX_LOADS: usize = 64;

/// Whether a load reads the element after the one that another load reads. `bytes` are those of an element.
#[must_use]
pub fn reads_next(facts: &FunctionFacts<'_>, load: u32, bytes: u32) -> bool {
    let bytes = i64::from(bytes);
    let Some(form) = form_of(facts, load).filter(|form| form.terms.values().any(|by| *by == bytes)) else {
        return false;
    };
    let is_load = |at: u32| {
        let effects = facts.instance(at).map(|instance| &instance.effects);
        effects.is_some_and(|effects| effects.computes == Some(Computation::Load) && effects.reads_memory)
    };
    let near = load.saturating_sub(NEAR)..load.saturating_add(NEAR).min(facts.body.instructions.len() as u32);
    let others = near.filter(|&at| at != load && is_load(at)).take(MAX_LOADS);
    others
        .filter_map(|at| form_of(facts, at))
        .any(|other| form.added.wrapping_sub(other.added) == bytes && form.terms == other.terms)
}

/// How far apart in the text two loads of one list are.
const NEAR: u32 = 200;

fn form_of(facts: &FunctionFacts<'_>, load: u32) -> Option<Form> {
    let (base, offset) = facts.address_in_register(load)?;
    let mut form = Form { added: i64::from(offset), ..Form::default() };
    let mut open: Vec<(Register, i64)> = vec![(base, 1)];
    let mut steps = 0;
    while let Some((register, by)) = open.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            return None;
        }
        if !unfolded(facts, register, by, &mut open, &mut form.added) {
            let known = form.terms.entry(register).or_default();
            *known = known.wrapping_add(by);
        }
    }
    Some(form)
}

/// Puts what a register is computed of in its place; whether that is known.
fn unfolded(
    facts: &FunctionFacts<'_>,
    register: Register,
    by: i64,
    open: &mut Vec<(Register, i64)>,
    added: &mut i64,
) -> bool {
    let [write] = facts.definitions(register) else { return false };
    if facts.is_guarded(*write) {
        return false;
    }
    let Some(computes) = facts.instance(*write).and_then(|instance| instance.effects.computes) else {
        return false;
    };
    let operands = facts.body.operands(Handle::new(*write));
    let number = |index: usize| match operands.get(index) {
        Some(Operand::Integer { bits, .. }) => Some(*bits as i64),
        _ => None,
    };
    let is_register = |index: usize| matches!(operands.get(index), Some(Operand::Register { .. }));
    let mut put = |index: usize, by: i64| match operands.get(index) {
        Some(Operand::Register { register, .. }) => open.push((*register, by)),
        Some(Operand::Integer { bits, .. }) => *added = added.wrapping_add((*bits as i64).wrapping_mul(by)),
        _ => {}
    };
    match computes {
        Computation::Move | Computation::Convert | Computation::ToGeneric | Computation::FromGeneric
            if is_register(1) =>
        {
            put(1, by);
        }
        Computation::Add if is_register(1) && (is_register(2) || number(2).is_some()) => {
            put(1, by);
            put(2, by);
        }
        Computation::Subtract if is_register(1) && number(2).is_some() => {
            put(1, by);
            put(2, by.wrapping_neg());
        }
        Computation::Multiply | Computation::MultiplyWide if is_register(1) => match number(2) {
            Some(times) => put(1, by.wrapping_mul(times)),
            None => return false,
        },
        Computation::ShiftLeft if is_register(1) => match number(2).filter(|by| (0..32).contains(by)) {
            Some(places) => put(1, by.wrapping_mul(1 << places)),
            None => return false,
        },
        Computation::MultiplyAdd | Computation::MultiplyAddWide if is_register(1) && is_register(3) => {
            let Some(times) = number(2) else { return false };
            put(1, by.wrapping_mul(times));
            put(3, by);
        }
        _ => return false,
    }
    true
}
