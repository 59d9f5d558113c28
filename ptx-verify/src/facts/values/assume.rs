//! What follows from conditions that hold together.
//!
//! A condition is a predicate's sum of [`Base`]s. Those that are known to hold narrow the limits of other bases, and
//! what is then decided may contradict another condition: so paths are found that nobody takes.

use petgraph::graph::NodeIndex;
use ptx_ir::isa::Computation;
use rustc_hash::FxHashMap;

use super::linear::{Base, BaseId, Form, Sum};
use super::number::{Number, mask};
use super::propagate::Engine;

/// Operations on operations are followed so deep.
const MAX_DEPTH: usize = 6;
/// Branches on the way to a block, from there, that are looked at.
const MAX_DOMINATORS: usize = 24;

/// Conditions that are taken to hold, and what follows.
pub(crate) struct Assumption<'e, 'f, 'm> {
    engine: &'e Engine<'f, 'm>,
    numbers: FxHashMap<BaseId, Number>,
    truths: FxHashMap<BaseId, bool>,
    impossible: bool,
}

impl<'e, 'f, 'm> Assumption<'e, 'f, 'm> {
    /// Nothing is assumed.
    pub(crate) fn new(engine: &'e Engine<'f, 'm>) -> Self {
        Self { engine, numbers: FxHashMap::default(), truths: FxHashMap::default(), impossible: false }
    }

    /// Whether all that is assumed cannot hold together.
    pub(crate) fn is_impossible(&self) -> bool {
        self.impossible
    }

    /// Assumes what has to hold for control to be in a block: the branches on the way to it that there is no way around.
    pub(crate) fn be_in(&mut self, block: NodeIndex) {
        let (facts, graph) = (self.engine.facts, self.engine.graph);
        let mut at = Some(block);
        for _ in 0..MAX_DOMINATORS {
            let Some(inside) = at else { return };
            let mut taken = (0..graph.predecessor_count(inside))
                .filter(|&at| self.engine.values.is_taken(graph, inside, at));
            if let (Some(only), None) = (taken.next(), taken.next())
                && let Some(condition) = graph.condition(inside, only)
                && let Some((from, _)) = graph.predecessors(inside).nth(only)
            {
                let guard = facts.cfg.instructions(from).last().and_then(|last| graph.guard(last));
                if let Some(fact) = guard.and_then(|guard| self.engine.values.of(guard)) {
                    self.assume(fact.form, condition.value, MAX_DEPTH);
                }
            }
            at = facts.cfg.immediate_dominator(inside);
        }
    }

    /// Assumes that this is what a lane sees. Where rows of blocks are no whole warps, nothing is known by that.
    pub(crate) fn lane_is(&mut self, lane: u32) {
        if let Some(base) = self.engine.values.forms.find(Base::Lane) {
            self.numbers.insert(base, Number::constant(u32::BITS, u64::from(lane)));
        }
    }

    /// What a predicate is, where that follows.
    pub(crate) fn holds(&self, predicate: &Sum) -> Option<bool> {
        self.evaluate_sum(predicate, MAX_DEPTH)
    }

    /// Assumes that a predicate has a value.
    fn assume(&mut self, predicate: Form, value: bool, depth: usize) {
        if self.evaluate(predicate, depth) == Some(!value) {
            self.impossible = true;
        }
        let sum = *self.engine.values.forms.sum(predicate);
        let mut terms = sum.terms();
        if let (Some((base, _)), None) = (terms.next(), terms.next()) {
            self.base_is(base, value ^ (sum.offset() & 1 != 0), depth);
        }
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
            Computation::Compare if b != Form::NONE && detail >> 16 == 1 => {
                let (one, other) = (self.number(a, depth), self.number(b, depth));
                let signed = detail >> 8 & 1 != 0;
                let width = u32::from(one.width);
                let positive = |number: Number| number.high >> (width - 1) == 0;
                if signed && !(positive(one) && positive(other)) {
                    return;
                }
                if value {
                    let (Some(most), Some(least)) = (other.high.checked_sub(1), one.low.checked_add(1))
                    else {
                        self.impossible = true;
                        return;
                    };
                    self.limit(a, 0, most, depth);
                    self.limit(b, least, mask(width), depth);
                } else {
                    self.limit(a, other.low, mask(width), depth);
                    self.limit(b, 0, one.high, depth);
                }
            }
            _ => {}
        }
    }

    fn limit(&mut self, form: Form, low: u64, high: u64, depth: usize) {
        if low > high {
            self.impossible = true;
            return;
        }
        let width = self.engine.values.forms.sum(form).width();
        self.narrow(form, Number::between(width, low, high), depth);
    }

    /// Assumes that a sum lies between the limits of a number.
    fn narrow(&mut self, form: Form, number: Number, depth: usize) {
        let Some(depth) = depth.checked_sub(1) else { return };
        let sum = *self.engine.values.forms.sum(form);
        let all = mask(sum.width());
        let mut terms = sum.terms();
        let (Some((base, factor)), None) = (terms.next(), terms.next()) else { return };
        let (low, high) = match factor {
            1 => (number.low.wrapping_sub(sum.offset()) & all, number.high.wrapping_sub(sum.offset()) & all),
            _ if factor == all => {
                (sum.offset().wrapping_sub(number.high) & all, sum.offset().wrapping_sub(number.low) & all)
            }
            _ => return,
        };
        // Limits that went round the end say nothing.
        if low > high {
            return;
        }
        let known = self.base(base, sum.width(), depth);
        let (low, high) = (low.max(known.low), high.min(known.high));
        if low > high {
            self.impossible = true;
            return;
        }
        self.numbers.insert(base, Number::between(sum.width(), low, high).with_bits(known.zeros, known.ones));
        if let Base::Operation { computes: Computation::ShiftRight, detail, operands: [whole, Form::NONE, _] } =
            self.engine.values.forms.what(base)
            && detail >> 8 & 1 == 0
        {
            let by = (detail >> 16) as u32;
            let up = |value: u64| value.checked_shl(by).unwrap_or(0) & all;
            self.limit(whole, up(low), up(high) | mask(by), depth);
        }
    }

    /// What is known of a base.
    fn base(&self, base: BaseId, width: u32, depth: usize) -> Number {
        if let Some(number) = self.numbers.get(&base) {
            return number.extended(width);
        }
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
                let now = self.number(one, depth).and(self.number(other, depth)).extended(width);
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
        let sum: &Sum = self.engine.values.forms.sum(form);
        let width = sum.width();
        sum.terms().fold(Number::constant(width, sum.offset()), |number, (base, factor)| {
            let term = self.base(base, width, depth);
            match factor == mask(width) {
                true => number.subtract(term),
                false => number.plus(term.multiply(Number::constant(width, factor))),
            }
        })
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
        if let Some(value) = self.truths.get(&base) {
            return Some(*value);
        }
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
                let (one, other) = (self.number(a, depth), self.number(b, depth));
                let positive = |number: Number| number.high >> (number.width - 1) == 0;
                if detail >> 8 & 1 != 0 && !(positive(one) && positive(other)) {
                    return None;
                }
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
