//! How values vary between threads, and how that goes through instructions.

use super::Divergence;
use super::meeting::is_collective;
use crate::dataflow::FunctionFacts;
use crate::dataflow::values::{Value, Values};
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Convergence, Instance};

/// How a value varies, from least to most. [`Self::Warp`] and [`Self::Lane`] are the two halves of
/// [`Self::Thread`]; all from [`Self::Lane`] on differ within a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Variance {
    /// Not seen yet.
    #[default]
    Unset,
    /// The same in all threads, as far as is known.
    Uniform,
    /// The same in the threads of a warp.
    Warp,
    /// Different from lane to lane, and in each warp the same.
    Lane,
    /// A number whose bits below this one tell lanes apart and are in each warp the same, and whose bits from it on
    /// are the same in all threads: for `%laneid` it is bit 5.
    LaneIndex(u8),
    /// A number whose bits below this one tell lanes apart, in each warp alike, and whose bits from it on tell warps
    /// apart: for `%tid.x` it is bit 5.
    Index(u8),
    /// Different from thread to thread.
    Thread,
}

/// The bit of `%tid.x` from which on it tells warps apart.
const WARP_BIT: u8 = 5;

impl Variance {
    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Unset, value) | (value, Self::Unset) => value,
            _ => match (self.through(), other.through()) {
                (one @ (Self::Uniform | Self::Warp), other @ (Self::Uniform | Self::Warp))
                | (one @ (Self::Uniform | Self::Lane), other @ (Self::Uniform | Self::Lane)) => {
                    one.max(other)
                }
                _ => Self::Thread,
            },
        }
    }

    /// Of a value that a register has where threads come together that ran, or not, under a control that varies.
    pub(super) fn under(self, control: Self) -> Self {
        match (self, control) {
            (_, Self::Unset | Self::Uniform) => self,
            // Each warp has come one way or the other as a whole.
            (Self::Index(bit) | Self::LaneIndex(bit), Self::Warp) => Self::Index(bit),
            _ => self.join(control.through()),
        }
    }

    /// Of a value computed from this one.
    pub(super) fn through(self) -> Self {
        match self {
            Self::Index(_) => Self::Thread,
            Self::LaneIndex(_) => Self::Lane,
            _ => self,
        }
    }

    /// Of a value that each warp computes from those of all its lanes.
    fn of_all_lanes(self) -> Self {
        match self {
            Self::Unset | Self::Uniform | Self::Lane | Self::LaneIndex(_) => Self::Uniform,
            Self::Warp | Self::Index(_) | Self::Thread => Self::Warp,
        }
    }

    /// The bit from which on an index says nothing of the lane.
    fn bit(self) -> Option<u8> {
        match self {
            Self::Index(bit) | Self::LaneIndex(bit) => Some(bit),
            _ => None,
        }
    }

    /// An index of the same kind with another bit.
    fn with_bit(self, bit: u8) -> Self {
        if matches!(self, Self::LaneIndex(_)) { Self::LaneIndex(bit) } else { Self::Index(bit) }
    }

    /// Of this value times two to the `by`.
    fn moved_up(self, by: u64) -> Self {
        match self.bit() {
            Some(bit) if by < 64 - u64::from(bit) => self.with_bit(bit + by as u8),
            _ => self.through(),
        }
    }

    /// Of this value divided by two to the `by`.
    fn moved_down(self, by: u64) -> Self {
        match self.bit() {
            Some(bit) if by < u64::from(bit) => self.with_bit(bit - by as u8),
            _ => self.of_upper_bits(),
        }
    }

    /// Of what an index says without the lane.
    fn of_upper_bits(self) -> Self {
        match self {
            Self::Index(_) => Self::Warp,
            Self::LaneIndex(_) => Self::Uniform,
            _ => self,
        }
    }

    /// Of this value and a mask.
    fn masked(self, mask: u64) -> Self {
        let Some(bit) = self.bit() else { return self };
        let lanes = (1 << bit) - 1;
        if mask & lanes == 0 {
            self.of_upper_bits()
        } else if mask <= lanes && (mask + 1).is_power_of_two() {
            Self::LaneIndex(mask.trailing_ones() as u8)
        } else if mask <= lanes {
            Self::Lane
        } else if mask & lanes == lanes {
            self
        } else {
            self.through()
        }
    }
}

