//! What instructions make of what is known of their operands.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Computation, Instance, Mode};
use ptx_ir::special::SpecialRegister;
use ptx_ir::types::{Type, TypeKind};

use super::graph::ValueId;
use super::linear::{Base, Form, Sum};
use super::number::{Number, mask, width};
use super::propagate::{Engine, Fact};

/// Whether numbers of the type have a sign.
#[must_use]
pub fn is_signed(ty: Type) -> bool {
    ty.kind() == TypeKind::Signed
}

/// What distinguishes an operation besides its operands.
pub(super) fn detail(computation: Computation, width: u32, signed: bool, more: u64) -> (Computation, u64) {
    (computation, u64::from(width) | u64::from(signed) << 8 | more << 16)
}

impl Engine<'_, '_> {
    /// What the instruction computes into the use, where that is followed.
    pub(super) fn compute(&mut self, value: ValueId, instruction: u32, at: usize) -> Option<Fact> {
        let facts = self.facts;
        let instance = facts.instance(instruction)?;
        let computation = instance.effects.computes?;
        let each = facts.uses().all()[at];
        if each.operand() != 0 {
            return None;
        }
        let operands = facts.body.operands(Handle::new(instruction));
        let width = self.width(value);
        if let (Computation::Move, [Operand::Vector(parts), _]) = (computation, operands) {
            let parts = facts.body.children(*parts);
            let is = |part: &Operand| matches!(part, Operand::Register { register, .. } if *register == each.register);
            let part = parts.iter().position(is)? as u64;
            let whole = self.operand(instruction, 1, (width * parts.len() as u32).min(64))?;
            let result = self.shifted_right(whole, part * u64::from(width));
            return Some(self.cut(result, width));
        }
        if computation == Computation::Compare {
            return self.compare(instruction, instance, operands, each.register);
        }
        let ty = instance.ty?;
        if matches!(ty.kind(), TypeKind::Float | TypeKind::Packed | TypeKind::Opaque)
            && !matches!(computation, Computation::Move | Computation::Select)
        {
            return None;
        }
        let result = match computation {
            Computation::Load => self.loaded(instruction, instance, each.register)?,
            _ => self.plain(instruction, instance, computation, ty, width)?,
        };
        Some(match result.number.width {
            narrow if u32::from(narrow) < width => self.extended(result, width, is_signed(ty)),
            _ => self.cut(result, width),
        })
    }

