//! How values vary between threads, and how that goes through instructions.

use super::Divergence;
use super::meeting::is_collective;
use crate::dataflow::FunctionFacts;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Convergence, Instance};

/// How a value varies, from least to most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Variance {
    /// Not seen yet.
    #[default]
    Unset,
    /// The same in all threads, as far as is known.
    Uniform,
    /// The same in the threads of a warp.
    Warp,
    /// The thread's own index, `%tid.x`, from which warps can be told.
    ThreadIndex,
    /// Different from lane to lane.
    Lane,
}

impl Variance {
    pub(super) fn join(self, other: Self) -> Self {
        match (self, other) {
            _ if self == other => self,
            (Self::Unset, value) | (value, Self::Unset) => value,
            (Self::ThreadIndex, _) | (_, Self::ThreadIndex) => Self::Lane,
            _ => self.max(other),
        }
    }

    /// Of a value that a register has where threads come together that ran, or not, under a control that varies.
    pub(super) fn under(self, control: Self) -> Self {
        if control <= Self::Uniform { self } else { self.join(control.through()) }
    }

    /// Of a value computed from this one.
    pub(super) fn through(self) -> Self {
        if self == Self::ThreadIndex { Self::Lane } else { self }
    }
}

impl Divergence {
    pub(super) fn result(
        &self,
        facts: &FunctionFacts<'_>,
        handle: Handle<ptx_ir::ir::Instruction>,
        instance: &Instance,
    ) -> Variance {
        let operands = facts.body.operands(handle);
        if let (Some(Computation::Move | Computation::Convert), [_, source]) =
            (instance.effects.computes, operands)
        {
            return self.operand(facts, *source);
        }
        if is_collective(instance)
            && instance.has(".idx")
            && operands.get(2).is_some_and(|&lane| self.operand(facts, lane) <= Variance::Warp)
        {
            // All lanes take the value of one.
            return Variance::Warp;
        }
        if let Some(variance) =
            self.of_index(facts, instance, operands).or_else(|| self.of_warp(instance, operands))
        {
            return variance;
        }
        if instance.effects.convergence == Convergence::Aligned || is_collective(instance) {
            // The warp computes it together: what one lane gets, all get, unless lanes pick differently.
            return if instance.effects.thread_dependent { Variance::Lane } else { Variance::Warp };
        }
        let mut result = Variance::Uniform;
        if instance.effects.thread_dependent || instance.effects.atomic {
            result = Variance::Lane;
        }
        for &operand in operands.iter().skip(1) {
            result = result.join(self.operand(facts, operand).through());
        }
        result
    }

    /// The index of a thread with a distance that is the same in its warp: the index in the grid, or over the rows of
    /// a block. Blocks and rows are taken to be whole warps.
    fn of_index(
        &self,
        facts: &FunctionFacts<'_>,
        instance: &Instance,
        operands: &[Operand],
    ) -> Option<Variance> {
        let distance = |operand: &Operand| match operand {
            Operand::Integer { bits, .. } => bits % 32 == 0,
            _ => self.operand(facts, *operand) <= Variance::Warp,
        };
        let index = |operand: &Operand| self.operand(facts, *operand) == Variance::ThreadIndex;
        let moved = match (instance.effects.computes?, operands) {
            (Computation::Add, [_, a, b]) => index(a) && distance(b) || distance(a) && index(b),
            (Computation::MultiplyAdd | Computation::MultiplyAddWide, [_, a, b, c]) => {
                let product = self.operand(facts, *a).join(self.operand(facts, *b));
                product <= Variance::Warp && index(c)
            }
            _ => false,
        };
        moved.then_some(Variance::ThreadIndex)
    }

    /// Computations that tell warps rather than lanes apart.
    fn of_warp(&self, instance: &Instance, operands: &[Operand]) -> Option<Variance> {
        let index = |operand: &Operand| match operand {
            Operand::Register { register, .. } => self.of(*register) == Variance::ThreadIndex,
            _ => false,
        };
        let constant = |operand: &Operand| match operand {
            Operand::Integer { bits, .. } => Some(*bits),
            _ => None,
        };
        let [_, left, right, ..] = operands else { return None };
        if !index(left) {
            return None;
        }
        let value = constant(right)?;
        let computation = instance.effects.computes;
        // The position within some aligned number of warps still tells warps from lanes.
        if computation == Some(Computation::And) && value >= 31 && (value.wrapping_add(1)).is_power_of_two() {
            return Some(Variance::ThreadIndex);
        }
        let warp = match computation {
            Some(Computation::ShiftRight) => value >= 5,
            Some(Computation::And) => value & 31 == 0,
            _ if instance.has(".lt") || instance.has(".ge") || instance.has(".lo") || instance.has(".hs") => {
                value % 32 == 0
            }
            _ if instance.has(".gt") || instance.has(".le") || instance.has(".hi") || instance.has(".ls") => {
                value % 32 == 31
            }
            _ => false,
        };
        warp.then_some(Variance::Warp)
    }

    pub(super) fn operand(&self, facts: &FunctionFacts<'_>, operand: Operand) -> Variance {
        let of = |register: Register| match self.of(register) {
            Variance::Unset => Variance::Unset,
            variance => variance,
        };
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
                "%tid.x" => Variance::ThreadIndex,
                // Rows of a block are whole warps in nearly every kernel.
                "%tid.y" | "%tid.z" | "%warpid" => Variance::Warp,
                _ if register.is_thread_dependent() => Variance::Lane,
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
