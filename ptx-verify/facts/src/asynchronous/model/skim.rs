//! Loops that only read data: where an execution of all their turns takes too long, some of them tell as much.

use super::program::{Action, Program};

/// A loop whose turns do nothing but to read and to compute, and whose number no memory decides.
#[derive(Clone, Debug)]
pub(super) struct Skim {
    /// The step that goes back to the first one.
    pub(super) back: u32,
    /// Where control goes on when the turns are over.
    pub(super) exit: u32,
    /// The registers that turns write.
    pub(super) written: Vec<u32>,
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
            Action::Global(access)
                if access.reads && !access.strength.is_strong && access.to.iter().all(Option::is_none) => {}
            Action::Local { to, from, .. } if from.is_empty() && to.iter().all(Option::is_none) => {}
            _ => return None,
        }
    }
    Some(Skim { back, exit: exit?, written })
}
