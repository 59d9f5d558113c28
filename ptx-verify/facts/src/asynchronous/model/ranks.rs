//! Blocks of several dimensions whose threads are numbered through: such a kernel may be launched with one dimension as well.

use ptx_ir::isa::Computation;
use ptx_ir::special::SpecialRegister;

use super::program::{Action, Program, Source};

impl Program {
    /// Whether the higher dimensions of a thread's place are used for nothing but its number in the block, as
    /// `cooperative_groups` compute it.
    pub(super) fn numbers_threads(&self) -> bool {
        let is_place =
            |register: SpecialRegister| matches!(register, SpecialRegister::TID_Y | SpecialRegister::TID_Z);
        let is_extent =
            |register: SpecialRegister| matches!(register, SpecialRegister::NTID_X | SpecialRegister::NTID_Y);
        let moved = |is: &dyn Fn(SpecialRegister) -> bool| {
            let moves = self.steps.iter().filter_map(|step| match &step.action {
                Action::Compute { shape, to: [Some(to), _], from: [Source::Special(register, 0), ..] }
                    if shape.computation == Computation::Move && is(*register) =>
                {
                    Some(*to)
                }
                _ => None,
            });
            moves.collect::<Vec<u32>>()
        };
        let (places, extents) = (moved(&is_place), moved(&is_extent));
        let lines = moved(&|register| register == SpecialRegister::TID_X);
        let is_of = |source: &Source, registers: &[u32], is: &dyn Fn(SpecialRegister) -> bool| match source {
            Source::Register(register, _) => registers.contains(register),
            Source::Special(register, _) => is(*register),
            _ => false,
        };
        self.steps.iter().all(|step| match &step.action {
            Action::Compute { shape, from, .. } => {
                let asks = from.iter().any(|source| is_of(source, &places, &is_place));
                let scales = from[..2].iter().any(|source| is_of(source, &extents, &is_extent));
                let along =
                    |source: &Source| is_of(source, &lines, &|register| register == SpecialRegister::TID_X);
                let is_any = |source: &Source| is_of(source, &places, &is_place) || along(source);
                match shape.computation {
                    // The first thread of all has the sum 0.
                    Computation::Add | Computation::Or => !asks || from[..2].iter().all(is_any),
                    Computation::Negate => true,
                    Computation::Move => !from.iter().any(|source| is_of(source, &places, &|_| false)),
                    Computation::Multiply | Computation::MultiplyAdd => !asks || scales,
                    _ => !asks,
                }
            }
            Action::Unpack { from, .. } => !is_of(from, &places, &is_place),
            Action::Pack { parts, .. } => !parts.iter().any(|part| is_of(part, &places, &is_place)),
            _ => true,
        })
    }
}
