//! Natural loops, and those that wait for another thread.

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Control, Event, Mode};
use ptx_ir::space::StateSpace;
use rustc_hash::FxHashMap;

use super::flags::{loads_parameter, moved_from, orders_blocks};
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// The heads of loops with the blocks that lead back to them.
pub(super) fn latches(facts: &FunctionFacts<'_>) -> impl Iterator<Item = (NodeIndex, NodeIndex)> {
    let cfg = &facts.cfg;
    cfg.reverse_postorder().iter().flat_map(move |&block| {
        let heads = cfg.successors(block).map(|(head, _)| head);
        heads
            .filter(move |&head| cfg.is_reachable(head) && cfg.dominates(head, block))
            .map(move |head| (head, block))
    })
}

/// The same, with the several ways to a block that only leads back: who goes on with the next turn early may wait in it.
fn ways_back(facts: &FunctionFacts<'_>) -> impl Iterator<Item = (NodeIndex, NodeIndex)> {
    let cfg = &facts.cfg;
    latches(facts).flat_map(move |(head, latch)| {
        let only_leads_back = latch != head && cfg.instructions(latch).len() <= 1;
        let before = cfg.predecessors(latch).map(|(before, _)| before);
        let several = before.filter(move |&before| {
            only_leads_back && cfg.is_reachable(before) && cfg.dominates(head, before)
        });
        std::iter::once((head, latch)).chain(several.map(move |before| (head, before)))
    })
}

/// A loop that does nothing but look at one place of global memory until something changes there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Poll {
    /// The load.
    pub load: u32,
    /// The first instruction of the loop.
    pub first: u32,
    /// The last one.
    pub end: u32,
    /// Whether each turn may order what threads see.
    pub is_fenced: bool,
    /// Whether each turn may order what threads of several blocks see.
    pub orders_blocks: bool,
}

/// Which instructions read what the loads of some loops give, found in one look at the function.
pub struct Readers(FxHashMap<Register, Vec<u32>>);

impl Readers {
    /// Those of these loops.
    #[must_use]
    pub fn of(facts: &FunctionFacts<'_>, polls: &[Poll]) -> Self {
        let given = polls.iter().flat_map(|poll| written(facts, poll.load));
        let mut readers: FxHashMap<Register, Vec<u32>> = given.map(|each| (each, Vec::new())).collect();
        let uses = facts.uses();
        for instruction in 0..facts.body.instructions.len() as u32 {
            for each in uses.of(instruction).iter().filter(|each| each.reads()) {
                if let Some(of_register) = readers.get_mut(&each.register) {
                    of_register.push(instruction);
                }
            }
        }
        Self(readers)
    }
}

/// The registers that an instruction writes.
fn written<'a>(facts: &'a FunctionFacts<'_>, instruction: u32) -> impl Iterator<Item = Register> + 'a {
    facts.uses().of(instruction).iter().filter(|each| each.writes()).map(|each| each.register)
}

/// Whether nothing of what the load gives is used outside the loop: it is a flag and no data.
#[must_use]
pub fn is_flag(facts: &FunctionFacts<'_>, readers: &Readers, poll: &Poll) -> bool {
    let outside = |each: &u32| !(poll.first..=poll.end).contains(each);
    let read: Vec<u32> = written(facts, poll.load)
        .filter_map(|register| readers.0.get(&register))
        .flat_map(|of_register| of_register.iter().copied().filter(outside))
        .collect();
    if read.is_empty() {
        return true;
    }
    // Where it is written again, another number is used.
    let others = |register| facts.definitions(register).iter().copied().filter(|&write| write != poll.load);
    let mut writes: Vec<u32> = written(facts, poll.load).flat_map(others).collect();
    writes.sort_unstable();
    let reach = Reach::from(facts, Ends::Instructions(&[poll.load]), &writes);
    !read
        .into_iter()
        .any(|each| reach.at(each).is_some() && !is_idle(facts, each) && !is_asked_with_constant(facts, each))
}

