//! Loads of the next element of an array: lists of parts say in one element where a part begins, and in the next where it ends.

use std::collections::{BTreeMap, BTreeSet};

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Control};
use ptx_ir::space::StateSpace;
use ptx_ir::special::{SpecialRegister, Varies};
use rustc_hash::FxHashSet;

use super::flags::loads_parameter;
use crate::FunctionFacts;
use crate::values::space_of;

/// Whether two loads read the same place of a parameter, however its address is computed.
pub(super) fn read_one_parameter(facts: &FunctionFacts<'_>, one: u32, other: u32) -> bool {
    let address = |load: u32| facts.body.operands(Handle::new(load)).get(1);
    let place = |load: u32| parameter(facts, load);
    address(one) == address(other) || place(one).is_some_and(|one| place(other) == Some(one))
}

/// A list in memory, or a single place there, of which all threads of a block read the same elements: by what its address begins with,
/// and which part of an element is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    begin: BTreeSet<Term>,
    /// How far apart elements are at least, in bytes; 0 for a single place.
    stride: u64,
    field: i64,
}

impl List {
    /// How far apart elements are at least.
    #[must_use]
    pub const fn stride(&self) -> u64 {
        self.stride
    }

    /// Whether elements of it are some of another list, which may have more.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        let stride = i64::try_from(other.stride).unwrap_or(0);
        self.begin == other.begin
            && stride > 0
            && self.stride.is_multiple_of(other.stride)
            && self.field.rem_euclid(stride) == other.field
    }
}

/// The list that a load reads an element of; none where it may be another element for other threads. Which of the elements it is does not
/// matter where all of them are one number.
#[must_use]
pub fn list_of(facts: &FunctionFacts<'_>, load: u32) -> Option<List> {
    // What the translation of C++ knows nothing of is loaded from there.
    if space_of(facts.instance(load)?) == Some(StateSpace::Const) {
        return None;
    }
    let (base, offset) = facts.address_in_register(load)?;
    let (mut begin, mut stride, mut added) = (BTreeSet::new(), 0_u64, i64::from(offset));
    let mut open = vec![Part { register: base, at: load, by: 1 }];
    let (mut steps, mut counted) = (0, Vec::new());
    let mut seen = FxHashSet::default();
    while let Some(part) = open.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            return None;
        }
        if unfolded(facts, part, &mut open, &mut added) {
            continue;
        }
        let Part { register, at, by } = part;
        match read_again(facts, (register, at), parameter) {
            Some(term @ (Term::Parameter(..) | Term::Variable(_))) if by == 1 => {
                begin.insert(term);
                continue;
            }
            Some(Term::Special(special)) if !is_of_block(special) => return None,
            Some(_) => {}
            None if by == 1 && !counted.contains(&register) => {
                // A pointer that goes along the list begins where it does.
                counted.push(register);
                if let Some((first, step)) = goes_along(facts, register)
                    && unfolded_by(facts, first, by, &mut open, &mut added)
                {
                    stride = gcd(stride, step);
                    continue;
                }
                if !is_alike(facts, (register, at), &mut seen) {
                    return None;
                }
            }
            None if !is_alike(facts, (register, at), &mut seen) => return None,
            None => {}
        }
        stride = gcd(stride, by.unsigned_abs());
    }
    let apart = i64::try_from(stride).ok().filter(|stride| *stride > 0);
    let field = apart.map_or(added, |stride| added.rem_euclid(stride));
    (!begin.is_empty()).then_some(List { begin, stride, field })
}

/// Whether all threads of a block have the same number there.
fn is_of_block(special: SpecialRegister) -> bool {
    matches!(special.varies(), Varies::Block | Varies::Cluster | Varies::Launch)
}

fn gcd(one: u64, other: u64) -> u64 {
    let (mut one, mut other) = (one, other);
    while other != 0 {
        (one, other) = (other, one % other);
    }
    one
}

/// The instruction that sets a register first that goes along a list, and by how much it does, if it does nothing else.
fn goes_along(facts: &FunctionFacts<'_>, register: Register) -> Option<(u32, u64)> {
    let definitions = facts.definitions(register);
    if !(2..=MAX_WRITES).contains(&definitions.len()) {
        return None;
    }
    let (mut first, mut step) = (None, 0);
    for &write in definitions {
        let is_move = facts.instance(write)?.effects.computes == Some(Computation::Move);
        let sum = match facts.body.operands(Handle::new(write)) {
            // The sum may be computed before.
            [_, Operand::Register { register: other, .. }] if is_move => match facts.definitions(*other) {
                &[sum] => added_to(facts, sum, register),
                _ => None,
            },
            _ => added_to(facts, write, register),
        };
        match sum {
            Some(added) => step = gcd(step, added.unsigned_abs()),
            None if first.is_none() && !facts.is_guarded(write) => first = Some(write),
            None => return None,
        }
    }
    Some((first?, step))
}

