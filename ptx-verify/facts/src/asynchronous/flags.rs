//! Flags in global memory: which accesses may set one, and counters of those who are done.

use ptx_ir::ir::{Handle, Operand, Register, Variable};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Computation, Convergence, Event, Instance, Mode};
use ptx_ir::space::StateSpace;
use ptx_ir::special::SpecialRegister;
use rustc_hash::FxHashSet;

use super::addresses::{address_steps, distance_of, source, walk_address};
use super::tables::name_of;
use super::{Poll, orders};
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// An atomic operation that counts who is done, a store before it that nothing orders with it, and a read after it of what
/// others have stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The atomic operation.
    pub count: u32,
    /// The store.
    pub store: u32,
    /// The read.
    pub read: u32,
    /// What is wrong with the operation.
    pub lack: Lack,
}

/// What an operation that counts who is done lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// It does not release what was stored before.
    Release,
    /// It does not acquire what others have released.
    Acquire,
    /// It is for threads of the own block, and counts blocks.
    Scope,
}

/// Atomic operations of one function that are looked at, one bit for each.
const MAX_COUNTS: usize = u32::BITS as usize;
/// Registers among which pointers are exchanged.
const MAX_EXCHANGED: usize = 12;
/// Registers that are computed of what an atomic operation gives.
const MAX_GIVEN: usize = 8;
/// How many blocks there are.
const GRID: [SpecialRegister; 4] = [
    SpecialRegister::NCTAID,
    SpecialRegister::NCTAID_X,
    SpecialRegister::NCTAID_Y,
    SpecialRegister::NCTAID_Z,
];
/// What is counted is converted, or has a number added, before it is compared.
const STEPS_TO_COMPARISON: usize = 5;

/// The first operation that counts who is done without an order. The last one reads what all have stored: it stores and reads
/// through the same parameter, before and after, and never comes back. `is_of_one`: whether one thread of a block executes an
/// instruction; who counts alone counts blocks.
#[must_use]
pub fn counted(facts: &FunctionFacts<'_>, is_of_one: &mut dyn FnMut(u32) -> bool) -> Option<Counted> {
    let mut lack = |instruction: u32| {
        let instance = facts.instance(instruction)?;
        match (instance.is(Mode::Release), instance.is(Mode::Acquire), instance.is(Mode::BlockScope)) {
            (false, false, false) => Some(Lack::Release),
            (true, false, false) => Some(Lack::Acquire),
            // Else threads of a block count themselves.
            (.., true) if counts_blocks(facts, instruction) || is_of_one(instruction) => Some(Lack::Scope),
            _ => None,
        }
    };
    let mut counts = |&instruction: &u32| {
        facts.instance(instruction).is_some_and(|instance| instance.effects.atomic)
            && may_be_global(facts, instruction)
            && lack(instruction).is_some()
    };
    // Each counts itself once: in a loop it is a lock, or a sum.
    let once = facts.reaching_out().filter(|each| counts(each)).filter(|&count| !comes_back(facts, count));
    let all = compared(facts, once.take(MAX_COUNTS).collect());
    if all.is_empty() {
        return None;
    }
    let accesses = |stores: bool| {
        let is_such = move |&each: &u32| {
            facts.instance(each).is_some_and(|instance| {
                let effects = &instance.effects;
                let moves = if stores { effects.writes_memory } else { effects.reads_memory };
                let both = effects.writes_memory && effects.reads_memory;
                moves && !both && !effects.atomic && effects.asynchronous.is_none() && effects.event.is_none()
            }) && may_be_global(facts, each)
                || stores && stores_in_bulk(facts, each)
        };
        let found = facts.reaching_out().filter(is_such);
        // A loop over what others have stored moves on from an address that was computed before it.
        let root = |each| if stores { address_root(facts, each) } else { polled_root(facts, each) };
        found.filter_map(|each| Some((each, root(each)?))).collect::<Vec<(u32, Register)>>()
    };
    let (stores, mut reads) = (accesses(true), accesses(false));
    // It may copy what it reads.
    reads.extend(facts.reaching_out().filter_map(|each| Some((each, copied_root(facts, each)?))));
    let mut ordering: Vec<u32> = facts.reaching_out().filter(|&each| orders_blocks(facts, each)).collect();
    ordering.sort_unstable();
    let releasing: Vec<u32> = ordering.iter().copied().filter(|&each| !only_acquires(facts, each)).collect();
    all.into_iter().find_map(|count| {
        let lack = lack(count)?;
        let others = |all: &[u32]| all.iter().copied().filter(|&each| each != count).collect::<Vec<u32>>();
        let (stops_before, stops_after) = match lack {
            Lack::Release => (others(&releasing), Vec::new()),
            Lack::Acquire => (Vec::new(), others(&ordering)),
            // Blocks that count so do not count together, whatever is ordered.
            Lack::Scope => (Vec::new(), Vec::new()),
        };
        let before = Reach::to(facts, Ends::Instructions(&[count]), &stops_before);
        let after = Reach::from(facts, Ends::Instructions(&[count]), &stops_after);
        let (store, root) = *stores
            .iter()
            .rev()
            .find(|(store, _)| before.at(*store).is_some() && after.at(*store).is_none())?;
        let (read, _) = *reads.iter().find(|(read, from)| *from == root && after.at(*read).is_some())?;
        Some(Counted { count, store, read, lack })
    })
}