impl Divergence {
    pub(super) fn result(
        &self,
        facts: &FunctionFacts<'_>,
        values: &Values,
        handle: Handle<ptx_ir::ir::Instruction>,
        instance: &Instance,
    ) -> Variance {
        let operands = facts.body.operands(handle);
        if let (Some(Computation::Move | Computation::Convert), [_, source]) =
            (instance.effects.computes, operands)
        {
            return self.operand(facts, *source);
        }
        let sources = operands.iter().skip(1).fold(Variance::Uniform, |variance, source| {
            variance.join(self.operand(facts, *source).through())
        });
        let effects = &instance.effects;
        if effects.barrier {
            // All threads that meet there get the same.
            return Variance::Uniform;
        }
        if is_collective(instance) && instance.has(".idx") {
            let lane = operands.get(2).map(|&lane| self.operand(facts, lane));
            if lane.is_some_and(|lane| lane <= Variance::Warp) {
                // All lanes take the value of one.
                return sources.of_all_lanes();
            }
        }
        if is_collective(instance) {
            return if effects.thread_dependent {
                sources.join(Variance::Lane)
            } else {
                sources.of_all_lanes()
            };
        }
        if effects.convergence == Convergence::Aligned {
            // The warp computes it together: what one lane gets, all get, unless lanes pick differently.
            return if effects.thread_dependent { Variance::Thread } else { Variance::Warp };
        }
        if effects.thread_dependent || effects.atomic {
            return Variance::Thread;
        }
        self.of_index(facts, values, instance, operands).unwrap_or(sources)
    }

    /// Computations that keep apart what an index says of the warp and of the lane. Blocks and rows are taken to be
    /// whole warps, and what is added to an index to be the same in its warp or a number of warps.
    fn of_index(
        &self,
        facts: &FunctionFacts<'_>,
        values: &Values,
        instance: &Instance,
        operands: &[Operand],
    ) -> Option<Variance> {
        use Computation as C;
        let of = |operand: &Operand| self.operand(facts, *operand);
        let constant = |operand: &Operand| match operand {
            Operand::Integer { bits, .. } => Some(*bits),
            _ => None,
        };
        let is_index = |operand: &Operand| of(operand).bit().is_some();
        let computation = instance.effects.computes?;
        let moved = |index: Variance, distance: &Operand| match (index.bit(), constant(distance)) {
            (None, _) => index.join(of(distance)),
            (Some(bit), Some(distance)) if distance.trailing_zeros() < u32::from(bit) => index.through(),
            (Some(_), Some(_)) => index,
            (Some(_), None) => match of(distance) {
                Variance::Unset | Variance::Uniform => index,
                Variance::Warp => index.under(Variance::Warp),
                distance => index.through().join(distance.through()),
            },
        };
        let product = |left: &Operand, right: &Operand| match (constant(left), constant(right)) {
            (_, Some(power)) if power.is_power_of_two() => {
                of(left).moved_up(u64::from(power.trailing_zeros()))
            }
            (Some(power), _) if power.is_power_of_two() => {
                of(right).moved_up(u64::from(power.trailing_zeros()))
            }
            _ => of(left).through().join(of(right).through()),
        };
        Some(match (computation, operands) {
            (C::Add | C::Or | C::Xor, [_, index, distance]) if is_index(index) => moved(of(index), distance),
            (C::Add | C::Or | C::Xor, [_, distance, index]) if is_index(index) => moved(of(index), distance),
            (C::Subtract, [_, index, distance]) if is_index(index) => match (of(index).bit(), distance) {
                (Some(bit), &Operand::Register { register, .. })
                    if self.is_rounded_down(facts, register, bit) =>
                {
                    Variance::LaneIndex(bit)
                }
                _ => moved(of(index), distance),
            },
            (C::Multiply | C::MultiplyWide, [_, left, right]) => product(left, right),
            (C::MultiplyAdd | C::MultiplyAddWide, [_, left, right, added]) => {
                match (product(left, right), of(added)) {
                    (index, _) if index.bit().is_some() => moved(index, added),
                    (distance, index) if distance <= Variance::Warp && index.bit().is_some() => {
                        index.under(distance)
                    }
                    (product, added) => product.join(added.through()),
                }
            }
            (C::ShiftLeft, [_, index, by]) => of(index).moved_up(constant(by)?),
            (C::ShiftRight, [_, index, by]) => of(index).moved_down(constant(by)?),
            (C::Divide, [_, index, by]) => {
                let power = constant(by).filter(|by| by.is_power_of_two())?;
                of(index).moved_down(u64::from(power.trailing_zeros()))
            }
            (C::And, [_, index, mask]) => of(index).masked(constant(mask)?),
            (C::Remainder, [_, index, by]) => {
                let power = constant(by).filter(|by| by.is_power_of_two())?;
                of(index).masked(power - 1)
            }
            (C::Compare, [_, left, right, third @ ..]) => {
                let all = self.of_comparison(facts, values, instance, *left, *right)?;
                third.iter().fold(all, |variance, third| variance.join(of(third).through()))
            }
            _ => return None,
        })
    }

