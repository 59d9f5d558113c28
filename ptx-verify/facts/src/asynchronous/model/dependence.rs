//! What the numbers of a warp depend on, of all that memory is assumed to have.

use ptx_ir::isa::Computation;

use super::assumed::{Dependence, Lists};
use super::machine::{Machine, Warp};
use super::program::Source;

impl Warp {
    /// What a source depends on in lanes of a mask.
    fn dependence_of(&self, source: &Source, mask: u32) -> Dependence {
        let (Source::Register(register, _) | Source::Negated(register)) = *source else {
            return Dependence::NONE;
        };
        match self.assumed.get(register as usize) {
            Some(assumed) if assumed.lanes & mask == mask && matches!(source, Source::Register(..)) => {
                assumed.dependence
            }
            Some(assumed) if assumed.lanes & mask != 0 => assumed.dependence.in_any_way(),
            _ => Dependence::NONE,
        }
    }

    /// The lists that sources depend on in lanes of a mask.
    pub(super) fn lists_of(&self, sources: &[Source], mask: u32) -> Lists {
        let all = sources.iter().map(|source| self.dependence_of(source, mask).lists);
        all.fold(Lists::default(), Lists::with)
    }

    /// What lanes of a mask have computed depends on.
    pub(super) fn dependence(&self, computation: Computation, from: &[Source], mask: u32) -> Dependence {
        let of = |index: usize| {
            from.get(index).map_or(Dependence::NONE, |source| self.dependence_of(source, mask))
        };
        let (first, second) = (of(0), of(1));
        let lists = self.lists_of(from, mask);
        if from.iter().skip(2).any(|source| !self.dependence_of(source, mask).is_none()) {
            return Dependence { lists, from: None };
        }
        match computation {
            Computation::Move | Computation::Convert | Computation::Add | Computation::Subtract
                if second.is_none() =>
            {
                first
            }
            Computation::Add if first.is_none() => second,
            Computation::Subtract if first.from.is_some() && first.from == second.from => Dependence::NONE,
            _ => Dependence { lists, from: None },
        }
    }
}

impl Machine<'_> {
    /// Takes note that memory decides about the guard of a step, if only data hang on that; whether it is so. What lists tell is the
    /// same for all who ask them, so that who comes there is known.
    pub(super) fn doubts(&mut self, place: u32, lists: Lists) -> bool {
        let Some(part) = self.program.part_at(place).filter(|_| !self.scenario.of_grid) else { return false };
        self.asks_lists |= lists.are_known();
        if !lists.are_known() && !self.doubtful.contains(&part) {
            self.doubtful.push(part);
        }
        true
    }

    /// Whether memory decides if threads come to the step before their next one.
    pub(super) fn is_in_doubt(&self, warp: usize, fragment: usize) -> bool {
        let at = self.warps[warp].fragments[fragment].pc.saturating_sub(1);
        self.doubtful.iter().any(|part| part.contains(&at))
    }

    /// Whether memory has decided if threads come to an instruction.
    pub(super) fn was_in_doubt(&self, instruction: u32) -> bool {
        let mut steps = self.doubtful.iter().flat_map(Clone::clone);
        steps
            .any(|at| self.program.steps.get(at as usize).is_some_and(|step| step.instruction == instruction))
    }
}
