//! Variables of shared memory that are set once, for all threads of a block, and only looked at afterwards.

use ptx_ir::ir::{Handle, Linkage, Operand, Variable};
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashMap;

use super::propagate::Engine;
use crate::facts::FunctionFacts;
use crate::facts::reach::{Ends, Reach};

/// Variables that are looked at; of more, nothing is known.
const MAX_VARIABLES: usize = 64;

/// What a function does with the variables of shared memory that it names.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared {
    /// Whether it calls others, which may write what is declared outside of it.
    calls: bool,
    /// The instructions that may write each; none where its address goes elsewhere.
    writes: FxHashMap<Handle<Variable>, Option<Vec<u32>>>,
    /// The loads of each behind which nothing writes it, where that was asked.
    last: FxHashMap<Handle<Variable>, Vec<u32>>,
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
        if shared.writes.len() > MAX_VARIABLES {
            shared.writes.clear();
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
        let writes = self.writes.get(&variable).and_then(Option::as_deref);
        self.last.entry(variable).or_insert_with(|| {
            let Some(writes) = writes else { return Vec::new() };
            let reach = Reach::to(facts, Ends::Instructions(writes), &[]);
            let names = |each: &u32| {
                let operands = facts.body.operands(Handle::new(*each));
                operands.iter().any(|operand| operand.variable() == Some(variable))
            };
            let all = 0..facts.body.instructions.len() as u32;
            all.filter(names).filter(|&each| !writes.contains(&each) && reach.at(each).is_none()).collect()
        })
    }
}

impl Engine<'_, '_> {
    /// Whether a load of a variable of shared memory gets what it holds from then on: nothing writes it behind the load,
    /// and its address goes nowhere. Only where values are followed to see who comes to a barrier: another thread that
    /// writes it without one would be a race.
    pub(super) fn is_final(&mut self, variable: Handle<Variable>, load: u32) -> bool {
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
            && shared.last(facts, variable).binary_search(&load).is_ok()
    }
}
