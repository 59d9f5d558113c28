//! Pointers that are loaded where they are needed, from structures and tables: those of one place are one pointer.

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Mode};
use rustc_hash::FxHashMap;

use super::addresses::{address_steps, distance_of};
use crate::FunctionFacts;

/// Loads of one function that are looked at.
const MAX_LOADS: usize = 4096;
/// A pointer in a structure that a pointer in a structure leads to is two rounds away.
const ROUNDS: usize = 2;

/// Bytes of a pointer.
const POINTER: i64 = 8;

/// A load of what may be a pointer.
struct Loaded {
    to: Register,
    /// Where its own address comes of, and how far it is from there.
    from: Register,
    distance: i64,
    /// Whether something that is computed is added to the address: it is a table.
    is_chosen: bool,
}

/// The register that a pointer is named by: the first one that is loaded from the same place, or from the same table. Itself, where it
/// is not loaded.
pub(super) fn name_of(facts: &FunctionFacts<'_>, pointer: Register) -> Register {
    facts.pointers(|| names(facts)).get(&pointer).copied().unwrap_or(pointer)
}

fn names(facts: &FunctionFacts<'_>) -> FxHashMap<Register, Register> {
    let mut all: Vec<Loaded> = (0..facts.body.instructions.len() as u32)
        .filter_map(|instruction| loaded(facts, instruction))
        .take(MAX_LOADS)
        .collect();
    let mut names: FxHashMap<Register, Register> = FxHashMap::default();
    for _ in 0..ROUNDS {
        for each in &mut all {
            each.from = names.get(&each.from).copied().unwrap_or(each.from);
        }
        all.sort_by_key(|each| (each.from, each.distance, !each.is_chosen, each.to));
        let mut table: Option<(Register, i64)> = None;
        let mut end = 0;
        let mut first: FxHashMap<(Register, i64), Register> = FxHashMap::default();
        for each in &all {
            if each.is_chosen {
                table = Some((each.from, each.distance));
                end = each.distance;
            }
            // What is taken from a table by a constant is of it, too, as far as all before it are taken.
            let is_next = each.distance <= end;
            let place =
                table.filter(|(from, _)| *from == each.from && is_next).unwrap_or((each.from, each.distance));
            if is_next {
                end = end.max(each.distance + POINTER);
            }
            let name = *first.entry(place).or_insert(each.to);
            names.insert(each.to, name);
        }
    }
    names
}

/// A plain load of a register that gets nothing else.
fn loaded(facts: &FunctionFacts<'_>, instruction: u32) -> Option<Loaded> {
    let instance = facts.instance(instruction)?;
    if instance.effects.computes != Some(Computation::Load)
        || instance.effects.atomic
        || [Mode::Relaxed, Mode::Volatile, Mode::Acquire].into_iter().any(|mode| instance.is(mode))
    {
        return None;
    }
    let Some(Operand::Register { register: to, .. }) = facts.body.operands(Handle::new(instruction)).first()
    else {
        return None;
    };
    if facts.definitions(*to).len() != 1 {
        return None;
    }
    let (base, offset) = facts.address_in_register(instruction)?;
    let steps = address_steps(facts, instruction, base);
    let (distance, is_chosen) = distance_of(facts, &steps, offset);
    Some(Loaded { to: *to, from: *steps.last()?, distance, is_chosen })
}
