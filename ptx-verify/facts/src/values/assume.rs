//! What follows from conditions that hold together.
//!
//! A condition is a predicate's sum of [`Base`]s. Those that are known to hold narrow the limits of other bases, and
//! what is then decided may contradict another condition: so paths are found that nobody takes.

use petgraph::graph::NodeIndex;
use ptx_ir::isa::Computation;
use ptx_ir::special::SpecialRegister;
use rustc_hash::FxHashMap;

use super::graph::ValueId;
use super::linear::{Base, BaseId, Form, Sum};
use super::number::{Number, mask};
use super::propagate::Engine;

/// Operations on operations are followed so deep.
const MAX_DEPTH: usize = 6;
/// Branches on the way to a block, from there, that are looked at.
const MAX_DOMINATORS: usize = 24;

/// Conditions that are taken to hold, and what follows.
#[derive(Clone)]
pub struct Assumption<'e, 'f, 'm> {
    engine: &'e Engine<'f, 'm>,
    numbers: FxHashMap<BaseId, Number>,
    /// Of sums of several terms, or whose limits would go round the end without what is added: the terms, what is added,
    /// and what is known of that.
    sums: FxHashMap<Sum, (u64, Number)>,
    /// What such a sum, or a sum of one term, is not.
    excluded: Vec<(Sum, u64)>,
    truths: FxHashMap<BaseId, bool>,
    /// What indexed branches on the way were decided by, and the index that they must have had.
    indices: Vec<(Form, u64)>,
    impossible: bool,
}

impl<'e, 'f, 'm> Assumption<'e, 'f, 'm> {
    /// Nothing is assumed.
    pub fn new(engine: &'e Engine<'f, 'm>) -> Self {
        Self {
            engine,
            numbers: FxHashMap::default(),
            sums: FxHashMap::default(),
            excluded: Vec::new(),
            truths: FxHashMap::default(),
            indices: Vec::new(),
            impossible: false,
        }
    }

    /// Whether all that is assumed cannot hold together.
    pub fn is_impossible(&self) -> bool {
        self.impossible || self.excludes_all() || self.excludes_index()
    }

    /// Whether what is assumed was found to contradict itself: nothing that is assumed further mends that.
    pub(crate) fn is_contradicted(&self) -> bool {
        self.impossible
    }

    /// Whether nothing is left of the values that some sum may have.
    fn excludes_all(&self) -> bool {
        if self.excluded.is_empty() {
            return false;
        }
        let mut excluded = self.excluded.clone();
        excluded.sort_unstable();
        excluded.dedup();
        excluded.chunk_by(|one, other| one.0 == other.0).any(|group| {
            let Some((sum, _)) = group.first() else { return false };
            let (mut low, mut high) = self.limits(sum);
            let values = || group.iter().map(|(_, value)| *value);
            for value in values() {
                low += u64::from(value == low && low < u64::MAX);
            }
            for value in values().rev() {
                high -= u64::from(value == high && high > 0);
            }
            // Where each lane of a warp has its turn, the rows of blocks are one warp wide.
            let is_tid = sum.terms().all(|(base, factor)| {
                let is_it = |base| match base {
                    Base::Special(register) => register == SpecialRegister::TID_X,
                    base => matches!(base, Base::Lane | Base::Warp),
                };
                factor == 1 && is_it(self.engine.values.forms.what(base))
            });
            low > high || is_tid && (0..32).all(|lane| values().any(|value| value == lane))
        })
    }

    /// Whether what was assumed later says that an indexed branch went another way.
    fn excludes_index(&self) -> bool {
        self.indices.iter().any(|(index, taken)| {
            let number = self.number(*index, MAX_DEPTH);
            *taken < number.low
                || number.high < *taken
                || taken & number.zeros != 0
                || !taken & number.ones != 0
        })
    }

    /// The smallest and the largest value of a sum to which nothing is added. Ascending values that are excluded shrink
    /// the range from both ends.
    fn limits(&self, sum: &Sum) -> (u64, u64) {
        let number = self.of_sum(sum, MAX_DEPTH);
        (number.low, number.high)
    }