/// Whether an instruction compares a number with a constant, itself or after moves: what a flag says beside that it is set.
fn is_asked_with_constant(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let is_constant = |operand: &Operand| match *operand {
        Operand::Integer { .. } => true,
        Operand::Register { register, .. } => match facts.definitions(register) {
            [only] => matches!(facts.body.operands(Handle::new(*only)), [_, Operand::Integer { .. }]),
            _ => false,
        },
        _ => false,
    };
    let mut pending = vec![instruction];
    for _ in 0..MAX_DEPTH {
        let Some(instruction) = pending.pop() else { return true };
        let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
        let mut given = facts.body.operands(Handle::new(instruction)).iter().skip(1);
        match computes {
            Some(Computation::Compare) if given.any(is_constant) => {}
            Some(Computation::Move) => {
                let Some(to) = written(facts, instruction).next() else { return false };
                if facts.definitions(to).len() != 1 {
                    return false;
                }
                let uses = facts.uses();
                let read = uses.all().iter().enumerate();
                let read = read.filter(|(_, each)| each.register == to && each.reads());
                pending.extend(read.map(|(at, _)| uses.owner(at)));
            }
            _ => return false,
        }
    }
    pending.is_empty()
}

/// Whether an instruction copies a register to one that nobody reads.
fn is_idle(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
    let to = facts.uses().of(instruction).iter().filter(|each| each.access().writes());
    let to: Vec<Register> = to.map(|each| each.register).collect();
    let reads = |each: u32| {
        let mut uses = facts.uses().of(each).iter().filter(|each| each.access().reads());
        uses.any(|each| to.contains(&each.register))
            || facts.condition(each).is_some_and(|guard| to.contains(&guard.register))
    };
    let all = facts.body.instructions.len() as u32;
    computes == Some(Computation::Move) && !to.is_empty() && !(0..all).any(reads)
}

/// Blocks and instructions of a loop that only waits.
const MAX_BLOCKS: usize = 16;
const MAX_INSTRUCTIONS: usize = 96;
/// Registers that an address is computed of in each turn, as what comes from structures is.
const MAX_READS: usize = 64;
/// Pointers that are loaded in each turn of it.
const MAX_POINTERS: usize = 2;
/// How far what decides about the loop is followed.
const MAX_DEPTH: usize = 12;

/// The loops that poll global memory.
#[must_use]
pub fn polls(facts: &FunctionFacts<'_>) -> Vec<Poll> {
    let mut found: Vec<Poll> = Vec::new();
    for (head, latch) in ways_back(facts) {
        if let Some(poll) =
            poll(facts, head, latch).filter(|poll| found.iter().all(|other| other.load != poll.load))
        {
            found.push(poll);
        }
    }
    found
}

/// Plain loads that a compiler has taken out of a loop which waits for what they bring: what is left is a loop that does nothing
/// and never ends, and control comes there as the load decides. Each with the branch to that loop.
#[must_use]
pub fn polls_taken_out(facts: &FunctionFacts<'_>) -> Vec<(u32, u32)> {
    let cfg = &facts.cfg;
    let endless = latches(facts).filter(|&(head, latch)| {
        let is_empty = cfg.instructions(head).len() <= 1;
        head == latch && is_empty && cfg.successors(head).all(|(next, _)| next == head)
    });
    let mut found = Vec::new();
    for (head, _) in endless {
        for (before, edge) in cfg.predecessors(head).filter(|(before, _)| *before != head) {
            // Some go on: else nobody has meant a condition.
            let Some(condition) = edge.condition.filter(|_| cfg.successors(before).nth(1).is_some()) else {
                continue;
            };
            let branch = cfg.instructions(before).next_back();
            found.extend(loaded_from(facts, condition.register).zip(branch));
        }
    }
    found
}

/// The plain load from global memory that a register alone is computed of.
fn loaded_from(facts: &FunctionFacts<'_>, mut register: Register) -> Option<u32> {
    for _ in 0..MAX_DEPTH {
        let [only] = facts.definitions(register) else { return None };
        if is_global_load(facts, *only) {
            return is_weak(facts, *only, false).then_some(*only);
        }
        let mut reads = facts.uses().of(*only).iter().filter(|each| each.access().reads());
        let (Some(read), None) = (reads.next(), reads.next()) else { return None };
        register = read.register;
    }
    None
}

/// The loops that try to take a lock in global memory: they wait for what an atomic operation brings.
#[must_use]
pub fn locks(facts: &FunctionFacts<'_>) -> Vec<Poll> {
    let asks = |instruction| is_global_atomic(facts, instruction);
    latches(facts).filter_map(|(head, latch)| waiting(facts, (head, latch), &asks)).collect()
}

fn poll(facts: &FunctionFacts<'_>, head: NodeIndex, latch: NodeIndex) -> Option<Poll> {
    waiting(facts, (head, latch), &|instruction| is_global_load(facts, instruction))
}

