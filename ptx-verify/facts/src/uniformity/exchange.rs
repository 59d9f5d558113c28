//! All-reduces by butterflies: after the last exchange all lanes have the same.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Comparison, Computation, Instance, Mode};

use super::{Analysis, Vary};
use crate::evaluate::Shape;
use crate::values::linear::{Form, Sum};
use crate::values::number::mask;
use crate::values::{Fact, Kind, ValueId};

/// Moves that are followed from a value to what it is a copy of.
const MAX_MOVES: usize = 4;
/// Registers that a value may be packed of.
const MAX_PARTS: usize = 4;
/// The bits of a register that is exchanged.
const WORD: u32 = 32;

impl Analysis<'_, '_> {
    /// A sum, or something else whose operands may change places, of a value and what `shfl.bfly` gives of it: lanes that
    /// differ in that bit have exchanged what they had, so that they have the same now.
    pub(super) fn exchanged(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        instance: &Instance,
        width: u32,
    ) -> Option<Vary> {
        use Computation as C;
        let (one, other) = match instance.effects.computes? {
            C::Add | C::Multiply | C::Minimum | C::Maximum | C::And | C::Or | C::Xor | C::Combine => {
                (self.operand_value(instruction, 1)?, self.operand_value(instruction, 2)?)
            }
            C::Select => self.chosen_by_order(instruction)?,
            _ => return None,
        };
        for (value, exchange) in [(one, other), (other, one)] {
            let Some(stride) = self.butterfly_of(exchange, value) else { continue };
            let vary = self.seen(value, block).choosing(mask(width));
            return Some(Vary { strides: vary.strides & !stride, ..vary }.settled());
        }
        None
    }

    /// The two values of which a `selp` takes the larger or the smaller, as a comparison of them has told. It is taken that
    /// none is NaN.
    fn chosen_by_order(&self, instruction: u32) -> Option<(ValueId, ValueId)> {
        use Comparison as R;
        let chosen = (self.operand_value(instruction, 1)?, self.operand_value(instruction, 2)?);
        let condition = self.original(self.operand_value(instruction, 3)?);
        let Kind::Computed { instruction: comparison, .. } = self.engine.graph.kind(condition) else {
            return None;
        };
        let facts = self.engine.facts;
        let relation = facts.instance(comparison)?.effects.compares?;
        let is_order = !matches!(
            relation,
            R::Equal | R::NotEqual | R::EqualOrUnordered | R::NotEqualOrUnordered | R::Ordered | R::Unordered
        );
        if !is_order || facts.body.operands(Handle::new(comparison)).len() != 3 {
            return None;
        }
        let compared = (self.operand_value(comparison, 1)?, self.operand_value(comparison, 2)?);
        let is_same =
            |one: (ValueId, ValueId)| self.is_same(one.0, chosen.0) && self.is_same(one.1, chosen.1);
        (is_same(compared) || is_same((compared.1, compared.0))).then_some(chosen)
    }

    /// Whether a `selp` keeps a number on one side of a limit, as a comparison with that limit tells, and takes the limit
    /// or the number next to it else.
    pub(super) fn is_clamp(&mut self, instruction: u32) -> bool {
        self.clamp(instruction).unwrap_or(false)
    }

