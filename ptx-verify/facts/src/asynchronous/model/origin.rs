//! What a number comes from.

use ptx_ir::isa::Computation;
use rustc_hash::FxHashSet;

use super::LARGE_PARAMETER;
use super::program::{Action, Program, Source};
use crate::evaluate::Shape;
use crate::values::number::mask as low_bits;

/// Steps that a number is followed through, the registers on all ways there, and how often a number is doubled.
const MAX_DEPTH: u32 = 8;
const MAX_SOURCES: u32 = 32;
const MAX_QUOTIENTS: usize = 32;
const MAX_DOUBLES: u32 = 8;

impl Program {
    /// Whether what the kernel is given tells how far something is shifted.
    pub(super) fn shifts_by_parameters(&self) -> bool {
        self.steps.iter().any(|step| match &step.action {
            Action::Compute { shape, from: [_, by, ..], .. } => {
                matches!(shape.computation, Computation::ShiftLeft | Computation::ShiftRight)
                    && self.is_of_parameters(*by)
            }
            _ => false,
        })
    }

    /// Whether a number is computed of what the kernel is given.
    pub(super) fn is_of_parameters(&self, source: Source) -> bool {
        let register = |source: &Source| match *source {
            Source::Register(register, _) | Source::Negated(register) => Some(register),
            _ => None,
        };
        let mut open: Vec<u32> = register(&source).into_iter().collect();
        let mut seen: FxHashSet<u32> = open.iter().copied().collect();
        while let Some(wanted) = open.pop() {
            for step in &self.steps {
                match &step.action {
                    Action::Load { to, parameters: true, .. } if to.iter().any(|(to, _)| *to == wanted) => {
                        return true;
                    }
                    Action::Compute { to, from, .. } if to.contains(&Some(wanted)) => {
                        open.extend(
                            from.iter().filter_map(register).filter(|register| seen.insert(*register)),
                        );
                    }
                    _ => {}
                }
            }
        }
        false
    }

    /// The number, or the first of its doubles, with which a parameter that is divided by a constant has a quotient: who counts
    /// rounds so launches none without any.
    pub(super) fn with_rounds(&self, parameter: u64) -> u64 {
        let divides = |computation| matches!(computation, Computation::Divide | Computation::ShiftRight);
        let quotients: Vec<(&Shape, Source, Source)> = self
            .steps
            .iter()
            .filter_map(|step| match &step.action {
                Action::Compute { shape, from: [whole, by @ Source::Number(_), ..], .. } => {
                    divides(shape.computation).then_some((shape, *whole, *by))
                }
                _ => None,
            })
            .take(MAX_QUOTIENTS)
            .collect();
        let quotient = |&(shape, whole, by): &(&Shape, Source, Source), parameter: u64| {
            let whole = self.number(whole, parameter, MAX_DEPTH, &mut { MAX_SOURCES })?;
            let by = self.number(by, parameter, 1, &mut { MAX_SOURCES })?;
            Some((whole, shape.evaluate([whole, by, 0, 0])?))
        };
        let lacks_rounds = |parameter: u64| {
            quotients.iter().any(|each| {
                let is_none = matches!(quotient(each, parameter), Some((1.., 0)));
                is_none && quotient(each, LARGE_PARAMETER).is_some_and(|(_, quotient)| quotient > 0)
            })
        };
        let mut doubles = (0..MAX_DOUBLES).map(|by| parameter << by);
        doubles.find(|number| !lacks_rounds(*number)).unwrap_or(parameter)
    }

    /// What is computed of parameters and constants alone. `left` is how many registers are still looked at.
    fn number(&self, source: Source, parameter: u64, depth: u32, left: &mut u32) -> Option<u64> {
        let (register, offset) = match source {
            Source::Number(number) => return Some(number),
            Source::Register(register, offset) => (register, offset),
            _ => return None,
        };
        let depth = depth.checked_sub(1)?;
        *left = left.checked_sub(1)?;
        let writes = |action: &Action| match action {
            Action::Load { to, .. } => to.iter().any(|(to, _)| *to == register),
            Action::Compute { to, .. } => to.contains(&Some(register)),
            Action::Access { to, .. } => to.contains(&Some(register)),
            Action::Forget { to, .. } => to.iter().any(|(to, _)| *to == register),
            Action::Draw { to, .. } | Action::Pack { to, .. } => *to == register,
            Action::Unpack { to, .. } => to.contains(&Some(register)),
            _ => false,
        };
        let mut all = self.steps.iter().filter(|step| writes(&step.action));
        let (only, None) = (all.next()?, all.next()) else { return None };
        let number = match &only.action {
            Action::Load { to, parameters: true, .. } => {
                let bits = to.iter().find(|(to, _)| *to == register)?.1;
                parameter & low_bits(bits)
            }
            Action::Compute { shape, from, to: [Some(to), None] } if *to == register => {
                let mut numbers = [0; 4];
                for (number, source) in numbers.iter_mut().zip(from) {
                    *number = self.number(*source, parameter, depth, left)?;
                }
                shape.evaluate(numbers)?
            }
            _ => return None,
        };
        Some(number.wrapping_add_signed(offset))
    }
}
