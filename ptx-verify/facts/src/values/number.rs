//! What is known of a number of up to 64 bits: which of its bits are 0, which are 1, and between which limits it lies.
//!
//! A number is kept as it lies in a register: without a sign, with nothing above its width.

use std::cmp::{max, min};

use ptx_ir::types::Type;

/// What is known of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Bits of it: 1 to 64.
    pub width: u8,
    /// The bits that are 0. Those above the width are.
    pub zeros: u64,
    /// The bits that are 1.
    pub ones: u64,
    /// It is at least this,
    pub low: u64,
    /// and at most this.
    pub high: u64,
}

/// The width in which values are followed: of wider registers, the low half.
#[must_use]
#[inline]
pub fn width(ty: Type) -> u32 {
    ty.bits().min(64)
}

/// The number with this many low bits set.
#[must_use]
#[inline]
pub const fn mask(bits: u32) -> u64 {
    if bits >= 64 { u64::MAX } else { (1 << bits) - 1 }
}

impl Number {
    /// A number of which nothing is known.
    #[must_use]
    #[inline]
    pub const fn unknown(width: u32) -> Self {
        let all = mask(width);
        Self { width: width as u8, zeros: !all, ones: 0, low: 0, high: all }
    }

    /// This number.
    #[must_use]
    #[inline]
    pub const fn constant(width: u32, value: u64) -> Self {
        let value = value & mask(width);
        Self { width: width as u8, zeros: !value, ones: value, low: value, high: value }
    }

    /// A number between limits, both included.
    #[must_use]
    pub fn between(width: u32, low: u64, high: u64) -> Self {
        Self { low, high, ..Self::unknown(width) }.settled()
    }

    fn of_bits(width: u32, zeros: u64, ones: u64) -> Self {
        Self { zeros: zeros | !mask(width), ones: ones & mask(width), ..Self::unknown(width) }.settled()
    }

    /// The same, where also these bits are known.
    #[must_use]
    pub fn with_bits(self, zeros: u64, ones: u64) -> Self {
        Self { zeros: self.zeros | zeros, ones: self.ones | ones, ..self }.settled()
    }

    /// Bits that both limits have are known, and limits are no wider than the bits allow.
    fn settled(mut self) -> Self {
        self.low = max(self.low, self.ones);
        self.high = min(self.high, !self.zeros);
        if self.low > self.high || self.ones & self.zeros != 0 {
            // It cannot be; whatever is said of it holds.
            return Self::unknown(self.bits());
        }
        let same = !mask(64 - (self.low ^ self.high).leading_zeros());
        self.ones |= self.low & same;
        self.zeros |= !self.low & same;
        self
    }

    /// The value, where all of it is known.
    #[must_use]
    #[inline]
    pub const fn value(self) -> Option<u64> {
        if self.low == self.high { Some(self.low) } else { None }
    }

    /// The bits of which it is known what they are.
    #[must_use]
    pub const fn known(self) -> u64 {
        self.zeros | self.ones
    }

    /// How many of the low bits are known.
    #[must_use]
    pub const fn known_low(self) -> u32 {
        self.known().trailing_ones()
    }

    fn bits(self) -> u32 {
        u32::from(self.width)
    }

    /// One or the other.
    #[must_use]
    pub fn join(self, other: Self) -> Self {
        Self {
            width: max(self.width, other.width),
            zeros: self.zeros & other.zeros,
            ones: self.ones & other.ones,
            low: min(self.low, other.low),
            high: max(self.high, other.high),
        }
    }

    /// The join with what it was before. Where that moved a limit, or took bits away, limits are given up, and all bits
    /// but the low ones that are known without a gap: those are what a loop leaves alone.
    #[must_use]
    pub fn widened(self, before: Self) -> Self {
        let joined = self.join(before);
        if joined == before {
            return before;
        }
        let kept = mask(joined.known_low());
        Self::of_bits(self.bits(), joined.zeros & kept, joined.ones & kept)
    }

