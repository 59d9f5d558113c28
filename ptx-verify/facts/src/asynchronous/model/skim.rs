//! Loops that only read data: where an execution of all their turns takes too long, some of them tell as much.

use rustc_hash::FxHashSet;

use super::program::{Action, Program, Source, Step};

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
            Action::Access { reads: true, writes: false, is_plain: true, to, .. } => {
                written.extend(to.iter().flatten());
            }
            Action::Global(access)
                if access.reads && !access.strength.is_strong && access.to.iter().all(Option::is_none) => {}
            Action::Local { to, from, .. } if from.is_empty() && to.iter().all(Option::is_none) => {}
            _ => return None,
        }
    }
    let exit = exit?;
    // What is loaded may choose between ways in a turn, and does not tell how many turns there are.
    let loaded = loaded(program, head, back);
    let decides = |step: &&Step| step.guard.is_some_and(|(guard, _)| loaded.contains(&guard));
    let goes_on = |target: u32| target == exit || target == head || target > back;
    let mut ends = program.steps[head as usize..=back as usize].iter().filter(decides);
    let is_counted = !ends.any(|step| matches!(step.action, Action::Jump(target) if goes_on(target)));
    is_counted.then_some(Skim { back, exit, written })
}

/// The registers of a loop that hang on what it loads.
fn loaded(program: &Program, head: u32, back: u32) -> FxHashSet<u32> {
    const PASSES: usize = 4;
    let mut loaded = FxHashSet::default();
    for _ in 0..PASSES {
        let before = loaded.len();
        for step in &program.steps[head as usize..=back as usize] {
            let is_loaded = |source: &Source| match source {
                Source::Register(register, _) | Source::Negated(register) => loaded.contains(register),
                _ => false,
            };
            let (hangs, to): (bool, Vec<u32>) = match &step.action {
                Action::Access { to, .. } | Action::Local { to, .. } => {
                    (true, to.iter().flatten().copied().collect())
                }
                Action::Compute { to, from, .. } => {
                    (from.iter().any(is_loaded), to.iter().flatten().copied().collect())
                }
                Action::Pack { to, parts, .. } => (parts.iter().any(is_loaded), vec![*to]),
                Action::Convert { to, from, .. } => (is_loaded(from), vec![*to]),
                Action::Unpack { to, from, .. } => (is_loaded(from), to.iter().flatten().copied().collect()),
                _ => (false, Vec::new()),
            };
            let is_chosen = step.guard.is_some_and(|(guard, _)| loaded.contains(&guard));
            if hangs || is_chosen {
                loaded.extend(to);
            }
        }
        if loaded.len() == before {
            break;
        }
    }
    loaded
}
