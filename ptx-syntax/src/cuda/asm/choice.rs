//! Which branches of `#if` inside a statement a variant of it takes.

use crate::cuda::condition::Condition;
use crate::cuda::preprocess::Prepared;

/// Which branches of `#if` groups a statement is read with.
#[derive(Clone, Copy)]
pub(super) struct Choice<'p> {
    pub conditions: &'p [Condition],
    /// The condition at the keyword.
    pub base: u32,
    pub variant: u32,
}

impl<'p> Choice<'p> {
    pub fn new(prepared: &'p Prepared<'_>, base: u32) -> Self {
        Self { conditions: &prepared.file.conditions, base, variant: 0 }
    }

    /// The first branch of the group of `condition`, and the position of `condition` in the group.
    pub fn place(&self, condition: u32) -> (u32, u32) {
        let (mut first, mut branch) = (condition, 0);
        while let Some(previous) = self.conditions[first as usize].previous {
            first = previous.0;
            branch += 1;
        }
        (first, branch)
    }

    /// The branch that the keyword's own conditions take in the group that begins with `first`.
    pub fn of_base(&self, first: u32) -> Option<u32> {
        let mut around = Some(self.base);
        while let Some(condition) = around {
            let (group, branch) = self.place(condition);
            if group == first {
                return Some(branch);
            }
            around = self.conditions[condition as usize].parent.map(|parent| parent.0);
        }
        None
    }

    /// Whether a token under `condition` belongs to this variant.
    pub fn takes(&self, condition: u32) -> bool {
        let mut around = Some(condition);
        while let Some(condition) = around {
            if condition == self.base {
                return true;
            }
            let (first, branch) = self.place(condition);
            let choices = self.conditions[condition as usize].choices;
            let wanted = self.of_base(first).unwrap_or_else(|| self.variant.min(choices.saturating_sub(1)));
            if branch != wanted {
                return false;
            }
            around = self.conditions[condition as usize].parent.map(|parent| parent.0);
        }
        true
    }
}
