//! How the answers of comparisons vary between threads.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::Handle;
use ptx_ir::isa::{Computation, Instance};
use ptx_ir::special::SpecialRegister;
use ptx_ir::types::TypeKind;

use super::vary::{MAX_DEPTH, Vary};
use super::{Analysis, Level};
use crate::values::linear::{Base, BaseId, Form, Sum};
use crate::values::number::{Number, mask};
use crate::values::{Assumption, Kind, Order, Relation, ValueId};

/// Products and remainders of products and remainders are followed so deep.
const MAX_PRODUCTS: usize = 5;

impl Analysis<'_, '_> {
    /// A comparison of integers, by how their difference varies.
    pub(super) fn compared(
        &mut self,
        block: NodeIndex,
        instruction: u32,
        instance: &Instance,
    ) -> Option<Vary> {
        let ty = instance.ty?;
        if !(ty.is_integer() || ty.kind() == TypeKind::Bits) {
            return None;
        }
        let w = ty.bits().min(64);
        let relation = Relation::of(instance)?;
        let (one, other) = (self.engine.operand(instruction, 1, w)?, self.engine.operand(instruction, 2, w)?);
        let (one, other) = if relation.swapped { (other, one) } else { (one, other) };
        let (left, right) = (*self.engine.sum(one), *self.engine.sum(other));
        let by_rows = match relation.order {
            // All threads of a block are in it.
            Order::Less if self.engine.is_place_in_block(&left, &right) => Some(Vary::NONE),
            Order::Less => self.by_rows(&left, &right, block),
            Order::Equal => None,
        };
        let vary = match (by_rows, left.plus(&right, u64::MAX)) {
            (Some(vary), _) => vary,
            (None, Some(difference)) => self.sign(&difference, relation.order, block),
            (None, None) => self
                .sum(&left, block, None, MAX_DEPTH)
                .join(self.sum(&right, block, None, MAX_DEPTH))
                .through(1),
        };
        let vary = match (relation.order, ty.kind()) {
            (Order::Equal, _) | (_, TypeKind::Signed) => vary,
            _ => [left, right].into_iter().fold(vary, |vary, place| vary.join(self.wrapped(&place, block))),
        };
        // What is known of the operands themselves may be more.
        let (_, a) = self.source(block, instruction, 1, w);
        let (_, b) = self.source(block, instruction, 2, w);
        let vary = vary.meet(a.join(b).through(1));
        let third = match self.engine.facts.body.operands(Handle::new(instruction)).len() {
            4 => self.source(block, instruction, 3, 1).1,
            _ => Vary::NONE,
        };
        Some(vary.join(third))
    }

    /// How it varies whether the number of a thread is below what is taken from it: then it is a large number, and a range is
    /// asked for by one comparison.
    fn wrapped(&mut self, place: &Sum, block: NodeIndex) -> Vary {
        let is_thread =
            |base: BaseId| matches!(self.engine.values.forms().what(base), Base::Lane | Base::Warp);
        let is_less = place.offset() > mask(place.width()) >> 1;
        match is_less && place.count() > 0 && place.terms().all(|(base, _)| is_thread(base)) {
            true => self.sign(place, Order::Less, block),
            false => Vary::NONE,
        }
    }

    /// How it varies whether a difference is 0, or below 0. Where all that varies within a warp are low bits, and the
    /// rest is a multiple of what these may reach, it is for all of them or for none. Sums are taken not to overflow.
    fn sign(&mut self, difference: &Sum, order: Order, block: NodeIndex) -> Vary {
        let all = self.sum(difference, block, None, MAX_DEPTH);
        if all.lanes == 0 {
            return all.through(1);
        }
        if order == Order::Less && self.is_never_below(difference) {
            return Vary::NONE;
        }
        let mut by_warps = all;
        by_warps.lanes = 0;
        if order == Order::Less && self.is_decided_by_uniform_bits(difference, block, Level::Lanes) {
            if self.is_decided_by_uniform_bits(difference, block, Level::Warps) {
                return Vary::NONE;
            }
            return by_warps.settled().through(1);
        }
        if let Some(vary) = self.beside_lanes(difference, block).filter(|vary| vary.lanes == 0) {
            return vary.through(1);
        }
        let lanes = Vary { lanes: 1, warps: 0, strides: all.strides };
        lanes.join(by_warps.settled().through(1)).settled()
    }

