//! Which other places of the text have to do with a fault.

use std::collections::VecDeque;

use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Computation, Event, Instance, Mode, Purpose};

use super::answers::Unheard;
use super::fault::{Fault, FaultKind, Part};
use super::passed::brought;
use crate::FunctionFacts;
use crate::asynchronous::loops::latches;
use crate::asynchronous::neighbours::{
    is_step, meeting_before, meeting_on_some_ways, next_step, step_before,
};
use crate::asynchronous::parting::{after_rounds, common_before, joins_after, parts_before};

use super::places::{chosen, lanes_meet, next_access, ranks, same_ways};

/// Blocks of a loop that is looked at.
const MAX_BLOCKS: usize = 4096;
/// Places of one kind that are told.
const MAX_PLACES: usize = 4;
/// Instructions that a number comes from, and those that are looked at for them.
const MAX_ORIGINS: usize = 6;
const MAX_SEEN: usize = 32;
/// How often what a parity is computed of is looked at.
const MAX_DEPTH: usize = 2;

/// Addresses in other blocks that are told.
const MAX_RANKS: usize = 2;

/// Instructions that are next to each other.
const NEAR: u32 = 3;

/// How far what an address is computed of is followed.
const MAX_STEPS: usize = 16;

/// Adds where the parity of a wait comes from, and where its round ends.
pub(super) fn attribute(facts: &FunctionFacts<'_>, unheard: &[Unheard], mut fault: Fault) -> Fault {
    if fault.kind == FaultKind::TensorUnfenced {
        let wait = places(&fault, Part::Wait).first().copied();
        let after = wait
            .and_then(|wait| after_rounds(facts, wait, fault.instruction).or_else(|| next_step(facts, wait)));
        return fault.with_some(after, Part::Next);
    }
    if matches!(fault.kind, FaultKind::TensorUntold | FaultKind::NarrowScope) {
        return fault;
    }
    // Who does not listen to an answer may have meant to wait.
    if let Some(asks) = nearest(facts, unheard, &fault) {
        fault = fault.with(asks.test, Part::Unheard).with(asks.end, Part::Answer);
    }
    if matches!(fault.kind, FaultKind::Phase | FaultKind::Barrier) {
        let last: Vec<u32> = places(&fault, Part::Last);
        let steps = last.into_iter().filter_map(|at| next_step(facts, at));
        fault = steps.fold(fault, |fault, at| fault.with(at, Part::Next));
    }
    let waits = |part: &Part| matches!(part, Part::Wait | Part::OtherWait | Part::WaitOfReader);
    let others = fault.others.iter().filter(|(_, part)| waits(part)).map(|(at, _)| *at);
    let tests: Vec<u32> =
        std::iter::once(fault.instruction).chain(others).filter(|&at| is_test(facts, at)).collect();
    for test in tests.into_iter().take(MAX_PLACES) {
        fault = fault.with_some(beginning(facts, test), Part::Begin);
        let is_phase = fault.kind == FaultKind::Phase;
        // Where many wait, each shows where its stage turns last, and the parity where it turns elsewhere.
        let mut stages = stages(facts, test);
        stages.truncate(if is_phase { 1 } else { MAX_PLACES });
        let is_told = |&place: &u32| {
            is_phase && (is_constant(facts, place) || stages.iter().any(|at| at.abs_diff(place) <= NEAR))
        };
        for place in parities(facts, test).into_iter().filter(|place| !is_told(place)) {
            let is_own = test == fault.instruction || !is_phase;
            fault = fault.with(place, if is_own { Part::Parity } else { Part::OtherParity });
        }
        for place in stages {
            fault = fault.with(place, Part::Stage);
        }
        if let Some((head, end)) = round(facts, test) {
            fault = fault.with_some(end, Part::Round);
            if fault.kind == FaultKind::Phase {
                fault = fault.with_some(head, Part::Rounds);
            }
        }
    }
    if matches!(fault.kind, FaultKind::Phase | FaultKind::Barrier) {
        let last = fault.others.iter().filter(|(_, part)| *part == Part::Last).map(|(at, _)| *at);
        let ends: Vec<u32> =
            last.filter_map(|at| after_rounds(facts, at, fault.instruction)).take(MAX_PLACES).collect();
        fault = ends.into_iter().fold(fault, |fault, at| fault.with(at, Part::After));
    }
    for place in counts(facts, &fault) {
        fault = fault.with(place, Part::Count);
    }
    if matches!(fault.kind, FaultKind::Bytes | FaultKind::TooFewBytes | FaultKind::OtherBytes) {
        for place in origins(facts, fault.instruction, Purpose::Bytes, 1) {
            fault = fault.with(place, Part::Sum);
        }
        for place in masks(facts, &fault) {
            fault = fault.with(place, Part::Blocks);
        }
    }
    if fault.kind.is_of_barriers() {
        let arrivals = [Part::Arrival, Part::OtherWait].map(|part| places(&fault, part)).concat();
        let all = std::iter::once(fault.instruction).chain(arrivals);
        let chosen: Vec<u32> = all.flat_map(|at| origins(facts, at, Purpose::BarrierNumber, 1)).collect();
        fault = chosen.into_iter().take(MAX_PLACES).fold(fault, |fault, at| fault.with(at, Part::Number));
    }
    if matches!(fault.kind, FaultKind::ArrivesTwice | FaultKind::Barrier) {
        let begin = round_around(facts, fault.instruction);
        fault = fault.with_some(begin, Part::Rounds);
    }
    if fault.kind == FaultKind::TooFewArrivals && places(&fault, Part::Access).is_empty() {
        // Who arrives in each round has to wait in each.
        let begin = places(&fault, Part::Arrival).first().and_then(|&at| round_around(facts, at));
        fault = fault.with_some(begin, Part::Rounds);
    }
    if fault.kind == FaultKind::Registers {
        let others = other_threads(facts, &fault);
        fault = fault.with_some(others, Part::Elsewhere);
    }
    if fault.kind == FaultKind::EarlyAccess {
        let rounds = rounds_of_access(facts, &fault);
        fault = fault.with_some(rounds, Part::Rounds);
    }
    elsewhere(facts, around(facts, meeting(facts, fault)))
}

