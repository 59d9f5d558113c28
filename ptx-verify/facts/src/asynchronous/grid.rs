//! What one block of a grid stores and others read, where nothing lets the blocks wait for each other.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Instance};
use ptx_ir::special::SpecialRegister;
use rustc_hash::FxHashSet;

use super::flags::{address_moves_on, address_root, has_same_distance, may_be_global, orders_blocks};
use super::loops::is_weak;
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// Stores that are looked at, and loads for each.
const MAX_STORES: usize = 16;
const MAX_LOADS: usize = 16;
/// Registers that a number is computed of.
const MAX_REGISTERS: usize = 64;
/// Writes of each of them that are looked at.
const MAX_WRITES: usize = 4;
/// Conditions on the way to a store.
const MAX_DOMINATORS: usize = 24;
/// Blocks of a loop that is left.
const MAX_BLOCKS: usize = 64;

/// A store and a load after it, of what another block has stored with the same instruction, in a kernel that orders blocks elsewhere and
/// not between the two: each block stores a part, and one reads the parts of all, or a single block stores what all read.
#[must_use]
pub fn read_of_other_blocks(facts: &FunctionFacts<'_>) -> Option<(u32, u32)> {
    let ordering: Vec<u32> = facts.reaching_out().filter(|&each| orders_blocks(facts, each)).collect();
    if ordering.is_empty() {
        return None;
    }
    let is_of_all = |each: u32, stores: bool| is_weak(facts, each, stores) && may_be_global(facts, each);
    let is_read_only = |each: u32| facts.instance(each).is_some_and(Instance::is_read_only_load);
    let mut stores: Vec<u32> = facts.reaching_out().filter(|&each| is_of_all(each, true)).collect();
    let mut loads: Vec<u32> =
        facts.reaching_out().filter(|&each| is_of_all(each, false) && !is_read_only(each)).collect();
    stores.sort_unstable();
    loads.sort_unstable();
    stores
        .into_iter()
        .take(MAX_STORES)
        .find_map(|store| {
            let root = address_root(facts, store)?;
            let later =
                loads.iter().copied().filter(|&load| load > store && address_root(facts, load) == Some(root));
            let later: Vec<u32> = later.take(MAX_LOADS).collect();
            if later.is_empty() {
                return None;
            }
            let reach = Reach::from(facts, Ends::Instructions(&[store]), &ordering);
            let load = later.into_iter().find(|&load| {
                reach.at(load).is_some()
                    && (reads_all_parts(facts, store, load) || reads_of_one(facts, store, load))
            })?;
            Some((store, load))
        })
        .filter(|_| !asks_for_one_block(facts))
}

/// Whether a kernel compares the number of blocks with a constant: with one block it may do otherwise.
fn asks_for_one_block(facts: &FunctionFacts<'_>) -> bool {
    (0..facts.body.instructions.len() as u32).any(|each| {
        let compares =
            facts.instance(each).is_some_and(|each| each.effects.computes == Some(Computation::Compare));
        let mut given = facts.body.operands(Handle::new(each)).iter().skip(1);
        compares
            && given.clone().any(|operand| matches!(operand, Operand::Integer { .. }))
            && given.any(|operand| {
                matches!(operand, Operand::Special(SpecialRegister::NCTAID_X))
                    || matches!(operand, Operand::Register { register, .. }
                            if Sources::of(facts, *register)
                                .is_some_and(|sources| sources.is_grid_alone() && !sources.changes))
            })
    })
}

/// Whether each block stores in a place of its own, and the load goes over the places of all of them.
fn reads_all_parts(facts: &FunctionFacts<'_>, store: u32, load: u32) -> bool {
    let (Some(own), Some(all)) = (Sources::of_address(facts, store), Sources::of_address(facts, load)) else {
        return false;
    };
    own.block
        && !own.thread
        && !own.grid
        && !all.block
        && !all.thread
        && (0..facts.body.instructions.len() as u32).any(|each| {
            let compares =
                facts.instance(each).is_some_and(|each| each.effects.computes == Some(Computation::Compare));
            let mut given = facts.body.operands(Handle::new(each)).iter().skip(1);
            compares
                && given.clone().any(|operand| is_index(facts, &all, operand))
                && given.any(|operand| {
                    matches!(operand, Operand::Register { register, .. }
                        if Sources::of(facts, *register).is_some_and(|sources| sources.is_grid_alone()))
                })
        })
}

/// Whether an operand is a number that goes up in a loop, and that an address is computed of.
fn is_index(facts: &FunctionFacts<'_>, address: &Sources, operand: &Operand) -> bool {
    let Operand::Register { register, .. } = operand else { return false };
    let of_move = |register: Register| match facts.definitions(register) {
        [only] => match facts.body.operands(Handle::new(*only)).get(1) {
            Some(Operand::Register { register, .. }) => *register,
            _ => register,
        },
        _ => register,
    };
    [*register, of_move(*register)]
        .into_iter()
        .any(|each| facts.definitions(each).len() == 2 && address.registers.contains(&each))
}

