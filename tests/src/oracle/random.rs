//! A small generator of random numbers, so that a seed gives the same probes everywhere.

/// Marsaglia's xorshift with 64 bits.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    /// The next number.
    pub const fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// A number below `limit`; 0 where that is 0.
    pub const fn below(&mut self, limit: usize) -> usize {
        if limit == 0 { 0 } else { (self.next() >> 11) as usize % limit }
    }

    /// One of some things.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.below(things.len()))
    }

    /// True once in `times`.
    pub const fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }
}
