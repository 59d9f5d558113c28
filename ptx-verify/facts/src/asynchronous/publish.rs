//! Who sets a flag, and who has stored what it tells of: threads that tell others of the stores of their whole block have to
//! meet it before.

use petgraph::graph::NodeIndex;
use ptx_ir::cfg::Condition;
use ptx_ir::ir::{Handle, Operand, Register, Variable};
use ptx_ir::isa::{Comparison, Computation, Convergence, Mode};
use ptx_ir::space::StateSpace;
use ptx_ir::special::SpecialRegister;
use rustc_hash::FxHashMap;

use super::Poll;
use super::flags::{loads_parameter, moved_from};
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// Registers that a condition or a number is computed of.
const MAX_REGISTERS: usize = 64;
/// Writes of a number that is compared, and counted on later.
const MAX_COUNTER: usize = 3;
/// Writes of each of them that are looked at.
const MAX_WRITES: usize = 16;

/// Flags of one function that are looked at, and stores before each.
const MAX_FLAGS: usize = 16;
const MAX_STORES: usize = 64;

/// A store by more threads than those that tell others of it, without a meeting between the two: the first of some flags that
/// tells of such a store, and the store. `tells` says whether a flag may tell of a store, and
/// `is_of_one_place` whether a store of all threads is to one place.
#[must_use]
pub fn told_by_few(
    facts: &FunctionFacts<'_>,
    few: &mut FewThreads<'_, '_>,
    flags: &[u32],
    stores: &[u32],
    tells: impl Fn(u32, u32) -> bool,
    is_of_one_place: impl Fn(u32) -> bool,
) -> Option<(u32, u32)> {
    let flags: Vec<u32> = flags.iter().copied().filter(|&flag| few.come_to(flag)).take(MAX_FLAGS).collect();
    if flags.is_empty() {
        return None;
    }
    let meetings = meetings(facts);
    flags.into_iter().find_map(|flag| {
        let reach = Reach::to(facts, Ends::Instructions(&[flag]), &meetings);
        let is_before = |&store: &u32| store < flag && reach.at(store).is_some() && tells(flag, store);
        let is_one = few.threads(flag) == Threads::One;
        let mut before = stores.iter().rev().copied().filter(is_before).take(MAX_STORES);
        let mut is_by_more = |store: &u32| match few.threads(*store) {
            Threads::All => true,
            Threads::Several => is_one,
            Threads::Few | Threads::One => false,
        };
        // What all store in one place, who tells has stored there itself.
        Some((flag, before.find(|store| is_by_more(store) && !is_of_one_place(*store))?))
    })
}

/// A load by more threads than those that have waited for a flag before it, without a meeting between the two: the poll and
/// the load, of which all are ascending.
#[must_use]
pub fn used_without_meeting(
    facts: &FunctionFacts<'_>,
    few: &mut FewThreads<'_, '_>,
    polls: &[Poll],
    loads: &[u32],
) -> Option<(u32, u32)> {
    if loads.is_empty() {
        return None;
    }
    let by_few: Vec<&Poll> = polls.iter().filter(|poll| few.is_for_all(poll.load)).take(MAX_FLAGS).collect();
    if by_few.is_empty() {
        return None;
    }
    let meetings = meetings(facts);
    by_few.into_iter().find_map(|poll| {
        let reach = Reach::from(facts, Ends::Instructions(&[poll.end]), &meetings);
        // A load that the text has before the loop is of the next round.
        let is_after = |load: &&u32| {
            let is_outside = **load > poll.end || **load < poll.first;
            is_outside && reach.at(**load).is_some()
        };
        let mut after = loads.iter().filter(is_after).take(MAX_STORES);
        Some((poll.load, *after.find(|&&load| few.threads(load) == Threads::All)?))
    })
}