    fn plain(
        &mut self,
        instruction: u32,
        instance: &Instance,
        computation: Computation,
        ty: Type,
        result: u32,
    ) -> Option<Fact> {
        use Computation as C;
        let w = width(ty);
        let signed = is_signed(ty);
        let source = |engine: &mut Self, index: usize| engine.operand(instruction, index, w);
        let word = |engine: &mut Self, index: usize| engine.operand(instruction, index, 32);
        let known = |fact: Fact| fact.number.value();
        let op = |more: u64| detail(computation, w, signed, more);
        Some(match computation {
            C::Move => self.moved(instruction, result)?,
            C::Not => {
                let a = source(self, 1)?;
                let sum = Sum::constant(w, u64::MAX).plus(self.sum(a), u64::MAX);
                self.fact(a.number.inverted(), sum, op(0), &[a])
            }
            C::Negate => {
                let a = source(self, 1)?;
                let sum = self.sum(a).times(u64::MAX);
                self.fact(Number::constant(w, 0).subtract(a.number), Some(sum), op(0), &[a])
            }
            C::And => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                self.and(a, b)
            }
            C::Or => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                self.or(a, b)
            }
            C::Xor => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                self.xor(a, b)
            }
            C::Add if instance.effects.carry.is_some_and(|carry| carry.reads) => return None,
            C::Subtract if instance.effects.carry.is_some_and(|carry| carry.reads) => return None,
            C::Add => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                match () {
                    () if self.is_rounding(a, b) => a,
                    () if self.is_rounding(b, a) => b,
                    () => self.added(a, b, 1),
                }
            }
            C::Subtract => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                match self.taken_from(a, b) {
                    Some(bits) => {
                        let kept = self.constant(w, !bits);
                        self.and(a, kept)
                    }
                    None => self.added(a, b, u64::MAX),
                }
            }
            C::Multiply => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                self.multiplied(a, b)
            }
            C::MultiplyAdd if instance.effects.carry.is_some_and(|carry| carry.reads) => return None,
            C::MultiplyAdd => {
                let (a, b, c) = (source(self, 1)?, source(self, 2)?, source(self, 3)?);
                let product = self.multiplied(a, b);
                self.added(product, c, 1)
            }
            C::MultiplyWide | C::MultiplyAddWide => {
                let wide = (2 * w).min(64);
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                let (a, b) = (self.extended(a, wide, signed), self.extended(b, wide, signed));
                let product = self.multiplied(a, b);
                if computation == C::MultiplyWide {
                    return Some(product);
                }
                let c = self.operand(instruction, 3, wide)?;
                self.added(product, c, 1)
            }
            C::MultiplyHigh if !signed => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                match (known(a), known(b)) {
                    (_, Some(factor)) if factor.is_power_of_two() => {
                        self.shifted_right(a, u64::from(w - factor.trailing_zeros()))
                    }
                    (Some(factor), _) if factor.is_power_of_two() => {
                        self.shifted_right(b, u64::from(w - factor.trailing_zeros()))
                    }
                    _ => self.fact(a.number.multiply_high(b.number), None, op(0), &[a, b]),
                }
            }
            C::ShiftLeft => {
                let (a, by) = (source(self, 1)?, word(self, 2)?);
                match known(by) {
                    Some(by) if by < u64::from(w) => {
                        let sum = self.sum(a).times(1 << by);
                        self.fact(a.number.shift_left(by), Some(sum), op(0), &[a])
                    }
                    Some(_) => self.constant(w, 0),
                    None => self.fact(Number::unknown(w), None, op(0), &[a, by]),
                }
            }
            C::ShiftRight => {
                let (a, by) = (source(self, 1)?, word(self, 2)?);
                match known(by) {
                    Some(by) if !signed || is_positive(a.number) => self.shifted_right(a, by),
                    Some(by) => self.fact(a.number.shift_right_signed(by), None, op(by.min(64)), &[a]),
                    None => self.fact(Number::unknown(w), None, op(0), &[a, by]),
                }
            }
            C::Divide => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                let positive = !signed || is_positive(a.number) && is_positive(b.number);
                match known(b) {
                    Some(by) if by.is_power_of_two() && positive => {
                        self.shifted_right(a, u64::from(by.trailing_zeros()))
                    }
                    _ if positive => self.fact(a.number.divide(b.number), None, op(0), &[a, b]),
                    _ => self.fact(Number::unknown(w), None, op(0), &[a, b]),
                }
            }
            C::Remainder => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                let positive = !signed || is_positive(a.number) && is_positive(b.number);
                match known(b) {
                    Some(by) if by.is_power_of_two() && positive => {
                        let mask = self.constant(w, by - 1);
                        self.and(a, mask)
                    }
                    _ if positive => self.fact(a.number.remainder(b.number), None, op(0), &[a, b]),
                    _ => self.fact(Number::unknown(w), None, op(0), &[a, b]),
                }
            }
            C::Minimum | C::Maximum => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                if let Some(first_is_less) = is_less(a.number, b.number, signed) {
                    return Some(if first_is_less == (computation == C::Minimum) { a } else { b });
                }
                if let Some(one) = self.between_lanes(a, b, op(0)) {
                    return Some(one);
                }
                let unsigned = !signed || is_positive(a.number) && is_positive(b.number);
                let number = match computation {
                    _ if !unsigned => a.number.join(b.number),
                    C::Minimum => a.number.minimum(b.number),
                    _ => a.number.maximum(b.number),
                };
                let sum = (a.form == b.form).then(|| *self.sum(a));
                self.fact(number, sum, op(0), &sorted(a, b))
            }
            C::Absolute => {
                let a = source(self, 1)?;
                if is_positive(a.number) {
                    return Some(a);
                }
                self.fact(Number::unknown(w), None, op(0), &[a])
            }
            C::CountOnes => {
                let a = source(self, 1)?;
                let least = u64::from(a.number.ones.count_ones());
                let most = u64::from((!a.number.zeros).count_ones());
                self.fact(Number::between(32, least, most), None, op(0), &[a])
            }
            C::LeadingZeros => {
                let a = source(self, 1)?;
                let above = |number: u64| u64::from(number.leading_zeros() + w - 64);
                let number = Number::between(32, above(a.number.high), above(a.number.low));
                self.fact(number, None, op(0), &[a])
            }
            C::ReverseBits => {
                let a = source(self, 1)?;
                self.fact(Number::unknown(w), None, op(0), &[a])
            }
            C::ExtractField => {
                let (a, from, length) = (source(self, 1)?, word(self, 2)?, word(self, 3)?);
                match (known(from), known(length)) {
                    (Some(from), Some(length)) if !signed => {
                        let moved = self.shifted_right(a, from & 255);
                        let field = self.constant(w, mask((length & 255) as u32));
                        self.and(moved, field)
                    }
                    _ => self.fact(Number::unknown(w), None, op(0), &[a, from, length]),
                }
            }
            C::InsertField => {
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                let (from, length) = (known(word(self, 3)?)? & 255, known(word(self, 4)?)? & 255);
                let field = mask(length as u32).checked_shl(from as u32).unwrap_or(0);
                let kept = b.number.and(Number::constant(w, !field));
                let put = a.number.shift_left(from).and(Number::constant(w, field));
                self.fact(kept.or(put), None, op(from << 8 | length), &[a, b])
            }
            C::Logic3 => {
                let (a, b, c) = (source(self, 1)?, source(self, 2)?, source(self, 3)?);
                let table = known(word(self, 4)?)?;
                self.fact(logic3([a, b, c], table), None, op(table & 255), &[a, b, c])
            }
            C::FunnelShift => {
                let (a, b, by) = (source(self, 1)?, source(self, 2)?, known(word(self, 3)?)?);
                let by = if instance.is(Mode::Wrap) { by & 31 } else { by.min(32) };
                let right = instance.is(Mode::Right);
                let (low, high) = if right { (by, 32 - by) } else { (32 - by, by) };
                if known(b) == Some(0) && right {
                    return Some(self.shifted_right(a, low));
                }
                if known(a) == Some(0) && right && low >= 32 {
                    return Some(b);
                }
                let number = a.number.shift_right(low).or(b.number.shift_left(high));
                self.fact(number, None, op(by << 1 | u64::from(right)), &[a, b])
            }
            C::Permute => {
                let (a, b, selector) = (source(self, 1)?, source(self, 2)?, known(source(self, 3)?)?);
                self.fact(permuted(a.number, b.number, selector), None, op(selector & 0xffff), &[a, b])
            }
            C::Select => {
                let condition = self.predicate(instruction, 3)?;
                let (a, b) = (source(self, 1)?, source(self, 2)?);
                match known(condition) {
                    Some(0) => return Some(b),
                    Some(_) => return Some(a),
                    None if a.form == b.form => return Some(a),
                    None => {
                        let zeros = self.zeros_of_choice(condition, a, b).unwrap_or(0);
                        let number = a.number.join(b.number).with_bits(zeros, 0);
                        self.fact(number, None, op(0), &[condition, a, b])
                    }
                }
            }
            C::Convert => {
                let mut types = instance.modifiers.iter().filter_map(|word| Type::parse(word));
                let (to, from) = (types.next()?, types.next()?);
                if !to.is_integer() || !from.is_integer() || instance.is(Mode::Saturate) {
                    return None;
                }
                let a = self.operand(instruction, 1, width(from))?;
                let result = self.extended(a, width(to), is_signed(from));
                if is_signed(to) {
                    return Some(self.extended(result, self.result_width(instruction)?, true));
                }
                result
            }
            C::ToGeneric | C::FromGeneric => {
                let a = source(self, 1)?;
                self.converted(instance, computation, a)?
            }
            C::MapRank => {
                let (a, rank) = (source(self, 1)?, word(self, 2)?);
                self.mapped(instance, a, rank)?
            }
            C::Vote if ty == Type::Pred => {
                let a = self.predicate(instruction, self.facts.given(instruction)?)?;
                return known(a).filter(|_| !instance.is(Mode::Uniform)).map(|value| self.constant(1, value));
            }
            _ => return None,
        })
    }

    fn moved(&mut self, instruction: u32, width: u32) -> Option<Fact> {
        let [_, source] = self.facts.body.operands(Handle::new(instruction)) else { return None };
        let Operand::Vector(parts) = *source else { return self.operand(instruction, 1, width) };
        let count = self.facts.body.children(parts).len() as u32;
        let each = width / count.max(1);
        if each == 0 {
            return None;
        }
        let mut parts = Vec::new();
        for part in 0..count {
            parts.push(self.part(instruction, 1, part as usize, each)?);
        }
        let mut number = Number::constant(width, 0);
        for part in parts.iter().rev() {
            number = number.shift_left(u64::from(each)).or(part.number.extended(width));
        }
        let (low, above) = parts.split_first()?;
        if above.iter().all(|part| part.number.value() == Some(0)) {
            let low = *low;
            return Some(self.extended(low, width, false));
        }
        if parts.len() > 3 {
            return None;
        }
        Some(self.fact(number, None, detail(Computation::Move, width, false, u64::from(each)), &parts))
    }

    fn added(&mut self, a: Fact, b: Fact, factor: u64) -> Fact {
        let w = u32::from(a.number.width);
        let number = if factor == 1 { a.number.plus(b.number) } else { a.number.subtract(b.number) };
        let sum = self.sum(a).plus(self.sum(b), factor);
        let sum = match factor == 1 && self.values.whole_warps {
            true => sum.map(|sum| self.in_rows(sum)),
            false => sum,
        };
        let computation = if factor == 1 { Computation::Add } else { Computation::Subtract };
        let fact = self.fact(number, sum, detail(computation, w, false, 0), &[a, b]);
        // What cancels is known better. Where nothing does, the terms tell no more than the operands.
        let terms = self.sum(a).count() + self.sum(b).count();
        let other = sum.filter(|sum| sum.count() < terms).map(|sum| self.number_of(&sum));
        let narrower = other.filter(|other| other.high - other.low < number.high - number.low);
        let bits = sum.filter(|sum| sum.count() > 1).and_then(|sum| self.rounded(&sum)).or(other);
        let number = narrower.unwrap_or(number);
        let with_bits = |bits: Number| number.with_bits(number.zeros | bits.zeros, number.ones | bits.ones);
        Fact { number: bits.map_or(number, with_bits), ..fact }
    }

    /// The bits that `b` is of `a`, where it is no more than some of them: without it, `a` has zeros there.
    fn taken_from(&self, a: Fact, b: Fact) -> Option<u64> {
        let forms = &self.values.forms;
        let sum = self.sum(b);
        let mut terms = sum.terms();
        let (Some((base, 1)), None, 0) = (terms.next(), terms.next(), sum.offset()) else { return None };
        let Base::Operation { computes: Computation::And, operands: [one, other, _], .. } = forms.what(base)
        else {
            return None;
        };
        match () {
            () if one == a.form => forms.sum(other).value(),
            () if other == a.form => forms.sum(one).value(),
            () => None,
        }
    }

    pub(super) fn multiplied(&mut self, a: Fact, b: Fact) -> Fact {
        let w = u32::from(a.number.width);
        let mut number = a.number.multiply(b.number);
        if self.values.whole_warps && self.counts_short_rows(self.sum(a), self.sum(b)) {
            number = number.with_bits(31, 0);
        }
        let sum = match (a.number.value(), b.number.value()) {
            (_, Some(factor)) => Some(self.sum(a).times(factor)),
            (Some(factor), _) => Some(self.sum(b).times(factor)),
            (None, None) => None,
        };
        self.fact(number, sum, detail(Computation::Multiply, w, false, 0), &sorted(a, b))
    }

    /// The low bits of a sum, where they are a sum by themselves: what is a multiple of two to the `bits` falls away, and
    /// the rest is below that.
    fn low_part(&self, a: Fact, bits: u32) -> Option<Sum> {
        let sum = self.sum(a);
        let w = sum.width();
        let mut rest = Sum::constant(w, sum.offset() & mask(bits));
        for (base, factor) in sum.terms() {
            let zeros = self.base_number(base, w).zeros.trailing_ones() + factor.trailing_zeros();
            if zeros < bits {
                rest = rest.plus(&Sum::of(w, base), factor)?;
            }
        }
        self.is_within(&rest, mask(bits)).then_some(rest)
    }

    pub(super) fn and(&mut self, a: Fact, b: Fact) -> Fact {
        let w = u32::from(a.number.width);
        let number = a.number.and(b.number);
        let (a, b) = if a.number.value().is_some() { (b, a) } else { (a, b) };
        let opposite = w == 1 && self.sum(a).plus(self.sum(b), 1).and_then(|sum| sum.value()) == Some(1);
        let sum = match b.number.value() {
            _ if a.form == b.form => Some(*self.sum(a)),
            _ if opposite => Some(Sum::constant(w, 0)),
            Some(bits) if bits.wrapping_add(1).is_power_of_two() => self.low_part(a, bits.trailing_ones()),
            // What the mask takes away besides is 0 anyway.
            Some(bits) => match !(bits | a.number.zeros) {
                0 => Some(*self.sum(a)),
                gone if gone.wrapping_add(1).is_power_of_two() => {
                    let low = self.low_part(a, gone.trailing_ones());
                    low.and_then(|low| self.sum(a).plus(&low, u64::MAX))
                }
                _ => None,
            },
            _ => None,
        };
        self.fact(number, sum, detail(Computation::And, w, false, 0), &sorted(a, b))
    }

    pub(super) fn or(&mut self, a: Fact, b: Fact) -> Fact {
        let w = u32::from(a.number.width);
        if w == 1 {
            // One of the two is kept, so that equal conditions are equal values.
            let (one, other) = (self.negated(a), self.negated(b));
            let neither = self.and(one, other);
            return self.negated(neither);
        }
        let number = a.number.or(b.number);
        let (a, b) = if a.number.value().is_some() { (b, a) } else { (a, b) };
        let sum = match b.number.value() {
            _ if a.form == b.form => Some(*self.sum(a)),
            _ if a.number.zeros | b.number.zeros == u64::MAX => self.sum(a).plus(self.sum(b), 1),
            Some(bits) if bits.wrapping_add(1).is_power_of_two() => {
                let low = self.low_part(a, bits.trailing_ones());
                let above = low.and_then(|low| self.sum(a).plus(&low, u64::MAX));
                above.and_then(|above| above.plus(self.sum(b), 1))
            }
            _ => None,
        };
        self.fact(number, sum, detail(Computation::Or, w, false, 0), &sorted(a, b))
    }

    pub(super) fn xor(&mut self, a: Fact, b: Fact) -> Fact {
        let w = u32::from(a.number.width);
        let number = a.number.xor(b.number);
        let mut sum = match () {
            () if w == 1 || a.number.zeros | b.number.zeros == u64::MAX => self.sum(a).plus(self.sum(b), 1),
            () if a.form == b.form => Some(Sum::constant(w, 0)),
            () => self.complemented(a, b).or_else(|| self.complemented(b, a)),
        };
        for (one, other) in [(a, b), (b, a)] {
            if sum.is_none()
                && let Some(rest) = self.sum(one).plus(self.sum(other), u64::MAX)
                && self.number_of(&rest).zeros | other.number.zeros == u64::MAX
            {
                // `one` is `other` and bits that `other` has not: these are left.
                sum = Some(rest);
            }
        }
        self.fact(number, sum, detail(Computation::Xor, w, false, 0), &sorted(a, b))
    }

    /// `bits ^ a`, where all ones that `a` may have are among those bits: that is the difference.
    fn complemented(&self, a: Fact, bits: Fact) -> Option<Sum> {
        let known = bits.number.value()?;
        (a.number.zeros | known == u64::MAX).then(|| self.sum(bits).plus(self.sum(a), u64::MAX))?
    }

    /// A predicate the other way round.
    pub(super) fn negated(&mut self, a: Fact) -> Fact {
        let sum = Sum::constant(1, 1).plus(self.sum(a), 1);
        self.fact(a.number.inverted(), sum, detail(Computation::Not, 1, false, 0), &[a])
    }

    /// Zeros come in from above.
    pub(super) fn shifted_right(&mut self, a: Fact, by: u64) -> Fact {
        let w = u32::from(a.number.width);
        if by == 0 {
            return a;
        }
        if by >= u64::from(w) {
            return self.constant(w, 0);
        }
        let number = a.number.shift_right(by);
        // The low bits fall away.
        let above = self.low_part(a, by as u32).and_then(|low| self.sum(a).plus(&low, u64::MAX));
        let sum = above.unwrap_or(*self.sum(a));
        if self.bound(&sum).is_some() && sum.offset().trailing_zeros() >= by as u32 {
            let mut quotient = Some(Sum::constant(w, sum.offset() >> by));
            for (base, factor) in sum.terms() {
                quotient = match factor.trailing_zeros() >= by as u32 {
                    true => quotient.and_then(|known| known.plus(&Sum::of(w, base), factor >> by)),
                    false => None,
                };
            }
            if quotient.is_some() {
                return self.fact(number, quotient, detail(Computation::ShiftRight, w, false, by), &[a]);
            }
        }
        let form = self.values.forms.form(sum);
        let above = Fact { form, ..a };
        self.fact(number, None, detail(Computation::ShiftRight, w, false, by), &[above])
    }

    /// Whether a number is what is added to another one in front of a division by a power of two, so that the quotient of
    /// a negative number is rounded towards zero. Where rows of blocks are taken to be whole warps, what is divided
    /// counts threads, and is taken not to be negative.
    fn is_rounding(&self, of: Fact, correction: Fact) -> bool {
        let shifted = |form: Form, signed: bool| {
            let sum = self.values.forms.sum(form);
            let mut terms = sum.terms();
            let (Some((base, 1)), None, 0) = (terms.next(), terms.next(), sum.offset()) else { return None };
            match self.values.forms.what(base) {
                Base::Operation {
                    computes: Computation::ShiftRight,
                    detail,
                    operands: [from, Form::NONE, _],
                } if (detail >> 8 & 1 != 0) == signed => Some((from, detail >> 16)),
                _ => None,
            }
        };
        let sign = u64::from(of.number.width) - 1;
        self.values.whole_warps
            && match shifted(correction.form, false) {
                Some((from, by)) if from == of.form => by == sign,
                Some((from, _)) => shifted(from, true) == Some((of.form, sign)),
                None => false,
            }
    }

    pub(super) fn cut(&mut self, a: Fact, width: u32) -> Fact {
        if u32::from(a.number.width) <= width {
            return self.extended(a, width, false);
        }
        let sum = self.cut_sum(*self.sum(a), width);
        Fact { number: a.number.cut(width), form: self.values.forms.form(sum) }
    }

    /// A sum in a smaller width.
    pub(crate) fn cut_sum(&self, whole: Sum, width: u32) -> Sum {
        let mut sum = Some(Sum::constant(width, whole.offset()));
        for (base, factor) in whole.terms() {
            // What was extended before is what it was.
            let term = match self.values.forms.what(base) {
                Base::Operation { computes: Computation::Convert, operands: [of, ..], .. }
                    if self.values.forms.sum(of).width() >= width =>
                {
                    self.values.forms.sum(of).in_width(width)
                }
                _ => Sum::of(width, base),
            };
            sum = sum.and_then(|sum| sum.plus(&term, factor));
        }
        sum.unwrap_or_else(|| whole.in_width(width))
    }

    /// The largest value of a sum, where it cannot be too large for its width.
    pub(super) fn bound(&self, sum: &Sum) -> Option<u64> {
        let mut most = sum.offset();
        for (base, factor) in sum.terms() {
            let high = self.base_number(base, sum.width()).high;
            most = most.checked_add(high.checked_mul(factor)?)?;
        }
        (most <= mask(sum.width())).then_some(most)
    }

    /// A sum in a larger width, where no part of it goes round the end of its own: something may be taken away in it.
    fn exactly_wider(&self, sum: &Sum, width: u32) -> Option<Sum> {
        if self.bound(sum).is_some() {
            return Some(sum.in_width(width));
        }
        let narrow = sum.width();
        let all = i128::from(mask(narrow));
        let as_signed = |number: u64| match number >> (narrow - 1) & 1 {
            1 => i128::from(number) - all - 1,
            _ => i128::from(number),
        };
        let (mut least, mut most) = (0_i128, 0_i128);
        for (base, factor) in sum.terms() {
            let number = self.base_number(base, narrow);
            let ends = [number.low, number.high].map(|end| as_signed(factor).checked_mul(i128::from(end)));
            let (Some(one), Some(other)) = (ends[0], ends[1]) else { return None };
            (least, most) = (least.checked_add(one.min(other))?, most.checked_add(one.max(other))?);
        }
        let offsets = [i128::from(sum.offset()), as_signed(sum.offset())];
        let offset = offsets.into_iter().find(|offset| least + offset >= 0 && most + offset <= all)?;
        let mut wide = Sum::constant(width, offset as u64 & mask(width));
        for (base, factor) in sum.terms() {
            wide = wide.plus(&Sum::of(width, base), as_signed(factor) as u64 & mask(width))?;
        }
        Some(wide)
    }

    pub(crate) fn extended(&mut self, a: Fact, width: u32, signed: bool) -> Fact {
        let narrow = u32::from(a.number.width);
        if width == narrow {
            return a;
        }
        if width < narrow {
            return self.cut(a, width);
        }
        let signed = signed && !is_positive(a.number);
        let number = if signed { a.number.extended_signed(width) } else { a.number.extended(width) };
        let sum = match number.value() {
            Some(value) => Some(Sum::constant(width, value)),
            None if signed => None,
            None => self.exactly_wider(self.sum(a), width),
        };
        self.fact(number, sum, detail(Computation::Convert, width, signed, u64::from(narrow)), &[a])
    }

    /// A special register.
    pub(super) fn special(&mut self, register: SpecialRegister, width: u32) -> Fact {
        let mut number = self.launch.number(register).unwrap_or_else(|| special_number(register));
        use SpecialRegister as R;
        if self.values.whole_warps
            && matches!(register, R::TID_Y | R::TID_Z | R::NTID_Y | R::NTID_Z)
            && number.value().is_none()
            && self.has_one_row()
        {
            number = Number::constant(32, u64::from(matches!(register, R::NTID_Y | R::NTID_Z)));
        }
        if self.values.whole_warps && register == SpecialRegister::NTID_X {
            number = number.with_bits(31, 0);
        }
        let sum = match register {
            SpecialRegister::TID_X if self.values.whole_warps => {
                let lane = self.values.forms.base(Base::Lane, Number::between(32, 0, 31), None);
                if self.rows_are_warps() {
                    number = Number::between(32, 0, number.high.min(31));
                }
                let warp = number.and(Number::constant(32, mask(32) & !31));
                match warp.value() {
                    Some(_) => Some(Sum::of(32, lane)),
                    None => {
                        let warp = self.values.forms.base(Base::Warp, warp, None);
                        Sum::of(32, lane).plus(&Sum::of(32, warp), 1)
                    }
                }
            }
            SpecialRegister::LANEID if self.values.whole_warps => {
                let lane = self.values.forms.base(Base::Lane, Number::between(32, 0, 31), None);
                Some(Sum::of(32, lane))
            }
            _ => None,
        };
        let own = u32::from(number.width);
        let sum = match sum {
            Some(sum) => sum,
            None if register.is_volatile() => return self.anything(width),
            None => Sum::of(own, self.values.forms.base(Base::Special(register), number, None)),
        };
        let fact = Fact { number, form: self.values.forms.form(sum) };
        if width < own { self.cut(fact, width) } else { self.extended(fact, width, false) }
    }

    pub(super) fn fact(
        &mut self,
        number: Number,
        sum: Option<Sum>,
        operation: (Computation, u64),
        operands: &[Fact],
    ) -> Fact {
        let w = u32::from(number.width);
        if let Some(value) = number.value() {
            return self.constant(w, value);
        }
        let sum = match sum {
            Some(sum) => sum,
            None => {
                let mut forms = [Form::NONE; 3];
                forms.iter_mut().zip(operands).for_each(|(form, operand)| *form = operand.form);
                let base = Base::Operation { computes: operation.0, detail: operation.1, operands: forms };
                Sum::of(w, self.values.forms.base(base, number, self.current))
            }
        };
        if let Some(value) = sum.value() {
            return self.constant(w, value);
        }
        Fact { number, form: self.values.forms.form(sum) }
    }

    pub(super) fn constant(&mut self, width: u32, value: u64) -> Fact {
        let form = self.values.forms.form(Sum::constant(width, value));
        Fact { number: Number::constant(width, value), form }
    }
}

