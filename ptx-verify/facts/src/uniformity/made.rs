//! What is made of things that only branches on the way to some block say.

use petgraph::graph::NodeIndex;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::values::linear::{Base, BaseId, Form, Forms};

/// Bases of which something holds only where certain branches lead, and what is made of them.
#[derive(Clone, Debug, Default)]
pub(super) struct Made {
    roots: FxHashSet<BaseId>,
    /// For each base whether it is one of these or made of one, as far as that was found.
    made: Vec<bool>,
}

impl Made {
    pub(super) fn add(&mut self, root: BaseId) {
        if self.roots.insert(root) {
            // What is made of it comes after it.
            self.made.truncate(root.index());
        }
    }

    /// How many there are.
    pub(super) fn count(&self) -> usize {
        self.roots.len()
    }

    /// Finds what is made of these among all bases that there are.
    pub(super) fn find(&mut self, forms: &Forms) {
        if self.roots.is_empty() {
            return;
        }
        for base in forms.bases_from(self.made.len()) {
            let is_made = self.roots.contains(&base) || self.has_operand(forms, base);
            self.made.push(is_made);
        }
    }

    /// Whether a base is one of these or made of one. Of a base that came later that is not known: it may be.
    pub(super) fn has(&self, base: BaseId) -> bool {
        !self.roots.is_empty() && self.made.get(base.index()).is_none_or(|made| *made)
    }

    fn has_operand(&self, forms: &Forms, base: BaseId) -> bool {
        let Base::Operation { operands, .. } = forms.what(base) else { return false };
        let mut operands = operands.into_iter().filter(|form| *form != Form::NONE);
        operands.any(|form| forms.sum(form).terms().any(|(base, _)| self.made[base.index()]))
    }
}

/// What branches on the way to a block say to be 0 there.
#[derive(Clone, Debug, Default)]
pub(super) struct Zeros {
    /// The answers, as far as it was asked.
    answers: FxHashMap<(BaseId, NodeIndex), bool>,
    pub(super) made: Made,
}

impl Zeros {
    /// Whether something is 0 at a block, which `find` tells where nobody has asked before.
    pub(super) fn is_zero(&mut self, base: BaseId, block: NodeIndex, find: impl FnOnce() -> bool) -> bool {
        if let Some(&known) = self.answers.get(&(base, block)) {
            return known;
        }
        let is_zero = find();
        self.answers.insert((base, block), is_zero);
        if is_zero {
            self.made.add(base);
        }
        is_zero
    }
}
