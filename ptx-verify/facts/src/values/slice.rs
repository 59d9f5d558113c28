//! The values that others are computed of.

use ptx_ir::isa::{Computation, Instance};
use ptx_ir::space::StateSpace;

use super::graph::{Graph, Kind, ValueId};
use crate::FunctionFacts;

/// Some of the values of a graph, with all that they are computed of.
#[derive(Clone, Debug)]
pub struct Slice {
    wanted: Vec<bool>,
    /// The instructions that compute them, each with the use that is written, or [`FLAG`], in order.
    computed: Vec<(u32, u32)>,
}

/// Stands for the carry flag, which no use names.
pub const FLAG: u32 = u32::MAX;

impl Slice {
    /// The values that these are computed of, as far as a number or an address is known by them, and they themselves.
    pub fn of(facts: &FunctionFacts<'_>, graph: &Graph, roots: impl IntoIterator<Item = ValueId>) -> Self {
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
        let mut growing = Growing::new(facts, graph, all_reads);
        roots.into_iter().for_each(|root| growing.want(root));
        while growing.next().is_some() {}
        growing.finish()
    }

    /// The instructions of a block that compute some of them, each with the use that is written, or [`FLAG`].
    pub(crate) fn within(&self, block: std::ops::Range<u32>) -> &[(u32, u32)] {
        let place = |wanted: u32| self.computed.partition_point(|&(instruction, _)| instruction < wanted);
        let start = place(block.start);
        &self.computed[start..start.max(place(block.end))]
    }

    /// How many of them instructions compute.
    pub(crate) fn len(&self) -> usize {
        self.computed.len()
    }

    /// Whether a value is among them.
    #[inline]
    pub(crate) fn has(&self, value: ValueId) -> bool {
        self.wanted[value.index()]
    }
}

/// A slice that is being found.
pub struct Growing<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    graph: &'f Graph,
    all_reads: bool,
    slice: Slice,
    open: Vec<ValueId>,
}

impl<'f, 'm> Growing<'f, 'm> {
    /// Nothing is wanted yet. `all_reads`: whether all counts that values depend on in any way.
    pub(crate) fn new(facts: &'f FunctionFacts<'m>, graph: &'f Graph, all_reads: bool) -> Self {
        let slice = Slice { wanted: vec![false; graph.len()], computed: Vec::new() };
        Self { facts, graph, all_reads, slice, open: Vec::new() }
    }

    /// Adds a value.
    pub(crate) fn want(&mut self, value: ValueId) {
        if !std::mem::replace(&mut self.slice.wanted[value.index()], true) {
            self.open.push(value);
        }
    }

    /// Takes one of the values whose sources were not looked at, and adds these.
    pub(crate) fn next(&mut self) -> Option<ValueId> {
        let value = self.open.pop()?;
        let (facts, graph) = (self.facts, self.graph);
        match graph.kind(value) {
            Kind::Computed { instruction, at } => {
                self.slice.computed.push((instruction, at.unwrap_or(FLAG)));
                if self.all_reads || is_followed(facts, instruction) {
                    let reads = facts.uses().range(instruction).filter_map(|at| graph.read(at));
                    let flag = graph.carry(instruction).0.filter(|_| self.all_reads);
                    reads.chain(flag).for_each(|read| self.want(read));
                }
            }
            Kind::Guarded { instruction, new, old } => {
                if let Some(guard) = graph.guard(instruction).filter(|_| self.all_reads) {
                    self.want(guard);
                }
                self.want(new);
                self.want(old);
            }
            Kind::Joined { .. } => graph.inputs(value).iter().for_each(|&input| self.want(input)),
            _ => {}
        }
        Some(value)
    }

    /// All that was wanted.
    pub(crate) fn finish(mut self) -> Slice {
        self.slice.computed.sort_unstable();
        self.slice
    }
}

/// The operand of a load that is an address.
pub(super) const ADDRESS_OF_LOAD: usize = 1;

/// The state space that a load reads, where nobody writes it while a kernel runs.
pub(super) fn unchanging_space(instance: &Instance) -> Option<StateSpace> {
    let space = instance.operands.get(ADDRESS_OF_LOAD)?.access?.space?.base();
    matches!(space, StateSpace::Param | StateSpace::Const).then_some(space)
}

/// Whether what an instruction computes is known by its operands.
fn is_followed(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let Some(instance) = facts.instance(instruction) else { return false };
    instance.effects.computes.is_some_and(|computes| match computes {
        Computation::Load => unchanging_space(instance).is_some(),
        _ => !matches!(
            computes,
            Computation::Exchange
                | Computation::Match
                | Computation::Reduce
                | Computation::ActiveMask
                | Computation::Elect
                | Computation::Combine
        ),
    })
}