/// The loop between two blocks, if it only waits for what one instruction that `asks` brings.
fn waiting(
    facts: &FunctionFacts<'_>,
    (head, latch): (NodeIndex, NodeIndex),
    asks: &impl Fn(u32) -> bool,
) -> Option<Poll> {
    let cfg = &facts.cfg;
    // Loops lie together in the text, nearly always.
    // Their bodies may come before their heads.
    let ends = [head, latch].map(|block| cfg.instructions(block));
    let (first, end) = (ends[0].start.min(ends[1].start), ends[0].end.max(ends[1].end));
    if end.checked_sub(first).is_none_or(|count| count as usize > MAX_INSTRUCTIONS) || !(first..end).any(asks)
    {
        return None;
    }
    let does_more = |&each: &u32| {
        let acts = facts.instance(each).is_none_or(|instance| {
            let effects = &instance.effects;
            // A block may look at a flag together, and vote on what its thread has seen.
            let keeps_apart = effects.barrier && effects.event != Some(Event::BarrierSync);
            effects.writes_memory
                || effects.atomic
                || keeps_apart
                || effects.asynchronous.is_some()
                || effects.control == Control::Call
        });
        acts && !asks(each)
    };
    // Nearly all loops are told by their ends.
    if [head, latch].into_iter().any(|block| cfg.instructions(block).any(|each| does_more(&each))) {
        return None;
    }
    let blocks = facts.cfg.natural_loop(head, latch, MAX_BLOCKS)?;
    let count: usize = blocks.iter().map(|&block| cfg.instructions(block).len()).sum();
    if count > MAX_INSTRUCTIONS {
        return None;
    }
    let all: Vec<u32> = blocks.iter().flat_map(|&block| cfg.instructions(block)).collect();
    if all.iter().any(does_more) {
        return None;
    }
    let inside = Inside::new(facts, &all);
    let loads: Vec<u32> = all.iter().copied().filter(|&each| asks(each)).collect();
    // Compilers load the pointer to a flag again in each turn.
    let (&load, pointers) = loads.split_last()?;
    if pointers.len() > MAX_POINTERS {
        return None;
    }
    // The loop is left by what was loaded, and by nothing else: most loops count, and are told here.
    for &block in &blocks {
        // Several ways may lead back through one block that does nothing else.
        let is_back = |next: NodeIndex| {
            let mut after = cfg.successors(next).map(|(after, _)| after);
            cfg.instructions(next).len() <= 1 && after.next() == Some(head) && after.next().is_none()
        };
        let leaves = cfg.successors(block).any(|(next, _)| !blocks.contains(&next) && !is_back(next));
        let end = cfg.instructions(block).next_back()?;
        if leaves && !depends_only(facts, end, (load, pointers), &inside) {
            return None;
        }
    }
    let is_pointer = |&pointer: &u32| {
        is_weak(facts, pointer, false)
            && facts
                .address_in_register(pointer)
                .is_some_and(|(from, _)| is_the_same(facts, from, &[], &inside))
    };
    if !pointers.iter().all(is_pointer) {
        return None;
    }
    // A list is walked with an address that changes.
    if !is_the_same(facts, facts.address_in_register(load)?.0, pointers, &inside) {
        return None;
    }
    let fences = |orders: &dyn Fn(u32) -> bool| {
        all.iter().any(|&each| {
            let is_atomic = facts.instance(each).is_some_and(|instance| instance.effects.atomic);
            orders(each) && !(each == load && is_atomic)
        })
    };
    let is_fenced = fences(&|each| orders(facts, each));
    let orders_blocks = fences(&|each| orders_blocks(facts, each));
    Some(Poll { load, first, end: cfg.instructions(latch).next_back()?, is_fenced, orders_blocks })
}

/// What the instructions of a loop write.
struct Inside {
    /// By register, and those of one in order of the text.
    writes: Vec<(Register, u32)>,
}

impl Inside {
    /// Such loops are short: where the others of the function write registers need not be known.
    fn new(facts: &FunctionFacts<'_>, instructions: &[u32]) -> Self {
        let mut writes: Vec<(Register, u32)> = Vec::with_capacity(instructions.len());
        for &each in instructions {
            writes.extend(written(facts, each).map(|register| (register, each)));
        }
        writes.sort_unstable();
        Self { writes }
    }

    /// What writes a register in the loop.
    fn writes(&self, register: Register) -> impl Iterator<Item = u32> {
        let first = self.writes.partition_point(|(other, _)| *other < register);
        let of_register = self.writes[first..].iter().take_while(move |(other, _)| *other == register);
        of_register.map(|(_, write)| *write)
    }
}

