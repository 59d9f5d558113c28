//! Which branches of `#if` inside a statement a variant of it takes.

use std::collections::{HashMap, HashSet};

use crate::cuda::condition::Condition;

/// The branches of a file's `#if` groups: where each condition is in its group, and what lies below it.
///
/// Conditions are numbered in the order of the file, so those below one follow it without a gap.
#[derive(Debug, Default)]
pub(in crate::cuda) struct Branches {
    /// For each condition the first branch of its group, its position there, and the last condition below it.
    places: Vec<(u32, u32, u32)>,
    /// The branches of each group, by its first one.
    groups: HashMap<u32, Vec<u32>>,
}

impl Branches {
    pub fn new(conditions: &[Condition]) -> Self {
        let mut this = Self::default();
        for (id, condition) in (0u32..).zip(conditions) {
            let (first, branch) = match condition.previous.and_then(|before| this.places.get(before.index()))
            {
                Some((first, branch, _)) => (*first, branch + 1),
                None => (id, 0),
            };
            this.places.push((first, branch, id));
            this.groups.entry(first).or_default().push(id);
        }
        for (id, condition) in conditions.iter().enumerate().rev() {
            let last = this.places[id].2;
            if let Some(around) = condition.parent.and_then(|parent| this.places.get_mut(parent.index())) {
                around.2 = around.2.max(last);
            }
        }
        this
    }

    /// Whether `condition` is `outer` or lies in it.
    fn is_within(&self, condition: u32, outer: u32) -> bool {
        let last = self.places.get(outer as usize).map_or(outer, |(_, _, last)| *last);
        (outer..=last).contains(&condition)
    }
}

/// Which branches of `#if` groups a statement is read with.
#[derive(Clone, Copy)]
pub(super) struct Choice<'p> {
    pub conditions: &'p [Condition],
    pub branches: &'p Branches,
    /// The condition at the keyword.
    pub base: u32,
    pub variant: u32,
}

impl Choice<'_> {
    /// The branch that the keyword's own conditions take in the group of `condition`.
    fn of_base(&self, condition: u32) -> Option<u32> {
        let (first, _, _) = *self.branches.places.get(condition as usize)?;
        let group = self.branches.groups.get(&first)?;
        let branch = group.partition_point(|branch| *branch <= self.base).checked_sub(1)?;
        self.branches.is_within(self.base, group[branch]).then_some(branch as u32)
    }

    /// The conditions around `condition`, itself first, up to those that the keyword has too.
    fn own(&self, condition: u32) -> impl Iterator<Item = u32> {
        let around =
            |condition: &u32| self.conditions.get(*condition as usize)?.parent.map(|parent| parent.0);
        std::iter::successors(Some(condition), around)
            .take_while(|condition| !self.branches.is_within(self.base, *condition))
    }

    /// Whether a token under `condition` belongs to this variant. `known` holds earlier answers.
    pub fn takes(&self, condition: u32, known: &mut HashMap<u32, bool>) -> bool {
        let mut passed = Vec::new();
        let mut taken = true;
        for condition in self.own(condition) {
            if let Some(&answer) = known.get(&condition) {
                taken = answer;
                break;
            }
            passed.push(condition);
        }
        for condition in passed.into_iter().rev() {
            let choices = self.conditions[condition as usize].choices;
            let wanted =
                self.of_base(condition).unwrap_or_else(|| self.variant.min(choices.saturating_sub(1)));
            let branch = self.branches.places.get(condition as usize).map_or(0, |(_, branch, _)| *branch);
            taken = taken && branch == wanted;
            known.insert(condition, taken);
        }
        taken
    }

    /// The most choices that a group around `condition` has, of those in which the keyword has not chosen; `known`
    /// holds the conditions that have been counted.
    pub fn choices(&self, condition: u32, known: &mut HashSet<u32>) -> u32 {
        let fresh = self.own(condition).take_while(|condition| known.insert(*condition));
        let open = fresh.filter(|condition| self.of_base(*condition).is_none());
        open.map(|condition| self.conditions[condition as usize].choices).max().unwrap_or(1)
    }
}