/// A load by all threads after one of them has waited for a flag with an acquire, in a kernel that lets nobody meet after that:
/// the end of the wait and the load. `loads` gives those to be looked at, ascending.
#[must_use]
pub fn used_and_never_met(
    facts: &FunctionFacts<'_>,
    few: &mut FewThreads<'_, '_>,
    polls: &[Poll],
    loads: impl Fn() -> Vec<u32>,
) -> Option<(u32, u32)> {
    polls.iter().take(MAX_FLAGS).find_map(|poll| {
        let acquires = facts.instance(poll.load).is_some_and(|instance| instance.is(Mode::Acquire));
        if !acquires || !few.is_one(poll.load) {
            return None;
        }
        if meets_after(facts, poll.end) {
            return None;
        }
        let reach = Reach::from(facts, Ends::Instructions(&[poll.end]), &[]);
        let loads = loads();
        let is_used = |&&load: &&u32| load > poll.end && reach.at(load).is_some() && !few.come_to(load);
        loads.iter().find(is_used).map(|&load| (poll.load, load))
    })
}

/// Where an access is, as far as that is known.
#[derive(Clone, Copy, Debug)]
pub struct Accessed {
    /// The variable.
    pub variable: Option<Handle<Variable>>,
    /// The register of the address, and what is added.
    pub address: Option<(Register, i32)>,
}

/// What the one thread that has asked the other blocks stores in shared memory, where others load it without having met that
/// thread: the store and the load. `asked` are the ends of loops that wait, and atomic operations.
#[must_use]
pub fn handed_on_without_meeting(
    facts: &FunctionFacts<'_>,
    few: &mut FewThreads<'_, '_>,
    asked: impl Iterator<Item = u32>,
    place: impl Fn(u32) -> Accessed,
) -> Option<(u32, u32)> {
    let mut by_one: Vec<u32> = asked.filter(|&each| few.is_one(each)).take(MAX_FLAGS).collect();
    by_one.sort_unstable();
    if by_one.is_empty() {
        return None;
    }
    let mut stores: Vec<u32> =
        facts.reaching_out().filter(|&each| is_shared(facts, each, true) && few.is_one(each)).collect();
    if stores.is_empty() {
        return None;
    }
    let after = Reach::from(facts, Ends::Instructions(&by_one), &[]);
    stores.retain(|&store| after.at(store).is_some());
    stores.sort_unstable();
    let mut loads: Vec<u32> =
        facts.reaching_out().filter(|&each| is_shared(facts, each, false) && !few.is_one(each)).collect();
    loads.sort_unstable();
    let mut of_variable: FxHashMap<Handle<Variable>, Vec<u32>> = FxHashMap::default();
    let mut of_address: FxHashMap<(Register, i32), Vec<u32>> = FxHashMap::default();
    for load in loads {
        let Accessed { variable, address } = place(load);
        variable.into_iter().for_each(|each| of_variable.entry(each).or_default().push(load));
        address.into_iter().for_each(|each| of_address.entry(each).or_default().push(load));
    }
    let is_one = |(base, _): &(Register, i32)| facts.definitions(*base).len() == 1;
    let meetings = meetings(facts);
    stores.into_iter().take(MAX_STORES).find_map(|store| {
        let Accessed { variable, address } = place(store);
        let loads = match variable {
            Some(variable) => of_variable.get(&variable)?,
            None => of_address.get(&address.filter(is_one)?)?,
        };
        let reach = Reach::from(facts, Ends::Instructions(&[store]), &meetings);
        // Compilers let the others load where they go another way, and hand the number on in a register.
        let fork = few.fork_above(store);
        let beside = fork.map(|fork| Reach::from(facts, Ends::Instructions(&[fork]), &meetings));
        let beside = beside.filter(|beside| beside.at(store).is_some());
        let mut is_unmet = |load: u32| match few.come_to(load) {
            true => beside.as_ref().is_some_and(|beside| beside.at(load).is_some()),
            false => load > store && reach.at(load).is_some(),
        };
        loads.iter().copied().find(|&load| is_unmet(load)).map(|load| (store, load))
    })
}

