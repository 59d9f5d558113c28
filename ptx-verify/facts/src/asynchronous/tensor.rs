//! Uses of tensor memory, and of registers loaded from it, before the operation that makes them is done.
//!
//! PTX ISA manual, sections "tcgen05.ld", "tcgen05.wait" and "tcgen05.commit". Compilers take a `tcgen05.ld` for an
//! instruction with results and move arithmetic on these in front of the wait, and plain stores within a block; the
//! assembler sees to it that they are there. What nothing moves over the wait is an effect: a branch, an atomic,
//! another operation. So what is computed of a result before the wait is followed to the first effect.

use super::{Action, InFlight};
use crate::FunctionFacts;
use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Computation, Effects};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::VecDeque;

/// What is used too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// A register that a `tcgen05.ld` writes, or one computed of it.
    Loaded,
    /// Tensor memory that a `tcgen05.st` writes.
    Stored,
    /// Tensor memory that a `tcgen05.mma` or its like uses.
    Computed,
}

/// A use of what an operation makes, or frees, on a path without a wait for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EarlyUse {
    /// The operation, the use, and its first register.
    pub access: InFlight,
    /// What is used.
    pub reason: Reason,
}

/// What runs on its own at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Pending {
    /// The registers that hold a result, or something computed of one, with the load.
    loaded: FxHashMap<Register, u32>,
    /// The stores, ascending.
    stores: Vec<u32>,
    /// The other operations, ascending.
    operations: Vec<u32>,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.loaded.is_empty() && self.stores.is_empty() && self.operations.is_empty()
    }

    fn clear(&mut self) {
        self.loaded.clear();
        self.stores.clear();
        self.operations.clear();
    }

    /// Adds what is pending on another path; whether that is anything new.
    fn join(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (&register, &start) in &other.loaded {
            // The first load of the text, whichever path was looked at first.
            let known = self.loaded.entry(register).or_insert_with(|| {
                changed = true;
                start
            });
            changed |= start < *known;
            *known = start.min(*known);
        }
        changed |= add_all(&mut self.stores, &other.stores);
        changed | add_all(&mut self.operations, &other.operations)
    }
}

fn add_all(to: &mut Vec<u32>, from: &[u32]) -> bool {
    from.iter().fold(false, |changed, &each| add(to, each) | changed)
}

fn add(to: &mut Vec<u32>, each: u32) -> bool {
    match to.binary_search(&each) {
        Ok(_) => false,
        Err(place) => {
            to.insert(place, each);
            true
        }
    }
}

/// Blocks are looked at again so often, on average; then nothing more is found.
const MAX_ROUNDS: usize = 8;
/// More operations in flight than this are not kept apart.
const MAX_PENDING: usize = 64;

/// The first use of each operation that comes too early, in order of the text. `actions` are those of the function,
/// and `calls` the calls that may wait.
#[must_use]
pub fn early_uses(facts: &FunctionFacts<'_>, actions: &[Action], calls: &[u32]) -> Vec<EarlyUse> {
    let concerned = |action: &Action| {
        let group = action.group;
        action.action == AsyncAction::Start
            && matches!(group, AsyncGroup::Tcgen05Load | AsyncGroup::Tcgen05Store | AsyncGroup::Tcgen05)
    };
    if !actions.iter().any(concerned) {
        return Vec::new();
    }
    let starts = actions.iter().copied().filter(concerned).collect();
    let mut search = Search::new(facts, starts, waits(actions), calls);
    let mut entries = vec![Pending::default(); facts.cfg.block_count()];
    let blocks = facts.cfg.reverse_postorder();
    let mut waiting = vec![false; facts.cfg.block_count()];
    let mut pending: VecDeque<NodeIndex> = blocks.iter().copied().collect();
    for block in &pending {
        waiting[block.index()] = true;
    }
    let mut budget = blocks.len() * MAX_ROUNDS;
    while let Some(block) = pending.pop_front() {
        waiting[block.index()] = false;
        let Some(rest) = budget.checked_sub(1) else { break };
        budget = rest;
        let mut state = entries[block.index()].clone();
        search.block(block, &mut state);
        if state.is_empty() {
            continue;
        }
        for (next, _) in facts.cfg.successors(block) {
            if entries[next.index()].join(&state) && !std::mem::replace(&mut waiting[next.index()], true) {
                pending.push_back(next);
            }
        }
    }
    let mut found = search.found;
    found.sort_by_key(|use_| (use_.access.start, use_.access.instruction));
    found.dedup_by_key(|use_| use_.access.start);
    found.sort_by_key(|use_| (use_.access.instruction, use_.access.start));
    found
}