/// Adds where the places are chosen that a fault is about, and what else those do who take part in it.
fn elsewhere(facts: &FunctionFacts<'_>, mut fault: Fault) -> Fault {
    let accesses = places(&fault, Part::Access);
    let operations = places(&fault, Part::Operation);
    let own = [fault.instruction].into_iter();
    let all: Vec<u32> = accesses.iter().chain(&operations).copied().chain(own).collect();
    if fault.kind.is_of_places() {
        let slots: Vec<u32> = all.iter().flat_map(|&at| chosen(facts, at)).collect();
        fault = slots.into_iter().take(MAX_PLACES).fold(fault, |fault, at| fault.with(at, Part::Slot));
    }
    // What others have sent may have come to another block.
    if fault.kind.is_of_places() || matches!(fault.kind, FaultKind::Bytes | FaultKind::Phase) {
        let maps = ranks(facts);
        // Of many addresses nothing tells which one is meant.
        let few = maps.len() <= MAX_RANKS;
        fault = maps.into_iter().filter(|_| few).fold(fault, |fault, at| fault.with(at, Part::Rank));
    }
    if matches!(fault.kind, FaultKind::SourceReused | FaultKind::LeftRunning) {
        let operation = operations.first().copied().unwrap_or(fault.instruction);
        let ways = same_ways(facts, operation);
        let write = fault.instruction;
        let way = match fault.kind {
            // Who starts it should wait before others write, or begin the next round.
            FaultKind::SourceReused => ways.iter().rfind(|&&at| at < write).or(ways.last()),
            _ => ways.iter().rfind(|&&at| at > operation),
        };
        fault = fault.with_some(way.copied(), Part::SameWay);
    }
    if fault.kind == FaultKind::ArrivesTwice {
        // Between may be a wait for those who use what the round fills.
        let begin = places(&fault, Part::Rounds).first().copied();
        let used = begin.and_then(|at| next_access(facts, at)).filter(|&at| at < fault.instruction);
        fault = fault.with_some(used, Part::First);
    }
    if fault.kind == FaultKind::Barrier {
        // Those who come to it again may owe an arrival since they have used what it guards.
        let waits = [fault.instruction].into_iter().chain(places(&fault, Part::OtherWait));
        let used: Vec<u32> = waits.filter_map(|at| next_access(facts, at)).take(MAX_PLACES).collect();
        fault = used.into_iter().fold(fault, |fault, at| fault.with(at, Part::First));
    }
    if matches!(fault.kind, FaultKind::WrongPhase) {
        let rounds = accesses.first().and_then(|&at| round_around(facts, at));
        fault = fault.with_some(rounds, Part::Rounds);
    }
    if fault.kind.lacks_order() {
        let relaxed = facts.reaching_out().filter(|&at| is_relaxed(facts, at)).min();
        fault = fault.with_some(relaxed, Part::Relaxed);
    }
    if fault.kind.lacks_order() || fault.kind == FaultKind::MissingBarrier {
        let (first, last) =
            all.iter().fold((u32::MAX, 0), |(first, last), &at| (first.min(at), last.max(at)));
        let lanes = lanes_meet(facts, first, last.max(first));
        fault = fault.with_some(lanes, Part::Lanes);
    }
    fault
}