/// Whether an instruction starts a copy, or a reduction, of shared memory to global memory that its thread waits for in groups.
#[must_use]
pub fn stores_in_bulk(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_some_and(|instance| {
        let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
        instance.effects.asynchronous == Some((AsyncGroup::Bulk, AsyncAction::Start))
            && accesses.any(|access| access.writes && access.space == Some(StateSpace::Global))
    })
}

/// Whether what an atomic operation gives is compared with a number of blocks.
#[must_use]
pub fn counts_blocks(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let uses = facts.uses();
    let given = uses.of(instruction).iter().filter(|each| each.access().writes());
    let given: Vec<Register> = given.map(|each| each.register).collect();
    let compares = |&each: &u32| {
        let computes = facts.instance(each).and_then(|instance| instance.effects.computes);
        computes == Some(Computation::Compare)
    };
    let compared = facts.compared(|| {
        let all = (0..facts.body.instructions.len() as u32).filter(compares);
        all.flat_map(|each| {
            let read = uses.of(each).iter().filter(|each| each.reads());
            read.map(move |read| (each, moved_from(facts, read.register)))
        })
        .collect()
    });
    let mut compares: Vec<u32> =
        compared.iter().filter(|(_, root)| given.contains(root)).map(|&(compare, _)| compare).collect();
    compares.dedup();
    compares.into_iter().any(|compare| {
        let mut sources: Vec<Operand> = facts.body.operands(Handle::new(compare)).to_vec();
        for _ in 0..=STEPS_TO_COMPARISON {
            if sources
                .iter()
                .any(|source| matches!(*source, Operand::Special(register) if GRID.contains(&register)))
            {
                return true;
            }
            let registers = sources.iter().filter_map(|source| match *source {
                Operand::Register { register, .. } if !given.contains(&register) => Some(register),
                _ => None,
            });
            let of_one = |register: Register| match facts.definitions(register) {
                [only] => facts.body.operands(Handle::new(*only)).iter().skip(1).copied().collect(),
                _ => Vec::new(),
            };
            sources = registers.flat_map(of_one).take(MAX_GIVEN).collect();
        }
        false
    })
}

/// Whether control can come to an instruction again.
fn comes_back(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let start = facts.cfg.block_of(Handle::new(instruction));
    let (mut seen, mut pending) = (FxHashSet::default(), vec![start]);
    while let Some(block) = pending.pop() {
        for (next, _) in facts.cfg.successors(block) {
            if next == start {
                return true;
            }
            if seen.insert(next) {
                pending.push(next);
            }
        }
    }
    false
}

/// A place of shared memory: the variable that a register points to or the operand names, and the distance from its start.
type Handed = (Result<Register, Handle<Variable>>, i64);