/// The waits for loads.
fn waits(actions: &[Action]) -> Vec<u32> {
    let is_wait =
        |action: &&Action| action.group == AsyncGroup::Tcgen05Load && action.action == AsyncAction::WaitAll;
    actions.iter().filter(is_wait).map(|action| action.instruction).collect()
}

struct Search<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    /// What starts operations, in order of the text.
    starts: Vec<Action>,
    /// The waits for loads, in order of the text.
    waits: Vec<u32>,
    /// The calls that may wait, in order of the text.
    calls: &'f [u32],
    /// The places in tensor memory that the starts name: a register, and a distance from it.
    places: FxHashMap<u32, Vec<(Register, i64)>>,
    /// The registers among these places.
    bases: FxHashSet<Register>,
    found: Vec<EarlyUse>,
}

impl<'f, 'm> Search<'f, 'm> {
    fn new(facts: &'f FunctionFacts<'m>, starts: Vec<Action>, waits: Vec<u32>, calls: &'f [u32]) -> Self {
        let places: FxHashMap<_, Vec<_>> =
            starts.iter().map(|start| (start.instruction, places(facts, start.instruction))).collect();
        let bases = places.values().flatten().map(|(base, _)| *base).collect();
        Self { facts, starts, waits, calls, places, bases, found: Vec::new() }
    }

    fn block(&mut self, block: NodeIndex, state: &mut Pending) {
        let range = self.facts.cfg.instructions(block);
        let mut instruction = range.start;
        while instruction < range.end {
            if state.is_empty() {
                // Nothing happens before the next start.
                let next = self.starts.partition_point(|action| action.instruction < instruction);
                match self.starts.get(next) {
                    Some(action) if action.instruction < range.end => instruction = action.instruction,
                    Some(_) | None => return,
                }
            }
            self.instruction(instruction, state);
            instruction += 1;
        }
    }

    fn instruction(&mut self, instruction: u32, state: &mut Pending) {
        let Some(instance) = self.facts.instance(instruction) else { return };
        let effects = &instance.effects;
        if self.calls.binary_search(&instruction).is_ok() {
            state.clear();
            return;
        }
        if effects.barrier {
            state.operations.clear();
        }
        let moves = effects.is_pure() || is_plain_store(effects) && self.waits_below(instruction);
        self.registers(instruction, state, moves);
        self.forget_places(instruction, state);
        match effects.asynchronous {
            Some((AsyncGroup::Tcgen05Load, AsyncAction::WaitAll)) => state.loaded.clear(),
            Some((AsyncGroup::Tcgen05Store, AsyncAction::WaitAll)) => state.stores.clear(),
            Some((AsyncGroup::Mbarrier, AsyncAction::Test)) => state.operations.clear(),
            Some((AsyncGroup::Tcgen05Load, AsyncAction::Start)) => {
                self.memory(instruction, Reason::Stored, &state.stores);
                self.memory(instruction, Reason::Computed, &state.operations);
                let written = self.facts.uses().of(instruction).iter().filter(|each| each.access().writes());
                state.loaded.extend(written.map(|each| (each.register, instruction)));
            }
            Some((AsyncGroup::Tcgen05Store, AsyncAction::Start)) => {
                self.memory(instruction, Reason::Computed, &state.operations);
                if state.stores.len() < MAX_PENDING {
                    add(&mut state.stores, instruction);
                }
            }
            Some((AsyncGroup::Tcgen05, AsyncAction::Start)) => {
                self.memory(instruction, Reason::Stored, &state.stores);
                if state.operations.len() < MAX_PENDING {
                    add(&mut state.operations, instruction);
                }
            }
            _ => {}
        }
    }

