//! What comparisons ask, and what is known of their answers.

use ptx_ir::ir::Operand;
use ptx_ir::isa::{Comparison, Computation, Instance, Mode};
use ptx_ir::types::{Type, TypeKind};

use super::compute::{detail, is_positive, is_signed, signed_of, sorted};
use super::graph::ValueId;
use super::linear::{Base, Form};
use super::number::{Number, width};
use super::propagate::{Engine, Fact};

/// How a comparison that is made from others' orders them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// `a = b`
    Equal,
    /// `a < b`
    Less,
}

/// What a comparison asks: an order of its operands, perhaps with these exchanged, perhaps the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relation {
    /// The order.
    pub order: Order,
    /// Whether `b` is compared with `a`.
    pub swapped: bool,
    /// Whether the answer is the opposite.
    pub negated: bool,
}

impl Relation {
    /// The relation of a comparison of integers.
    #[must_use]
    pub fn of(instance: &Instance) -> Option<Self> {
        let relation = |order, swapped, negated| Some(Self { order, swapped, negated });
        match instance.effects.compares? {
            Comparison::Equal => relation(Order::Equal, false, false),
            Comparison::NotEqual => relation(Order::Equal, false, true),
            Comparison::Less => relation(Order::Less, false, false),
            Comparison::Greater => relation(Order::Less, true, false),
            Comparison::GreaterOrEqual => relation(Order::Less, false, true),
            Comparison::LessOrEqual => relation(Order::Less, true, true),
            _ => None,
        }
    }
}

impl Engine<'_, '_> {
    /// A predicate of two numbers, and of another predicate.
    pub(super) fn compare(
        &mut self,
        instruction: u32,
        instance: &Instance,
        operands: &[Operand],
        result: ptx_ir::ir::Register,
    ) -> Option<Fact> {
        let ty = instance.ty?;
        let mut answer = match ty.is_integer() || ty.kind() == TypeKind::Bits {
            true => self.compare_integers(instruction, instance, ty)?,
            false => self.compare_floats(instruction, instance, ty)?,
        };
        if let Operand::Pair(run) = operands.first()? {
            let is = |operand: &Operand| matches!(operand, Operand::Register { register, .. } if *register == result);
            if matches!(self.facts.body.children(*run), [first, second] if is(second) && !is(first)) {
                answer = self.negated(answer);
            }
        }
        if operands.len() > 3 {
            let third = self.predicate(instruction, 3)?;
            answer = if instance.is(Mode::And) {
                self.and(answer, third)
            } else if instance.is(Mode::Or) {
                self.or(answer, third)
            } else if instance.is(Mode::Xor) {
                self.xor(answer, third)
            } else {
                return None;
            };
        }
        Some(answer)
    }

    fn compare_integers(&mut self, instruction: u32, instance: &Instance, ty: Type) -> Option<Fact> {
        let w = width(ty);
        let relation = Relation::of(instance)?;
        let (a, b) = (self.operand(instruction, 1, w)?, self.operand(instruction, 2, w)?);
        let (a, b) = if relation.swapped { (b, a) } else { (a, b) };
        let answer = self.ordered(relation.order, a, b, is_signed(ty));
        Some(if relation.negated { self.negated(answer) } else { answer })
    }

    /// That the value which decides an indexed branch is an index.
    pub(crate) fn is_index(&mut self, value: ValueId, index: u64) -> Option<Fact> {
        let fact = self.values.of(value)?;
        let width = u32::from(fact.number.width);
        let index = self.constant(width, index);
        Some(self.ordered(Order::Equal, fact, index, false))
    }

    pub(super) fn ordered(&mut self, order: Order, a: Fact, b: Fact, signed: bool) -> Fact {
        let w = u32::from(a.number.width);
        let difference = self.sum(a).plus(self.sum(b), u64::MAX);
        let (one, other) = (a.number, b.number);
        let apart = one.zeros & other.ones != 0 || one.ones & other.zeros != 0;
        let apart = apart || one.high < other.low || other.high < one.low;
        let decided = match order {
            Order::Equal if difference.and_then(|sum| sum.value()) == Some(0) => Some(1),
            Order::Equal if difference.is_some_and(|sum| sum.value().is_some()) || apart => Some(0),
            Order::Equal => None,
            Order::Less if a.form == b.form => Some(0),
            Order::Less if signed && !(is_positive(one) && is_positive(other)) => {
                match (one.value(), other.value()) {
                    (Some(one), Some(other)) => Some(u64::from(signed_of(one, w) < signed_of(other, w))),
                    _ => None,
                }
            }
            Order::Less if one.high < other.low => Some(1),
            Order::Less if one.low >= other.high => Some(0),
            Order::Less => None,
        };
        if let Some(value) = decided {
            return self.constant(1, value);
        }
        if let Some(answer) = self.chosen(order, a, b, signed) {
            return answer;
        }
        let unknown = Number::unknown(1);
        match (order, difference) {
            (Order::Equal, Some(difference)) => {
                // `a = b` is `b = a`.
                let (one, other) = (difference, difference.times(u64::MAX));
                let (one, other) = (self.values.forms.form(one), self.values.forms.form(other));
                let fact = Fact { number: Number::unknown(w), form: one.min(other) };
                self.fact(unknown, None, detail(Computation::Compare, w, false, 0), &[fact])
            }
            (Order::Equal, None) => {
                self.fact(unknown, None, detail(Computation::Compare, w, false, 0), &sorted(a, b))
            }
            (Order::Less, _) => self.fact(unknown, None, detail(Computation::Compare, w, signed, 1), &[a, b]),
        }
    }

    /// A comparison with a number of what a `selp` chose from two numbers: it asks what the `selp` was told.
    fn chosen(&mut self, order: Order, a: Fact, b: Fact, signed: bool) -> Option<Fact> {
        let selection = |engine: &Self, fact: Fact| {
            let sum = engine.sum(fact);
            let mut terms = sum.terms();
            let (Some((base, 1)), None, 0) = (terms.next(), terms.next(), sum.offset()) else { return None };
            match engine.values.forms.what(base) {
                Base::Operation { computes: Computation::Select, operands, .. } => Some(operands),
                _ => None,
            }
        };
        let of_a = selection(self, a).filter(|_| b.number.value().is_some());
        let of_b = selection(self, b).filter(|_| a.number.value().is_some());
        let [condition, first, second] = of_a.or(of_b)?;
        let mut answer = |form: Form| {
            let width = u32::from(a.number.width);
            let value = self.values.forms.sum(form).value()?;
            let choice = self.constant(width, value);
            let (a, b) = if of_a.is_some() { (choice, b) } else { (a, choice) };
            self.ordered(order, a, b, signed).number.value()
        };
        let (first, second) = (answer(first)?, answer(second)?);
        let condition = Fact { number: Number::unknown(1), form: condition };
        Some(match (first, second) {
            (0, 0) => self.constant(1, 0),
            (0, _) => self.negated(condition),
            (_, 0) => condition,
            _ => self.constant(1, 1),
        })
    }
}
