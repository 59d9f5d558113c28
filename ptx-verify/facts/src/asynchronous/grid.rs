//! What one block of a grid stores and others read, where nothing lets the blocks wait for each other.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Instance};
use ptx_ir::special::SpecialRegister;
use rustc_hash::{FxHashMap, FxHashSet};

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
/// `comes_to` tells whether a thread may go from the one to the other without any of some instructions, by the conditions on the way:
/// the thread that stores for its block is often the one that orders it with others.
#[must_use]
pub fn read_of_other_blocks(
    facts: &FunctionFacts<'_>,
    comes_to: impl Fn(u32, u32, &[u32]) -> bool,
) -> Option<(u32, u32)> {
    let mut ordering: Vec<u32> = facts.reaching_out().filter(|&each| orders_blocks(facts, each)).collect();
    ordering.sort_unstable();
    if ordering.is_empty() {
        return None;
    }
    let is_of_all = |each: u32, stores: bool| is_weak(facts, each, stores) && may_be_global(facts, each);
    let is_read_only = |each: u32| facts.instance(each).is_some_and(Instance::is_read_only_load);
    let mut stores: Vec<u32> = facts.reaching_out().filter(|&each| is_of_all(each, true)).collect();
    stores.sort_unstable();
    stores.truncate(MAX_STORES);
    if stores.is_empty() {
        return None;
    }
    let loads = facts.reaching_out().filter(|&each| is_of_all(each, false) && !is_read_only(each));
    let mut loads: Vec<(u32, Register)> =
        loads.filter_map(|load| Some((load, address_root(facts, load)?))).collect();
    loads.sort_unstable();
    let known = Known { facts, sources: RefCell::default(), grid: OnceCell::new() };
    stores
        .into_iter()
        .find_map(|store| {
            let root = address_root(facts, store)?;
            let later = loads.iter().filter(|(load, of)| *load > store && *of == root).map(|(load, _)| *load);
            let later: Vec<u32> = later.take(MAX_LOADS).collect();
            if later.is_empty() {
                return None;
            }
            let (is_part, is_fixed) = (is_part(&known, store), is_fixed(&known, store));
            if !is_part && !is_fixed {
                return None;
            }
            let reach = Reach::from(facts, Ends::Instructions(&[store]), &ordering);
            let load = later.into_iter().find(|&load| {
                reach.at(load).is_some()
                    && (is_part && reads_all_parts(&known, load)
                        || is_fixed && reads_of_one(&known, store, load))
                    && comes_to(store, load, &ordering)
            })?;
            Some((store, load))
        })
        .filter(|_| !asks_for_one_block(&known))
}

/// Whether a kernel compares the number of blocks with a constant: with one block it may do otherwise.
fn asks_for_one_block(known: &Known<'_, '_>) -> bool {
    let facts = known.facts;
    (0..facts.body.instructions.len() as u32).any(|each| {
        let compares =
            facts.instance(each).is_some_and(|each| each.effects.computes == Some(Computation::Compare));
        let mut given = facts.body.operands(Handle::new(each)).iter().skip(1);
        compares
            && given.clone().any(|operand| matches!(operand, Operand::Integer { .. }))
            && given.any(|operand| {
                matches!(operand, Operand::Special(SpecialRegister::NCTAID_X))
                    || matches!(operand, Operand::Register { register, .. }
                            if known.of(*register)
                                .is_some_and(|sources| sources.is_grid_alone() && !sources.changes))
            })
    })
}

/// Whether each block stores in a place of its own.
fn is_part(known: &Known<'_, '_>, store: u32) -> bool {
    known.of_address(store).is_some_and(|own| own.block && !own.thread && !own.grid)
}

/// Whether an access is at the same place in each block and each turn.
fn is_fixed(known: &Known<'_, '_>, access: u32) -> bool {
    known.of_address(access).is_some_and(|sources| !sources.block && !sources.thread)
        && !address_moves_on(known.facts, access)
}

/// Whether a load goes over the places of all blocks.
fn reads_all_parts(known: &Known<'_, '_>, load: u32) -> bool {
    let Some(all) = known.of_address(load) else { return false };
    !all.block
        && !all.thread
        && known.counts_of_blocks().iter().any(|&each| {
            let mut given = known.facts.body.operands(Handle::new(each)).iter().skip(1);
            given.any(|operand| is_index(known.facts, &all, operand))
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

/// Whether some blocks alone store at one place, which is fixed, and others load from it.
fn reads_of_one(known: &Known<'_, '_>, store: u32, load: u32) -> bool {
    let facts = known.facts;
    if !is_fixed(known, load) || !has_same_distance(facts, store, load) {
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
            let Some(sources) = known.of(condition.register) else { return false };
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

/// What numbers of a function are computed of, as far as that was asked.
struct Known<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    sources: RefCell<FxHashMap<Register, Option<Rc<Sources>>>>,
    grid: OnceCell<Vec<u32>>,
}

impl Known<'_, '_> {
    fn of_address(&self, access: u32) -> Option<Rc<Sources>> {
        self.of(self.facts.address_in_register(access)?.0)
    }

    fn of(&self, register: Register) -> Option<Rc<Sources>> {
        let mut sources = self.sources.borrow_mut();
        sources.entry(register).or_insert_with(|| Sources::of(self.facts, register).map(Rc::new)).clone()
    }

    /// The comparisons with a number that is computed of how many blocks there are, and of nothing else that differs.
    fn counts_of_blocks(&self) -> &[u32] {
        self.grid.get_or_init(|| {
            let facts = self.facts;
            let asks = |each: &u32| {
                let operands = facts.body.operands(Handle::new(*each)).iter();
                operands
                    .into_iter()
                    .any(|operand| matches!(operand, Operand::Special(special) if is_grid(*special)))
            };
            let count = facts.body.instructions.len() as u32;
            if !(0..count).any(|each| asks(&each)) {
                return Vec::new();
            }
            let compares = |each: &u32| {
                let computes = facts.instance(*each).and_then(|each| each.effects.computes);
                let mut given = facts.body.operands(Handle::new(*each)).iter().skip(1);
                computes == Some(Computation::Compare)
                    && given.any(|operand| {
                        matches!(operand, Operand::Register { register, .. }
                            if self.of(*register).is_some_and(|sources| sources.is_grid_alone()))
                    })
            };
            (0..count).filter(compares).collect()
        })
    }
}

/// Whether a special register tells how many blocks there are.
const fn is_grid(special: SpecialRegister) -> bool {
    matches!(
        special,
        SpecialRegister::NCTAID
            | SpecialRegister::NCTAID_X
            | SpecialRegister::NCTAID_Y
            | SpecialRegister::NCTAID_Z
    )
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
            other if is_grid(other) => self.grid = true,
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