    /// Assumes what has to hold for control to be in a block: the branches on the way to it that there is no way around.
    pub fn be_in(&mut self, block: NodeIndex) {
        self.be_in_by(block, |_| true);
    }

    /// The same, of the branches that some predicates decide.
    pub(crate) fn be_in_by(&mut self, block: NodeIndex, mut counts: impl FnMut(ValueId) -> bool) {
        let (facts, graph) = (self.engine.facts, self.engine.graph);
        let mut at = Some(block);
        for _ in 0..MAX_DOMINATORS {
            let Some(inside) = at else { return };
            let mut taken = (0..graph.predecessor_count(inside))
                .filter(|&at| self.engine.values.is_taken(graph, inside, at));
            if let (Some(only), None) = (taken.next(), taken.next())
                && let Some((from, condition)) = graph.predecessors(inside).nth(only)
            {
                if let Some(condition) = condition {
                    let guard = facts.cfg.instructions(from).last().and_then(|last| graph.guard(last));
                    let guard = guard.filter(|guard| counts(*guard));
                    if let Some(fact) = guard.and_then(|guard| self.engine.values.of(guard)) {
                        self.assume(fact.form, condition.value, MAX_DEPTH);
                    }
                }
                if let Some((value, index)) =
                    self.engine.index_of(from, inside, only).filter(|it| counts(it.0))
                    && let Some(fact) = self.engine.values.of(value)
                {
                    self.index_is(fact.form, index);
                }
            }
            at = facts.cfg.immediate_dominator(inside);
        }
    }

    fn index_is(&mut self, form: Form, index: u64) {
        let width = self.engine.values.forms.sum(form).width();
        self.indices.push((form, index));
        self.narrow(form, Number::constant(width, index), MAX_DEPTH);
    }

    /// Assumes that this is what a lane sees. Where rows of blocks are no whole warps, nothing is known by that.
    pub(crate) fn lane_is(&mut self, lane: u32) {
        if let Some(base) = self.engine.values.forms.find(Base::Lane) {
            self.numbers.insert(base, Number::constant(u32::BITS, u64::from(lane)));
        }
    }

    /// What is known of a sum.
    pub(crate) fn number_of(&self, sum: &Sum) -> Number {
        self.of_sum(sum, MAX_DEPTH)
    }

    /// What a predicate is, where that follows.
    pub(crate) fn holds(&self, predicate: &Sum) -> Option<bool> {
        self.evaluate_sum(predicate, MAX_DEPTH)
    }

    /// Assumes that a predicate has a value.
    pub(crate) fn hold(&mut self, predicate: Form, value: bool) {
        self.assume(predicate, value, MAX_DEPTH);
    }

    /// Assumes that a predicate is true.
    pub(crate) fn is_true(&mut self, predicate: &Sum) {
        self.assume_sum(predicate, true, MAX_DEPTH);
    }

    fn assume(&mut self, predicate: Form, value: bool, depth: usize) {
        let engine = self.engine;
        self.assume_sum(engine.values.forms.sum(predicate), value, depth);
    }

    fn assume_sum(&mut self, sum: &Sum, value: bool, depth: usize) {
        let mut terms = sum.terms();
        let (Some((base, _)), None) = (terms.next(), terms.next()) else {
            self.impossible |= self.evaluate_sum(sum, depth) == Some(!value);
            return;
        };
        let value = value ^ (sum.offset() & 1 != 0);
        // What was assumed of it before says less than what was found since.
        let known = [self.truths.get(&base).copied(), self.found(base, depth)];
        self.impossible |= known.contains(&Some(!value));
        self.base_is(base, value, depth);
    }