/// The instruction whose result a register has where it is read: its only one, the last one before in the same part without branches, or
/// the last of a part that all of them are in.
fn last_write(facts: &FunctionFacts<'_>, register: Register, at: u32) -> Option<u32> {
    let writes = facts.definitions(register);
    let block = |at: u32| facts.cfg.block_of(Handle::new(at));
    let last = match *writes {
        [] => None,
        [only] => Some(only),
        [first, ..] => {
            let own = facts.cfg.instructions(block(at)).start..at;
            let before = writes.iter().copied().filter(|write| own.contains(write)).max();
            before.or_else(|| {
                let is_elsewhere = block(first) != block(at);
                let are_in_one = is_elsewhere && writes.iter().all(|&write| block(write) == block(first));
                writes.iter().copied().filter(|_| are_in_one).max()
            })
        }
    };
    last.filter(|&write| !facts.is_guarded(write))
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

/// Whether nothing that a register is computed of tells the threads of a block apart. Numbers that are drawn from a counter, and those in
/// memory, are for whoever asks for them.
fn is_alike(facts: &FunctionFacts<'_>, read: (Register, u32), seen: &mut FxHashSet<u32>) -> bool {
    let mut open = vec![read];
    while let Some((register, at)) = open.pop() {
        let last = last_write(facts, register, at);
        let writes = last.as_ref().map_or(facts.definitions(register), std::slice::from_ref);
        for &write in writes {
            if !seen.insert(write) {
                continue;
            }
            if seen.len() > MAX_WRITERS {
                return false;
            }
            let Some(instance) = facts.instance(write) else { return false };
            let effects = &instance.effects;
            if effects.event.is_some() || effects.asynchronous.is_some() || effects.control == Control::Call {
                return false;
            }
            let is_own = space_of(instance).map(StateSpace::base) == Some(StateSpace::Local);
            if is_own || facts.body.operands(Handle::new(write)).iter().any(tells_threads_apart) {
                return false;
            }
            let read = facts.uses().of(write).iter().filter(|each| each.access().reads());
            open.extend(read.map(|each| (each.register, write)));
        }
    }
    true
}

fn tells_threads_apart(operand: &Operand) -> bool {
    matches!(operand, Operand::Special(special) if !is_of_block(*special))
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
    Special(SpecialRegister),
    /// The address of a variable.
    Variable(usize),
    /// What a parameter has at a place.
    Parameter(usize, i64),
}

/// A register that is read by an instruction, and what it is multiplied by.
#[derive(Clone, Copy)]
struct Part {
    register: Register,
    at: u32,
    by: i64,
}

/// Writes of a register that counts.
const MAX_WRITES: usize = 4;
/// Instructions that the number of an element is computed by.
const MAX_WRITERS: usize = 96;
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
    let near = load.saturating_sub(NEAR)..load.saturating_add(NEAR).min(facts.body.instructions.len() as u32);
    let others = near.filter(|&at| at != load && is_load(facts, at)).take(MAX_LOADS);
    others
        .filter_map(|at| form_of(facts, at))
        .any(|other| form.added.wrapping_sub(other.added) == bytes && form.terms == other.terms)
}

/// Whether an instruction loads from memory and does nothing else, through whichever cache.
#[must_use]
pub fn is_load(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_some_and(|instance| {
        let effects = &instance.effects;
        let is_through_cache = effects.computes.is_none() && effects.event.is_none();
        let loads = effects.computes == Some(Computation::Load) || is_through_cache;
        loads && effects.reads_memory && !effects.writes_memory && effects.asynchronous.is_none()
    })
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
    let mut open = vec![Part { register: base, at: load, by: 1 }];
    let mut steps = 0;
    while let Some(part) = open.pop() {
        steps += 1;
        if steps > MAX_STEPS {
            return None;
        }
        if !unfolded(facts, part, &mut open, &mut form.added) {
            let term = read_again(facts, (part.register, part.at), parameter);
            let known = form.terms.entry(term.unwrap_or(Term::Register(part.register))).or_default();
            *known = known.wrapping_add(part.by);
        }
    }
    Some(form)
}

/// What a register is that is read from a special register or a parameter: others may be read from there as well.
fn read_again(
    facts: &FunctionFacts<'_>,
    (register, at): (Register, u32),
    parameter: fn(&FunctionFacts<'_>, u32) -> Option<Term>,
) -> Option<Term> {
    let write = last_write(facts, register, at)?;
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
fn unfolded(facts: &FunctionFacts<'_>, part: Part, open: &mut Vec<Part>, added: &mut i64) -> bool {
    let write = last_write(facts, part.register, part.at);
    write.is_some_and(|write| unfolded_by(facts, write, part.by, open, added))
}

/// The same for what an instruction sets.
fn unfolded_by(
    facts: &FunctionFacts<'_>,
    write: u32,
    by: i64,
    open: &mut Vec<Part>,
    added: &mut i64,
) -> bool {
    let Some(computes) = facts.instance(write).and_then(|instance| instance.effects.computes) else {
        return false;
    };
    let operands = facts.body.operands(Handle::new(write));
    let number = |index: usize| match operands.get(index) {
        Some(Operand::Integer { bits, .. }) => Some(*bits as i64),
        _ => None,
    };
    let is_register = |index: usize| matches!(operands.get(index), Some(Operand::Register { .. }));
    let mut put = |index: usize, by: i64| match operands.get(index) {
        Some(Operand::Register { register, .. }) => open.push(Part { register: *register, at: write, by }),
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
