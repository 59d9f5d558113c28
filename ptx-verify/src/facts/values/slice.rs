//! The values that others are computed of.

use ptx_ir::isa::Computation;

use super::graph::{Graph, Kind, ValueId};
use crate::dataflow::FunctionFacts;

/// Some of the values of a graph, with all that they are computed of.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    wanted: Vec<bool>,
}

impl Slice {
    /// The values that these are computed of, and they themselves.
    pub(crate) fn of(
        facts: &FunctionFacts<'_>,
        graph: &Graph,
        roots: impl IntoIterator<Item = ValueId>,
    ) -> Self {
        let mut slice = Self { wanted: vec![false; graph.len()] };
        let mut open = Vec::new();
        for root in roots {
            slice.want(root, &mut open);
        }
        while let Some(value) = open.pop() {
            match graph.kind(value) {
                Kind::Computed { instruction, at: Some(_) } if is_followed(facts, instruction) => {
                    for read in facts.uses().range(instruction).filter_map(|at| graph.read(at)) {
                        slice.want(read, &mut open);
                    }
                }
                Kind::Guarded { new, old, .. } => {
                    slice.want(new, &mut open);
                    slice.want(old, &mut open);
                }
                Kind::Joined { .. } => {
                    graph.inputs(value).iter().for_each(|&input| slice.want(input, &mut open));
                }
                _ => {}
            }
        }
        slice
    }

    fn want(&mut self, value: ValueId, open: &mut Vec<ValueId>) {
        if !std::mem::replace(&mut self.wanted[value.index()], true) {
            open.push(value);
        }
    }

    /// Whether a value is among them.
    pub(crate) fn has(&self, value: ValueId) -> bool {
        self.wanted[value.index()]
    }
}

/// Whether what an instruction computes is known by its operands.
fn is_followed(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
    computes.is_some_and(|computes| {
        !matches!(
            computes,
            Computation::Load
                | Computation::Exchange
                | Computation::Match
                | Computation::Reduce
                | Computation::ActiveMask
                | Computation::Elect
        )
    })
}