/// Whether some blocks alone store at one place, and others load from it.
fn reads_of_one(facts: &FunctionFacts<'_>, store: u32, load: u32) -> bool {
    let is_fixed = |each: u32| {
        Sources::of_address(facts, each).is_some_and(|sources| !sources.block && !sources.thread)
            && !address_moves_on(facts, each)
    };
    if !has_same_distance(facts, store, load) || !is_fixed(store) || !is_fixed(load) {
        return false;
    }
    let cfg = &facts.cfg;
    let block = |each: u32| cfg.block_of(Handle::new(each));
    let (mut inside, mut is_chosen) = (block(store), false);
    for _ in 0..MAX_DOMINATORS {
        // Where control comes to the load as well, nothing tells the two apart.
        if cfg.dominates(inside, block(load)) {
            return is_chosen;
        }
        let mut before = cfg.predecessors(inside).filter(|&(from, _)| !cfg.dominates(inside, from));
        if let (Some((from, edge)), None) = (before.next(), before.next())
            && let Some(condition) = edge.condition.filter(|_| cfg.successors(from).nth(1).is_some())
            && !leaves_loop(facts, from, inside)
        {
            let Some(sources) = Sources::of(facts, condition.register) else { return false };
            // A kernel may do otherwise where it has one block.
            if sources.loads || sources.grid && !sources.block {
                return false;
            }
            is_chosen |= sources.block;
        }
        match cfg.immediate_dominator(inside) {
            Some(next) if next != inside => inside = next,
            _ => break,
        }
    }
    false
}

/// Whether control that does not go from one block to another one comes back to it.
fn leaves_loop(facts: &FunctionFacts<'_>, from: NodeIndex, to: NodeIndex) -> bool {
    let (mut seen, mut pending) = (FxHashSet::from_iter([to]), vec![from]);
    while let Some(block) = pending.pop() {
        for (next, _) in facts.cfg.successors(block) {
            if next == from {
                return true;
            }
            if seen.len() < MAX_BLOCKS && seen.insert(next) {
                pending.push(next);
            }
        }
    }
    false
}

/// What a number is computed of.
#[derive(Default)]
struct Sources {
    registers: FxHashSet<Register>,
    /// The number of the block, that of the thread, and how many blocks there are.
    block: bool,
    thread: bool,
    grid: bool,
    loads: bool,
    /// Whether a comparison is among it, or a number that goes on.
    changes: bool,
}

impl Sources {
    fn of_address(facts: &FunctionFacts<'_>, access: u32) -> Option<Self> {
        Self::of(facts, facts.address_in_register(access)?.0)
    }

    /// None where there is more than is looked at.
    fn of(facts: &FunctionFacts<'_>, register: Register) -> Option<Self> {
        let mut found = Self::default();
        let mut pending = vec![register];
        while let Some(register) = pending.pop() {
            if !found.registers.insert(register) {
                continue;
            }
            let writes = facts.definitions(register);
            if found.registers.len() > MAX_REGISTERS || writes.len() > MAX_WRITES {
                return None;
            }
            found.changes |= writes.len() > 1;
            for &write in writes {
                let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
                if matches!(computes, None | Some(Computation::Load)) {
                    found.loads = true;
                    continue;
                }
                found.changes |= computes == Some(Computation::Compare);
                for operand in facts.body.operands(Handle::new(write)).iter().skip(1) {
                    match *operand {
                        Operand::Register { register, .. } => pending.push(register),
                        Operand::Special(special) => found.note(special),
                        _ => {}
                    }
                }
                if let Some(guard) = facts.condition(write) {
                    pending.push(guard.register);
                }
            }
        }
        Some(found)
    }

    fn note(&mut self, special: SpecialRegister) {
        match special {
            SpecialRegister::CTAID
            | SpecialRegister::CTAID_X
            | SpecialRegister::CTAID_Y
            | SpecialRegister::CTAID_Z => self.block = true,
            SpecialRegister::NCTAID
            | SpecialRegister::NCTAID_X
            | SpecialRegister::NCTAID_Y
            | SpecialRegister::NCTAID_Z => self.grid = true,
            SpecialRegister::TID
            | SpecialRegister::TID_X
            | SpecialRegister::TID_Y
            | SpecialRegister::TID_Z
            | SpecialRegister::LANEID
            | SpecialRegister::WARPID => self.thread = true,
            _ => {}
        }
    }

    /// Whether it is the number of blocks.
    fn is_grid_alone(&self) -> bool {
        self.grid && !self.block && !self.thread && !self.loads
    }
}