/// The places of one part.
fn places(fault: &Fault, wanted: Part) -> Vec<u32> {
    fault.others.iter().filter(|(_, part)| *part == wanted).map(|(at, _)| *at).collect()
}

/// Adds what threads do around the place where something is missing.
fn around(facts: &FunctionFacts<'_>, fault: Fault) -> Fault {
    let of = |wanted: Part| places(&fault, wanted).first().copied();
    let lacks_wait = fault.kind.lacks_order() || fault.kind == FaultKind::MissingBarrier;
    let left_out = [Some(fault.instruction), of(Part::Access)]
        .into_iter()
        .flatten()
        .filter(|_| lacks_wait)
        .find_map(|at| meeting_on_some_ways(facts, at));
    // Who waits for ever may do so in the wrong rounds.
    let waits_for_ever = matches!(fault.kind, FaultKind::Phase | FaultKind::Barrier);
    let waits: Vec<u32> = [Part::OtherWait, Part::OtherBarrier]
        .into_iter()
        .flat_map(|part| places(&fault, part))
        .chain([fault.instruction])
        .filter(|_| waits_for_ever)
        .filter_map(|at| parts_before(facts, at))
        .collect();
    let fault = left_out.into_iter().chain(waits).fold(fault, |fault, at| fault.with(at, Part::LeftOut));
    let of = |wanted: Part| places(&fault, wanted).first().copied();
    let next = |at: Option<u32>| at.and_then(|at| next_step(facts, at));
    let before = |at: Option<u32>| at.and_then(|at| step_before(facts, at));
    let end = |at: Option<u32>| at.and_then(|at| round(facts, at)).and_then(|(_, end)| end);
    match fault.kind {
        FaultKind::Phase | FaultKind::Barrier => {
            // Who made an object of which nobody expects bytes may have to begin.
            let is_begun = of(Part::Expectation).is_some() || of(Part::Unexpected).is_none();
            let made = of(Part::Made).filter(|_| !is_begun);
            let begins = made.and_then(|at| joins_after(facts, at));
            let ends = end(Some(fault.instruction)).filter(|_| fault.kind == FaultKind::Barrier);
            fault.with_some(begins, Part::Joins).with_some(ends, Part::Round)
        }
        FaultKind::GroupPending | FaultKind::MissingBarrier => {
            let access = of(Part::Access);
            let commit = of(Part::Uncommitted).and_then(|at| joins_after(facts, at).or(next_step(facts, at)));
            let goes_on = of(Part::Joins).filter(|&at| !is_step(facts, at));
            let goes_on = next(goes_on);
            let is_apart = fault.kind == FaultKind::MissingBarrier;
            // The operation may belong to a group that another commit should have ended before.
            let group = next(of(Part::Operation)).filter(|&at| !is_apart && is_commit(facts, at));
            let fault = fault.with_some(group, Part::Committed);
            let begins = access.filter(|_| is_apart).and_then(|at| meeting_before(facts, at));
            let ends = end(access);
            let fault = fault.with_some(commit, Part::Commits).with_some(ends, Part::Round);
            // What the last round leaves pending is waited for after the rounds.
            let after =
                access.filter(|_| !is_apart).and_then(|at| after_rounds(facts, fault.instruction, at));
            let fault = fault.with_some(begins, Part::Before).with_some(goes_on, Part::Next);
            fault.with_some(after, Part::After)
        }
        FaultKind::NeverMade => {
            let ends = of(Part::Made).and_then(|at| latch_around(facts, at));
            fault.with_some(ends, Part::Round)
        }
        FaultKind::Race | FaultKind::Overwrite | FaultKind::TooFewArrivals => {
            let ends = end(of(Part::Access));
            // Who has accessed it meets the others after its rounds.
            let access = of(Part::Access);
            let after = access.and_then(|at| after_rounds(facts, at, fault.instruction));
            let after_own = access.and_then(|at| after_rounds(facts, fault.instruction, at));
            let fault = fault.with_some(ends, Part::Round).with_some(after, Part::After);
            fault.with_some(after_own, Part::After)
        }
        FaultKind::SourceReused => {
            let met = meeting_before(facts, fault.instruction);
            fault.with_some(met, Part::Before)
        }
        // Copies of the next round come too early.
        FaultKind::Bytes if fault.counts.is_some_and(|(_, found)| found < 0) => {
            let ends = end(Some(fault.instruction));
            fault.with_some(ends, Part::Round)
        }
        FaultKind::MissingFence => {
            let begins = before(of(Part::Operation));
            let fence = of(Part::Operation).and_then(|read| other_fence(facts, fault.instruction, read));
            fault.with_some(fence, Part::OtherFence).with_some(begins, Part::Before)
        }
        FaultKind::EarlyRemote => {
            // Blocks meet before the rounds in which they deal with each other.
            let begin = round_around(facts, fault.instruction).unwrap_or(fault.instruction);
            let begins = before(Some(begin));
            let met = first_meeting(facts, fault.instruction);
            fault.with_some(begins, Part::Before).with_some(met, Part::OwnBlock)
        }
        FaultKind::Unpublished => {
            let goes_on = next(of(Part::Met));
            let common = of(Part::Access).and_then(|at| common_before(facts, fault.instruction, at));
            fault.with_some(goes_on, Part::Next).with_some(common, Part::Common)
        }
        FaultKind::Cluster => {
            let begins = before(Some(fault.instruction));
            let block = facts.cfg.block_of(Handle::new(fault.instruction));
            let common = facts.cfg.instructions(block).next().filter(|&at| at != fault.instruction);
            fault.with_some(begins, Part::Before).with_some(common, Part::Common)
        }
        FaultKind::LeftRunning => {
            let goes_on = next(Some(fault.instruction));
            // The last rounds are waited for after all of them.
            let ends = of(Part::End);
            let after = ends.and_then(|at| after_rounds(facts, fault.instruction, at));
            let round = ends.and(end(Some(fault.instruction)));
            let fault = fault.with_some(goes_on, Part::Next).with_some(after, Part::After);
            // There may be a round too many.
            let begins = round_around(facts, fault.instruction);
            fault.with_some(round, Part::Round).with_some(begins, Part::Rounds)
        }
        _ => fault,
    }
}

