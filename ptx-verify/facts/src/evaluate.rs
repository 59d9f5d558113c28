//! What instructions compute of numbers.

use ptx_ir::isa::{Comparison, Computation, Instance, Mode};
use ptx_ir::types::{Type, TypeKind};

use crate::values::is_signed;
use crate::values::number::{mask, width};

/// A computation with the widths that it works in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shape {
    pub(crate) computation: Computation,
    /// Bits of the sources.
    pub(crate) bits: u32,
    /// Whether these have a sign.
    pub(crate) signed: bool,
    /// Bits of the result before it is fitted into its register.
    pub(crate) result: u32,
    /// Bits of the register of the result.
    register: u32,
    comparison: Option<Comparison>,
    right: bool,
    wrap: bool,
    combined: Option<Mode>,
    pub(crate) mode: Option<Mode>,
}

impl Shape {
    /// The shape of an instruction whose result goes into a register of so many bits; none where numbers do not tell what
    /// it computes.
    pub(crate) fn of(instance: &Instance, register: u32) -> Option<Self> {
        let computation = instance.effects.computes?;
        let carries = instance.effects.carry.is_some_and(|carry| carry.reads);
        let ty = instance.ty.unwrap_or(Type::B32);
        let plain = !matches!(ty.kind(), TypeKind::Float | TypeKind::Packed | TypeKind::Opaque)
            || matches!(computation, Computation::Move | Computation::Select);
        if carries || !plain || instance.is(Mode::Saturate) {
            return None;
        }
        let (mut bits, mut signed) = (width(ty), is_signed(ty));
        let mut result = match computation {
            Computation::MultiplyWide | Computation::MultiplyAddWide => (2 * bits).min(64),
            Computation::Compare | Computation::Vote => 1,
            _ => bits,
        };
        if computation == Computation::Convert {
            let mut types = instance.modifiers.iter().filter_map(|word| Type::parse(word));
            let (to, from) = (types.next()?, types.next()?);
            if !to.is_integer() || !from.is_integer() {
                return None;
            }
            (bits, signed, result) = (width(from), is_signed(from), width(to));
        }
        if matches!(
            computation,
            Computation::CountOnes | Computation::LeadingZeros | Computation::HighestBit | Computation::Match
        ) {
            result = 32;
        }
        let first = |modes: &[Mode]| modes.iter().copied().find(|&mode| instance.is(mode));
        Some(Self {
            computation,
            bits,
            signed,
            result,
            register,
            comparison: instance.effects.compares,
            right: instance.is(Mode::Right),
            wrap: instance.is(Mode::Wrap),
            combined: first(&[Mode::And, Mode::Or, Mode::Xor]),
            mode: first(&[
                Mode::All,
                Mode::Any,
                Mode::Uniform,
                Mode::Butterfly,
                Mode::Indexed,
                Mode::LowerLane,
                Mode::HigherLane,
                Mode::Distance,
            ]),
        })
    }

    /// A computation of unsigned numbers with so many bits.
    #[cfg(test)]
    pub(crate) const fn computing(computation: Computation, bits: u32) -> Self {
        Self { computation, ..Self::moved(bits, bits) }
    }

    /// A comparison of numbers with so many bits.
    #[cfg(test)]
    pub(crate) const fn comparing(bits: u32, signed: bool, comparison: Comparison) -> Self {
        let comparison = Some(comparison);
        Self {
            computation: Computation::Compare,
            signed,
            comparison,
            result: 1,
            register: 1,
            ..Self::moved(bits, bits)
        }
    }

    /// How it compares two numbers, if it does nothing else.
    pub(crate) fn compares(&self) -> Option<Comparison> {
        self.comparison.filter(|_| self.computation == Computation::Compare && self.combined.is_none())
    }

    /// Whether the register of the result has the bits of the result, or zeros above them.
    pub(crate) const fn is_whole(&self) -> bool {
        self.register <= self.result || !self.signed
    }