/// Whether an instruction is a plain store to shared memory, or a plain load from there.
fn is_shared(facts: &FunctionFacts<'_>, instruction: u32, stores: bool) -> bool {
    facts.instance(instruction).is_some_and(|instance| {
        let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
        let is_plain = !instance.effects.atomic
            && instance.effects.asynchronous.is_none()
            && !instance.is(Mode::Volatile);
        is_plain
            && accesses.any(|access| {
                access.space.map(StateSpace::base) == Some(StateSpace::Shared)
                    && if stores { access.writes } else { access.reads && !access.writes }
            })
    })
}

/// Whether something is stored in shared memory soon after an instruction.
#[must_use]
pub fn hands_on(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let end = facts.cfg.instructions(facts.cfg.block_of(Handle::new(instruction))).end;
    (instruction + 1..end).any(|each| is_shared(facts, each, true))
}

/// Whether threads may meet others anywhere after an instruction.
fn meets_after(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let cfg = &facts.cfg;
    let start = cfg.block_of(Handle::new(instruction));
    let rest = instruction + 1..cfg.instructions(start).end;
    if rest.into_iter().any(|each| meets(facts, each)) {
        return true;
    }
    let mut seen = vec![false; cfg.block_count()];
    let mut open = vec![start];
    while let Some(block) = open.pop() {
        for (next, _) in cfg.successors(block) {
            if !std::mem::replace(&mut seen[next.index()], true) {
                if cfg.instructions(next).any(|each| meets(facts, each)) {
                    return true;
                }
                open.push(next);
            }
        }
    }
    false
}

/// Where threads meet others, or may, ascending.
#[must_use]
pub fn meetings(facts: &FunctionFacts<'_>) -> Vec<u32> {
    let mut meetings: Vec<u32> = facts.reaching_out().filter(|&each| meets(facts, each)).collect();
    meetings.sort_unstable();
    meetings
}

/// Whether threads meet others at an instruction, or it may be so.
fn meets(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    facts.instance(instruction).is_none_or(|instance| {
        let effects = &instance.effects;
        effects.barrier || effects.convergence != Convergence::None || effects.asynchronous.is_some()
    }) || facts.is_call(instruction)
}

/// How many threads of a block come to a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Threads {
    /// All, as far as is known.
    All,
    /// Those whose number is below a limit, or above it: more than one.
    Several,
    /// Some.
    Few,
    /// The one with a certain number.
    One,
}

/// To which places only some threads of a block come, as comparisons of their number with constants tell.
pub struct FewThreads<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    /// By block, as far as they were asked for.
    blocks: Vec<Option<Threads>>,
    /// By predicate, which threads it chooses where it holds, and where not.
    chosen: FxHashMap<Register, (Threads, Threads)>,
}

impl<'f, 'm> FewThreads<'f, 'm> {
    /// Looks at the branches of a function as far as it is asked.
    #[must_use]
    pub fn new(facts: &'f FunctionFacts<'m>) -> Self {
        Self { facts, blocks: Vec::new(), chosen: FxHashMap::default() }
    }

    /// How many come to a block: no more than come to those that dominate it.
    fn of_block(&mut self, block: NodeIndex) -> Threads {
        let cfg = &self.facts.cfg;
        if self.blocks.is_empty() {
            self.blocks = vec![None; cfg.block_count()];
        }
        let mut asked = vec![block];
        let mut threads = Threads::All;
        while let Some(&last) = asked.last() {
            if let Some(known) = self.blocks[last.index()] {
                threads = known;
                asked.pop();
                break;
            }
            let Some(above) = cfg.immediate_dominator(last) else {
                self.blocks[last.index()] = Some(threads);
                asked.pop();
                break;
            };
            asked.push(above);
        }
        for block in asked.into_iter().rev() {
            threads = threads.max(self.entering(block));
            self.blocks[block.index()] = Some(threads);
        }
        threads
    }