/// The place of shared memory that a plain access goes to.
fn handed(facts: &FunctionFacts<'_>, instruction: u32) -> Option<Handed> {
    let instance = facts.instance(instruction)?;
    let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
    let is_shared = accesses.any(|access| access.space.map(StateSpace::base) == Some(StateSpace::Shared));
    if !is_shared || instance.effects.atomic || instance.effects.asynchronous.is_some() {
        return None;
    }
    let operands = facts.body.operands(Handle::new(instruction));
    let named = operands.iter().find_map(|operand| match *operand {
        Operand::VariableAddress { variable, offset, .. } => Some((variable, offset)),
        _ => None,
    });
    if let Some((variable, distance)) = named {
        return Some((Err(variable), distance));
    }
    let (base, offset) = facts.address_in_register(instruction)?;
    let steps = address_steps(facts, instruction, base);
    Some((Ok(*steps.last()?), distance_of(facts, &steps, offset).0))
}

/// Those of some instructions that give what is compared with something, itself, after a step, or by who it was handed to in
/// shared memory.
fn compared(facts: &FunctionFacts<'_>, mut instructions: Vec<u32>) -> Vec<u32> {
    if instructions.is_empty() {
        return instructions;
    }
    let uses = facts.uses();
    let written = |instruction: u32| {
        let written = uses.of(instruction).iter().filter(|each| each.access().writes());
        written.map(|each| each.register)
    };
    // A bit for each of the instructions.
    let mut known = facts.table(0_u32);
    for (index, &instruction) in instructions.iter().enumerate() {
        written(instruction).for_each(|register| known[register] |= 1 << index);
    }
    let (all, mut found) = (u32::MAX >> (u32::BITS - instructions.len() as u32), 0);
    for _ in 0..STEPS_TO_COMPARISON {
        let (mut next, mut goes_on) = (facts.table(0_u32), false);
        let mut given: Vec<(Handed, u32)> = Vec::new();
        for (at, each) in uses.all().iter().enumerate() {
            let sources = known[each.register];
            if sources == 0 || !each.reads() {
                continue;
            }
            let reader = uses.owner(at);
            if !facts.cfg.is_reachable(facts.cfg.block_of(Handle::new(reader))) {
                continue;
            }
            match facts.instance(reader).and_then(|instance| instance.effects.computes) {
                Some(Computation::Compare) => found |= sources,
                Some(_) => written(reader).for_each(|register| {
                    next[register] |= sources;
                    goes_on = true;
                }),
                None if facts.instance(reader).is_some_and(|instance| instance.effects.writes_memory) => {
                    given.extend(handed(facts, reader).map(|place| (place, sources)));
                }
                None => {}
            }
        }
        if !given.is_empty() {
            for load in facts.reaching_out() {
                let loads = facts.instance(load).is_some_and(|instance| instance.effects.reads_memory);
                let Some(place) = handed(facts, load).filter(|_| loads) else { continue };
                for (_, sources) in given.iter().filter(|(other, _)| *other == place) {
                    written(load).for_each(|register| {
                        next[register] |= sources;
                        goes_on = true;
                    });
                }
            }
        }
        if found == all || !goes_on {
            break;
        }
        known = next;
    }
    let mut index = 0;
    instructions.retain(|_| {
        index += 1;
        found >> (index - 1) & 1 == 1
    });
    instructions
}

/// Whether an instruction orders what threads of several blocks see: a barrier orders the threads of one or of a warp, as does
/// a fence of the block.
#[must_use]
pub fn orders_blocks(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    orders(facts, instruction)
        && facts.instance(instruction).is_none_or(|instance| {
            let effects = &instance.effects;
            let is_of_warp = effects.event.is_none() && effects.convergence == Convergence::Participants;
            let is_barrier = effects.barrier && (is_of_warp || effects.event == Some(Event::BarrierSync));
            !(is_barrier || effects.event == Some(Event::Fence) && instance.is(Mode::BlockScope))
        })
}

/// Whether an access acquires and releases nothing: what was stored before may be seen after it.
#[must_use]
pub fn only_acquires(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_some_and(|instance| {
        let effects = &instance.effects;
        let reads = effects.reads_memory && !effects.writes_memory && effects.event.is_none();
        reads && instance.is(Mode::Acquire) && !instance.is(Mode::Release)
    })
}