    /// A move of so many bits into a register.
    pub(crate) const fn moved(bits: u32, register: u32) -> Self {
        Self {
            computation: Computation::Move,
            bits,
            signed: false,
            result: bits,
            register,
            comparison: None,
            right: false,
            wrap: false,
            combined: None,
            mode: None,
        }
    }

    /// The result of the sources, fitted into its register; none where it is not known.
    pub(crate) fn evaluate(&self, sources: [u64; 4]) -> Option<u64> {
        let result = self.result_of(sources)? & mask(self.result);
        let extends = self.signed && self.register > self.result && self.result > 1;
        Some(if extends { sign(result, self.result) as u64 & mask(self.register) } else { result })
    }

    /// The results for several lanes at once, each as of [`Self::evaluate`]; none for what is rarely computed, or where one is not
    /// known.
    pub(crate) fn evaluate_lanes<const N: usize>(&self, [a, b, c]: [&[u64; N]; 3]) -> Option<[u64; N]> {
        use Computation as C;
        let w = self.bits;
        let low = mask(w);
        let signed = self.signed;
        let wide = |number: u64| if signed { sign(number & low, w) as u64 } else { number & low };
        let mut results = match self.computation {
            C::Move => *a,
            C::Not => lanes(|at| !a[at]),
            C::And => lanes(|at| a[at] & b[at] & low),
            C::Or => lanes(|at| (a[at] | b[at]) & low),
            C::Xor => lanes(|at| (a[at] ^ b[at]) & low),
            C::Add => lanes(|at| (a[at] & low).wrapping_add(b[at] & low)),
            C::Subtract => lanes(|at| (a[at] & low).wrapping_sub(b[at] & low)),
            C::Multiply => lanes(|at| (a[at] & low).wrapping_mul(b[at] & low)),
            C::MultiplyAdd => lanes(|at| (a[at] & low).wrapping_mul(b[at] & low).wrapping_add(c[at])),
            C::MultiplyWide => lanes(|at| wide(a[at]).wrapping_mul(wide(b[at]))),
            C::MultiplyAddWide => lanes(|at| wide(a[at]).wrapping_mul(wide(b[at])).wrapping_add(c[at])),
            C::Convert => lanes(|at| wide(a[at])),
            C::Select => lanes(|at| if c[at] & 1 != 0 { a[at] } else { b[at] }),
            C::ShiftLeft | C::ShiftRight => {
                let by = b[0] & mask(32);
                if by >= u64::from(w) || b.iter().any(|other| *other != b[0]) {
                    return None;
                }
                match self.computation {
                    C::ShiftLeft => lanes(|at| (a[at] & low) << by),
                    _ if signed => lanes(|at| (sign(a[at] & low, w) >> by) as u64),
                    _ => lanes(|at| (a[at] & low) >> by),
                }
            }
            C::Compare if self.combined.is_none() => {
                let flip = if signed { 1 << (w - 1) } else { 0 };
                let x: [u64; N] = lanes(|at| a[at] & low ^ flip);
                let y: [u64; N] = lanes(|at| b[at] & low ^ flip);
                match self.comparison? {
                    Comparison::Equal => lanes(|at| u64::from(x[at] == y[at])),
                    Comparison::NotEqual => lanes(|at| u64::from(x[at] != y[at])),
                    Comparison::Less => lanes(|at| u64::from(x[at] < y[at])),
                    Comparison::LessOrEqual => lanes(|at| u64::from(x[at] <= y[at])),
                    Comparison::Greater => lanes(|at| u64::from(x[at] > y[at])),
                    Comparison::GreaterOrEqual => lanes(|at| u64::from(x[at] >= y[at])),
                    _ => return None,
                }
            }
            _ => return None,
        };
        let fitted = mask(self.result);
        results.iter_mut().for_each(|each| *each &= fitted);
        if self.signed && self.register > self.result && self.result > 1 {
            let whole = mask(self.register);
            results.iter_mut().for_each(|each| *each = sign(*each, self.result) as u64 & whole);
        }
        Some(results)
    }