    /// Whether a sum is never below 0: it has no part that is.
    fn is_never_below(&self, sum: &Sum) -> bool {
        let (values, width) = (&self.engine.values, sum.width());
        let limit = mask(width) >> 1;
        let is_up = |form: &Form| values.forms().sum(*form).value().is_some_and(|step| step <= limit);
        let mut most = sum.offset();
        let mut add = |base: BaseId, factor: u64| {
            let Base::Steps(value) = values.forms().what(base) else {
                most = most.checked_add(self.engine.base_number(base, width).high.checked_mul(factor)?)?;
                return (most <= limit).then_some(());
            };
            let steps = values.steps(value);
            (factor == 1 && !steps.is_empty() && steps.iter().all(is_up)).then_some(())
        };
        sum.offset() <= limit
            && sum.terms().all(|(base, factor)| factor <= limit && add(base, factor).is_some())
    }

    /// How a sum varies where values that join sums with the lane in one way, or were made wider after the lane was added,
    /// count as that and the rest. None where there are no such values.
    pub(super) fn beside_lanes(&self, sum: &Sum, block: NodeIndex) -> Option<Vary> {
        let (width, graph, forms) = (sum.width(), self.engine.graph, self.engine.values.forms());
        let lane = forms.find(Base::Lane)?;
        let (mut whole, mut rests, mut is_any) = (*sum, Vary::NONE, false);
        for (base, factor) in sum.terms() {
            if let Some((place, rest)) = self.narrow_place(base, lane) {
                whole = whole.plus(&Sum::of(width, base), factor.wrapping_neg())?;
                whole = whole.plus(&place.in_width(width), factor)?;
                (rests, is_any) = (rests.join(self.sum(&rest, block, None, MAX_DEPTH)), true);
                continue;
            }
            let Base::Value(join) = forms.what(base) else { continue };
            let Kind::Joined { block: at } = graph.kind(join) else { continue };
            let Some((times, mut rest)) = self.beside_lane(at, join, lane) else { continue };
            if let Some(level) = self.between(at, block) {
                rest = rest.join(level.choosing(mask(width)));
            }
            whole = whole.plus(&Sum::of(width, base), factor.wrapping_neg())?;
            whole = whole.plus(&Sum::of(width, lane), factor.wrapping_mul(times))?;
            (rests, is_any) = (rests.join(rest), true);
        }
        is_any.then(|| self.sum(&whole, block, None, MAX_DEPTH).join(rests.through(width)))
    }

    /// The place in a row that was added to a base before that was made wider, and the rest. Sums are taken not to overflow,
    /// where nothing is taken away in them.
    fn narrow_place(&self, base: BaseId, lane: BaseId) -> Option<(Sum, Sum)> {
        let narrow = self.widened(base)?;
        let width = narrow.width();
        let is_up = |number: u64| number <= mask(width) >> 1;
        let warp = self.engine.values.forms().find(Base::Warp);
        let mut place = Sum::constant(width, 0);
        for (base, factor) in narrow.terms().filter(|(base, _)| *base == lane || Some(*base) == warp) {
            place = place.plus(&Sum::of(width, base), factor)?;
        }
        let is_sum = is_up(narrow.offset()) && narrow.terms().all(|(_, factor)| is_up(factor));
        let has_lane = place.terms().any(|(base, _)| base == lane);
        (is_sum && has_lane).then_some(())?;
        Some((place, narrow.plus(&place, u64::MAX)?))
    }

    /// How often the lane is in all that a value joins, and how the rest varies. None where a loop brings some of it.
    fn beside_lane(&self, block: NodeIndex, join: ValueId, lane: BaseId) -> Option<(u64, Vary)> {
        let (facts, graph, values) = (self.engine.facts, self.engine.graph, &self.engine.values);
        let width = self.engine.width(join);
        let (mut times, mut vary) = (None, Vary::NONE);
        for (position, &input) in graph.inputs(join).iter().enumerate() {
            let (from, _) = graph.predecessors(block).nth(position)?;
            if facts.cfg.dominates(block, from) {
                return None;
            }
            if !values.is_taken(graph, block, position) {
                continue;
            }
            let Some(fact) = values.of(input) else { continue };
            let sum = self.engine.sum(fact);
            let (_, factor) = sum.terms().find(|(base, _)| *base == lane)?;
            if *times.get_or_insert(factor) != factor {
                return None;
            }
            let rest = sum.plus(&Sum::of(width, lane), factor.wrapping_neg() & mask(width))?;
            vary = vary.join(self.sum(&rest, from, Some(join), MAX_DEPTH));
        }
        self.reads.block(block);
        for choice in self.control.choices(block) {
            vary = vary.join(choice.vary.choosing(mask(width)));
        }
        times.map(|times| (times, vary))
    }

