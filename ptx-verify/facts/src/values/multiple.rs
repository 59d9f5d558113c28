//! Sums that are multiples of a power of two, and what is left over of such multiples.

use ptx_ir::isa::Computation;
use ptx_ir::special::SpecialRegister;

use super::linear::{Base, BaseId, Form, Sum};
use super::number::{Number, mask};
use super::propagate::{Engine, Fact};

impl Engine<'_, '_> {
    /// Whether a sum lies between 0 and some number, whatever its terms are: `31 - %laneid` as well as `%laneid` is no more
    /// than 31.
    pub(super) fn is_within(&self, sum: &Sum, most: u64) -> bool {
        let width = sum.width();
        let (mut added, mut taken) = (sum.offset(), 0_u64);
        for (base, factor) in sum.terms() {
            let opposite = factor.wrapping_neg() & mask(width);
            let (part, times) = if opposite < factor { (&mut taken, opposite) } else { (&mut added, factor) };
            let high = self.base_number(base, width).high;
            match high.checked_mul(times).and_then(|term| part.checked_add(term)) {
                Some(with) => *part = with,
                None => return false,
            }
        }
        taken <= sum.offset() && added <= most
    }

    /// The low bits that are 0 whichever of two values is chosen, where the condition tells whether anything is left over of a
    /// division: numbers are rounded up to a multiple so, and one that nothing is left over of is one already.
    pub(super) fn zeros_of_choice(&self, condition: Fact, chosen: Fact, other: Fact) -> Option<u64> {
        let forms = self.values.forms();
        let only = |sum: &Sum| {
            let mut terms = sum.terms();
            terms.next().filter(|(_, factor)| *factor == 1 && terms.next().is_none()).map(|(base, _)| base)
        };
        let is_zero = *self.sum(condition);
        let Base::Operation { computes: Computation::Compare, operands: [left, Form::NONE, _], .. } =
            forms.what(only(&is_zero)?)
        else {
            return None;
        };
        let left = *forms.sum(left);
        let base = only(&left).filter(|_| left.offset() == 0)?;
        let Base::Operation { computes: Computation::Remainder, operands: [divided, by, _], .. } =
            forms.what(base)
        else {
            return None;
        };
        let (whole, rounded) = if is_zero.offset() == 0 { (chosen, other) } else { (other, chosen) };
        let (divided, whole, rounded) = (*forms.sum(divided), *self.sum(whole), *self.sum(rounded));
        if [left, divided, rounded].iter().any(|sum| sum.width() != whole.width()) {
            return None;
        }
        let beside_whole = whole.plus(&divided, u64::MAX)?;
        let beside_rounded = rounded.plus(&divided, u64::MAX)?.plus(&left, 1)?;
        let all = [*forms.sum(by), beside_whole, beside_rounded];
        let zeros = all.iter().map(|sum| self.number_of(sum).zeros.trailing_ones()).min()?;
        Some(mask(zeros.min(whole.width())))
    }

    /// What is known of a sum in which something stands without its own low bits: it has zeros there.
    pub(crate) fn rounded(&self, sum: &Sum) -> Option<Number> {
        let (width, forms) = (sum.width(), self.values.forms());
        let may_be_bits = |(base, factor): (BaseId, u64)| {
            (factor == 1 || factor == mask(width))
                && matches!(forms.what(base), Base::Operation { computes: Computation::And, .. })
        };
        // Few sums have such a term, and this asks about all.
        if !sum.terms().any(may_be_bits) {
            return None;
        }
        let without_low_bits = |sum: &Sum| {
            sum.terms().filter(|(_, factor)| *factor == mask(width)).find_map(|(base, _)| {
                let Base::Operation { computes: Computation::And, operands: [one, other, _], .. } =
                    forms.what(base)
                else {
                    return None;
                };
                let rest = sum.plus(&Sum::of(width, base), 1)?;
                [(one, other), (other, one)].into_iter().find_map(|(whole, bits)| {
                    let bits = forms.sum(bits).value().filter(|bits| bits & bits.wrapping_add(1) == 0)?;
                    let rest = rest.plus(forms.sum(whole), u64::MAX)?;
                    Some(self.number_of(&rest).plus(Number::unknown(width).with_bits(bits, 0)))
                })
            })
        };
        let negative = || without_low_bits(&sum.times(u64::MAX));
        without_low_bits(sum).or_else(|| negative().map(|number| Number::constant(width, 0).subtract(number)))
    }

    /// What is known of a sum in which the number of a block stands beside a power of two that the kernel is given as an
    /// exponent: so many elements of a grid are taken to be those of whole blocks. Kernels for quantum states and for
    /// transforms count so, and others are for states that are smaller than a block.
    pub(crate) fn of_whole_blocks(&self, sum: &Sum) -> Option<Number> {
        const THREADS_OF_A_BLOCK: u64 = 1024;
        let (width, forms) = (sum.width(), self.values.forms());
        let is_given = |form: Form| {
            let mut terms = forms.sum(form).terms().peekable();
            terms.peek().is_some() && terms.all(|(base, _)| matches!(forms.what(base), Base::Loaded { .. }))
        };
        let is_power = |base: BaseId| match forms.what(base) {
            Base::Operation { computes: Computation::ShiftLeft, operands: [one, by, _], .. } => {
                one != Form::NONE
                    && by != Form::NONE
                    && forms.sum(one).value().is_some_and(u64::is_power_of_two)
                    && is_given(by)
            }
            _ => false,
        };
        let block = forms.find(Base::Special(SpecialRegister::CTAID_X))?;
        if !sum.terms().any(|(base, _)| base == block) || !sum.terms().any(|(base, _)| is_power(base)) {
            return None;
        }
        let number_of = |base: BaseId| match is_power(base) {
            true => Number::unknown(width).with_bits(THREADS_OF_A_BLOCK - 1, 0),
            false => self.base_number(base, width),
        };
        Some(sum.terms().fold(Number::constant(width, sum.offset()), |number, (base, factor)| {
            number.plus(number_of(base).multiply(Number::constant(width, factor)))
        }))
    }
}
