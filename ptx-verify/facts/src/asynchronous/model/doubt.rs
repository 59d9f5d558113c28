//! Steps of which memory decides whether threads come to them, and that nothing else hangs on: what threads exchange by their
//! values, the largest that they keep. Nobody waits there and nobody is told anything, so that all that threads do to keep in step is
//! the same whatever memory has.

use std::ops::Range;

use rustc_hash::FxHashMap;

use super::program::{Action, Program, Step};

/// Steps of such a part.
const MAX_STEPS: u32 = 400;

/// The parts between which branches choose, by the place of the branch, where all that they have is computations and plain accesses.
pub(super) fn parts(steps: &[Step]) -> FxHashMap<u32, Range<u32>> {
    let branches = (0..).zip(steps).filter_map(|(place, step)| match step.action {
        Action::Jump(target) if step.guard.is_some() => Some((place, target)),
        _ => None,
    });
    branches.filter_map(|(place, target)| Some((place, part(steps, place, target)?))).collect()
}

fn part(steps: &[Step], place: u32, target: u32) -> Option<Range<u32>> {
    let mut part = if target > place { place + 1..target } else { target..place + 1 };
    loop {
        if part.len() as u32 > MAX_STEPS {
            return None;
        }
        let mut wider = part.clone();
        for step in steps.get(part.start as usize..part.end as usize)? {
            match step.action {
                Action::Jump(target) => {
                    wider = wider.start.min(target)..wider.end.max(target);
                }
                Action::Access { is_plain: true, .. } | Action::Local { .. } => {}
                _ if step.action.is_computation() => {}
                _ => return None,
            }
        }
        if wider == part {
            return Some(part);
        }
        part = wider;
    }
}

impl Program {
    /// The part that memory decides about where it decides about the guard of a step, if nothing hangs on that part.
    pub(super) fn part_at(&self, place: u32) -> Option<Range<u32>> {
        match self.steps.get(place as usize)?.action {
            Action::Access { is_plain: true, .. } | Action::Local { .. } => Some(place..place + 1),
            _ => self.parts.get(&place).cloned(),
        }
    }
}
