//! What is known of a number: its low bits.

use ptx_ir::types::Type;

/// The low bits of a number: it is `low` modulo two to the `known`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bits {
    /// The known bits; those above `known` are 0.
    pub low: u64,
    /// How many bits are known, 64 for a constant.
    pub known: u8,
}

impl Bits {
    /// Nothing known.
    pub const UNKNOWN: Self = Self { low: 0, known: 0 };

    /// A constant.
    #[must_use]
    pub const fn constant(value: u64) -> Self {
        Self { low: value, known: 64 }
    }

    /// The value, where all bits are known.
    #[must_use]
    pub const fn value(self) -> Option<i64> {
        if self.known >= 64 { Some(self.low as i64) } else { None }
    }

    pub(super) fn cut(low: u64, known: u32) -> Self {
        let known = known.min(64) as u8;
        let mask = if known == 64 { u64::MAX } else { (1 << known) - 1 };
        Self { low: low & mask, known }
    }

    pub(super) fn zeros(self) -> u32 {
        if self.low == 0 { u32::from(self.known) } else { self.low.trailing_zeros() }
    }

    pub(super) fn join(self, other: Self) -> Self {
        let known = self.known.min(other.known);
        let agree = (self.low ^ other.low).trailing_zeros();
        Self::cut(self.low, u32::from(known).min(agree))
    }

    pub(super) fn add(self, other: Self) -> Self {
        Self::cut(self.low.wrapping_add(other.low), u32::from(self.known.min(other.known)))
    }

    pub(super) fn subtract(self, other: Self) -> Self {
        Self::cut(self.low.wrapping_sub(other.low), u32::from(self.known.min(other.known)))
    }

    pub(super) fn multiply(self, other: Self) -> Self {
        let known = (u32::from(self.known) + other.zeros()).min(u32::from(other.known) + self.zeros());
        Self::cut(self.low.wrapping_mul(other.low), known)
    }

    pub(super) fn shift_left(self, distance: Self) -> Self {
        match distance.value() {
            Some(by @ 0..=63) => Self::cut(self.low << by, u32::from(self.known) + by as u32),
            _ => Self::UNKNOWN,
        }
    }

    pub(super) fn and(self, other: Self) -> Self {
        let known = self.known.min(other.known);
        // Bits that are known to be 0 stay 0 whatever the other operand has there.
        let zeros = self.zeros().max(other.zeros());
        let low = if zeros > u32::from(known) { 0 } else { self.low & other.low };
        Self::cut(low, u32::from(known).max(zeros))
    }

    pub(super) fn xor(self, other: Self) -> Self {
        Self::cut(self.low ^ other.low, u32::from(self.known.min(other.known)))
    }

    /// Bits come down from above. What comes in at the top depends on the type, so that nothing is said of constants,
    /// of which all would be known.
    pub(super) fn shift_right(self, distance: Self) -> Self {
        match distance.value() {
            Some(by @ 0..=63) if self.known < 64 => {
                Self::cut(self.low >> by, u32::from(self.known).saturating_sub(by as u32))
            }
            _ => Self::UNKNOWN,
        }
    }

    pub(super) fn or(self, other: Self) -> Self {
        Self::cut(self.low | other.low, u32::from(self.known.min(other.known)))
    }

    /// The number in a register of a width: a constant is extended as its type says, else bits above are lost.
    pub(super) fn fit(self, ty: Option<Type>) -> Self {
        let Some(ty) = ty else { return self };
        let bits = ty.bits();
        if bits >= 64 {
            return self;
        }
        if u32::from(self.known) < bits {
            return self;
        }
        let low = self.low & ((1 << bits) - 1);
        let signed = ty.as_str().starts_with(".s") && low >> (bits - 1) != 0;
        Self::constant(if signed { low | (u64::MAX << bits) } else { low })
    }
}

#[cfg(test)]
mod tests {
    use super::Bits;
    use ptx_ir::types::Type;

    #[test]
    fn low_bits_survive_arithmetic() {
        let tid = Bits::UNKNOWN;
        let scaled = tid.shift_left(Bits::constant(2));
        assert_eq!((scaled.low, scaled.known), (0, 2));
        let odd = scaled.add(Bits::constant(6));
        assert_eq!((odd.low, odd.known), (2, 2));
        assert_eq!(tid.multiply(Bits::constant(24)), Bits { low: 0, known: 3 });
        assert_eq!(Bits::constant(5).join(Bits::constant(13)), Bits { low: 5, known: 3 });
        assert_eq!(tid.and(Bits::constant(!15_u64)).known, 4);
    }

    #[test]
    fn constants_are_extended_as_their_type_says() {
        let all_ones = Bits::constant(0xffff_ffff);
        assert_eq!(all_ones.fit(Some(Type::S32)).value(), Some(-1));
        assert_eq!(all_ones.fit(Some(Type::U32)).value(), Some(0xffff_ffff));
    }
}
