//! Fences that are executed only where something was stored: what decides about the stores decides about the fence.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Event};
use rustc_hash::FxHashSet;

use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// Registers that a condition is computed of.
const MAX_REGISTERS: usize = 64;
/// Writes of each of them that are looked at.
const MAX_WRITES: usize = 8;
/// Conditions on the way to a store.
const MAX_DOMINATORS: usize = 24;
/// Fences of one function that are looked at.
const MAX_FENCES: usize = 32;

/// Whether a fence between a store and a flag is left out under a condition that is computed of the same numbers as one under which
/// the store is executed: libraries leave it out where nothing was stored. `fences` are ascending.
#[must_use]
pub fn is_fenced_as_needed(facts: &FunctionFacts<'_>, fences: &[u32], store: u32, flag: u32) -> bool {
    let block = |instruction| facts.cfg.block_of(Handle::new(instruction));
    let before = Reach::to(facts, Ends::Instructions(&[flag]), &[]);
    let after = Reach::from(facts, Ends::Instructions(&[store]), &[]);
    let is_between = |&fence: &u32| {
        let event = facts.instance(fence).and_then(|instance| instance.effects.event);
        event == Some(Event::Fence)
            && fence < flag
            && before.at(fence).is_some()
            && after.at(fence).is_some()
            && !facts.cfg.dominates(block(store), block(fence))
    };
    let mut decides: Option<FxHashSet<Register>> = None;
    fences.iter().rev().copied().filter(is_between).take(MAX_FENCES).any(|fence| {
        let guard = facts.condition(fence).map(|condition| condition.register);
        let entered = facts.cfg.predecessors(block(fence)).filter_map(|(_, edge)| edge.condition);
        let own: Vec<Register> =
            guard.into_iter().chain(entered.map(|condition| condition.register)).collect();
        let own = computed_of(facts, own);
        let of_store =
            decides.get_or_insert_with(|| computed_of(facts, conditions(facts, block(store), block(flag))));
        own.intersection(of_store).next().is_some()
    })
}

/// The conditions under which control comes to a block and not only to another one after it.
fn conditions(facts: &FunctionFacts<'_>, block: NodeIndex, after: NodeIndex) -> Vec<Register> {
    let (mut found, mut at) = (Vec::new(), Some(block));
    for _ in 0..MAX_DOMINATORS {
        let Some(inside) = at.filter(|&inside| !facts.cfg.dominates(inside, after)) else { break };
        let entered = facts.cfg.predecessors(inside).filter_map(|(_, edge)| edge.condition);
        found.extend(entered.map(|condition| condition.register));
        at = facts.cfg.immediate_dominator(inside);
    }
    found
}

/// The registers that some are computed of, but for those with the number of a thread or a constant.
fn computed_of(facts: &FunctionFacts<'_>, mut pending: Vec<Register>) -> FxHashSet<Register> {
    let mut seen = FxHashSet::default();
    let mut found = FxHashSet::default();
    while let Some(register) = pending.pop() {
        if seen.len() >= MAX_REGISTERS || !seen.insert(register) {
            continue;
        }
        let mut is_number = false;
        for &write in facts.definitions(register).iter().take(MAX_WRITES) {
            let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
            let given = facts.body.operands(Handle::new(write)).iter().skip(1);
            for operand in given.filter(|_| computes != Some(Computation::Load)) {
                match *operand {
                    Operand::Register { register, .. } | Operand::Negated { register, .. } => {
                        pending.push(register);
                    }
                    Operand::Special(_) => is_number = true,
                    _ => {}
                }
            }
        }
        if !is_number {
            found.insert(register);
        }
    }
    found
}