    fn result_of(&self, sources: [u64; 4]) -> Option<u64> {
        use Computation as C;
        let w = self.bits;
        let [a, b, c, d] = sources;
        let (x, y) = (a & mask(w), b & mask(w));
        let (sx, sy) = (sign(x, w), sign(y, w));
        let signed = self.signed;
        let wide = |number: u64| if signed { sign(number & mask(w), w) as u64 } else { number & mask(w) };
        Some(match self.computation {
            C::Move => a,
            C::Not => !x,
            C::And => x & y,
            C::Or => x | y,
            C::Xor => x ^ y,
            C::Add => x.wrapping_add(y),
            C::Subtract => x.wrapping_sub(y),
            C::Negate => x.wrapping_neg(),
            C::Multiply => x.wrapping_mul(y),
            C::MultiplyAdd => x.wrapping_mul(y).wrapping_add(c),
            C::MultiplyWide => wide(x).wrapping_mul(wide(y)),
            C::MultiplyAddWide => wide(x).wrapping_mul(wide(y)).wrapping_add(c),
            C::MultiplyHigh if signed => ((i128::from(sx) * i128::from(sy)) >> w) as u64,
            C::MultiplyHigh => ((u128::from(x) * u128::from(y)) >> w) as u64,
            C::Divide if y == 0 => return None,
            C::Divide if signed => sx.wrapping_div(sy) as u64,
            C::Divide => x / y,
            C::Remainder if y == 0 => return None,
            C::Remainder if signed => sx.wrapping_rem(sy) as u64,
            C::Remainder => x % y,
            C::ShiftLeft => shifted(b & mask(32), w, |by| x << by, 0),
            C::ShiftRight if signed => shifted(b & mask(32), w, |by| (sx >> by) as u64, (sx >> 63) as u64),
            C::ShiftRight => shifted(b & mask(32), w, |by| x >> by, 0),
            C::Select => {
                if c & 1 != 0 {
                    a
                } else {
                    b
                }
            }
            C::Convert => wide(x),
            C::Minimum if signed => sx.min(sy) as u64,
            C::Minimum => x.min(y),
            C::Maximum if signed => sx.max(sy) as u64,
            C::Maximum => x.max(y),
            C::Absolute => sx.wrapping_abs() as u64,
            C::CountOnes => u64::from(x.count_ones()),
            C::LeadingZeros => u64::from(x.leading_zeros() + w - 64),
            C::HighestBit => {
                let own = if signed && sx < 0 { !x & mask(w) } else { x };
                match own.checked_ilog2() {
                    Some(place) if self.mode == Some(Mode::Distance) => u64::from(w - 1 - place),
                    Some(place) => u64::from(place),
                    None => u64::MAX,
                }
            }
            C::ReverseBits => x.reverse_bits() >> (64 - w),
            C::ExtractField if !signed => {
                shifted(b & 255, w, |by| x >> by, 0) & mask((c & 255).min(64) as u32)
            }
            C::InsertField => {
                let (from, length) = (c & 255, (d & 255).min(64) as u32);
                let field = shifted(from, 64, |by| mask(length) << by, 0);
                y & !field | shifted(from, 64, |by| x << by, 0) & field
            }
            C::Logic3 => (0..8).filter(|index| d >> index & 1 != 0).fold(0, |all, index| {
                let pick = |number: u64, bit: u32| if index >> bit & 1 != 0 { number } else { !number };
                all | pick(a, 2) & pick(b, 1) & pick(c, 0)
            }),
            C::FunnelShift => {
                let by = if self.wrap { c & 31 } else { (c & mask(32)).min(32) };
                let both = (b & mask(32)) << 32 | a & mask(32);
                if self.right { both >> by } else { (both << by) >> 32 }
            }
            C::Permute => (0..4).fold(0, |all, byte| {
                let (both, chosen) = ((b & mask(32)) << 32 | a & mask(32), c >> (4 * byte) & 15);
                let picked = both >> (8 * (chosen & 7)) & 255;
                let picked = if chosen & 8 == 0 {
                    picked
                } else if picked & 128 == 0 {
                    0
                } else {
                    255
                };
                all | picked << (8 * byte)
            }),
            C::Compare => {
                let order = if signed { sx.cmp(&sy) } else { x.cmp(&y) };
                let holds = match self.comparison? {
                    Comparison::Equal => order.is_eq(),
                    Comparison::NotEqual => order.is_ne(),
                    Comparison::Less => order.is_lt(),
                    Comparison::LessOrEqual => order.is_le(),
                    Comparison::Greater => order.is_gt(),
                    Comparison::GreaterOrEqual => order.is_ge(),
                    _ => return None,
                };
                let with = c & 1 != 0;
                u64::from(match self.combined {
                    None => holds,
                    Some(Mode::And) => holds && with,
                    Some(Mode::Or) => holds || with,
                    Some(_) => holds != with,
                })
            }
            _ => return None,
        })
    }
}