    /// Whether a wait for loads follows in the same block.
    fn waits_below(&self, instruction: u32) -> bool {
        let block = self.facts.cfg.block_of(Handle::new(instruction));
        let end = self.facts.cfg.instructions(block).end;
        let next = self.waits.partition_point(|&wait| wait <= instruction);
        self.waits.get(next).is_some_and(|&wait| wait < end)
    }

    /// Follows what is computed of results that are not there yet, to an effect. `moves` says that compilers may have
    /// moved the instruction here.
    fn registers(&mut self, instruction: u32, state: &mut Pending, moves: bool) {
        if state.loaded.is_empty() {
            return;
        }
        let uses = self.facts.uses().of(instruction);
        let guard = self.facts.condition(instruction).map(|condition| condition.register);
        let read = uses.iter().filter(|each| each.access().reads()).map(|each| each.register);
        let early = guard
            .into_iter()
            .chain(read)
            .find_map(|register| Some((register, state.loaded.get(&register).copied()?)));
        if let Some((register, start)) = early
            && (!moves || guard == Some(register) && !self.waits_below(instruction))
        {
            let access = InFlight { start, instruction, register };
            self.found.push(EarlyUse { access, reason: Reason::Loaded });
        }
        for written in uses.iter().filter(|each| each.access().writes()) {
            match early {
                Some((_, start)) => {
                    state.loaded.insert(written.register, start);
                }
                None if !self.facts.is_guarded(instruction) => {
                    state.loaded.remove(&written.register);
                }
                None => {}
            }
        }
    }

    /// A place whose register gets another value is another place.
    fn forget_places(&self, instruction: u32, state: &mut Pending) {
        let uses = self.facts.uses().of(instruction).iter();
        for each in uses.filter(|each| each.access().writes() && self.bases.contains(&each.register)) {
            let stays = |start: &u32| self.places[start].iter().all(|(base, _)| *base != each.register);
            state.stores.retain(stays);
            state.operations.retain(stays);
        }
    }

    /// Reports an instruction that uses the tensor memory of one of `starts`.
    fn memory(&mut self, instruction: u32, reason: Reason, starts: &[u32]) {
        let condition = self.facts.condition(instruction);
        let own = &self.places[&instruction];
        let clash = starts.iter().copied().find(|start| {
            let other = self.facts.condition(*start);
            let excluded = condition.is_some() && other.map(Condition::negated) == condition;
            !excluded && self.places[start].iter().any(|place| own.contains(place))
        });
        if let (Some(start), Some((register, _))) = (clash, own.first()) {
            let access = InFlight { start, instruction, register: *register };
            self.found.push(EarlyUse { access, reason });
        }
    }
}

/// Whether an instruction does nothing besides storing.
fn is_plain_store(effects: &Effects) -> bool {
    let stores = Effects { writes_memory: false, ..*effects };
    effects.writes_memory && !effects.reads_memory && !effects.atomic && stores.is_pure()
}

/// The places in tensor memory that an operation names.
fn places(facts: &FunctionFacts<'_>, instruction: u32) -> Vec<(Register, i64)> {
    let operands = facts.body.operands(Handle::new(instruction)).iter();
    let place = |operand: &Operand| match operand {
        Operand::RegisterAddress { base, offset, .. } => Some(origin(facts, *base, i64::from(*offset))),
        _ => None,
    };
    operands.filter_map(place).collect()
}

/// Where an address comes from, through copies and constant steps.
fn origin(facts: &FunctionFacts<'_>, mut register: Register, mut offset: i64) -> (Register, i64) {
    const MAX_STEPS: usize = 16;
    for _ in 0..MAX_STEPS {
        let [write] = facts.definitions(register) else { break };
        let operands = facts.body.operands(Handle::new(*write));
        let computes = facts.instance(*write).and_then(|instance| instance.effects.computes);
        let (from, step) = match (computes, operands) {
            (Some(Computation::Move), [_, Operand::Register { register: from, .. }]) => (*from, 0),
            (
                Some(Computation::Add),
                [_, Operand::Register { register: from, .. }, Operand::Integer { bits, .. }],
            ) => (*from, *bits as i64),
            _ => break,
        };
        if facts.is_guarded(*write) || facts.definitions(from).len() > 1 {
            break;
        }
        register = from;
        offset = offset.wrapping_add(step);
    }
    (register, offset)
}