    fn base_is(&mut self, base: BaseId, value: bool, depth: usize) {
        self.truths.insert(base, value);
        let Some(depth) = depth.checked_sub(1) else { return };
        let Base::Operation { computes, detail, operands: [a, b, _] } = self.engine.values.forms.what(base)
        else {
            return;
        };
        match computes {
            Computation::And if value => {
                self.assume(a, true, depth);
                self.assume(b, true, depth);
            }
            Computation::And => {
                for (one, other) in [(a, b), (b, a)] {
                    if self.evaluate(one, depth) == Some(true) {
                        self.assume(other, false, depth);
                    }
                }
            }
            // The operands of an equality are their difference, which is 0.
            Computation::Compare if b == Form::NONE && value => {
                let width = self.engine.values.forms.sum(a).width();
                self.narrow(a, Number::constant(width, 0), depth);
            }
            Computation::Compare if b == Form::NONE => {
                let sum = *self.engine.values.forms.sum(a);
                // `sum` is not 0, so the terms are not the opposite of what is added.
                let (terms, is_opposite) = positive(sum.without_offset());
                let value = if is_opposite { sum.offset() } else { sum.offset().wrapping_neg() };
                let value = value & mask(sum.width());
                self.excluded.push((terms, value));
                // The smallest or the largest one there is leaves a smaller range.
                let known = self.of_sum(&terms, depth);
                if known.low == value && value < known.high {
                    self.limit(&terms, value + 1, mask(sum.width()), depth);
                } else if known.high == value && known.low < value {
                    self.limit(&terms, 0, value - 1, depth);
                }
            }
            Computation::Compare if b != Form::NONE && detail >> 16 == 1 => {
                // Of numbers that have no sign, the order is the same with one.
                let mut numbers = [a, b].map(|operand| self.number(operand, depth));
                let narrows = detail & SIGNED != 0 || numbers.into_iter().all(is_positive);
                let (operands, below) =
                    if value { ([a, b], numbers) } else { ([b, a], [numbers[1], numbers[0]]) };
                if narrows && self.narrow_difference(operands, below, value, depth) {
                    numbers = [a, b].map(|operand| self.number(operand, depth));
                }
                let mut shifted = [None; 2];
                let (operands, numbers) = self.compared([a, b], numbers, detail, depth, &mut shifted);
                self.order(operands, numbers, value, depth);
                if !value
                    && self.assumed(Base::Operation { computes, detail, operands: [b, a, Form::NONE] })
                        == Some(false)
                {
                    self.are_equal(a, b);
                }
            }
            _ => {}
        }
    }

    /// What was assumed of a condition.
    fn assumed(&self, condition: Base) -> Option<bool> {
        let id = self.engine.values.forms.find(condition)?;
        self.truths.get(&id).copied()
    }

    /// Assumes that two values are equal, as neither is below the other.
    fn are_equal(&mut self, one: Form, other: Form) {
        let forms = self.engine.values.forms();
        let Some(difference) = forms.sum(one).plus(forms.sum(other), u64::MAX) else { return };
        let (terms, is_opposite) = positive(difference.without_offset());
        let value = if is_opposite { difference.offset() } else { difference.offset().wrapping_neg() };
        self.impossible |= self.excluded.contains(&(terms, value & mask(difference.width())));
    }

