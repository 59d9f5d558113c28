//! Comparisons of floating-point numbers: decided for constants, else the same for the same operands.

use ptx_ir::isa::{Comparison, Computation, Instance};
use ptx_ir::types::Type;

use super::linear::Form;
use super::number::Number;
use super::propagate::{Engine, Fact};

/// What other comparisons are made of, by exchange of operands and the opposite answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FloatOrder {
    /// `a = b`
    Equal,
    /// `a = b`, or one is no number.
    EqualOrUnordered,
    /// `a < b`
    Less,
    /// `a <= b`
    LessOrEqual,
    /// Both are numbers.
    Ordered,
}

/// In the details of an operation, above the number of the order: these compare floating-point numbers.
const FLOAT: u64 = 16;

impl FloatOrder {
    const ALL: [Self; 5] =
        [Self::Equal, Self::EqualOrUnordered, Self::Less, Self::LessOrEqual, Self::Ordered];

    /// The order that a comparison asks for, whether its operands are exchanged, and whether it asks for the opposite.
    fn of(instance: &Instance) -> Option<(Self, bool, bool)> {
        use Comparison as C;
        Some(match instance.effects.compares? {
            C::Equal => (Self::Equal, false, false),
            C::NotEqualOrUnordered => (Self::Equal, false, true),
            C::EqualOrUnordered => (Self::EqualOrUnordered, false, false),
            C::NotEqual => (Self::EqualOrUnordered, false, true),
            C::Less => (Self::Less, false, false),
            C::GreaterOrEqualOrUnordered => (Self::Less, false, true),
            C::Greater => (Self::Less, true, false),
            C::LessOrEqualOrUnordered => (Self::Less, true, true),
            C::LessOrEqual => (Self::LessOrEqual, false, false),
            C::GreaterOrUnordered => (Self::LessOrEqual, false, true),
            C::GreaterOrEqual => (Self::LessOrEqual, true, false),
            C::LessOrUnordered => (Self::LessOrEqual, true, true),
            C::Ordered => (Self::Ordered, false, false),
            C::Unordered => (Self::Ordered, false, true),
        })
    }

    fn holds(self, a: f64, b: f64) -> bool {
        match self {
            Self::Equal => a == b,
            Self::EqualOrUnordered => a == b || a.is_nan() || b.is_nan(),
            Self::Less => a < b,
            Self::LessOrEqual => a <= b,
            Self::Ordered => !a.is_nan() && !b.is_nan(),
        }
    }
}

/// The number that bits are; none where `.ftz` would make another one of it.
fn number(bits: u64, width: u32) -> Option<f64> {
    match width {
        32 => Some(f32::from_bits(bits as u32)).filter(|number| !number.is_subnormal()).map(f64::from),
        64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

impl Engine<'_, '_> {
    /// A comparison of two operands as the instruction has it.
    pub(super) fn compare_floats(&mut self, instruction: u32, instance: &Instance, ty: Type) -> Option<Fact> {
        let (order, swapped, negated) = FloatOrder::of(instance)?;
        let w = match ty {
            Type::F32 => 32,
            Type::F64 => 64,
            _ => return None,
        };
        let (a, b) = (self.operand(instruction, 1, w)?, self.operand(instruction, 2, w)?);
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        let more = FLOAT + FloatOrder::ALL.iter().position(|other| *other == order)? as u64;
        let answer = self.float_order(u64::from(w) | more << 16, a, b)?;
        Some(if negated { self.negated(answer) } else { answer })
    }

    /// The same by the details of the operation; none where these are not of floating-point numbers.
    pub(super) fn float_order(&mut self, detail: u64, a: Fact, b: Fact) -> Option<Fact> {
        let order = *FloatOrder::ALL.get((detail >> 16).checked_sub(FLOAT)? as usize)?;
        let w = u32::from(a.number.width);
        let constants = a.number.value().zip(b.number.value());
        let numbers = constants.and_then(|(a, b)| number(a, w).zip(number(b, w)));
        if let Some((a, b)) = numbers {
            return Some(self.constant(1, u64::from(order.holds(a, b))));
        }
        let (a, b) = match order {
            FloatOrder::Less | FloatOrder::LessOrEqual => (a, b),
            // These may be exchanged.
            _ if b.form < a.form => (b, a),
            _ => (a, b),
        };
        Some(self.operation(Computation::Compare, detail, [a.form, b.form, Form::NONE], Number::unknown(1)))
    }
}

#[cfg(test)]
mod tests {
    use super::FloatOrder;

    #[test]
    fn what_is_no_number_is_in_no_order() {
        let nan = f64::NAN;
        assert!(!FloatOrder::Less.holds(nan, 1.0) && !FloatOrder::LessOrEqual.holds(1.0, nan));
        assert!(!FloatOrder::Equal.holds(nan, nan) && FloatOrder::EqualOrUnordered.holds(nan, 1.0));
        assert!(FloatOrder::Ordered.holds(1.0, -0.0) && !FloatOrder::Ordered.holds(nan, 1.0));
        assert!(FloatOrder::Equal.holds(0.0, -0.0));
    }
}