/// A number for each lane. A loop of one operation is what compilers make vectors of.
#[inline(always)]
fn lanes<const N: usize>(of: impl Fn(usize) -> u64) -> [u64; N] {
    let mut all = [0; N];
    (0..N).for_each(|at| all[at] = of(at));
    all
}

/// A number of so many bits with its sign.
fn sign(number: u64, bits: u32) -> i64 {
    let above = 64 - bits.clamp(1, 64);
    ((number << above) as i64) >> above
}

/// A shift by less than the width, or what comes of a longer one.
fn shifted(by: u64, width: u32, shift: impl Fn(u32) -> u64, beyond: u64) -> u64 {
    if by < u64::from(width) { shift(by as u32) } else { beyond }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers with all kinds of high bits.
    fn numbers(seed: u64) -> [u64; 8] {
        let mut state = seed;
        std::array::from_fn(|at| {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            match at {
                0 => 0,
                1 => u64::MAX,
                2 => 1 << 31,
                _ => state ^ state >> 29,
            }
        })
    }

    #[test]
    fn lanes_compute_what_each_computes() {
        use Computation as C;
        let computations = [
            C::Move,
            C::Not,
            C::And,
            C::Or,
            C::Xor,
            C::Add,
            C::Subtract,
            C::Multiply,
            C::MultiplyAdd,
            C::MultiplyWide,
            C::MultiplyAddWide,
            C::Convert,
            C::Select,
            C::ShiftLeft,
            C::ShiftRight,
            C::Compare,
        ];
        let comparisons = [
            Comparison::Equal,
            Comparison::NotEqual,
            Comparison::Less,
            Comparison::LessOrEqual,
            Comparison::Greater,
            Comparison::GreaterOrEqual,
        ];
        let mut compared = 0;
        for computation in computations {
            for (bits, register) in [(16, 16), (16, 32), (32, 32), (32, 64), (64, 64)] {
                for (signed, comparison) in [true, false]
                    .into_iter()
                    .zip(comparisons.chunks(3))
                    .flat_map(|(signed, some)| some.iter().map(move |&comparison| (signed, comparison)))
                {
                    let result = match computation {
                        C::MultiplyWide | C::MultiplyAddWide => (2 * bits).min(64),
                        C::Compare => 1,
                        _ => bits,
                    };
                    let moved = Shape::moved(bits, register);
                    let shape = Shape { computation, signed, result, comparison: Some(comparison), ..moved };
                    let (a, mut b, c) = (numbers(1), numbers(2), numbers(3));
                    if matches!(computation, C::ShiftLeft | C::ShiftRight) {
                        b = [u64::from(bits) - 3; 8];
                    }
                    let each: Vec<_> = (0..8).map(|at| shape.evaluate([a[at], b[at], c[at], 0])).collect();
                    let together = shape.evaluate_lanes([&a, &b, &c]);
                    assert_eq!(together.map(|all| all.map(Some).to_vec()), Some(each), "{shape:?}");
                    compared += 1;
                }
            }
        }
        assert_eq!(compared, computations.len() * 5 * 6);
    }
}