/// The first barrier of the block that all threads come to before an instruction.
fn first_meeting(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let block = |at: u32| facts.cfg.block_of(Handle::new(at));
    let meets = |at: u32| {
        facts.instance(at).and_then(|instance| instance.effects.event) == Some(Event::BarrierSync)
            && facts.cfg.dominates(block(at), block(instruction))
    };
    facts.reaching_out().filter(|&at| at < instruction && meets(at)).min()
}

/// A fence after a write, and before what reads it, that orders something else.
fn other_fence(facts: &FunctionFacts<'_>, write: u32, read: u32) -> Option<u32> {
    let is_fence = |at: u32| {
        let event = facts.instance(at).and_then(|instance| instance.effects.event);
        matches!(event, Some(Event::Fence | Event::GlobalProxyFence))
    };
    facts.reaching_out().filter(|&at| write < at && at < read && is_fence(at)).min()
}

/// Of the tests to whose answers nobody listens the last one on the way to a fault, else the first.
fn nearest<'u>(facts: &FunctionFacts<'_>, unheard: &'u [Unheard], fault: &Fault) -> Option<&'u Unheard> {
    let accesses = fault.others.iter().filter(|(_, part)| *part == Part::Access).map(|(at, _)| *at);
    let places: Vec<u32> = accesses.chain([fault.instruction]).collect();
    let is_before = |asks: &&Unheard| {
        let own = facts.cfg.block_of(Handle::new(asks.test));
        let leads = |at: u32| asks.test < at && facts.cfg.dominates(own, facts.cfg.block_of(Handle::new(at)));
        places.iter().any(|&at| leads(at))
    };
    unheard.iter().filter(is_before).max_by_key(|asks| asks.test).or(unheard.first())
}

