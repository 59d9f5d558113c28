//! Which branches of `#if` inside a statement a variant of it takes.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};

use crate::cuda::condition::{Condition, Truth};
use crate::cuda::preprocess::Prepared;

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

    /// Whether these are the branches of one group, and one of them is taken whatever holds.
    pub fn are_all(&self, branches: &[u32], conditions: &[Condition]) -> bool {
        let first = |branch: &u32| self.places.get(*branch as usize).map(|(first, _, _)| *first);
        let Some(group) = branches.first().and_then(first) else { return false };
        let choices = conditions.get(group as usize).map_or(0, |condition| condition.choices as usize);
        let distinct: HashSet<&u32> = branches.iter().collect();
        branches.iter().all(|branch| first(branch) == Some(group))
            && distinct.len() == branches.len()
            && branches.len() == choices
    }

    /// Whether `condition` is `outer` or lies in it.
    fn is_within(&self, condition: u32, outer: u32) -> bool {
        let last = self.places.get(outer as usize).map_or(outer, |(_, _, last)| *last);
        (outer..=last).contains(&condition)
    }
}

/// Which branches of `#if` groups a statement is read with.
#[derive(Clone, Copy)]
pub(super) struct Choice<'p, 's> {
    pub source: &'s str,
    pub prepared: &'p Prepared<'s>,
    pub possible: &'p Possible,
    /// The condition at the keyword.
    pub base: u32,
    pub variant: u32,
}

/// For each group, by its first condition, the positions of the branches that some target may compile; the position
/// after the last one is that of no branch at all.
pub(super) type Possible = RefCell<HashMap<u32, Vec<u32>>>;

impl<'p> Choice<'p, '_> {
    fn conditions(&self) -> &'p [Condition] {
        &self.prepared.file.conditions
    }

    fn branches(&self) -> &'p Branches {
        &self.prepared.branches
    }

    /// What `answer` makes of the possible branches in the group of `condition`, of which there is one at least.
    fn of_possible<T>(&self, condition: u32, answer: impl Fn(&[u32]) -> T) -> T {
        let first = self.branches().places.get(condition as usize).map_or(condition, |(first, _, _)| *first);
        let mut known = self.possible.borrow_mut();
        answer(known.entry(first).or_insert_with(|| self.possible_branches(first)))
    }

    fn possible_branches(&self, first: u32) -> Vec<u32> {
        let choices = self.conditions().get(first as usize).map_or(1, |condition| condition.choices);
        let group = self.branches().groups.get(&first).map_or(&[][..], Vec::as_slice);
        let truths = self.prepared.truths(self.source);
        let is = |branch: u32, truth| {
            group.get(branch as usize).map(|id| truths.of_index(*id as usize)) == Some(truth)
        };
        if let Some(certain) = (0..choices).find(|branch| is(*branch, Truth::True)) {
            return vec![certain];
        }
        let possible: Vec<u32> = (0..choices).filter(|branch| !is(*branch, Truth::False)).collect();
        // Nothing around the group is compiled.
        if possible.is_empty() { (0..choices.max(1)).collect() } else { possible }
    }

    /// The branch that the keyword's own conditions take in the group of `condition`.
    fn of_base(&self, condition: u32) -> Option<u32> {
        let (first, _, _) = *self.branches().places.get(condition as usize)?;
        let group = self.branches().groups.get(&first)?;
        let branch = group.partition_point(|branch| *branch <= self.base).checked_sub(1)?;
        self.branches().is_within(self.base, group[branch]).then_some(branch as u32)
    }

    /// The conditions around `condition`, itself first, up to those that the keyword has too.
    fn own(&self, condition: u32) -> impl Iterator<Item = u32> {
        let around =
            |condition: &u32| self.conditions().get(*condition as usize)?.parent.map(|parent| parent.0);
        std::iter::successors(Some(condition), around)
            .take_while(|condition| !self.branches().is_within(self.base, *condition))
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
            let chosen =
                |possible: &[u32]| possible[possible.len().saturating_sub(1).min(self.variant as usize)];
            let wanted = self.of_base(condition).unwrap_or_else(|| self.of_possible(condition, chosen));
            let branch = self.branches().places.get(condition as usize).map_or(0, |(_, branch, _)| *branch);
            taken = taken && branch == wanted;
            known.insert(condition, taken);
        }
        taken
    }

    /// The most possible branches that a group around `condition` has, of those in which the keyword has not chosen;
    /// `known` holds the conditions that have been counted.
    pub fn choices(&self, condition: u32, known: &mut HashSet<u32>) -> u32 {
        let fresh = self.own(condition).take_while(|condition| known.insert(*condition));
        let open = fresh.filter(|condition| self.of_base(*condition).is_none());
        open.map(|condition| self.of_possible(condition, |possible| possible.len() as u32)).max().unwrap_or(1)
    }
}
