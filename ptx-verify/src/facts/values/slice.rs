//! The values that others are computed of.

use ptx_ir::isa::Computation;

use super::graph::{Graph, Kind, ValueId};
use crate::facts::FunctionFacts;

/// Some of the values of a graph, with all that they are computed of.
#[derive(Clone, Debug)]
pub(crate) struct Slice {
    wanted: Vec<bool>,
    /// The instructions that compute them, each with the use that is written, or [`FLAG`], in order.
    computed: Vec<(u32, u32)>,
}

/// Stands for the carry flag, which no use names.
pub(crate) const FLAG: u32 = u32::MAX;

impl Slice {
    /// The values that these are computed of, as far as a number or an address is known by them, and they themselves.
    pub(crate) fn of(
        facts: &FunctionFacts<'_>,
        graph: &Graph,
        roots: impl IntoIterator<Item = ValueId>,
    ) -> Self {
        Self::new(facts, graph, roots, false)
    }

    /// All values that these depend on in any way, and they themselves.
    pub(crate) fn of_all_reads(
        facts: &FunctionFacts<'_>,
        graph: &Graph,
        roots: impl IntoIterator<Item = ValueId>,
    ) -> Self {
        Self::new(facts, graph, roots, true)
    }

    fn new(
        facts: &FunctionFacts<'_>,
        graph: &Graph,
        roots: impl IntoIterator<Item = ValueId>,
        all_reads: bool,
    ) -> Self {
        let mut slice = Self { wanted: vec![false; graph.len()], computed: Vec::new() };
        let mut open = Vec::new();
        for root in roots {
            slice.want(root, &mut open);
        }
        while let Some(value) = open.pop() {
            match graph.kind(value) {
                Kind::Computed { instruction, at } => {
                    slice.computed.push((instruction, at.unwrap_or(FLAG)));
                    if !all_reads && !is_followed(facts, instruction) {
                        continue;
                    }
                    let flag = graph.carry(instruction).0.filter(|_| all_reads);
                    for read in facts.uses().range(instruction).filter_map(|at| graph.read(at)).chain(flag) {
                        slice.want(read, &mut open);
                    }
                }
                Kind::Guarded { instruction, new, old } => {
                    if let Some(guard) = graph.guard(instruction).filter(|_| all_reads) {
                        slice.want(guard, &mut open);
                    }
                    slice.want(new, &mut open);
                    slice.want(old, &mut open);
                }
                Kind::Joined { .. } => {
                    graph.inputs(value).iter().for_each(|&input| slice.want(input, &mut open));
                }
                _ => {}
            }
        }
        slice.computed.sort_unstable();
        slice
    }

    /// The instructions of a block that compute some of them, each with the use that is written, or [`FLAG`].
    pub(crate) fn within(&self, block: std::ops::Range<u32>) -> &[(u32, u32)] {
        let place = |wanted: u32| self.computed.partition_point(|&(instruction, _)| instruction < wanted);
        let start = place(block.start);
        &self.computed[start..start.max(place(block.end))]
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