/// Adds where a meeting of threads is missing, if one may be.
fn meeting(facts: &FunctionFacts<'_>, fault: Fault) -> Fault {
    let of = |wanted: Part| fault.others.iter().find(|(_, part)| *part == wanted).map(|(at, _)| *at);
    match fault.kind {
        FaultKind::Unpublished => {
            let joins = joins_after(facts, fault.instruction);
            fault.with_some(joins, Part::Joins)
        }
        FaultKind::MissingBarrier | FaultKind::GroupPending => {
            let joins = joins_after(facts, fault.instruction);
            let begin = round_around(facts, fault.instruction);
            fault.with_some(joins, Part::Joins).with_some(begin, Part::Rounds)
        }
        FaultKind::Phase if fault.counts.is_some_and(|(_, found)| found > 0) => {
            let parts = of(Part::Arrival).and_then(|at| parts_before(facts, at));
            fault.with_some(parts, Part::Parts)
        }
        FaultKind::EarlyExit => {
            let own = facts.cfg.block_of(Handle::new(fault.instruction));
            let joins = facts.cfg.instructions(own).next();
            fault.with_some(joins, Part::Joins)
        }
        FaultKind::MissingFence | FaultKind::WrongPhase => {
            let parts = of(Part::Operation).and_then(|at| parts_before(facts, at));
            fault.with_some(parts, Part::Parts)
        }
        kind if kind.lacks_order() || matches!(kind, FaultKind::LanesApart | FaultKind::LanesRead) => {
            let parts = parts_before(facts, fault.instruction);
            let joins = match fault.kind {
                FaultKind::EarlyAccess | FaultKind::SourceReused => {
                    of(Part::Operation).and_then(|at| joins_after(facts, at))
                }
                _ => None,
            };
            fault.with_some(parts, Part::Parts).with_some(joins, Part::Joins)
        }
        _ => fault,
    }
}

/// Whether an arrival, or a test of a phase, says that it orders nothing.
fn is_relaxed(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let is_of_objects = |instance: &Instance| {
        matches!(instance.effects.asynchronous, Some((AsyncGroup::Mbarrier, AsyncAction::Test)))
            || matches!(instance.effects.event, Some(Event::Arrive | Event::ArriveExpect))
    };
    facts.instance(instruction).is_some_and(|instance| instance.is(Mode::Relaxed) && is_of_objects(instance))
}