/// Whether an access may be of global memory, as far as its address tells: it names that, or comes of a parameter.
#[must_use]
pub fn may_be_global(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let Some(instance) = facts.instance(instruction) else { return false };
    if names_global(instance) {
        return true;
    }
    address_root(facts, instruction).is_some_and(|root| {
        is_parameter(facts, root)
            || exchanged(facts, root)
                .is_some_and(|(_, sources)| sources.into_iter().all(|each| is_parameter(facts, each)))
            || is_chosen(facts, root)
    })
}

/// Whether a register gets one of few addresses, all of which come of parameters.
fn is_chosen(facts: &FunctionFacts<'_>, register: Register) -> bool {
    const MAX_CHOICES: usize = 4;
    let definitions = facts.definitions(register);
    let chooses = |write: u32| {
        let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
        definitions.len() > 1 || computes == Some(Computation::Select)
    };
    let is_of_parameter = |write: u32, from: Register| {
        address_steps(facts, write, from).last().is_some_and(|root| is_parameter(facts, *root))
    };
    let comes_of_parameter = |write: u32| {
        let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
        if computes != Some(Computation::Select) {
            return source(facts, write).is_some_and(|from| is_of_parameter(write, from));
        }
        let mut choices = facts.body.operands(Handle::new(write)).iter().skip(1).take(2);
        choices.all(|choice| match choice {
            Operand::Register { register, .. } => is_of_parameter(write, *register),
            _ => false,
        })
    };
    // Who has none yet begins with nought.
    let is_none = |write: u32| {
        let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
        computes == Some(Computation::Move)
            && matches!(
                facts.body.operands(Handle::new(write)).get(1),
                Some(Operand::Integer { bits: 0, .. })
            )
    };
    let mut known = definitions.iter().filter(|&&write| !is_none(write)).peekable();
    definitions.len() <= MAX_CHOICES
        && known.peek().is_some()
        && known.all(|&write| chooses(write) && comes_of_parameter(write))
}

/// Whether a register gets a parameter and nothing else.
fn is_parameter(facts: &FunctionFacts<'_>, register: Register) -> bool {
    matches!(facts.definitions(register), [write] if loads_parameter(facts, *write))
}

/// Whether an instruction loads a parameter.
pub(super) fn loads_parameter(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_some_and(|instance| {
        let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
        accesses.any(|access| access.space.map(StateSpace::base) == Some(StateSpace::Param))
    })
}

/// Registers among which pointers are exchanged, as two buffers are after each step: those that a register with several writes gets
/// its numbers from, through moves alone, with the first of those that are written several times; none where it gets others.
fn exchanged(facts: &FunctionFacts<'_>, register: Register) -> Option<(Register, Vec<Register>)> {
    if facts.definitions(register).len() < 2 {
        return None;
    }
    let (mut sources, mut seen) = (Vec::new(), vec![register]);
    let mut at = 0;
    while let Some(&register) = seen.get(at) {
        at += 1;
        let definitions = facts.definitions(register);
        let moved = |write: u32| {
            let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
            let copies = matches!(
                computes,
                Some(Computation::Move | Computation::ToGeneric | Computation::FromGeneric)
            );
            match facts.body.operands(Handle::new(write)) {
                [_, Operand::Register { register: from, .. }] if copies => Some(*from),
                _ => None,
            }
        };
        // A parameter may be one of those that are exchanged.
        let several = definitions.len() > 1;
        let others = definitions.iter().filter(|write| !several || !loads_parameter(facts, **write));
        let from: Option<Vec<Register>> = others.map(|&write| moved(write)).collect();
        match from {
            Some(from) if !from.is_empty() => {
                seen.extend(from.into_iter().filter(|each| !seen.contains(each)).collect::<Vec<Register>>());
            }
            _ if definitions.len() == 1 => sources.push(register),
            _ => return None,
        }
        if seen.len() > MAX_EXCHANGED {
            return None;
        }
    }
    let first = seen.into_iter().filter(|each| facts.definitions(*each).len() > 1).min()?;
    Some((first, sources))
}