    fn clamp(&mut self, instruction: u32) -> Option<bool> {
        use Comparison as R;
        let condition = self.original(self.operand_value(instruction, 3)?);
        let Kind::Computed { instruction: comparison, .. } = self.engine.graph.kind(condition) else {
            return None;
        };
        let facts = self.engine.facts;
        let instance = facts.instance(comparison)?;
        let (relation, ty) = (instance.effects.compares?, instance.ty?);
        if !ty.is_integer() || facts.body.operands(Handle::new(comparison)).len() != 3 {
            return None;
        }
        let (wide, w) = (ty.bits().min(64), facts.instance(instruction)?.ty?.bits().min(64));
        if w > wide {
            return None;
        }
        let engine = &mut self.engine;
        let mut chosen = Vec::new();
        for (kept, limit) in [(1, 2), (2, 1)] {
            let (kept, limit) =
                (engine.operand(instruction, kept, w)?, engine.operand(instruction, limit, w)?);
            // It may have been extended to be compared.
            let extended = [false, true].map(|signed| engine.extended(kept, wide, signed).form);
            chosen.push((extended, *engine.sum(limit)));
        }
        let (one, other) = (engine.operand(comparison, 1, wide)?, engine.operand(comparison, 2, wide)?);
        let compared = [(one, other, false), (other, one, true)];
        let fits = |(kept, limit): &([Form; 2], Sum), (number, bound, swapped): (Fact, Fact, bool)| {
            // The least number on the upper side, counted from the bound.
            let first = match (relation, swapped) {
                (R::Less | R::GreaterOrEqual, false) | (R::Greater | R::LessOrEqual, true) => 0,
                (R::Greater | R::LessOrEqual, false) | (R::Less | R::GreaterOrEqual, true) => 1,
                _ => return false,
            };
            let bound = engine.cut_sum(*engine.sum(bound), w);
            let distance = limit.plus(&bound, u64::MAX).and_then(|sum| sum.value());
            // It is taken, or the last one on the lower side.
            let is_near = |distance: u64| [0, mask(w)].contains(&(distance.wrapping_sub(first) & mask(w)));
            kept.contains(&number.form) && distance.is_some_and(is_near)
        };
        Some(chosen.iter().any(|one| compared.into_iter().any(|other| fits(one, other))))
    }

    /// The distance of the butterfly over the whole warp by which one value is another one's, in one register or in
    /// several that are packed again.
    fn butterfly_of(&mut self, exchange: ValueId, value: ValueId) -> Option<u8> {
        let exchange = self.original(exchange);
        let Kind::Computed { instruction, .. } = self.engine.graph.kind(exchange) else { return None };
        if let Some((stride, source)) = self.butterfly(instruction) {
            return self.is_same(source, value).then_some(stride);
        }
        let parts = match self.words_of(instruction) {
            Some(words) => words.to_vec(),
            None => self.packed_of(instruction)?,
        };
        let mut strides = None;
        for (index, part) in parts.into_iter().enumerate() {
            let Kind::Computed { instruction: exchange, .. } = self.engine.graph.kind(self.original(part))
            else {
                return None;
            };
            let (stride, source) = self.butterfly(exchange)?;
            let is_part = self.is_part(source, index, value) && strides.is_none_or(|known| known == stride);
            strides = is_part.then_some(stride);
            strides?;
        }
        strides
    }

    /// The registers of which a move makes one.
    fn packed_of(&self, instruction: u32) -> Option<Vec<ValueId>> {
        let facts = self.engine.facts;
        let [_, Operand::Vector(run)] = facts.body.operands(Handle::new(instruction)) else { return None };
        let parts = facts.body.children(*run);
        let is_move = facts.instance(instruction)?.effects.computes == Some(Computation::Move);
        if parts.len() > MAX_PARTS || !is_move {
            return None;
        }
        let value = |part: &Operand| match part {
            Operand::Register { register, .. } => {
                self.read_of(instruction, |each| each.register == *register)
            }
            _ => None,
        };
        parts.iter().map(value).collect()
    }

    /// The lower and the upper word of a number that arithmetic puts together: `upper << 32 | lower`.
    fn words_of(&mut self, instruction: u32) -> Option<[ValueId; 2]> {
        let shape = Shape::of(self.engine.facts.instance(instruction)?, u64::BITS)?;
        if !matches!(shape.computation, Computation::Or | Computation::Add) || shape.bits != u64::BITS {
            return None;
        }
        let both = [self.operand_value(instruction, 1)?, self.operand_value(instruction, 2)?];
        for [lower, upper] in [both, [both[1], both[0]]] {
            let Some(upper) = self.shifted(upper, Computation::ShiftLeft) else { continue };
            let words = (self.converted(lower, WORD, u64::BITS), self.converted(upper, WORD, u64::BITS));
            if let ((lower, false), (upper, _)) = (words.0?, words.1?) {
                return Some([lower, upper]);
            }
        }
        None
    }

    /// What is shifted by a word to give a value.
    fn shifted(&mut self, value: ValueId, direction: Computation) -> Option<ValueId> {
        let Kind::Computed { instruction, .. } = self.engine.graph.kind(self.original(value)) else {
            return None;
        };
        let shape = Shape::of(self.engine.facts.instance(instruction)?, u64::BITS)?;
        let is_shift = shape.computation == direction && shape.bits == u64::BITS;
        let count = self.engine.operand(instruction, 2, u32::BITS)?.number.value();
        (is_shift && count == Some(u64::from(WORD))).then(|| self.operand_value(instruction, 1))?
    }