    /// The result of a comparison that all lanes of a warp have alike though an index is compared.
    fn of_comparison(
        &self,
        facts: &FunctionFacts<'_>,
        values: &Values,
        instance: &Instance,
        left: Operand,
        right: Operand,
    ) -> Option<Variance> {
        let is = |words: [&str; 4]| words.iter().any(|word| instance.has(word));
        // The limit may stand on the left.
        let turned = self.with_distance(facts, left).0.bit().is_none();
        let (left, right) = if turned { (right, left) } else { (left, right) };
        let (index, distance) = self.with_distance(facts, left);
        let (bit, limit) = (index.bit()?, self.operand(facts, right));
        if distance == 0 && index == limit {
            // What differs is on both sides, as in a loop from `a + index` to `b + index`.
            return Some(Variance::Uniform);
        }
        let beyond = match (is([".lt", ".ge", ".lo", ".hs"]), is([".gt", ".le", ".hi", ".ls"])) {
            (true, _) => turned,
            (_, true) => !turned,
            _ => return None,
        };
        // Where the limit is between two warps, all threads of a warp are on one side of it.
        let between = match right {
            Operand::Integer { bits, .. } => {
                let first = bits.wrapping_sub(distance).wrapping_add(u64::from(beyond));
                first.trailing_zeros() >= u32::from(bit)
            }
            _ => {
                distance == 0
                    && !beyond
                    && limit <= Variance::Warp
                    && self.is_multiple(facts, values, right, bit)
            }
        };
        between.then(|| index.of_upper_bits().join(limit))
    }

    /// An index, and what was added to it: `index + 31 > 62` is what a compiler makes of `index / 32 != 0`.
    fn with_distance(&self, facts: &FunctionFacts<'_>, operand: Operand) -> (Variance, u64) {
        let known = self.operand(facts, operand);
        let Operand::Register { register, .. } = operand else { return (known, 0) };
        let [write] = *facts.definitions(register) else { return (known, 0) };
        let adds = facts.instance(write).is_some_and(|each| each.effects.computes == Some(Computation::Add));
        match facts.body.operands(Handle::new(write)) {
            [_, index @ Operand::Register { .. }, Operand::Integer { bits, .. }]
                if adds && known.bit().is_none() =>
            {
                (self.operand(facts, *index), *bits)
            }
            _ => (known, 0),
        }
    }

    /// Whether a number is a multiple of two to the `bit`, or such a multiple and a distance: the limit of a loop that
    /// was rounded to whole warps.
    fn is_multiple(&self, facts: &FunctionFacts<'_>, values: &Values, operand: Operand, bit: u8) -> bool {
        let is_known = |operand: Operand| matches!(values.operand(facts.module, operand), Value::Number(bits) if bits.zeros() >= u32::from(bit));
        let Operand::Register { register, .. } = operand else { return is_known(operand) };
        if is_known(operand) {
            return true;
        }
        let [write] = *facts.definitions(register) else { return false };
        let adds = facts.instance(write).is_some_and(|each| each.effects.computes == Some(Computation::Add));
        match facts.body.operands(Handle::new(write)) {
            [_, left @ Operand::Register { .. }, right @ Operand::Register { .. }] if adds => {
                is_known(*left) || is_known(*right)
            }
            _ => false,
        }
    }

    /// Whether a register is an index without the bits of the lane. What is left of the index without it is the lane:
    /// that is how a remainder of signed numbers is computed.
    fn is_rounded_down(&self, facts: &FunctionFacts<'_>, register: Register, bit: u8) -> bool {
        let [write] = *facts.definitions(register) else { return false };
        let masks = facts.instance(write).is_some_and(|each| each.effects.computes == Some(Computation::And));
        match facts.body.operands(Handle::new(write)) {
            [_, index, Operand::Integer { bits: mask, .. }] if masks => {
                self.operand(facts, *index).bit() == Some(bit) && mask.trailing_zeros() == u32::from(bit)
            }
            _ => false,
        }
    }

    pub(super) fn operand(&self, facts: &FunctionFacts<'_>, operand: Operand) -> Variance {
        let of = |register: Register| self.of(register);
        match operand {
            Operand::Register { register, .. }
            | Operand::Negated { register, .. }
            | Operand::Minus { register, .. }
            | Operand::Sum { register, .. }
            | Operand::Selected { register, .. } => of(register),
            Operand::RegisterAddress { base, .. } | Operand::Element { index: base, .. } => {
                of(base).through()
            }
            Operand::SpecialSum { register, .. } => self.operand(facts, Operand::Special(register)).through(),
            Operand::VectorRegister { first, count, .. } => (0..u32::from(count))
                .fold(Variance::Unset, |variance, step| variance.join(of(Register(first.0 + step)))),
            Operand::Special(register) => match register.name() {
                "%tid.x" => Variance::Index(WARP_BIT),
                // Rows of a block are whole warps in nearly every kernel.
                "%tid.y" | "%tid.z" | "%warpid" => Variance::Warp,
                "%laneid" => Variance::LaneIndex(WARP_BIT),
                name if name.starts_with("%lanemask") => Variance::Lane,
                _ if register.is_thread_dependent() => Variance::Thread,
                _ => Variance::Uniform,
            },
            Operand::Vector(run) | Operand::Pair(run) | Operand::Bracket(run) => {
                facts.body.children(run).iter().fold(Variance::Unset, |variance, child| {
                    variance.join(self.operand(facts, *child).through())
                })
            }
            _ => Variance::Uniform,
        }
    }
}
