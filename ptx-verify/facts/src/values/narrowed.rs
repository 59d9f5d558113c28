//! Divisions that compilers make in half the width where the upper halves of both numbers are 0.

use petgraph::graph::NodeIndex;
use ptx_ir::isa::Computation;

use super::graph::ValueId;
use super::linear::{Base, Form, Sum};
use super::propagate::{Engine, Fact};

const HALF: u32 = u32::BITS;
/// The upper half of a number.
const UPPER: u64 = !0 << HALF;

/// A quotient or what is left over.
#[derive(Clone, Copy)]
struct Division {
    computes: Computation,
    operands: [Form; 2],
}

impl Engine<'_, '_> {
    /// The division that a join has both ways: in half the width over an edge on which the upper halves were found to be 0,
    /// and as it is over the other.
    pub(super) fn division(&mut self, block: NodeIndex, join: ValueId) -> Option<Form> {
        let &[one, other] = self.graph.inputs(join) else { return None };
        let (one, other) = (self.values.of(one)?, self.values.of(other)?);
        self.widened((block, 0), one, other).or_else(|| self.widened((block, 1), other, one))
    }

    /// The form of `whole`, if `half` is the same division, which comes over the edge.
    fn widened(&mut self, edge: (NodeIndex, usize), half: Fact, whole: Fact) -> Option<Form> {
        let (narrow, wide) = (self.divided(half)?, self.divided(whole)?);
        let [a, b] = wide.operands;
        let width = |form: Form| self.values.forms.sum(form).width();
        if narrow.computes != wide.computes || width(a) != 2 * HALF || narrow.operands.map(width) != [HALF; 2]
        {
            return None;
        }
        let is_cut = |(of, form): (Form, Form)| {
            self.cut_sum(*self.values.forms.sum(of), HALF) == *self.values.forms.sum(form)
        };
        if !wide.operands.into_iter().zip(narrow.operands).all(is_cut) {
            return None;
        }
        let fact = |form: Form| Fact { number: self.number_of(self.values.forms.sum(form)), form };
        let (a, b) = (fact(a), fact(b));
        let found = self.found_to_be_zero(edge)?;
        let upper = self.constant(2 * HALF, UPPER);
        let is_small = |fact: Fact| fact.number.high & UPPER == 0;
        let mut is_found = |fact: Fact| self.and(fact, upper).form == found;
        if is_small(b) && is_found(a) || is_small(a) && is_found(b) {
            return Some(whole.form);
        }
        let both = self.or(a, b);
        (self.and(both, upper).form == found).then_some(whole.form)
    }

    fn divided(&self, fact: Fact) -> Option<Division> {
        let sum = self.sum(fact);
        let mut terms = sum.terms();
        let (Some((base, 1)), None, 0) = (terms.next(), terms.next(), sum.offset()) else { return None };
        match self.values.forms.what(base) {
            Base::Operation {
                computes: computes @ (Computation::Divide | Computation::Remainder),
                operands: [a, b, Form::NONE],
                ..
            } => Some(Division { computes, operands: [a, b] }),
            _ => None,
        }
    }

    /// What was found to be 0 by the branch that an edge, or the only way to where it begins, comes from.
    fn found_to_be_zero(&self, (block, position): (NodeIndex, usize)) -> Option<Form> {
        let graph = self.graph;
        let (from, _) = graph.predecessors(block).nth(position)?;
        let (branching, condition) = match graph.condition(block, position) {
            Some(condition) => (from, condition),
            None => (graph.predecessors(from).next()?.0, graph.condition(from, 0)?),
        };
        if graph.condition(block, position).is_none() && graph.predecessor_count(from) != 1 {
            return None;
        }
        let guard = graph.guard(self.facts.cfg.instructions(branching).last()?)?;
        let sum: Sum = *self.sum(self.values.of(guard)?);
        let mut terms = sum.terms();
        let (Some((base, _)), None) = (terms.next(), terms.next()) else { return None };
        match self.values.forms.what(base) {
            Base::Operation {
                computes: Computation::Compare, operands: [difference, Form::NONE, _], ..
            } if condition.value ^ (sum.offset() & 1 != 0) => Some(difference),
            _ => None,
        }
    }
}