    /// Whether only some threads come to an instruction.
    pub fn come_to(&mut self, instruction: u32) -> bool {
        self.threads(instruction) != Threads::All
    }

    /// Whether the thread with one number comes to an instruction, and no other.
    pub fn is_one(&mut self, instruction: u32) -> bool {
        self.threads(instruction) == Threads::One
    }

    /// Whether one thread comes to an instruction, or the first few of one warp: what they wait for the others use.
    pub fn is_for_all(&mut self, instruction: u32) -> bool {
        match self.threads(instruction) {
            Threads::One => true,
            Threads::Several => self.is_part_of_first_warp(instruction),
            Threads::Few | Threads::All => false,
        }
    }

    /// The branch from which only some threads come to an instruction.
    fn fork_above(&mut self, instruction: u32) -> Option<u32> {
        let cfg = &self.facts.cfg;
        let mut block = cfg.block_of(Handle::new(instruction));
        while self.of_block(block) != Threads::All {
            block = cfg.immediate_dominator(block)?;
        }
        cfg.instructions(block).next_back()
    }

    fn threads(&mut self, instruction: u32) -> Threads {
        let own = self.facts.condition(instruction).map_or(Threads::All, |guard| self.chosen(guard));
        self.of_block(self.facts.cfg.block_of(Handle::new(instruction))).max(own)
    }

    /// Whether a branch on the way to an instruction chooses the first threads of the block, which are of one warp.
    fn is_part_of_first_warp(&self, instruction: u32) -> bool {
        let (facts, cfg) = (self.facts, &self.facts.cfg);
        let mut block = cfg.block_of(Handle::new(instruction));
        for _ in 0..MAX_REGISTERS {
            let mut before = cfg.predecessors(block).filter(|&(from, _)| !cfg.dominates(block, from));
            let edge = match (before.next(), before.next()) {
                (Some((_, edge)), None) => edge.condition,
                _ => None,
            };
            if edge.is_some_and(|condition| asks_for_first_lanes(facts, condition)) {
                return true;
            }
            match cfg.immediate_dominator(block) {
                Some(above) if above != block => block = above,
                _ => return false,
            }
        }
        false
    }

    /// Which threads come into a block by the one way into it, a side of a branch on their number.
    fn entering(&mut self, block: NodeIndex) -> Threads {
        let cfg = &self.facts.cfg;
        // A loop is entered from outside.
        let mut before = cfg.predecessors(block).filter(|&(from, _)| !cfg.dominates(block, from));
        let (Some((from, edge)), None) = (before.next(), before.next()) else { return Threads::All };
        match edge.condition.filter(|_| cfg.successors(from).nth(1).is_some()) {
            Some(condition) => self.chosen(condition),
            None => Threads::All,
        }
    }

    fn chosen(&mut self, condition: Condition) -> Threads {
        let facts = self.facts;
        let chosen = self.chosen.entry(condition.register);
        let (holds, not) = *chosen.or_insert_with(|| chosen_threads(facts, condition.register));
        if condition.value { holds } else { not }
    }
}

/// Which threads a predicate chooses where it holds, and where not.
fn chosen_threads(facts: &FunctionFacts<'_>, mut predicate: Register) -> (Threads, Threads) {
    let mut is_same = true;
    for _ in 0..MAX_COUNTER {
        let Some((kept, same)) = kept_truth(facts, predicate) else { break };
        (predicate, is_same) = (kept, is_same == same);
    }
    let (holds, not) = chosen_by_number(facts, predicate);
    if is_same { (holds, not) } else { (not, holds) }
}