fn is_test(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let effects = facts.instance(instruction).and_then(|instance| instance.effects.asynchronous);
    matches!(effects, Some((_, AsyncAction::Test)))
}

/// The instructions that compute the parity of a test, or the phase that an arrival has given.
fn parities(facts: &FunctionFacts<'_>, test: u32) -> Vec<u32> {
    let found = origins(facts, test, Purpose::Parity, MAX_DEPTH);
    // What an arrival has given is looked for where it is chosen.
    if found.is_empty() { origins(facts, test, Purpose::Phase, 1) } else { found }
}

/// The instructions that compute an operand, through at most `depth` of them. A move is none.
fn origins(facts: &FunctionFacts<'_>, instruction: u32, purpose: Purpose, depth: usize) -> Vec<u32> {
    let index = facts.instance(instruction).and_then(|instance| instance.operand_for(purpose));
    let operand = index.and_then(|index| facts.body.operands(Handle::new(instruction)).get(index));
    let Some(Operand::Register { register, .. }) = operand else { return Vec::new() };
    let mut open: VecDeque<(Register, usize)> = VecDeque::from([(*register, 0)]);
    let (mut found, mut seen) = (Vec::new(), Vec::new());
    while let Some((register, before)) = open.pop_front() {
        for &write in facts.definitions(register) {
            if seen.contains(&write) || seen.len() >= MAX_SEEN {
                continue;
            }
            seen.push(write);
            let passed = brought(facts, write);
            let is_move = passed.is_some()
                || facts.instance(write).is_some_and(|each| each.effects.computes == Some(Computation::Move));
            let reads = passed.unwrap_or_else(|| {
                let reads = facts.uses().of(write).iter().filter(|each| each.access().reads());
                reads.map(|each| each.register).collect()
            });
            let is_handed_on = is_move && !reads.is_empty();
            if !is_handed_on && found.len() < MAX_ORIGINS {
                found.push(write);
            }
            let now = before + usize::from(!is_handed_on);
            if now < depth {
                open.extend(reads.into_iter().map(|register| (register, now)));
            }
        }
    }
    found
}

/// Where the number of arrivals comes from that an object is made for.
fn counts(facts: &FunctionFacts<'_>, fault: &Fault) -> Vec<u32> {
    let is_counted =
        matches!(fault.kind, FaultKind::TooFewArrivals | FaultKind::Phase | FaultKind::NoArrivals);
    let others = fault.others.iter().filter(|(_, part)| *part == Part::Made).map(|(at, _)| *at);
    let made = std::iter::once(fault.instruction).chain(others).filter(|_| is_counted);
    let is_init = |at: &u32| {
        let effects = facts.instance(*at).and_then(|instance| instance.effects.asynchronous);
        matches!(effects, Some((_, AsyncAction::Init)))
    };
    made.filter(is_init).flat_map(|at| origins(facts, at, Purpose::Arrivals, 1)).collect()
}

/// Where the masks come from that say which blocks get what is copied, where bytes are missing.
fn masks(facts: &FunctionFacts<'_>, fault: &Fault) -> Vec<u32> {
    let is_short = fault.counts.is_some_and(|(wanted, found)| 0 <= found && found < wanted);
    let has_mask = |at: &u32| {
        let starts = |instance: &Instance| {
            matches!(instance.effects.asynchronous, Some((_, AsyncAction::Start)))
                && instance.operand_for(Purpose::Blocks).is_some()
        };
        facts.instance(*at).is_some_and(starts)
    };
    let copies = facts.reaching_out().filter(|_| is_short).filter(has_mask);
    let mut found: Vec<u32> = copies.flat_map(|at| origins(facts, at, Purpose::Blocks, 1)).collect();
    found.sort_unstable();
    found.dedup();
    // Of many masks nothing tells which one is meant.
    if found.len() <= MAX_RANKS { found } else { Vec::new() }
}

