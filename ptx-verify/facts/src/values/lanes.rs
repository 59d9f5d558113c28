//! Sums that have the number of the lane in them, as it goes through what is computed of it.

use ptx_ir::isa::Computation;

use super::compute::sorted;
use super::linear::{Base, BaseId, Sum};
use super::number::{Number, mask};
use super::propagate::{Engine, Fact};

impl Engine<'_, '_> {
    /// The smaller or the larger of two sums that have the lane in the same way: it has it, too. Where the rows of blocks
    /// are taken to be whole warps, sums are taken not to overflow.
    pub(super) fn between_lanes(&mut self, a: Fact, b: Fact, operation: (Computation, u64)) -> Option<Fact> {
        if !self.values.whole_warps || a.form == b.form {
            return None;
        }
        let lane = self.values.forms.find(Base::Lane)?;
        let times = |sum: &Sum| sum.terms().find(|(base, _)| *base == lane).map(|(_, factor)| factor);
        let (one, other) = (self.with_lane_apart(a, lane), self.with_lane_apart(b, lane));
        let factor = times(&one).filter(|factor| times(&other) == Some(*factor))?;
        let w = u32::from(a.number.width);
        let part = Sum::of(w, lane).times(factor);
        let (one, other) = (one.plus(&part, u64::MAX)?, other.plus(&part, u64::MAX)?);
        let mut without = |sum: Sum| Fact { number: self.number_of(&sum), form: self.values.forms.form(sum) };
        let (one, other) = (without(one), without(other));
        let chosen = self.fact(Number::unknown(w), None, operation, &sorted(one, other));
        let sum = self.sum(chosen).plus(&part, 1)?;
        Some(Fact { number: a.number.join(b.number), form: self.values.forms.form(sum) })
    }

    /// The sum of a value in which the lane stands by itself that was added before something was made wider. Nothing is
    /// taken to overflow where nothing is taken away.
    fn with_lane_apart(&mut self, fact: Fact, lane: BaseId) -> Sum {
        let whole = *self.sum(fact);
        let is_up = |number: u64, width: u32| number <= mask(width) >> 1;
        for (base, factor) in whole.terms() {
            let Base::Operation { computes: Computation::Convert, detail, operands: [of, ..] } =
                self.values.forms.what(base)
            else {
                continue;
            };
            let narrow = *self.values.forms.sum(of);
            let width = narrow.width();
            let times = narrow.terms().find(|(base, _)| *base == lane).map(|(_, times)| times);
            let is_sum =
                is_up(narrow.offset(), width) && narrow.terms().all(|(_, factor)| is_up(factor, width));
            let (Some(times), true) = (times, is_sum && width < whole.width()) else { continue };
            let Some(rest) = narrow.plus(&Sum::of(width, lane).times(times), u64::MAX) else { continue };
            let rest = Fact { number: self.number_of(&rest), form: self.values.forms.form(rest) };
            let wide = match self.bound(self.sum(rest)) {
                Some(_) => self.sum(rest).in_width(whole.width()),
                None => {
                    let unknown = Number::unknown(whole.width());
                    let wider = self.fact(unknown, None, (Computation::Convert, detail), &[rest]);
                    *self.sum(wider)
                }
            };
            let apart = wide.plus(&Sum::of(whole.width(), lane), times);
            let other =
                whole.plus(&Sum::of(whole.width(), base), factor.wrapping_neg() & mask(whole.width()));
            if let (Some(apart), Some(other)) = (apart, other)
                && let Some(sum) = other.plus(&apart, factor)
            {
                return sum;
            }
        }
        whole
    }
}
