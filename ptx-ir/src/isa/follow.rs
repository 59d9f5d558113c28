//! Which modifiers can follow what is written of a spelling: for editors.

use std::ops::ControlFlow;

use super::expand;
use super::instance::{FormId, Instance};
use super::resolve::{Spelling, opcode};
use super::table::{ABSENT, Form, forms_of, holds};
use crate::target::TargetSet;
use crate::version::Version;

/// A search for a form that a beginning leads to takes no more steps than this; what it has not refuted then is given.
const MAX_STEPS: u32 = 4000;

/// A modifier that can be written next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Follower {
    /// The modifier with its dot; of one with several dots, what is not yet written.
    pub modifier: &'static str,
    /// What the table calls the place: `type`, `sem`, `cache`.
    pub slot: &'static str,
    /// A form that it leads to.
    pub form: FormId,
    /// The first PTX version that has a form with it.
    pub min_version: Version,
    /// The targets that have it.
    pub targets: TargetSet,
}

/// The modifiers that can follow a beginning such as `ld.global`, in the order of the table: those with which some form
/// can still be reached. Modifiers are expected in the manual's order. Empty where no instruction begins so.
#[must_use]
pub fn followers(beginning: &str) -> Vec<Follower> {
    let spelling = Spelling::new(beginning);
    let Some(opcode) = opcode(spelling.root) else { return Vec::new() };
    let mut found: Vec<Follower> = Vec::new();
    for (id, form) in forms_of(opcode) {
        let search =
            Search { id, form, spelling: &spelling, values: vec![ABSENT; form.slots.len()], steps: 0 };
        search.run(&mut found);
    }
    found
}

struct Search<'a> {
    id: u16,
    form: &'static Form,
    spelling: &'a Spelling<'a>,
    values: Vec<u8>,
    steps: u32,
}

impl Search<'_> {
    fn run(mut self, found: &mut Vec<Follower>) {
        let mut budget = MAX_STEPS;
        let _ = self.read(0, 0, &mut budget, found);
    }

    /// Gives the slots from `slot` on the modifiers from `next` on, and where all are given, what follows.
    fn read(
        &mut self,
        slot: usize,
        next: usize,
        budget: &mut u32,
        found: &mut Vec<Follower>,
    ) -> ControlFlow<()> {
        *budget = budget.saturating_sub(1);
        if *budget == 0 {
            return ControlFlow::Break(());
        }
        let Some(place) = self.form.slots.get(slot) else { return ControlFlow::Continue(()) };
        let rest = self.spelling.rest(next);
        for (index, value) in place.values.iter().enumerate() {
            self.values[slot] = index as u8;
            if self.is_refuted(slot) {
                continue;
            }
            if let Some(taken) = self.spelling.matches(next, value) {
                self.read(slot + 1, next + taken, budget, found)?;
            } else if let Some(left) = value.as_str().strip_prefix(rest).filter(|left| left.starts_with('.'))
            {
                self.add(slot, left, found);
            }
        }
        self.values[slot] = ABSENT;
        if place.optional && !self.is_refuted(slot) {
            self.read(slot + 1, next, budget, found)?;
        }
        ControlFlow::Continue(())
    }

    fn add(&mut self, slot: usize, modifier: &'static str, found: &mut Vec<Follower>) {
        let kept = self.values.clone();
        self.steps = 0;
        let reached = self.reach(slot + 1);
        self.values = kept;
        if reached.is_none() && self.steps < MAX_STEPS {
            return;
        }
        let (min_version, targets) = reached
            .map_or((Version::OLDEST, TargetSet::ALL), |reached| (reached.min_version, reached.targets));
        match found.iter_mut().find(|each| each.modifier == modifier) {
            Some(known) if known.min_version <= min_version => {}
            Some(known) => (known.min_version, known.targets) = (min_version, targets),
            None => {
                let slot = self.form.slots[slot].name.as_str();
                found.push(Follower { modifier, slot, form: FormId(self.id), min_version, targets });
            }
        }
    }

    /// Any instance that the values before `slot` lead to.
    fn reach(&mut self, slot: usize) -> Option<Instance> {
        self.steps += 1;
        if self.steps >= MAX_STEPS {
            return None;
        }
        let Some(place) = self.form.slots.get(slot) else { return expand::instance(self.id, &self.values) };
        let absent = place.optional.then_some(ABSENT);
        for value in absent.into_iter().chain(0..place.values.len() as u8) {
            self.values[slot] = value;
            if !self.is_refuted(slot)
                && let Some(found) = self.reach(slot + 1)
            {
                return Some(found);
            }
        }
        None
    }

    /// Whether a rule whose last slot is `slot` excludes the values.
    fn is_refuted(&self, slot: usize) -> bool {
        self.form.rules.iter().any(|rule| {
            let last = rule.when.iter().chain(rule.then).map(|&(slot, _)| usize::from(slot)).max();
            last == Some(slot)
                && holds(rule.when, &self.values)
                && holds(rule.then, &self.values) != rule.needs
        })
    }
}

#[cfg(test)]
mod tests {
    use super::followers;
    use crate::isa::{opcodes, resolve};

    fn modifiers(beginning: &str) -> Vec<&'static str> {
        followers(beginning).into_iter().map(|each| each.modifier).collect()
    }

    #[test]
    fn only_what_leads_to_a_form_follows() {
        assert!(modifiers("add").contains(&".cc") && modifiers("add").contains(&".f16x2"));
        assert!(modifiers("add.cc").contains(&".u32") && !modifiers("add.cc").contains(&".f32"));
        assert_eq!(modifiers("add.u32"), Vec::<&str>::new());
        assert!(modifiers("ld.global").contains(&".v4") && modifiers("ld.global.v4").contains(&".f32"));
        assert!(!modifiers("ld.global.v4").contains(&".global"));
        assert_eq!(modifiers("nonsense"), Vec::<&str>::new());
        assert_eq!(modifiers("add.nonsense"), Vec::<&str>::new());
        assert_eq!(modifiers(""), Vec::<&str>::new());
    }

    #[test]
    fn every_path_of_followers_ends_at_an_instruction() {
        for opcode in opcodes() {
            // The last that follows leads the furthest from what is tried first.
            let mut spelling = opcode.name().to_owned();
            for _ in 0..40 {
                let found = resolve(&spelling);
                let next = followers(&spelling);
                assert!(!next.is_empty() || found.problem.is_none(), "{spelling}");
                let Some(last) = next.last() else { break };
                spelling.push_str(last.modifier);
            }
            assert!(resolve(&spelling).problem.is_none(), "{spelling}");
        }
    }
}
