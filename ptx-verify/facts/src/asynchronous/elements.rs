//! Loads of the next element of an array: lists of parts say in one element where a part begins, and in the next where it ends.

use std::collections::BTreeMap;

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::Computation;
use ptx_ir::special::{SpecialRegister, Varies};

use super::flags::loads_parameter;
use crate::FunctionFacts;

/// Whether two loads read the same place of a parameter, however its address is computed.
pub(super) fn read_one_parameter(facts: &FunctionFacts<'_>, one: u32, other: u32) -> bool {
    let address = |load: u32| facts.body.operands(Handle::new(load)).get(1);
    let place = |load: u32| parameter(facts, load);
    address(one) == address(other) || place(one).is_some_and(|one| place(other) == Some(one))
}

/// A list in memory, or a single place there, which is one for all threads of a block: by the address of its elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List(Form);

/// The list that a load reads an element of; none where it may be another one for other threads. Loops that count alike come to the same
/// elements, one after the other.
#[must_use]
pub fn list_of(facts: &FunctionFacts<'_>, load: u32) -> Option<List> {
    let form = form_of(facts, load)?;
    let mut terms: BTreeMap<Term, i64> = BTreeMap::new();
    for (term, by) in form.terms {
        let term = match term {
            Term::Special(special) if !is_of_block(special) => return None,
            Term::Register(register) => match counts_by(facts, register) {
                Some(step) => Term::Counter(step),
                None if comes_of_block(facts, register, MAX_DEPTH) => term,
                None => return None,
            },
            known => known,
        };
        let known = terms.entry(term).or_default();
        *known = known.wrapping_add(by);
    }
    Some(List(Form { terms, added: 0 }))
}

/// Whether all threads of a block have the same number there.
fn is_of_block(special: SpecialRegister) -> bool {
    matches!(special.varies(), Varies::Block | Varies::Cluster | Varies::Launch)
}

/// By how much a register counts, from a number on, where it does nothing else.
fn counts_by(facts: &FunctionFacts<'_>, register: Register) -> Option<i64> {
    let definitions = facts.definitions(register);
    if !(2..=MAX_WRITES).contains(&definitions.len()) {
        return None;
    }
    let mut step = None;
    for &write in definitions {
        let operands = facts.body.operands(Handle::new(write));
        let computes = facts.instance(write)?.effects.computes?;
        let added = match (computes, operands.get(1)?) {
            (Computation::Move, Operand::Integer { .. }) => continue,
            // The sum may be computed before.
            (Computation::Move, Operand::Register { register: sum, .. }) => {
                let &[sum] = facts.definitions(*sum) else { return None };
                added_to(facts, sum, register)?
            }
            _ => added_to(facts, write, register)?,
        };
        if step.is_some_and(|known| known != added) {
            return None;
        }
        step = Some(added);
    }
    step
}

/// What an instruction adds to a register, if that is a number.
fn added_to(facts: &FunctionFacts<'_>, sum: u32, register: Register) -> Option<i64> {
    let is_sum = facts.instance(sum)?.effects.computes == Some(Computation::Add) && !facts.is_guarded(sum);
    match *facts.body.operands(Handle::new(sum)) {
        [_, Operand::Register { register: from, .. }, Operand::Integer { bits, .. }]
            if is_sum && from == register =>
        {
            Some(bits as i64)
        }
        _ => None,
    }
}

/// Whether a register is computed of what all threads of a block have alike.
fn comes_of_block(facts: &FunctionFacts<'_>, register: Register, depth: usize) -> bool {
    let &[write] = facts.definitions(register) else { return false };
    let Some(instance) = facts.instance(write).filter(|_| !facts.is_guarded(write)) else { return false };
    if loads_parameter(facts, write) {
        return true;
    }
    if depth == 0 || !instance.effects.is_pure() || instance.effects.reads_memory {
        return false;
    }
    let operands = facts.body.operands(Handle::new(write));
    operands.len() > 1
        && operands[1..].iter().all(|operand| match operand {
            Operand::Register { register, .. } => comes_of_block(facts, *register, depth - 1),
            Operand::Special(special) => is_of_block(*special),
            Operand::Integer { .. } => true,
            _ => false,
        })
}

/// What an address is computed of, with what each part is multiplied by, and what is added.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Form {
    terms: BTreeMap<Term, i64>,
    added: i64,
}

/// A part of an address. What is read again and again is one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Term {
    Register(Register),
    /// A register that counts, by its step.
    Counter(i64),
    Special(SpecialRegister),
    /// The address of a variable.
    Variable(usize),
    /// What a parameter has at a place.
    Parameter(usize, i64),
}

/// Writes of a register that counts.
const MAX_WRITES: usize = 4;
/// How far what a register is computed of is looked at.
const MAX_DEPTH: usize = 6;
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
    form_by(facts, load, parameter)
}

/// The same, with what parameters have found by `parameter`.
fn form_by(
    facts: &FunctionFacts<'_>,
    load: u32,
    parameter: fn(&FunctionFacts<'_>, u32) -> Option<Term>,
) -> Option<Form> {
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
            let term = read_again(facts, register, parameter).unwrap_or(Term::Register(register));
            let known = form.terms.entry(term).or_default();
            *known = known.wrapping_add(by);
        }
    }
    Some(form)
}

/// What a register is that is read from a special register or a parameter: others may be read from there as well.
fn read_again(
    facts: &FunctionFacts<'_>,
    register: Register,
    parameter: fn(&FunctionFacts<'_>, u32) -> Option<Term>,
) -> Option<Term> {
    let &[write] = facts.definitions(register) else { return None };
    if facts.is_guarded(write) {
        return None;
    }
    match (facts.instance(write)?.effects.computes?, facts.body.operands(Handle::new(write)).get(1)?) {
        (Computation::Move, Operand::Special(special)) if !special.is_volatile() => {
            Some(Term::Special(*special))
        }
        (Computation::Move, Operand::Variable { variable, offset: 0, .. }) => {
            Some(Term::Variable(variable.index()))
        }
        (Computation::Load, _) if loads_parameter(facts, write) => parameter(facts, write),
        _ => None,
    }
}

/// The place that a load of a parameter reads.
fn parameter(facts: &FunctionFacts<'_>, load: u32) -> Option<Term> {
    if let Operand::VariableAddress { variable, offset } = facts.body.operands(Handle::new(load)).get(1)? {
        return Some(Term::Parameter(variable.index(), *offset));
    }
    // No parameter says where another one is.
    let place = form_by(facts, load, |_, _| None)?;
    match place.terms.first_key_value() {
        Some((&Term::Variable(variable), 1)) if place.terms.len() == 1 => {
            Some(Term::Parameter(variable, place.added))
        }
        _ => None,
    }
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