/// The same of a predicate that is no kept one.
fn chosen_by_number(facts: &FunctionFacts<'_>, predicate: Register) -> (Threads, Threads) {
    if !chooses_threads(facts, predicate) {
        return (Threads::All, Threads::All);
    }
    let relation = match facts.definitions(predicate) {
        [only] => facts.instance(*only).and_then(|instance| instance.effects.compares),
        _ => None,
    };
    match relation {
        Some(Comparison::Equal) => (Threads::One, Threads::Few),
        Some(Comparison::NotEqual) => (Threads::Few, Threads::One),
        Some(_) if facts.definitions(predicate).first().is_some_and(|only| is_far(facts, *only)) => {
            (Threads::Several, Threads::Several)
        }
        _ => (Threads::Few, Threads::Few),
    }
}

/// The predicate that was kept as a number of which another one asks whether it is 0, and whether the two hold together.
fn kept_truth(facts: &FunctionFacts<'_>, predicate: Register) -> Option<(Register, bool)> {
    let [asks] = facts.definitions(predicate) else { return None };
    let is_same = match facts.instance(*asks)?.effects.compares? {
        Comparison::NotEqual => true,
        Comparison::Equal => false,
        _ => return None,
    };
    let [_, Operand::Register { register: number, .. }, Operand::Integer { bits: 0, .. }] =
        facts.body.operands(Handle::new(*asks))
    else {
        return None;
    };
    let [keeps] = facts.definitions(moved_from(facts, *number)) else { return None };
    let computes = facts.instance(*keeps)?.effects.computes;
    match facts.body.operands(Handle::new(*keeps)) {
        [
            _,
            Operand::Integer { bits: 1, .. },
            Operand::Integer { bits: 0, .. },
            Operand::Register { register, .. },
        ] if computes == Some(Computation::Select) && *register != predicate => Some((*register, is_same)),
        _ => None,
    }
}

/// Whether a condition holds for the threads whose number is below that of a warp's.
fn asks_for_first_lanes(facts: &FunctionFacts<'_>, condition: Condition) -> bool {
    const LANES: u64 = 32;
    let [only] = facts.definitions(condition.register) else { return false };
    let relation = facts.instance(*only).and_then(|instance| instance.effects.compares);
    let (is_below, most) = match relation {
        Some(Comparison::Less) => (true, LANES),
        Some(Comparison::GreaterOrEqual) => (false, LANES),
        Some(Comparison::LessOrEqual) => (true, LANES - 1),
        Some(Comparison::Greater) => (false, LANES - 1),
        _ => return false,
    };
    let is_thread = |register: Register| {
        matches!(facts.definitions(moved_from(facts, register)), [write]
            if matches!(facts.body.operands(Handle::new(*write)),
                [_, Operand::Special(SpecialRegister::TID | SpecialRegister::TID_X)]))
    };
    // A parameter says how many devices there are, or others that a thread each waits for.
    is_below == condition.value
        && match facts.body.operands(Handle::new(*only)) {
            [_, Operand::Register { register, .. }, limit] => {
                is_thread(*register)
                    && match *limit {
                        Operand::Integer { bits, .. } => bits <= most,
                        other => is_parameter(facts, other),
                    }
            }
            _ => false,
        }
}

/// Whether the limit that a comparison compares with is above 2, or what a parameter says.
fn is_far(facts: &FunctionFacts<'_>, compare: u32) -> bool {
    let mut given = facts.body.operands(Handle::new(compare)).iter().skip(1);
    given.any(|operand| match *operand {
        Operand::Integer { bits, .. } => bits > 2,
        other => is_parameter(facts, other),
    })
}

/// Whether an operand is what a parameter says, and nothing else.
fn is_parameter(facts: &FunctionFacts<'_>, operand: Operand) -> bool {
    let Operand::Register { register, .. } = operand else { return false };
    matches!(facts.definitions(moved_from(facts, register)), [only] if loads_parameter(facts, *only))
}