    /// The sum, without what does not fit.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        match (self.high, other.high) {
            (_, 0) => self,
            (0, _) if self.width == other.width => other,
            _ => self.sum(other, 0),
        }
    }

    /// The sum with some times another, as terms of sums are added.
    #[must_use]
    pub fn plus_times(self, other: Self, factor: u64) -> Self {
        match factor {
            1 => self.plus(other),
            // `-x` is better subtracted than multiplied.
            _ if factor == mask(self.bits()) => self.subtract(other),
            _ => self.plus(other.multiply(Self::constant(self.bits(), factor))),
        }
    }

    fn sum(self, other: Self, carry: u64) -> Self {
        let all = mask(self.bits());
        // The carries of the largest and of the smallest sum; the others lie between.
        let most = (!self.zeros).wrapping_add(!other.zeros).wrapping_add(carry);
        let least = self.ones.wrapping_add(other.ones).wrapping_add(carry);
        let carry_is_0 = !(most ^ self.zeros ^ other.zeros);
        let carry_is_1 = least ^ self.ones ^ other.ones;
        let known = self.known() & other.known() & (carry_is_0 | carry_is_1);
        let bits = Self::of_bits(self.bits(), !most & known, least & known);
        let total = |one: u64, other: u64| u128::from(one) + u128::from(other) + u128::from(carry);
        let (low, high) = (total(self.low, other.low), total(self.high, other.high));
        // Between limits that both fit, or that both do not, nothing wraps.
        if low >> self.width != high >> self.width {
            return bits;
        }
        let (low, high) = (low as u64 & all, high as u64 & all);
        Self { low: max(bits.low, low), high: min(bits.high, high), ..bits }.settled()
    }

    /// The difference, without what does not fit.
    #[must_use]
    pub fn subtract(self, other: Self) -> Self {
        let bits = self.sum(other.inverted(), 1);
        let bits = Self::of_bits(self.bits(), bits.zeros, bits.ones);
        // Where all differences borrow, or none does, they lie between those of the limits.
        if self.low >= other.high || self.high < other.low {
            let all = mask(self.bits());
            let (low, high) =
                (self.low.wrapping_sub(other.high) & all, self.high.wrapping_sub(other.low) & all);
            return Self { low: max(bits.low, low), high: min(bits.high, high), ..bits }.settled();
        }
        bits
    }

    /// Every bit the other way.
    #[must_use]
    pub fn inverted(self) -> Self {
        let all = mask(self.bits());
        Self {
            zeros: self.ones | !all,
            ones: self.zeros & all,
            low: all - self.high,
            high: all - self.low,
            ..self
        }
    }

    /// Bit by bit.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        let bits = Self::of_bits(self.bits(), self.zeros | other.zeros, self.ones & other.ones);
        Self { high: min(bits.high, min(self.high, other.high)), ..bits }.settled()
    }

    /// Bit by bit.
    #[must_use]
    pub fn or(self, other: Self) -> Self {
        let bits = Self::of_bits(self.bits(), self.zeros & other.zeros, self.ones | other.ones);
        Self { low: max(bits.low, max(self.low, other.low)), ..bits }.settled()
    }

    /// Bit by bit.
    #[must_use]
    pub fn xor(self, other: Self) -> Self {
        let zeros = (self.zeros & other.zeros) | (self.ones & other.ones);
        let ones = (self.zeros & other.ones) | (self.ones & other.zeros);
        Self::of_bits(self.bits(), zeros, ones & mask(self.bits()))
    }

    /// The product, without what does not fit.
    #[must_use]
    pub fn multiply(self, other: Self) -> Self {
        let all = mask(self.bits());
        match (self.value(), other.value()) {
            (Some(one), Some(other)) => return Self::constant(self.bits(), one.wrapping_mul(other)),
            (_, Some(1)) => return self,
            _ => {}
        }
        let zeros = |number: Self| number.zeros.trailing_ones();
        let known = min(self.known_low() + zeros(other), other.known_low() + zeros(self));
        let (product, low) = (self.ones.wrapping_mul(other.ones), mask(min(known, 64)));
        let bits = Self::of_bits(self.bits(), !product & low, product & low & all);
        match self.high.checked_mul(other.high) {
            Some(high) if high <= all => {
                let low = self.low.saturating_mul(other.low);
                Self { low: max(bits.low, low), high: min(bits.high, high), ..bits }.settled()
            }
            _ => bits,
        }
    }

    /// The upper half of the product of numbers without sign.
    #[must_use]
    pub fn multiply_high(self, other: Self) -> Self {
        let half = |one: u64, other: u64| ((u128::from(one) * u128::from(other)) >> self.width) as u64;
        Self::between(self.bits(), half(self.low, other.low), half(self.high, other.high))
    }

    /// The quotient of numbers without sign.
    #[must_use]
    pub fn divide(self, other: Self) -> Self {
        match other.low.checked_sub(1) {
            Some(_) => Self::between(self.bits(), self.low / other.high, self.high / other.low),
            None => Self::unknown(self.bits()),
        }
    }

    /// The remainder of numbers without sign.
    #[must_use]
    pub fn remainder(self, other: Self) -> Self {
        match other.value() {
            Some(0) | None => match other.low {
                0 => Self::unknown(self.bits()),
                _ => Self::between(self.bits(), 0, min(self.high, other.high - 1)),
            },
            Some(divisor) if divisor.is_power_of_two() => self.and(Self::constant(self.bits(), divisor - 1)),
            Some(divisor) if self.high < divisor => self,
            Some(divisor) => Self::between(self.bits(), 0, divisor - 1),
        }
    }

    /// Shifted to the left by a known distance; by the width or more, nothing is left.
    #[must_use]
    pub fn shift_left(self, by: u64) -> Self {
        if by >= u64::from(self.width) {
            return Self::constant(self.bits(), 0);
        }
        let all = mask(self.bits());
        let bits = Self::of_bits(self.bits(), self.zeros << by | mask(by as u32), self.ones << by & all);
        if self.high <= all >> by {
            return Self {
                low: max(bits.low, self.low << by),
                high: min(bits.high, self.high << by),
                ..bits
            }
            .settled();
        }
        bits
    }

    /// Shifted to the right by a known distance; zeros come in.
    #[must_use]
    pub fn shift_right(self, by: u64) -> Self {
        if by >= u64::from(self.width) {
            return Self::constant(self.bits(), 0);
        }
        let above = !mask(self.bits() - by as u32);
        let bits = Self::of_bits(self.bits(), self.zeros >> by | above, self.ones >> by);
        Self { low: max(bits.low, self.low >> by), high: min(bits.high, self.high >> by), ..bits }.settled()
    }

    /// Shifted to the right by a known distance; the highest bit comes in.
    #[must_use]
    pub fn shift_right_signed(self, by: u64) -> Self {
        let by = min(by, u64::from(self.width) - 1);
        let sign = 1_u64 << (self.width - 1);
        if self.zeros & sign != 0 {
            return self.shift_right(by);
        }
        let all = mask(self.bits());
        let moved = |bits: u64| {
            let filled = if bits & sign != 0 { bits | !all } else { bits & all };
            ((filled as i64) >> by) as u64 & all
        };
        Self::of_bits(self.bits(), moved(self.zeros & all), moved(self.ones))
    }

    /// The low bits.
    #[must_use]
    pub fn cut(self, width: u32) -> Self {
        if width >= self.bits() {
            return self.extended(width);
        }
        let all = mask(width);
        let bits = Self::of_bits(width, self.zeros, self.ones & all);
        if self.high <= all {
            return Self { low: max(bits.low, self.low), high: min(bits.high, self.high), ..bits }.settled();
        }
        bits
    }

    /// The same with zeros above.
    #[must_use]
    pub fn extended(self, width: u32) -> Self {
        if width < self.bits() {
            return self.cut(width);
        }
        Self { width: width as u8, ..self }
    }

    /// The same with the highest bit above.
    #[must_use]
    pub fn extended_signed(self, width: u32) -> Self {
        if width <= self.bits() {
            return self.cut(width);
        }
        let sign = 1_u64 << (self.width - 1);
        if self.zeros & sign != 0 {
            return self.extended(width);
        }
        let above = mask(width) & !mask(self.bits());
        let (zeros, ones) = (self.zeros & mask(self.bits()), self.ones);
        Self::of_bits(width, zeros, if ones & sign != 0 { ones | above } else { ones })
    }

    /// The smaller one, of numbers without sign.
    #[must_use]
    pub fn minimum(self, other: Self) -> Self {
        let bits = self.join(other);
        Self { low: min(self.low, other.low), high: min(self.high, other.high), ..bits }.settled()
    }

    /// The larger one, of numbers without sign.
    #[must_use]
    pub fn maximum(self, other: Self) -> Self {
        let bits = self.join(other);
        Self { low: max(self.low, other.low), high: max(self.high, other.high), ..bits }.settled()
    }
}