/// The beginning of the rounds in which an access comes too early, where the operation was started before them: who waits
/// for it waits before them, too.
fn rounds_of_access(facts: &FunctionFacts<'_>, fault: &Fault) -> Option<u32> {
    let operation = fault.others.iter().find(|(_, part)| *part == Part::Operation)?.0;
    let cfg = &facts.cfg;
    let [own, started] = [fault.instruction, operation].map(|at| cfg.block_of(Handle::new(at)));
    let mut best: Option<(usize, NodeIndex)> = None;
    for (head, block) in latches(facts).filter(|(head, _)| cfg.dominates(*head, own)) {
        let Some(blocks) = facts.cfg.natural_loop(head, block, MAX_BLOCKS) else { continue };
        let is_between = blocks.contains(&own) && !blocks.contains(&started);
        if is_between && best.is_none_or(|(size, _)| blocks.len() > size) {
            best = Some((blocks.len(), head));
        }
    }
    let (_, block) = best?;
    let head = cfg.instructions(block).next()?;
    // The wait belongs at the end of what leads to the loop.
    let leads = |at: &u32| cfg.dominates(cfg.block_of(Handle::new(*at)), block);
    Some(head.checked_sub(1).filter(leads).unwrap_or(head))
}

/// The instructions that choose the stage of a test: what its address is computed of, where that turns.
fn stages(facts: &FunctionFacts<'_>, test: u32) -> Vec<u32> {
    let mut registers: Vec<Register> =
        facts.address_in_register(test).map(|(base, _)| base).into_iter().collect();
    for _ in 0..MAX_STEPS {
        let mut next = Vec::new();
        for register in registers {
            match facts.definitions(register) {
                [only] => {
                    let reads = facts.uses().of(*only).iter().filter(|each| each.access().reads());
                    next.extend(reads.map(|each| each.register));
                }
                several => {
                    // What it begins with is none of them.
                    let several = within_rounds(facts, test, several);
                    return several.iter().rev().take(MAX_PLACES - 1).copied().collect();
                }
            }
        }
        registers = next;
        registers.truncate(MAX_PLACES);
    }
    Vec::new()
}

/// Of the places where a register is written those in the smallest loop around an instruction that has some; all where none has.
fn within_rounds(facts: &FunctionFacts<'_>, instruction: u32, writes: &[u32]) -> Vec<u32> {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(instruction));
    let mut best: Option<(usize, Vec<u32>)> = None;
    for (head, block) in latches(facts).filter(|(head, _)| cfg.dominates(*head, own)) {
        let Some(blocks) = facts.cfg.natural_loop(head, block, MAX_BLOCKS) else { continue };
        let is_inside = |at: &&u32| blocks.contains(&cfg.block_of(Handle::new(**at)));
        let inside: Vec<u32> = writes.iter().filter(is_inside).copied().collect();
        let is_better = best.as_ref().is_none_or(|(size, _)| blocks.len() < *size);
        if blocks.contains(&own) && !inside.is_empty() && is_better {
            best = Some((blocks.len(), inside));
        }
    }
    best.map_or_else(|| writes.to_vec(), |(_, inside)| inside)
}

/// Whether an instruction moves a constant.
fn is_constant(facts: &FunctionFacts<'_>, at: u32) -> bool {
    let is_move = facts.instance(at).and_then(|each| each.effects.computes) == Some(Computation::Move);
    is_move && !facts.uses().of(at).iter().any(|each| each.access().reads())
}

/// The constant that the parity of a test begins with, before it turns.
fn beginning(facts: &FunctionFacts<'_>, test: u32) -> Option<u32> {
    let index = facts.instance(test).and_then(|instance| instance.operand_for(Purpose::Parity))?;
    let Some(Operand::Register { register, .. }) = facts.body.operands(Handle::new(test)).get(index) else {
        return None;
    };
    let own = facts.cfg.block_of(Handle::new(test));
    let mut open: VecDeque<Register> = VecDeque::from([*register]);
    let mut seen: Vec<u32> = Vec::new();
    while let Some(register) = open.pop_front() {
        let writes = facts.definitions(register);
        let is_before = |at: &u32| facts.cfg.dominates(facts.cfg.block_of(Handle::new(*at)), own);
        let mut constants = writes.iter().copied().filter(|&at| is_constant(facts, at)).filter(is_before);
        if writes.len() > 1
            && let Some(last) = constants.next_back()
        {
            return Some(last);
        }
        for &write in writes {
            if seen.contains(&write) || seen.len() >= MAX_SEEN {
                continue;
            }
            seen.push(write);
            let reads = facts.uses().of(write).iter().filter(|each| each.access().reads());
            open.extend(reads.map(|each| each.register));
        }
    }
    None
}