    /// The operands of a comparison as they are compared without a sign, and what is known of them; `numbers` is what is known
    /// of them as they are, and `shifted` has room for those that are others then.
    fn compared<'s>(
        &self,
        operands: [Form; 2],
        numbers: [Number; 2],
        detail: u64,
        depth: usize,
        shifted: &'s mut [Option<Sum>; 2],
    ) -> ([&'s Sum; 2], [Number; 2])
    where
        'e: 's,
    {
        let engine = self.engine;
        let [one, other] = operands.map(|operand| engine.values.forms.sum(operand));
        if detail & SIGNED == 0 || numbers.into_iter().all(is_positive) {
            return ([one, other], numbers);
        }
        // The order of signed numbers is that of the same distance from the smallest of them.
        for (sum, shifted) in [one, other].into_iter().zip(&mut *shifted) {
            let width = sum.width();
            *shifted = sum.plus(&Sum::constant(width, 1 << (width - 1)), 1);
        }
        let [first, second] = shifted;
        let sums = [first.as_ref().unwrap_or(one), second.as_ref().unwrap_or(other)];
        (sums, sums.map(|sum| self.of_sum(sum, depth)))
    }

    /// Assumes that the first of two sums, of which these numbers are known, is below the second, or is not.
    fn order(&mut self, [a, b]: [&Sum; 2], [one, other]: [Number; 2], is_below: bool, depth: usize) {
        let all = mask(a.width());
        if !is_below {
            self.limit(a, other.low, all, depth);
            self.limit(b, 0, one.high, depth);
            return;
        }
        let (Some(most), Some(least)) = (other.high.checked_sub(1), one.low.checked_add(1)) else {
            self.impossible = true;
            return;
        };
        self.limit(a, 0, most, depth);
        self.limit(b, least, all, depth);
    }

    /// Assumes that the first of two signed values, of which these numbers are known, is not above the second, or is below it;
    /// whether that may say more of them. Their difference is taken not to overflow: who compares signed values and subtracts
    /// them counts on that.
    fn narrow_difference(
        &mut self,
        [least, most]: [Form; 2],
        [below, above]: [Number; 2],
        is_below: bool,
        depth: usize,
    ) -> bool {
        let forms = self.engine.values.forms();
        let Some(difference) = forms.sum(most).plus(forms.sum(least), u64::MAX) else { return false };
        if difference.count() < 2 {
            return false;
        }
        let width = difference.width();
        // What has no sign leaves no more of it than there is.
        let high = match is_positive(below) && is_positive(above) && above.high >= below.low {
            true => above.high - below.low,
            false => mask(width) >> 1,
        };
        let low = u64::from(is_below);
        self.narrow_sum(&difference, Number::between(width, low, high.max(low)), depth);
        [least, most].iter().any(|operand| forms.sum(*operand).has_bases_of(&difference))
    }

    fn limit(&mut self, sum: &Sum, low: u64, high: u64, depth: usize) {
        if low > high {
            self.impossible = true;
            return;
        }
        // What is true of any number says nothing.
        if low > 0 || high < mask(sum.width()) {
            self.narrow_to(sum, Number::between(sum.width(), low, high), depth);
        }
    }

    /// Assumes that a sum lies between the limits of a number.
    fn narrow(&mut self, form: Form, number: Number, depth: usize) {
        let engine = self.engine;
        self.narrow_to(engine.values.forms.sum(form), number, depth);
    }

    fn narrow_to(&mut self, sum: &Sum, number: Number, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let all = mask(sum.width());
        let mut terms = sum.terms();
        let (Some((base, factor)), None) = (terms.next(), terms.next()) else {
            return self.narrow_sum(sum, number, depth);
        };
        let (low, high) = match factor {
            1 => (number.low.wrapping_sub(sum.offset()) & all, number.high.wrapping_sub(sum.offset()) & all),
            _ if factor == all => {
                (sum.offset().wrapping_sub(number.high) & all, sum.offset().wrapping_sub(number.low) & all)
            }
            _ => return self.narrow_sum(sum, number, depth),
        };
        // Of a base that is wider, a narrow sum has the low bits only.
        if low > high || self.engine.base_number(base, u64::BITS).high > all {
            return self.narrow_sum(sum, number, depth);
        }
        let known = self.base(base, sum.width(), depth);
        let (low, high) = (low.max(known.low), high.min(known.high));
        if low > high {
            self.impossible = true;
            return;
        }
        self.numbers.insert(base, Number::between(sum.width(), low, high).with_bits(known.zeros, known.ones));
        match self.engine.values.forms.what(base) {
            Base::Operation {
                computes: Computation::ShiftRight,
                detail,
                operands: [whole, Form::NONE, _],
            } if detail >> 8 & 1 == 0 => {
                let by = (detail >> 16) as u32;
                let whole = *self.engine.values.forms.sum(whole);
                let up = |value: u64| value.checked_shl(by).unwrap_or(0) & mask(whole.width());
                self.limit(&whole, up(low), up(high) | mask(by), depth);
            }
            // Nothing is set in either.
            Base::Operation { computes: Computation::Or, operands: [one, other, Form::NONE], .. }
                if high == 0 =>
            {
                for operand in [one, other] {
                    let width = self.engine.values.forms.sum(operand).width();
                    self.narrow(operand, Number::constant(width, 0), depth);
                }
            }
            _ => {}
        }
    }

    /// The same of a sum of several terms.
    fn narrow_sum(&mut self, sum: &Sum, number: Number, depth: usize) {
        let (terms, is_opposite) = positive(*sum);
        let zero = Number::constant(sum.width(), 0);
        let number = if is_opposite { zero.subtract(number) } else { number };
        let known = self.of_sum(&terms, depth);
        let (low, high) = (number.low.max(known.low), number.high.min(known.high));
        if low > high {
            self.impossible = true;
            return;
        }
        let number = Number::between(sum.width(), low, high);
        // Limits with something else added may wrap around where these do not: those that say more are kept.
        let known = self.sums.entry(terms.without_offset()).or_insert((terms.offset(), number));
        if known.1.high - known.1.low >= high - low {
            *known = (terms.offset(), number);
        }
    }

    /// What is known of a base.
    fn base(&self, base: BaseId, width: u32, depth: usize) -> Number {
        let known = self.derived(base, width, depth);
        let Some(number) = self.numbers.get(&base).map(|number| number.extended(width)) else { return known };
        let (low, high) = (known.low.max(number.low), known.high.min(number.high));
        // Where the two contradict each other, what was assumed is to be found wrong.
        if low > high {
            known
        } else {
            Number::between(width, low, high).with_bits(number.zeros, number.ones)
        }
    }

    /// The same by what it is computed of.
    fn derived(&self, base: BaseId, width: u32, depth: usize) -> Number {
        let known = self.engine.base_number(base, width);
        match (self.engine.values.forms.what(base), depth.checked_sub(1)) {
            (
                Base::Operation {
                    computes: Computation::ShiftRight,
                    detail,
                    operands: [whole, Form::NONE, _],
                },
                Some(depth),
            ) if detail >> 8 & 1 == 0 => {
                let now = self.number(whole, depth).shift_right(detail >> 16).extended(width);
                let (low, high) = (known.low.max(now.low), known.high.min(now.high));
                if low <= high { Number::between(width, low, high) } else { known }
            }
            (
                Base::Operation { computes: Computation::And, operands: [one, other, Form::NONE], .. },
                Some(depth),
            ) => {
                let (one, other) = (self.number(one, depth), self.number(other, depth));
                // What the bits of a mask have room for stays as it is.
                let fits =
                    |number: Number, bits: u64| bits & bits.wrapping_add(1) == 0 && number.high <= bits;
                let now = match (one.value(), other.value()) {
                    (_, Some(bits)) if fits(one, bits) => one.extended(width),
                    (Some(bits), _) if fits(other, bits) => other.extended(width),
                    _ => one.and(other).extended(width),
                };
                let (low, high) = (known.low.max(now.low), known.high.min(now.high));
                match low <= high {
                    true => Number::between(width, low, high).with_bits(now.zeros, now.ones),
                    false => known,
                }
            }
            _ => known,
        }
    }

    fn number(&self, form: Form, depth: usize) -> Number {
        self.of_sum(self.engine.values.forms.sum(form), depth)
    }

    fn of_sum(&self, sum: &Sum, depth: usize) -> Number {
        let width = sum.width();
        let number = sum.terms().fold(Number::constant(width, sum.offset()), |number, (base, factor)| {
            number.plus_times(self.base(base, width, depth), factor)
        });
        let Some(known) = self.of_terms(sum) else { return number };
        let (low, high) = (number.low.max(known.low), number.high.min(known.high));
        if low > high {
            number
        } else {
            Number::between(width, low, high).with_bits(number.zeros, number.ones)
        }
    }

    /// What is known of a sum's terms together: a narrow one may be the low bits of a wider one that is known to be small.
    fn of_terms(&self, sum: &Sum) -> Option<Number> {
        // Of its width or a wider one, it has the same bases.
        if !self.sums.keys().any(|known| known.has_bases_of(sum)) {
            return None;
        }
        let width = sum.width();
        let (terms, is_opposite) = positive(*sum);
        let widths = [u32::BITS, u64::BITS].into_iter().filter(|wider| *wider > width);
        let wider = widths.map(|wider| positive(sum.in_width(wider)));
        let (terms, is_opposite, (offset, known)) =
            std::iter::once((terms, is_opposite)).chain(wider).find_map(|(terms, is_opposite)| {
                Some((terms, is_opposite, *self.sums.get(&terms.without_offset())?))
            })?;
        let own = terms.width();
        let known = known.plus(Number::constant(own, terms.offset().wrapping_sub(offset)));
        let known = if is_opposite { Number::constant(own, 0).subtract(known) } else { known };
        Some(known.extended(width))
    }

    /// What a comparison of the same operands says of this one.
    fn compared_before(&self, order: Computation, detail: u64, [a, b]: [Form; 2]) -> Option<bool> {
        let truth = |detail: u64, operands: [Form; 2]| {
            let operands = [operands[0], operands[1], Form::NONE];
            let id = self.engine.values.forms.find(Base::Operation { computes: order, detail, operands })?;
            self.truths.get(&id).copied()
        };
        let forms = &self.engine.values.forms;
        let difference = forms.sum(a).plus(forms.sum(b), u64::MAX)?;
        let equal = [difference, difference.times(u64::MAX)].into_iter().any(|difference| {
            let form = forms.find_sum(&difference);
            form.is_some_and(|form| truth(detail & 0xff, [form, Form::NONE]) == Some(true))
        });
        (equal || truth(detail, [b, a]) == Some(true)).then_some(false)
    }

    /// What a predicate is, where that follows.
    fn evaluate(&self, predicate: Form, depth: usize) -> Option<bool> {
        self.evaluate_sum(self.engine.values.forms.sum(predicate), depth)
    }

    fn evaluate_sum(&self, sum: &Sum, depth: usize) -> Option<bool> {
        let mut value = sum.offset() & 1 != 0;
        for (base, _) in sum.terms() {
            value ^= self.truth(base, depth)?;
        }
        Some(value)
    }

    fn truth(&self, base: BaseId, depth: usize) -> Option<bool> {
        self.truths.get(&base).copied().or_else(|| self.found(base, depth))
    }

    /// What a predicate's base is by what it is made of.
    fn found(&self, base: BaseId, depth: usize) -> Option<bool> {
        let depth = depth.checked_sub(1)?;
        let Base::Operation { computes, detail, operands: [a, b, _] } = self.engine.values.forms.what(base)
        else {
            return None;
        };
        match computes {
            Computation::And => match (self.evaluate(a, depth), self.evaluate(b, depth)) {
                (Some(false), _) | (_, Some(false)) => Some(false),
                (Some(true), Some(true)) => Some(true),
                _ => None,
            },
            Computation::Compare if b == Form::NONE => {
                let difference = self.number(a, depth);
                match difference.value() {
                    Some(value) => Some(value == 0),
                    None if difference.low > 0 || difference.ones != 0 => Some(false),
                    None => None,
                }
            }
            Computation::Compare if detail >> 16 == 1 => {
                if let Some(value) = self.compared_before(computes, detail, [a, b]) {
                    return Some(value);
                }
                let (one, other) = (self.number(a, depth), self.number(b, depth));
                if is_positive(one) && is_positive(other) {
                    // The sign makes no difference then.
                    let detail = detail ^ SIGNED;
                    let operands = [a, b, Form::NONE];
                    let known = self.assumed(Base::Operation { computes, detail, operands });
                    if let Some(value) = known.or_else(|| self.compared_before(computes, detail, [a, b])) {
                        return Some(value);
                    }
                }
                let mut shifted = [None; 2];
                let (_, [one, other]) = self.compared([a, b], [one, other], detail, depth, &mut shifted);
                match () {
                    () if one.high < other.low => Some(true),
                    () if one.low >= other.high => Some(false),
                    () => None,
                }
            }
            _ => None,
        }
    }
}

/// Of the detail of a comparison: that it has signed operands.
const SIGNED: u64 = 1 << 8;

fn is_positive(number: Number) -> bool {
    number.high >> (number.width - 1) == 0
}

/// Of a sum and its opposite the one whose first factor is no negative number, and whether that is the opposite.
fn positive(sum: Sum) -> (Sum, bool) {
    let is_negative = sum.terms().next().is_some_and(|(_, factor)| factor > mask(sum.width()) >> 1);
    if is_negative { (sum.times(u64::MAX), true) } else { (sum, false) }
}
