//! Copies of the body of a loop that a compiler has unrolled.

use petgraph::graph::NodeIndex;
use ptx_ir::isa::Computation;

use super::linear::{Base, Form, Sum};
use super::propagate::Engine;

impl Engine<'_, '_> {
    /// Whether a block is a copy of a loop's body, in which the rounds are told apart by tests of one count: those before
    /// it and those after it ask whether it is one number and the next. `is_like` tells which blocks do the same, for
    /// nothing is asked after the last copy. How many rounds there are the compiler knew from above only: a copy may be
    /// one of a round that never comes.
    pub fn is_unrolled_copy(&self, block: NodeIndex, is_like: impl Fn(NodeIndex) -> bool) -> bool {
        let before = || self.only_predecessor(block);
        self.is_between_tests(block)
            || before().is_some_and(|from| self.is_between_tests(from) && is_like(from))
    }

    /// Whether what leads to a block and what leads on ask for two values of the same.
    fn is_between_tests(&self, block: NodeIndex) -> bool {
        let before = self.only_predecessor(block).and_then(|from| self.tested_at_end(from));
        let (Some(before), Some(after)) = (before, self.tested_at_end(block)) else { return false };
        before.without_offset() == after.without_offset() && before.offset() != after.offset()
    }

    fn only_predecessor(&self, block: NodeIndex) -> Option<NodeIndex> {
        let mut from = self.graph.predecessors(block).map(|(from, _)| from);
        from.next().filter(|_| from.next().is_none())
    }

    /// What is compared with 0 by the branch at the end of a block.
    fn tested_at_end(&self, block: NodeIndex) -> Option<Sum> {
        let guard = self.graph.guard(self.facts.cfg.instructions(block).last()?)?;
        let mut terms = self.sum(self.values.of(guard)?).terms();
        let (Some((base, _)), None) = (terms.next(), terms.next()) else { return None };
        let Base::Operation { computes: Computation::Compare, operands: [difference, Form::NONE, _], .. } =
            self.values.forms.what(base)
        else {
            return None;
        };
        Some(*self.values.forms.sum(difference))
    }
}