    /// Whether threads that the level tells apart all find a sum below 0, or none of them.
    fn is_decided_by_uniform_bits(&mut self, difference: &Sum, block: NodeIndex, level: Level) -> bool {
        let width = difference.width();
        let differs = |vary: Vary| match level {
            Level::Lanes => vary.lanes,
            Level::Warps => vary.lanes | vary.warps,
        };
        // The part that these agree on, known modulo two to the `modulus`, and what each adds to that.
        let mut rest = Sum::constant(width, difference.offset());
        let mut modulus = width;
        let mut span = 0_u64;
        for (base, factor) in difference.terms() {
            let bits = differs(self.base(base, block, None, MAX_DEPTH));
            if bits == 0 {
                match rest.plus(&Sum::of(width, base), factor) {
                    Some(sum) => rest = sum,
                    None => return false,
                }
                continue;
            }
            let low = 64 - bits.leading_zeros();
            let negative = factor >> (width - 1) != 0;
            let size = if negative { factor.wrapping_neg() & mask(width) } else { factor };
            let number = self.engine.base_number(base, width);
            let most = number.high.min(mask(low));
            let Some(most) = most.checked_mul(size) else { return false };
            // Above its low bits, they agree; those bits are a multiple.
            if number.high > mask(low) {
                modulus = modulus.min(low + size.trailing_zeros());
            }
            let Some(wider) = span.checked_add(most) else { return false };
            span = wider;
            if negative {
                // It is between minus this and 0.
                rest = rest.plus(&Sum::constant(width, most), u64::MAX).unwrap_or(rest);
            }
        }
        let is_apart = |known: Number| {
            let modulus = modulus.min(known.known_low()).min(63);
            let multiple = 1_u64 << modulus;
            let remainder = known.ones & (multiple - 1);
            let nearest = if remainder == 0 { multiple } else { multiple - remainder };
            nearest > span
        };
        if is_apart(self.engine.number_of(&rest))
            || self.engine.rounded(&rest).is_some_and(is_apart)
            || self.engine.of_whole_blocks(&rest).is_some_and(is_apart)
        {
            return true;
        }
        // The branches on the way there may say more.
        let by_branches = is_apart(self.number_there(&rest, block));
        self.is_by_branches |= by_branches;
        by_branches
    }

    /// What a sum is by the branches on the way to a block. Each round asks again of the same ones.
    fn number_there(&mut self, sum: &Sum, block: NodeIndex) -> Number {
        let engine = &self.engine;
        *self.numbers.entry((*sum, block)).or_insert_with(|| {
            let mut assumption = Assumption::new(engine);
            assumption.be_in(block);
            assumption.number_of(sum)
        })
    }

    /// Whether the upper bits of something, which compilers add to round a division, are 0 by what branches on the way to a
    /// block say: a thread's number less the first one of its group is not below 0 where only the group comes.
    pub(super) fn is_zero_there(&self, base: BaseId, block: NodeIndex) -> bool {
        const MOST_BITS: u64 = 8;
        let forms = self.engine.values.forms();
        let Base::Operation { computes: Computation::ShiftRight, detail, operands: [whole, Form::NONE, _] } =
            forms.what(base)
        else {
            return false;
        };
        let whole = forms.sum(whole);
        let width = whole.width();
        if detail >> 8 & 1 != 0 || (detail >> 16) + MOST_BITS < u64::from(width) || whole.count() < 2 {
            return false;
        }
        self.zeros.borrow_mut().is_zero(base, block, || {
            let mut assumption = Assumption::new(&self.engine);
            assumption.be_in(block);
            assumption.number_of(&Sum::of(width, base)).value() == Some(0)
        })
    }

    /// Whether something is made of what branches on the way to some block say to be 0: elsewhere it may be another number.
    pub(super) fn is_of_zeros(&self, base: BaseId) -> bool {
        let made = &mut self.zeros.borrow_mut().made;
        made.find(self.engine.values.forms());
        made.has(base)
    }

