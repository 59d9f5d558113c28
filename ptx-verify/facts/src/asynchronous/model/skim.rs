//! Loops that only read data: where an execution of all their turns takes too long, some of them tell as much.

use super::machine::{Machine, Warp};
use super::program::{Action, Program};

/// Turns of such a loop that are executed.
const TURNS: u32 = 4;

/// A loop whose turns do nothing but to read and to compute, and whose number no memory decides.
#[derive(Clone, Debug)]
pub(super) struct Skim {
    /// The step that goes back to the first one.
    back: u32,
    /// Where control goes on when the turns are over.
    exit: u32,
    /// The registers that turns write.
    written: Vec<u32>,
}

/// The loops of a program that may be left early, by the steps that go back.
pub(super) fn of(program: &Program) -> Vec<Skim> {
    let steps = (0..).zip(&program.steps);
    let backs = steps.filter_map(|(back, step)| match step.action {
        Action::Jump(head) if head <= back => Some((head, back, step.guard.is_some())),
        _ => None,
    });
    backs.filter_map(|(head, back, is_guarded)| skim(program, head, back, is_guarded)).collect()
}

impl Program {
    /// Whether it has loops that may be left early.
    pub(super) fn has_skims(&self) -> bool {
        !of(self).is_empty()
    }
}

fn skim(program: &Program, head: u32, back: u32, is_guarded: bool) -> Option<Skim> {
    let mut exit = is_guarded.then_some(back + 1);
    let mut written = Vec::new();
    for step in program.steps.get(head as usize..=back as usize)? {
        match &step.action {
            Action::Jump(target) if (head..=back).contains(target) => {}
            // Who leaves goes to one place.
            Action::Jump(target) if exit.is_none_or(|known| known == *target) => exit = Some(*target),
            Action::Compute { to, .. } => written.extend(to.iter().flatten()),
            Action::Pack { to, .. } | Action::Convert { to, .. } => written.push(*to),
            Action::Unpack { to, .. } => written.extend(to.iter().flatten()),
            Action::Access { reads: true, writes: false, is_plain: true, to, .. }
                if to.iter().all(Option::is_none) => {}
            _ => return None,
        }
    }
    Some(Skim { back, exit: exit?, written })
}

impl Machine<'_> {
    /// Counts a turn of a loop that threads have come to the end of; where they go on if enough turns were seen. What the others
    /// would have computed is not known.
    pub(super) fn skims(&mut self, warp: usize, back: u32) -> Option<u32> {
        let index = self.skims.binary_search_by_key(&back, |skim| skim.back).ok()?;
        let own = &mut self.warps[warp];
        own.turns.resize(self.skims.len(), 0);
        own.turns[index] += 1;
        if own.turns[index] < TURNS {
            return None;
        }
        own.turns[index] = 0;
        let Self { skims, .. } = self;
        let (written, exit) = (std::mem::take(&mut skims[index].written), skims[index].exit);
        self.forget(warp, written.iter().copied());
        self.skims[index].written = written;
        Some(exit)
    }
}

impl Warp {
    /// Begins to count turns anew when threads do something else than those loops.
    pub(super) fn leaves_loops(&mut self, action: &Action) {
        if !action.is_computation() && !matches!(action, Action::Jump(_) | Action::Access { .. }) {
            self.turns.clear();
        }
    }
}