/// Whether a number is at most another one, or at least as large; none where that is not known.
fn is_less(a: Number, b: Number, signed: bool) -> Option<bool> {
    let is_negative = |number: Number| number.low >> (number.width - 1) != 0;
    match () {
        () if signed && is_negative(a) && is_positive(b) => Some(true),
        () if signed && is_positive(a) && is_negative(b) => Some(false),
        () if signed && !(is_positive(a) && is_positive(b)) => None,
        () if a.high <= b.low => Some(true),
        () if b.high <= a.low => Some(false),
        () => None,
    }
}

pub(super) fn is_positive(number: Number) -> bool {
    number.high >> (number.width - 1) == 0
}

pub(super) fn signed_of(value: u64, width: u32) -> i64 {
    let above = 64 - width;
    ((value << above) as i64) >> above
}

/// Operands that may be exchanged, in one order.
pub(super) fn sorted(a: Fact, b: Fact) -> [Fact; 2] {
    if b.form < a.form { [b, a] } else { [a, b] }
}

/// Bit by bit, what the table says of three bits.
fn logic3(operands: [Fact; 3], table: u64) -> Number {
    let [a, b, c] = operands.map(|operand| operand.number);
    let may = |number: Number, value: u64| if value & 1 != 0 { !number.zeros } else { !number.ones };
    let (mut may_be_0, mut may_be_1) = (0, 0);
    for index in 0..8 {
        let can = may(a, index >> 2) & may(b, index >> 1) & may(c, index);
        *(if table >> index & 1 != 0 { &mut may_be_1 } else { &mut may_be_0 }) |= can;
    }
    let all = mask(32);
    Number::unknown(32).with_bits(!may_be_1 & all, !may_be_0 & all)
}

/// Four bytes of eight; four bits choose each, and with the highest of them its sign fills the byte.
fn permuted(a: Number, b: Number, selector: u64) -> Number {
    let (zeros, ones) = ((a.zeros & mask(32)) | b.zeros << 32, a.ones | b.ones << 32);
    let (mut no, mut yes) = (0, 0);
    for byte in 0..4 {
        let chosen = selector >> (4 * byte) & 15;
        if chosen & 8 == 0 {
            no |= (zeros >> (8 * chosen) & 255) << (8 * byte);
            yes |= (ones >> (8 * chosen) & 255) << (8 * byte);
        }
    }
    Number::unknown(32).with_bits(no, yes)
}

/// What a special register may be.
fn special_number(register: SpecialRegister) -> Number {
    let w = width(register.ty());
    register.range().map_or_else(|| Number::unknown(w), |(low, high)| Number::between(w, low, high))
}