    /// How it varies whether one sum is below another, where both are multiples of the threads of a row but for the place in
    /// it: what is below one multiple is so for the whole row. None where they are not. Sums are taken not to overflow.
    fn by_rows(&self, one: &Sum, other: &Sum, block: NodeIndex) -> Option<Vary> {
        let forms = self.engine.values.forms();
        let lane = forms.find(Base::Lane)?;
        forms.find(Base::Special(SpecialRegister::NTID_X))?;
        let has_lane = |sum: &Sum| {
            sum.terms().any(|(base, _)| {
                let is_lane = |(base, _)| base == lane;
                is_lane((base, 1)) || self.widened(base).is_some_and(|sum| sum.terms().any(is_lane))
            })
        };
        if !has_lane(one) && !has_lane(other) {
            return None;
        }
        let mut vary = Vary::NONE;
        let one = self.beside_rows(one, block, &mut vary, MAX_PRODUCTS)?;
        let other = self.beside_rows(other, block, &mut vary, MAX_PRODUCTS)?;
        let place = one.plus(&other, u64::MAX)?;
        let times = |base| place.terms().find(|(term, _)| *term == base).map(|(_, factor)| factor);
        let (lanes, warps) = (times(lane)?, times(forms.find(Base::Warp)?)?);
        // From 0 up to the next multiple, or from -1 down to the one before.
        let is_place = lanes == warps
            && place.count() == 2
            && (lanes == 1 && place.offset() == 0
                || lanes == mask(place.width()) && place.offset() == mask(place.width()));
        (is_place && vary.lanes == 0).then(|| vary.through(1))
    }

    /// What a sum is but for multiples of the threads of a row; how these vary is added to `vary`.
    fn beside_rows(&self, sum: &Sum, block: NodeIndex, vary: &mut Vary, depth: usize) -> Option<Sum> {
        let forms = self.engine.values.forms();
        let width = sum.width();
        let mut rest = Sum::constant(width, sum.offset());
        for (base, factor) in sum.terms() {
            if let Some(narrow) = self.widened(base) {
                let part = self.beside_rows(narrow, block, vary, depth.checked_sub(1)?)?;
                rest = rest.plus(&part.in_width(width), factor)?;
                continue;
            }
            let part = if self.is_of_rows(base, depth) {
                Sum::constant(width, 0)
            } else if let Some(divided) = self.left_of_rows(base, depth)
                && forms.sum(divided).width() == width
            {
                let mut of_divided = Vary::NONE;
                self.beside_rows(forms.sum(divided), block, &mut of_divided, depth.checked_sub(1)?)?
            } else {
                rest = rest.plus(&Sum::of(width, base), factor)?;
                continue;
            };
            *vary = vary.join(self.base(base, block, None, MAX_DEPTH));
            rest = rest.plus(&part, factor)?;
        }
        Some(rest)
    }

    /// What a base has been before it was made wider.
    fn widened(&self, base: BaseId) -> Option<&Sum> {
        match self.engine.values.forms().what(base) {
            Base::Operation { computes: Computation::Convert, operands: [of, ..], .. } => {
                Some(self.engine.values.forms().sum(of))
            }
            _ => None,
        }
    }

    /// Whether a base is a multiple of the threads of a row.
    fn is_of_rows(&self, base: BaseId, depth: usize) -> bool {
        let forms = self.engine.values.forms();
        let Some(deeper) = depth.checked_sub(1) else { return false };
        let is_multiple = |form: &Form| {
            let sum = forms.sum(*form);
            sum.offset() == 0 && sum.terms().all(|(base, _)| self.is_of_rows(base, deeper))
        };
        match forms.what(base) {
            Base::Special(register) => register == SpecialRegister::NTID_X,
            Base::Steps(value) => {
                let steps = self.engine.values.steps(value);
                !steps.is_empty() && steps.iter().all(is_multiple)
            }
            Base::Operation { computes: Computation::Multiply, operands: [one, other, _], .. } => {
                [one, other].iter().any(|form| *form != Form::NONE && is_multiple(form))
            }
            _ => false,
        }
    }

    /// What is divided where a base is what is left over of a division by a multiple of the threads of a row.
    fn left_of_rows(&self, base: BaseId, depth: usize) -> Option<Form> {
        let forms = self.engine.values.forms();
        let Base::Operation { computes: Computation::Remainder, operands: [divided, by, _], .. } =
            forms.what(base)
        else {
            return None;
        };
        let by = forms.sum(by);
        let is_multiple = by.offset() == 0 && by.terms().all(|(base, _)| self.is_of_rows(base, depth));
        (is_multiple && by.count() > 0).then_some(divided)
    }
}
