//! What a kernel shows of the rows of its blocks.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::Computation;
use ptx_ir::special::SpecialRegister;

use super::graph::{Graph, Kind, ValueId};
use super::linear::{Base, Sum};
use super::number::{Number, mask};
use super::propagate::Engine;
use crate::facts::FunctionFacts;

/// The lanes of a warp.
const LANES: u64 = 32;
/// Copies and conversions that are looked through.
const MAX_COPIES: usize = 4;

impl Engine<'_, '_> {
    /// Whether each row is one warp: a kernel whose blocks have several rows goes from the place of a thread in its row in
    /// steps of 32. Of longer rows several threads would do the same.
    pub(super) fn rows_are_warps(&mut self) -> bool {
        let (facts, graph) = (self.facts, self.graph);
        *self.rows_are_warps.get_or_insert_with(|| {
            names(facts, SpecialRegister::TID_Y)
                && graph.values().any(|value| is_counter(facts, graph, value))
        })
    }

    /// A sum in which the row and the place in it make the number of a thread: rows that are shorter than a warp, and whose
    /// lengths divide it, lie in warps as one line.
    pub(super) fn in_rows(&mut self, sum: Sum) -> Sum {
        let forms = &self.values.forms;
        let find = |base: Base| {
            let base = forms.find(base)?;
            sum.terms().find(|(term, _)| *term == base)
        };
        let (Some((row, threads)), Some((_, 1)), Some((warp, 1))) =
            (find(Base::Special(SpecialRegister::TID_Y)), find(Base::Lane), find(Base::Warp))
        else {
            return sum;
        };
        if !threads.is_power_of_two() || !(2..LANES).contains(&threads) {
            return sum;
        }
        let w = sum.width();
        let without =
            |sum: Sum, base, factor: u64| sum.plus(&Sum::of(w, base), factor.wrapping_neg() & mask(w));
        let Some(rest) = without(sum, row, threads).and_then(|rest| without(rest, warp, 1)) else {
            return sum;
        };
        let number = Number::between(u32::BITS, 0, MAX_THREADS - LANES).with_bits(LANES - 1, 0);
        let rows = self.values.forms.base(Base::Rows(threads as u8), number, None);
        rest.plus(&Sum::of(w, rows), 1).unwrap_or(sum)
    }
}

/// The threads of a block, at most.
const MAX_THREADS: u64 = 1024;

/// Whether an instruction reads a special register.
fn names(facts: &FunctionFacts<'_>, register: SpecialRegister) -> bool {
    let instructions = 0..facts.body.instructions.len() as u32;
    instructions
        .flat_map(|each| facts.body.operands(Handle::new(each)))
        .any(|operand| matches!(operand, Operand::Special(special) if *special == register))
}

/// Whether a loop's head joins the place of a thread in its row with what a turn adds 32 to.
fn is_counter(facts: &FunctionFacts<'_>, graph: &Graph, value: ValueId) -> bool {
    if !matches!(graph.kind(value), Kind::Joined { .. }) {
        return false;
    }
    let inputs = graph.inputs(value);
    inputs.iter().any(|&input| is_stepped(facts, graph, input, value))
        && inputs.iter().any(|&input| is_place(facts, graph, input))
}

fn is_stepped(facts: &FunctionFacts<'_>, graph: &Graph, input: ValueId, counter: ValueId) -> bool {
    let Kind::Computed { instruction, .. } = graph.kind(input) else { return false };
    let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
    let operands = facts.body.operands(Handle::new(instruction));
    computes == Some(Computation::Add)
        && matches!(operands, [_, _, Operand::Integer { bits: LANES, negative: false }])
        && facts.uses().range(instruction).any(|at| graph.read(at) == Some(counter))
}

fn is_place(facts: &FunctionFacts<'_>, graph: &Graph, mut value: ValueId) -> bool {
    for _ in 0..MAX_COPIES {
        let Kind::Computed { instruction, .. } = graph.kind(value) else { return false };
        let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
        if !matches!(computes, Some(Computation::Move | Computation::Convert)) {
            return false;
        }
        match facts.body.operands(Handle::new(instruction)) {
            [_, Operand::Special(SpecialRegister::TID_X)] => return true,
            [_, Operand::Register { .. }] => {}
            _ => return false,
        }
        let Some(read) = facts.uses().range(instruction).find_map(|at| graph.read(at)) else { return false };
        value = read;
    }
    false
}