/// Whether a predicate compares the number of a thread with a constant or a parameter, or says that it was elected.
fn chooses_threads(facts: &FunctionFacts<'_>, predicate: Register) -> bool {
    let (mut pending, mut seen) = (vec![predicate], Vec::new());
    while let Some(register) = pending.pop() {
        if seen.contains(&register) || seen.len() > MAX_REGISTERS {
            continue;
        }
        seen.push(register);
        for &write in facts.definitions(register).iter().take(MAX_WRITES) {
            let operands = facts.body.operands(Handle::new(write));
            let given = || operands.iter().skip(1);
            let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
            match computes {
                Some(Computation::Elect) => return true,
                Some(Computation::Compare) => {
                    let is_one =
                        |operand: &Operand| is_constant(facts, *operand) || is_parameter(facts, *operand);
                    let has_constant = given().any(is_one);
                    if has_constant && given().any(|operand| is_of_thread(facts, *operand, write)) {
                        return true;
                    }
                    // A truth value that was kept as a number.
                    pending.extend(given().filter_map(register_of));
                }
                Some(Computation::Load) | None => {}
                Some(_) => pending.extend(given().filter_map(register_of)),
            }
        }
    }
    false
}

fn register_of(operand: &Operand) -> Option<Register> {
    match *operand {
        Operand::Register { register, .. } | Operand::Negated { register, .. } => Some(register),
        _ => None,
    }
}

fn is_constant(facts: &FunctionFacts<'_>, operand: Operand) -> bool {
    match operand {
        Operand::Integer { .. } | Operand::WarpSize => true,
        Operand::Register { register, .. } => match facts.definitions(register) {
            [only] => {
                let moves = facts.instance(*only).and_then(|instance| instance.effects.computes);
                let from = facts.body.operands(Handle::new(*only)).get(1);
                moves == Some(Computation::Move) && matches!(from, Some(Operand::Integer { .. }))
            }
            _ => false,
        },
        _ => false,
    }
}

/// The one write of a register before an instruction in the text, and those after it, from which control must not come back to the
/// instruction: a counter may be used further on in a loop.
fn first_write<'f>(
    facts: &'f FunctionFacts<'_>,
    register: Register,
    instruction: u32,
) -> Option<(u32, &'f [u32])> {
    match facts.definitions(register) {
        [only] => Some((*only, &[])),
        [first, later @ ..] if later.len() < MAX_COUNTER => {
            (*first < instruction && later[0] > instruction).then_some((*first, later))
        }
        _ => None,
    }
}

/// Whether a number is computed of that of the thread in its block or warp, and of constants, where an instruction uses it.
fn is_of_thread(facts: &FunctionFacts<'_>, operand: Operand, instruction: u32) -> bool {
    let (mut pending, mut seen, mut is_of_thread) = (vec![operand], Vec::new(), false);
    let mut later: Vec<u32> = Vec::new();
    while let Some(operand) = pending.pop() {
        match operand {
            Operand::Special(
                SpecialRegister::TID
                | SpecialRegister::TID_X
                | SpecialRegister::TID_Y
                | SpecialRegister::TID_Z
                | SpecialRegister::LANEID
                | SpecialRegister::WARPID,
            ) => is_of_thread = true,
            _ if is_constant(facts, operand) => {}
            Operand::Register { register, .. } => {
                if seen.contains(&register) {
                    continue;
                }
                let Some((only, after)) = first_write(facts, register, instruction) else { return false };
                later.extend(after);
                let computes = facts.instance(only).and_then(|instance| instance.effects.computes);
                if seen.len() == MAX_REGISTERS || computes.is_none_or(|each| each == Computation::Load) {
                    return false;
                }
                seen.push(register);
                let given = facts.body.operands(Handle::new(only)).iter().skip(1).copied();
                if given.clone().all(|operand| is_constant(facts, operand)) {
                    return false;
                }
                pending.extend(given);
            }
            _ => return false,
        }
    }
    if !is_of_thread || later.is_empty() {
        return is_of_thread;
    }
    let reach = Reach::to(facts, Ends::Instructions(&[instruction]), &[]);
    later.iter().all(|&write| reach.at(write).is_none())
}