/// Whether an instruction loads a number from global memory.
fn is_global_load(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let Some(instance) = facts.instance(instruction) else { return false };
    if !instance.effects.reads_memory || instance.effects.atomic {
        return false;
    }
    let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
    accesses.any(|access| access.space.is_none_or(|space| space == StateSpace::Global))
}

/// Whether an instruction is an atomic operation on global memory that brings what was there.
fn is_global_atomic(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let Some(instance) = facts.instance(instruction) else { return false };
    if !instance.effects.atomic {
        return false;
    }
    let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
    // Where what is there decides about what is put there, it is computed and no lock.
    let puts_constants =
        facts.body.operands(Handle::new(instruction)).iter().skip(2).all(|operand| match *operand {
            Operand::Integer { .. } => true,
            Operand::Register { register, .. } => match facts.definitions(moved_from(facts, register)) {
                [only] => matches!(facts.body.operands(Handle::new(*only)), [_, Operand::Integer { .. }]),
                _ => false,
            },
            _ => false,
        });
    puts_constants
        && facts.uses().of(instruction).iter().any(|each| each.access().writes())
        && accesses.any(|access| access.space.is_none_or(|space| space == StateSpace::Global))
}

/// Whether a register has the same number in each turn of a loop: it is computed of what is not written there, and of what some
/// loads bring.
fn is_the_same(facts: &FunctionFacts<'_>, register: Register, loads: &[u32], inside: &Inside) -> bool {
    let mut pending = vec![register];
    for _ in 0..MAX_READS {
        let Some(register) = pending.pop() else { return true };
        let Some(write) = inside.writes(register).next() else { continue };
        if loads.contains(&write) && facts.definitions(register).len() == 1 {
            continue;
        }
        // Parameters stay what they are.
        let computes = |instruction| {
            let computes = facts.instance(instruction).and_then(|instance| instance.effects.computes);
            computes.is_some_and(|each| each != Computation::Load || loads_parameter(facts, instruction))
        };
        // What is written under a condition, or twice, may change.
        let is_sure = facts.body.instructions[Handle::new(write)].guard.is_none();
        if facts.definitions(register).len() > 1 || !is_sure || !computes(write) {
            return false;
        }
        let reads = facts.uses().of(write).iter().filter(|each| each.access().reads());
        pending.extend(reads.map(|each| each.register));
    }
    pending.is_empty()
}

/// Whether the guard of a branch is computed of a load, and of nothing else that changes in the loop.
fn depends_only(
    facts: &FunctionFacts<'_>,
    branch: u32,
    (load, pointers): (u32, &[u32]),
    inside: &Inside,
) -> bool {
    let guard = facts.condition(branch).map(|condition| condition.register);
    let Some(guard) = guard else { return false };
    let (mut registers, mut next, mut depends) = (vec![guard], Vec::new(), false);
    for _ in 0..MAX_DEPTH {
        if registers.is_empty() {
            break;
        }
        for register in registers.drain(..) {
            for write in inside.writes(register) {
                if write == load {
                    depends = true;
                    continue;
                }
                let reads = facts.uses().of(write).iter().filter(|each| each.access().reads());
                let before = next.len();
                next.extend(reads.map(|each| each.register));
                // A counter depends on itself.
                if next[before..].contains(&register) || pointers.contains(&write) {
                    return false;
                }
            }
        }
        next.sort_unstable();
        next.dedup();
        std::mem::swap(&mut registers, &mut next);
    }
    depends && registers.is_empty()
}

/// Whether threads are ordered at an instruction: a fence, a barrier, an acquire or a release, a call.
#[must_use]
pub fn orders(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_none_or(|instance| {
        let effects = &instance.effects;
        effects.barrier
            || effects.atomic
            || effects.event == Some(Event::Fence)
            || instance.is(Mode::Acquire)
            || instance.is(Mode::Release)
            || effects.control == Control::Call
    })
}

/// A plain load from global memory, or a plain store to it, which orders nothing and which nothing else sees at once.
#[must_use]
pub fn is_weak(facts: &FunctionFacts<'_>, instruction: u32, stores: bool) -> bool {
    let Some(instance) = facts.instance(instruction).filter(|instance| instance.accesses) else {
        return false;
    };
    let effects = &instance.effects;
    let is_plain = !effects.atomic
        && effects.asynchronous.is_none()
        && ![Mode::Relaxed, Mode::Volatile, Mode::Acquire, Mode::Release]
            .into_iter()
            .any(|mode| instance.is(mode));
    let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
    is_plain
        && accesses.any(|access| {
            access.space.is_none_or(|space| space == StateSpace::Global)
                && if stores { access.writes } else { access.reads && !access.writes }
        })
}