/// Where the threads go on that do not come to the wait for registers, if they give none back there.
fn other_threads(facts: &FunctionFacts<'_>, fault: &Fault) -> Option<u32> {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(fault.instruction));
    let mut block = own;
    let other = loop {
        let above = cfg.immediate_dominator(block)?;
        let others = cfg.successors(above).map(|(next, _)| next);
        let mut others = others.filter(|&next| next != block && !cfg.dominates(next, own));
        match others.next() {
            Some(other) if cfg.dominates(above, other) => break other,
            _ => block = above,
        }
    };
    let mut given = fault.others.iter().filter(|(_, part)| *part == Part::Given);
    let gives = given.any(|(at, _)| cfg.dominates(other, cfg.block_of(Handle::new(*at))));
    if gives { None } else { cfg.instructions(other).next() }
}

/// Whether an instruction ends a group of operations.
fn is_commit(facts: &FunctionFacts<'_>, at: u32) -> bool {
    let acts = facts.instance(at).and_then(|instance| instance.effects.asynchronous);
    acts.is_some_and(|(_, action)| action == AsyncAction::Commit)
}

/// The end of the innermost rounds that an instruction is in.
fn latch_around(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let own = facts.cfg.block_of(Handle::new(instruction));
    let loops = latches(facts).filter_map(|(head, latch)| {
        Some((facts.cfg.natural_loop(head, latch, MAX_BLOCKS).filter(|blocks| blocks.contains(&own))?, latch))
    });
    let (_, latch) = loops.min_by_key(|(blocks, _)| blocks.len())?;
    facts.cfg.instructions(latch).next_back()
}

/// The beginning of the smallest loop around an instruction.
fn round_around(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(instruction));
    let around = latches(facts).filter(|(head, _)| cfg.dominates(*head, own));
    let loops = around.filter_map(|(head, block)| {
        let blocks = facts.cfg.natural_loop(head, block, MAX_BLOCKS)?;
        blocks.contains(&own).then_some((blocks.len(), head))
    });
    let (_, head) = loops.min_by_key(|(count, _)| *count)?;
    cfg.instructions(head).next()
}

/// The beginning of the round of a test, and the branch that ends it: of the smallest loop around it in which more happens than
/// that it waits.
fn round(facts: &FunctionFacts<'_>, test: u32) -> Option<(Option<u32>, Option<u32>)> {
    let cfg = &facts.cfg;
    let own = cfg.block_of(Handle::new(test));
    let mut best: Option<(usize, NodeIndex, NodeIndex)> = None;
    for (head, block) in latches(facts).filter(|(head, _)| cfg.dominates(*head, own)) {
        let Some(blocks) = facts.cfg.natural_loop(head, block, MAX_BLOCKS) else { continue };
        let acts = |at: u32| {
            at != test
                && facts.instance(at).is_some_and(|other| {
                    let effects = &other.effects;
                    effects.asynchronous.is_some() || effects.event.is_some() || effects.writes_memory
                })
        };
        let does_more = blocks.iter().any(|&each| cfg.instructions(each).any(acts));
        if blocks.contains(&own) && does_more && best.is_none_or(|(size, ..)| blocks.len() < size) {
            best = Some((blocks.len(), head, block));
        }
    }
    best.map(|(_, head, block)| (cfg.instructions(head).next(), cfg.instructions(block).next_back()))
}