    /// What is converted to give a value, from and to integers of so many bits, and whether with its sign.
    fn converted(&self, value: ValueId, from: u32, to: u32) -> Option<(ValueId, bool)> {
        let Kind::Computed { instruction, .. } = self.engine.graph.kind(self.original(value)) else {
            return None;
        };
        let shape = Shape::of(self.engine.facts.instance(instruction)?, to)?;
        let is_it = shape.computation == Computation::Convert && (shape.bits, shape.result) == (from, to);
        is_it.then(|| Some((self.operand_value(instruction, 1)?, shape.signed)))?
    }

    /// The distance and the source of a `shfl.bfly` over the whole warp.
    fn butterfly(&mut self, instruction: u32) -> Option<(u8, ValueId)> {
        let instance = self.engine.facts.instance(instruction)?;
        if instance.effects.computes != Some(Computation::Exchange) || !instance.is(Mode::Butterfly) {
            return None;
        }
        let source = self.operand_value(instruction, 1)?;
        let mut constant =
            |index| self.engine.operand(instruction, index, u32::BITS).and_then(|fact| fact.number.value());
        let stride = constant(2)?;
        let clamp = constant(3)?;
        let is_whole = self.engine.is_one_segment(clamp);
        (stride.is_power_of_two() && stride < 32 && is_whole).then_some((stride as u8, source))
    }

    /// Whether a value is this register of those that another one was unpacked into.
    fn is_part(&mut self, part: ValueId, index: usize, whole: ValueId) -> bool {
        if let Some((source, _)) = self.converted(part, u64::BITS, WORD) {
            let source =
                if index == 0 { Some(source) } else { self.shifted(source, Computation::ShiftRight) };
            return source.is_some_and(|source| self.is_same(source, whole));
        }
        let facts = self.engine.facts;
        let Kind::Computed { instruction, at: Some(at) } = self.engine.graph.kind(self.original(part)) else {
            return false;
        };
        let [Operand::Vector(run), _] = facts.body.operands(Handle::new(instruction)) else { return false };
        let register = facts.uses().all()[at as usize].register;
        let is_it =
            |part: &Operand| matches!(part, Operand::Register { register: other, .. } if *other == register);
        facts.body.children(*run).iter().position(is_it) == Some(index)
            && facts.instance(instruction).and_then(|instance| instance.effects.computes)
                == Some(Computation::Move)
            && self.operand_value(instruction, 1).is_some_and(|source| self.is_same(source, whole))
    }

    /// Whether two values are equal, as far as is known.
    fn is_same(&self, one: ValueId, other: ValueId) -> bool {
        let form = |value| self.engine.values.of(value).map(|fact| fact.form);
        one == other
            || self.original(one) == self.original(other)
            || form(one).is_some() && form(one) == form(other)
    }

    /// What a value is a copy of.
    fn original(&self, mut value: ValueId) -> ValueId {
        for _ in 0..MAX_MOVES {
            let Kind::Computed { instruction, .. } = self.engine.graph.kind(value) else { break };
            let facts = self.engine.facts;
            let is_move = facts.instance(instruction).and_then(|instance| instance.effects.computes)
                == Some(Computation::Move);
            let operands = facts.body.operands(Handle::new(instruction));
            let ([Operand::Register { .. }, Operand::Register { .. }], true) = (operands, is_move) else {
                break;
            };
            let Some(source) = self.operand_value(instruction, 1) else { break };
            value = source;
        }
        value
    }

    /// The value of the register that an operand is.
    fn operand_value(&self, instruction: u32, operand: usize) -> Option<ValueId> {
        self.read_of(instruction, |each| each.operand() == operand)
    }

    fn read_of(&self, instruction: u32, is_it: impl Fn(&crate::registers::Use) -> bool) -> Option<ValueId> {
        let uses = self.engine.facts.uses();
        let mut reads = uses.range(instruction).filter(|&at| uses.all()[at].access().reads());
        let at = reads.find(|&at| is_it(&uses.all()[at]))?;
        self.engine.graph.read(at)
    }
}