#[cfg(test)]
mod tests {
    use super::{Number, mask};

    /// All that is known of numbers of four bits, by a few shapes.
    fn some() -> Vec<Number> {
        let mut all = vec![Number::unknown(4)];
        for low in 0..16 {
            for high in low..16 {
                all.push(Number::between(4, low, high));
            }
        }
        for zeros in 0..16 {
            for ones in (0..16).filter(|ones| ones & zeros == 0) {
                all.push(Number::of_bits(4, zeros, ones));
            }
        }
        all
    }

    fn values(number: Number) -> impl Iterator<Item = u64> {
        (0..16).filter(move |&value| holds(number, value))
    }

    fn holds(number: Number, value: u64) -> bool {
        value & number.zeros == 0
            && value & number.ones == number.ones
            && (number.low..=number.high).contains(&value)
    }

    #[test]
    fn results_hold_for_all_operands() {
        type Binary = (&'static str, fn(Number, Number) -> Number, fn(u64, u64) -> u64);
        let all: [Binary; 11] = [
            ("add", Number::plus, |a, b| (a + b) & 15),
            ("subtract", Number::subtract, |a, b| a.wrapping_sub(b) & 15),
            ("multiply", Number::multiply, |a, b| (a * b) & 15),
            ("high", Number::multiply_high, |a, b| (a * b) >> 4),
            ("and", Number::and, |a, b| a & b),
            ("or", Number::or, |a, b| a | b),
            ("xor", Number::xor, |a, b| a ^ b),
            ("divide", Number::divide, |a, b| a.checked_div(b).unwrap_or(0)),
            ("remainder", Number::remainder, |a, b| a.checked_rem(b).unwrap_or(0)),
            ("minimum", Number::minimum, u64::min),
            ("maximum", Number::maximum, u64::max),
        ];
        let numbers: Vec<Number> = some().into_iter().step_by(5).collect();
        for (name, abstractly, concretely) in all {
            for &one in &numbers {
                for &other in &numbers {
                    let result = abstractly(one, other);
                    for a in values(one) {
                        for b in values(other) {
                            assert!(holds(result, concretely(a, b)), "{name} {a} {b}: {one:?} {other:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn shifts_and_extensions_hold() {
        for number in some() {
            for value in values(number) {
                let signed = |width: u32| {
                    let filled = if value & 8 != 0 { value | !15 } else { value };
                    filled & mask(width)
                };
                for by in 0..6 {
                    let left = if by < 4 { value << by & 15 } else { 0 };
                    assert!(holds(number.shift_left(by), left));
                    assert!(holds(number.shift_right(by), if by < 4 { value >> by } else { 0 }));
                    let arithmetic = (signed(64) as i64 >> by.min(3)) as u64 & 15;
                    assert!(holds(number.shift_right_signed(by), arithmetic), "{number:?} {value} {by}");
                }
                assert!(holds(number.inverted(), !value & 15));
                assert!(holds(number.cut(2), value & 3));
                assert!(holds(number.extended(8), value));
                assert!(holds(number.extended_signed(6), signed(6)));
            }
        }
    }

    #[test]
    fn constants_stay_constants() {
        let (six, three) = (Number::constant(32, 6), Number::constant(32, 3));
        assert_eq!(six.plus(three).value(), Some(9));
        assert_eq!(three.subtract(six).value(), Some(0xffff_fffd));
        assert_eq!(six.shift_left(2).value(), Some(24));
        assert_eq!(Number::unknown(32).and(Number::constant(32, 31)).high, 31);
    }
}