/// The register that the address of an access comes of, through moves, conversions and sums.
#[must_use]
pub fn address_root(facts: &FunctionFacts<'_>, instruction: u32) -> Option<Register> {
    facts.address_root(instruction, || {
        let (mut last, _) = facts.address_in_register(instruction)?;
        walk_address(facts, instruction, last, false, |register, _| last = register);
        // Of pointers that are exchanged one stands for all.
        Some(exchanged(facts, last).map_or_else(|| name_of(facts, last), |(first, _)| first))
    })
}

/// The same of what a copy that runs on its own reads of global memory.
#[must_use]
pub fn copied_root(facts: &FunctionFacts<'_>, copy: u32) -> Option<Register> {
    let instance = facts.instance(copy)?;
    if !matches!(instance.effects.asynchronous, Some((_, AsyncAction::Start))) {
        return None;
    }
    let operands = facts.body.operands(Handle::new(copy));
    let mut named = instance.operands.iter().zip(operands);
    let mut last = named.find_map(|(spec, operand)| match *operand {
        Operand::RegisterAddress { base, .. } => {
            let access = spec.access.filter(|access| access.reads && !access.writes)?;
            (access.space == Some(StateSpace::Global)).then_some(base)
        }
        _ => None,
    })?;
    walk_address(facts, copy, last, false, |register, _| last = register);
    Some(exchanged(facts, last).map_or_else(|| name_of(facts, last), |(first, _)| first))
}

/// The same of a loop that waits: people compute its address before the loop, in a register that they use for other things later.
#[must_use]
pub fn polled_root(facts: &FunctionFacts<'_>, load: u32) -> Option<Register> {
    let (mut last, _) = facts.address_in_register(load)?;
    walk_address(facts, load, last, true, |register, _| last = register);
    Some(name_of(facts, last))
}

/// Whether the address of an access goes on in each turn of a loop.
#[must_use]
pub fn address_moves_on(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let Some((base, _)) = facts.address_in_register(instruction) else { return true };
    let mut moves_on = false;
    walk_address(facts, instruction, base, false, |_, is_only| moves_on |= !is_only);
    moves_on
}

/// Whether another load looks at the very place of an access and sees what others store there, in a loop that does more than to
/// wait: it is a counter that those who look at it keep for themselves, and a loop that waits for a place computed in the same way
/// is of another kind of object. `polls` are the loops that only wait.
#[must_use]
pub fn is_kept_by_readers(facts: &FunctionFacts<'_>, instruction: u32, polls: &[Poll]) -> bool {
    let place = facts.address_in_register(instruction);
    place.is_some()
        && facts.reaching_out().any(|each| {
            let sees = facts.instance(each).is_some_and(|instance| {
                let is_strong = instance.is(Mode::Relaxed) || instance.is(Mode::Acquire);
                is_strong && instance.effects.reads_memory && !instance.effects.atomic
            });
            sees && facts.address_in_register(each) == place
                && polls.iter().all(|poll| poll.load != each)
                && comes_back(facts, each)
        })
}

/// Whether an atomic operation takes a number for its thread, as the place in a queue, and none of `polls` waits at its place: what
/// it gives is read.
#[must_use]
pub fn takes_a_number(facts: &FunctionFacts<'_>, instruction: u32, polls: &[Poll]) -> bool {
    let given = facts.uses().of(instruction).iter().filter(|each| each.access().writes());
    let given: Vec<Register> = given.map(|each| each.register).collect();
    let is_read = || facts.uses().all().iter().any(|each| each.reads() && given.contains(&each.register));
    let root = address_root(facts, instruction);
    let waits_here = |poll: &Poll| {
        polled_root(facts, poll.load) == root && has_same_distance(facts, poll.load, instruction)
    };
    facts.instance(instruction).is_some_and(|instance| instance.effects.atomic)
        && !given.is_empty()
        && !polls.iter().any(waits_here)
        && is_read()
}

