//! Variables of shared memory that are set once, for all threads of a block, and only looked at afterwards.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Linkage, Operand, Variable};
use ptx_ir::isa::Computation;
use ptx_ir::space::StateSpace;
use rustc_hash::{FxHashMap, FxHashSet};

use super::graph::{Kind, ValueId};
use super::propagate::Engine;
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// Variables for which it is asked which loads are the last; of more, none is.
const MAX_VARIABLES: usize = 64;

/// Blocks that are looked at between loads and where their values join; beyond that loads differ.
const MAX_LOOKS: usize = 20_000;

/// What a function does with the variables of shared memory that it names.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    /// Whether it calls others, which may write what is declared outside of it.
    calls: bool,
    /// The instructions that may write each; none where its address goes elsewhere.
    writes: FxHashMap<Handle<Variable>, Option<Vec<u32>>>,
    /// The loads of each behind which nothing writes it, where that was asked.
    last: FxHashMap<Handle<Variable>, Vec<u32>>,
    /// How many blocks were looked at between loads and where their values join.
    looked: usize,
}

/// Whether an instruction is one of those, which come in order.
fn is_in(instructions: &[u32], instruction: u32) -> bool {
    instructions.binary_search(&instruction).is_ok()
}

impl Shared {
    fn of(facts: &FunctionFacts<'_>) -> Self {
        let mut shared = Self::default();
        for instruction in 0..facts.body.instructions.len() as u32 {
            let handle = Handle::new(instruction);
            shared.calls |= facts.is_call(instruction);
            for (index, operand) in facts.body.operands(handle).iter().enumerate() {
                shared.note(facts, instruction, index, operand);
            }
        }
        shared
    }

    fn note(&mut self, facts: &FunctionFacts<'_>, instruction: u32, index: usize, operand: &Operand) {
        let mut escapes = |variable: Handle<Variable>| {
            self.writes.insert(variable, None);
        };
        match operand {
            Operand::VariableAddress { variable, .. } => {
                let spec = facts.instance(instruction).and_then(|instance| instance.operands.get(index));
                match spec.and_then(|spec| spec.access) {
                    Some(access) => {
                        let writes = self.writes.entry(*variable).or_insert_with(|| Some(Vec::new()));
                        if let Some(writes) = writes.as_mut().filter(|_| access.writes) {
                            writes.push(instruction);
                        }
                    }
                    None => escapes(*variable),
                }
            }
            Operand::Vector(run) | Operand::Pair(run) => {
                for part in facts.body.children(*run) {
                    if let Some(variable) = part.variable() {
                        escapes(variable);
                    }
                }
            }
            _ => operand.variable().into_iter().for_each(escapes),
        }
    }

    /// The loads of a variable, of these, behind which nothing writes it.
    fn last(&mut self, facts: &FunctionFacts<'_>, variable: Handle<Variable>) -> &[u32] {
        let few = self.writes.len() <= MAX_VARIABLES;
        let writes = self.writes.get(&variable).and_then(Option::as_deref).filter(|_| few);
        self.last.entry(variable).or_insert_with(|| {
            let Some(writes) = writes else { return Vec::new() };
            let reach = Reach::to(facts, Ends::Instructions(writes), &[]);
            let names = |each: &u32| {
                let operands = facts.body.operands(Handle::new(*each));
                operands.iter().any(|operand| operand.variable() == Some(variable))
            };
            let all = 0..facts.body.instructions.len() as u32;
            all.filter(names).filter(|&each| !is_in(writes, each) && reach.at(each).is_none()).collect()
        })
    }
}

impl Engine<'_, '_> {
    /// Whether values that a block joins are one variable of shared memory, which each side has loaded for itself: nothing
    /// writes it between where control parts and the block.
    pub(crate) fn are_one_load(&mut self, block: NodeIndex, values: &[ValueId]) -> bool {
        let (facts, graph) = (self.facts, self.graph);
        let loaded = |value: &ValueId| {
            let Kind::Computed { instruction, .. } = graph.kind(*value) else { return None };
            let instance = facts.instance(instruction)?;
            let computes = instance.effects.computes == Some(Computation::Load);
            match facts.body.operands(Handle::new(instruction)) {
                [Operand::Register { .. }, Operand::VariableAddress { variable, offset, .. }]
                    if computes && graph.guard(instruction).is_none() =>
                {
                    Some((instance.ty, *variable, *offset))
                }
                _ => None,
            }
        };
        let mut loads = values.iter().map(loaded);
        let Some(Some(first)) = loads.next() else { return false };
        let (_, variable, _) = first;
        if !loads.all(|load| load == Some(first)) || !self.is_seen_whole(variable) {
            return false;
        }
        let shared = self.shared.get_or_insert_with(|| Shared::of(facts));
        let Some(Some(writes)) = shared.writes.get(&variable) else { return false };
        let mut seen = FxHashSet::from_iter([block]);
        let mut open = vec![block];
        let mut fork = None;
        while let Some(inside) = open.pop() {
            for (from, _) in graph.predecessors(inside) {
                if facts.cfg.dominates(from, block) {
                    fork = Some(from);
                    continue;
                }
                if !seen.insert(from) {
                    continue;
                }
                shared.looked += 1;
                let mut instructions = facts.cfg.instructions(from);
                if shared.looked > MAX_LOOKS || instructions.any(|each| is_in(writes, each)) {
                    return false;
                }
                open.push(from);
            }
        }
        let is_between = |value: &ValueId| match graph.kind(*value) {
            Kind::Computed { instruction, .. } => {
                let made = facts.cfg.block_of(Handle::new(instruction));
                let is_last = || {
                    let mut behind = facts.cfg.instructions(made).filter(|each| *each > instruction);
                    !behind.any(|each| is_in(writes, each))
                };
                made != block && seen.contains(&made) || fork == Some(made) && is_last()
            }
            _ => false,
        };
        values.iter().all(is_between)
    }

    /// Whether all that happens to a variable of shared memory is in this function.
    fn is_seen_whole(&mut self, variable: Handle<Variable>) -> bool {
        let facts = self.facts;
        let what = &facts.module.variables[variable];
        if !self.values.whole_warps
            || what.space.base() != StateSpace::Shared
            || what.linkage == Some(Linkage::Extern)
        {
            return false;
        }
        let shared = self.shared.get_or_insert_with(|| Shared::of(facts));
        !(shared.calls && what.function.is_none())
    }

    /// Whether a load of a variable of shared memory gets what it holds from then on: nothing writes it behind the load,
    /// and its address goes nowhere. Only where values are followed to see who comes to a barrier: another thread that
    /// writes it without one would be a race.
    pub(super) fn is_final(&mut self, variable: Handle<Variable>, load: u32) -> bool {
        let facts = self.facts;
        self.is_seen_whole(variable)
            && self
                .shared
                .as_mut()
                .is_some_and(|shared| shared.last(facts, variable).binary_search(&load).is_ok())
    }
}
