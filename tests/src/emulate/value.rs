//! Values of up to 64 bits that know which of their bits are undefined, and from which reads that comes.

/// The reads that undefined bits come from: a set of at most 64, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origins(pub(super) u64);

impl Origins {
    pub(super) const NONE: Self = Self(0);

    pub(super) const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

/// A value. An undefined bit holds something all the same, as it does in a real register.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub bits: u64,
    /// A bit that is set here is undefined.
    pub undefined: u64,
    pub origins: Origins,
}

/// The lowest bits.
pub(super) const fn mask(width: u32) -> u64 {
    if width >= 64 { u64::MAX } else { (1 << width) - 1 }
}

/// A number of some bits with its sign.
pub(super) const fn signed(bits: u64, width: u32) -> i128 {
    let shift = 64 - if width > 64 { 64 } else { width };
    (((bits << shift) as i64) >> shift) as i128
}

impl Value {
    pub(super) const fn known(bits: u64) -> Self {
        Self { bits, undefined: 0, origins: Origins::NONE }
    }

    pub(super) const fn flag(bit: bool) -> Self {
        Self::known(bit as u64)
    }

    /// A value of some bits. What is wholly defined comes from nowhere.
    pub(super) const fn new(width: u32, bits: u64, undefined: u64, origins: Origins) -> Self {
        let undefined = undefined & mask(width);
        let origins = if undefined == 0 { Origins::NONE } else { origins };
        Self { bits: bits & mask(width), undefined, origins }
    }

    pub(super) const fn is_known(self) -> bool {
        self.undefined == 0
    }

    /// The number, if each bit is defined.
    pub(super) const fn number(self) -> Option<u64> {
        if self.undefined == 0 { Some(self.bits) } else { None }
    }

    /// The lowest bits of it.
    pub(super) const fn cut(self, width: u32) -> Self {
        Self::new(width, self.bits, self.undefined, self.origins)
    }

    /// From one width to another; the sign fills what is new.
    pub(super) const fn extended(self, from: u32, to: u32, sign: bool) -> Self {
        let cut = self.cut(from);
        if to <= from || !sign {
            return cut.cut(to);
        }
        let bits = signed(cut.bits, from) as u64;
        let undefined = signed(cut.undefined, from) as u64;
        Self::new(to, bits, undefined, cut.origins)
    }

    pub(super) const fn shifted_right(self, count: u32) -> Self {
        if count >= 64 {
            return Self::known(0);
        }
        Self::new(64, self.bits >> count, self.undefined >> count, self.origins)
    }

    pub(super) const fn shifted_left(self, count: u32) -> Self {
        if count >= 64 {
            return Self::known(0);
        }
        Self::new(64, self.bits << count, self.undefined << count, self.origins)
    }

    /// Both, where no bit of the two is at the same place.
    pub(super) const fn or_disjoint(self, other: Self) -> Self {
        let undefined = self.undefined | other.undefined;
        Self::new(64, self.bits | other.bits, undefined, self.origins.with(other.origins))
    }

    /// Inverted.
    pub(super) const fn inverted(self, width: u32) -> Self {
        Self::new(width, !self.bits, self.undefined, self.origins)
    }

    /// The smallest number that it may be.
    pub(super) const fn least(self) -> u64 {
        self.bits & !self.undefined
    }

    /// The largest number that it may be.
    pub(super) const fn most(self) -> u64 {
        self.bits | self.undefined
    }

    /// The smallest and the largest number that it may be.
    pub(super) const fn range(self, width: u32, sign: bool) -> (i128, i128) {
        let (least, most) = (self.least() & mask(width), self.most() & mask(width));
        if !sign {
            return (least as i128, most as i128);
        }
        // With an undefined sign the smallest number has it and the largest has not.
        let top = self.undefined & 1 << (width - 1);
        (signed(least | top, width), signed(most & !top, width))
    }
}