/// Whether what an atomic operation of few threads gives only tells which of them wait for the others, and for nothing else: the last one
/// of a barrier lets the others go on.
#[must_use]
pub fn chooses_who_waits(facts: &FunctionFacts<'_>, instruction: u32, polls: &[Poll]) -> bool {
    let root = address_root(facts, instruction);
    let is_waited_for = |poll: &&Poll| poll.first > instruction && polled_root(facts, poll.load) == root;
    let Some(poll) = polls.iter().find(is_waited_for) else { return false };
    if compared(facts, vec![instruction]).is_empty() {
        return false;
    }
    let uses = facts.uses();
    let written = |instruction: u32| {
        let written = uses.of(instruction).iter().filter(|each| each.access().writes());
        written.map(|each| each.register).collect::<Vec<Register>>()
    };
    // Who compares it with what it waits for has a number in a queue.
    let mut given = written(instruction);
    let mut at = 0;
    while let Some(&register) = given.get(at) {
        at += 1;
        let readers =
            uses.all().iter().enumerate().filter(|(_, each)| each.register == register && each.reads());
        for reader in readers.map(|(index, _)| uses.owner(index)) {
            if (poll.first..=poll.end).contains(&reader) || given.len() > MAX_GIVEN {
                return false;
            }
            match facts.instance(reader).and_then(|instance| instance.effects.computes) {
                Some(Computation::Compare) => {}
                Some(Computation::Load) | None => return false,
                Some(_) => given.extend(written(reader)),
            }
        }
    }
    true
}

/// Atomic operations that each thread comes to once, and that give what is compared: those that count who is done, in whatever order.
#[must_use]
pub fn counts_of_done<'f>(facts: &'f FunctionFacts<'_>) -> &'f [u32] {
    let counts = |instruction: &u32| {
        facts
            .instance(*instruction)
            .is_some_and(|instance| instance.effects.atomic && !instance.is(Mode::BlockScope))
            && may_be_global(facts, *instruction)
            && !comes_back(facts, *instruction)
    };
    facts.counts_of_done(|| {
        let mut all = compared(facts, facts.reaching_out().filter(counts).take(MAX_COUNTS).collect());
        all.sort_unstable();
        all
    })
}

/// Whether two accesses are as far from where their addresses come of, but for what is computed: the same part of an object.
#[must_use]
pub fn has_same_distance(facts: &FunctionFacts<'_>, one: u32, other: u32) -> bool {
    distance_from_root(facts, one) == distance_from_root(facts, other)
}

/// What is added to the register that the address of an access comes of, but for what is computed.
#[must_use]
pub fn distance_from_root(facts: &FunctionFacts<'_>, instruction: u32) -> Option<i64> {
    let (base, offset) = facts.address_in_register(instruction)?;
    Some(distance_of(facts, &address_steps(facts, instruction, base), offset).0)
}

/// Where the pointer that an access goes by was loaded from: the register that the address of that comes of, and the distance
/// there; none where the pointer is a parameter.
#[must_use]
pub fn table_of_pointers(facts: &FunctionFacts<'_>, instruction: u32) -> Option<(Register, i32)> {
    let root = address_root(facts, instruction)?;
    let [load] = facts.definitions(root) else { return None };
    let computes = facts.instance(*load).and_then(|instance| instance.effects.computes);
    if computes != Some(Computation::Load) {
        return None;
    }
    let (base, offset) = facts.address_in_register(*load)?;
    Some((*address_steps(facts, *load, base).last()?, offset))
}

/// The part of a table of pointers that an access goes by: where the table is, and how far from there the part begins.
#[must_use]
pub fn part_of_table(facts: &FunctionFacts<'_>, instruction: u32) -> Option<(Register, i64)> {
    let (table, _) = table_of_pointers(facts, instruction)?;
    let [load] = facts.definitions(address_root(facts, instruction)?) else { return None };
    Some((table, distance_from_root(facts, *load)?))
}

/// The register that a register gets its number from, through moves alone.
#[must_use]
pub fn moved_from(facts: &FunctionFacts<'_>, mut register: Register) -> Register {
    for _ in 0..MAX_GIVEN {
        let [only] = facts.definitions(register) else { break };
        let computes = facts.instance(*only).and_then(|instance| instance.effects.computes);
        match facts.body.operands(Handle::new(*only)).get(1) {
            Some(Operand::Register { register: from, .. }) if computes == Some(Computation::Move) => {
                register = *from;
            }
            _ => break,
        }
    }
    register
}

/// Whether an instruction names global memory.
#[must_use]
pub fn names_global(instance: &Instance) -> bool {
    let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
    accesses.any(|access| access.space == Some(StateSpace::Global))
}
