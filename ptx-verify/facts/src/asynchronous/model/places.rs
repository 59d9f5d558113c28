//! Where the place of an access is chosen, and where the same threads go ways of their own.

use std::collections::VecDeque;

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{AsyncAction, Computation, Control, Convergence, Event};
use ptx_ir::space::StateSpace;

use crate::FunctionFacts;
use crate::asynchronous::parting::{parts_before, rounds};

/// Instructions that are looked at for one address.
const MAX_SEEN: usize = 48;
/// Instructions that one address is chosen by.
const MAX_CHOSEN: usize = 2;
/// Blocks that are looked at for the next access.
const MAX_BLOCKS: usize = 6;
/// How far two conditions are compared.
const MAX_DEPTH: usize = 4;

/// The instructions that choose one of several places for an access of shared memory, by what turns in rounds with waits.
pub(super) fn chosen(facts: &FunctionFacts<'_>, access: u32) -> Vec<u32> {
    let mut open: VecDeque<Register> = bases(facts, access).into();
    let (mut seen, mut found) = (Vec::new(), Vec::new());
    while let Some(register) = open.pop_front() {
        let [write] = facts.definitions(register) else { continue };
        if seen.contains(write) || seen.len() >= MAX_SEEN {
            continue;
        }
        seen.push(*write);
        let computes = facts.instance(*write).and_then(|instance| instance.effects.computes);
        let chooses = matches!(computes, Some(Computation::And | Computation::Remainder));
        if chooses && turns(facts, *write) {
            found.push(*write);
            if found.len() == MAX_CHOSEN {
                break;
            }
            continue;
        }
        open.extend(read(facts, *write));
    }
    found
}

/// The registers that the address of shared memory is in which an instruction accesses.
fn bases(facts: &FunctionFacts<'_>, access: u32) -> Vec<Register> {
    let Some(instance) = facts.instance(access) else { return Vec::new() };
    let operands = facts.body.operands(Handle::new(access)).iter().zip(&instance.operands[..]);
    let shared = operands.filter_map(|(operand, spec)| {
        let space = spec.access?.space.map(StateSpace::base);
        match operand {
            Operand::RegisterAddress { base, .. }
                if space.is_none_or(|space| space == StateSpace::Shared) =>
            {
                Some(*base)
            }
            _ => None,
        }
    });
    shared.collect()
}

fn read(facts: &FunctionFacts<'_>, instruction: u32) -> Vec<Register> {
    let reads = facts.uses().of(instruction).iter().filter(|each| each.access().reads());
    reads.map(|each| each.register).collect()
}

/// Whether what an instruction computes comes of a number that changes in rounds in which threads wait.
fn turns(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let mut open: VecDeque<Register> = read(facts, instruction).into();
    let mut seen = Vec::new();
    while let Some(register) = open.pop_front() {
        let writes = facts.definitions(register);
        if writes.len() > 1 {
            if writes.iter().any(|&at| has_waits(facts, at)) {
                return true;
            }
            continue;
        }
        for &write in writes {
            if !seen.contains(&write) && seen.len() < MAX_SEEN {
                seen.push(write);
                open.extend(read(facts, write));
            }
        }
    }
    false
}

/// Whether threads wait in the rounds around an instruction.
fn has_waits(facts: &FunctionFacts<'_>, instruction: u32) -> bool {
    let Some((_, blocks)) = rounds(facts, facts.cfg.block_of(Handle::new(instruction))) else {
        return false;
    };
    let waits = |at: u32| {
        facts.instance(at).is_some_and(|instance| {
            let effects = &instance.effects;
            let actions = [AsyncAction::Test, AsyncAction::Wait, AsyncAction::WaitAll];
            effects.event == Some(Event::BarrierSync)
                || effects.asynchronous.is_some_and(|(_, action)| actions.contains(&action))
        })
    };
    blocks.iter().any(|&block| facts.cfg.instructions(block).any(waits))
}

/// The branches at which those go ways of their own who come to an instruction, by the same condition as before it.
pub(super) fn same_ways(facts: &FunctionFacts<'_>, instruction: u32) -> Vec<u32> {
    let Some(own) = parts_before(facts, instruction) else { return Vec::new() };
    let Some(condition) = facts.condition(own) else { return Vec::new() };
    let blocks = facts.cfg.reverse_postorder().iter();
    let branches = blocks.filter_map(|&block| facts.cfg.instructions(block).next_back());
    let mut found: Vec<u32> = branches
        .filter(|&at| at != own && facts.control(at) != Control::Next)
        .filter(|&at| {
            facts
                .condition(at)
                .is_some_and(|other| is_same(facts, other.register, condition.register, MAX_DEPTH))
        })
        .collect();
    found.sort_unstable();
    found
}

/// Whether two registers have the same number, as far as it is computed in the same way of the same things.
fn is_same(facts: &FunctionFacts<'_>, one: Register, other: Register, depth: usize) -> bool {
    let ([first], [second]) = (facts.definitions(one), facts.definitions(other)) else { return false };
    if first == second {
        return one == other;
    }
    let (Some(left), Some(right)) = (facts.instance(*first), facts.instance(*second)) else { return false };
    let is_alike = std::ptr::eq(left, right) && !left.effects.reads_memory && !left.effects.atomic;
    let [left, right] = [*first, *second].map(|at| facts.body.operands(Handle::new(at)));
    let are_alike = |(left, right): (&Operand, &Operand)| match (left, right) {
        (Operand::Register { register: left, .. }, Operand::Register { register: right, .. }) => {
            depth > 0 && is_same(facts, *left, *right, depth - 1)
        }
        _ => left == right,
    };
    is_alike && left.len() == right.len() && !left.is_empty() && left.iter().zip(right).skip(1).all(are_alike)
}

/// A place between two instructions at which only the lanes of a warp meet.
pub(super) fn lanes_meet(facts: &FunctionFacts<'_>, from: u32, to: u32) -> Option<u32> {
    let meets = |at: u32| {
        facts.instance(at).is_some_and(|instance| {
            let effects = &instance.effects;
            effects.convergence == Convergence::Participants
                && effects.event.is_none()
                && effects.computes.is_none()
                && !facts.uses().of(at).iter().any(|each| each.access().writes())
        })
    };
    (from + 1..to).find(|&at| meets(at))
}

/// Where addresses in other blocks' shared memory are computed.
pub(super) fn ranks(facts: &FunctionFacts<'_>) -> Vec<u32> {
    let blocks = facts.cfg.reverse_postorder().iter();
    let all = blocks.flat_map(|&block| facts.cfg.instructions(block));
    let maps = |at: &u32| {
        facts.instance(*at).and_then(|instance| instance.effects.computes) == Some(Computation::MapRank)
    };
    let mut found: Vec<u32> = all.filter(maps).collect();
    found.sort_unstable();
    found
}

/// The first access of shared memory after an instruction, before others are met again.
pub(super) fn next_access(facts: &FunctionFacts<'_>, instruction: u32) -> Option<u32> {
    let cfg = &facts.cfg;
    let mut block = cfg.block_of(Handle::new(instruction));
    let mut from = instruction + 1;
    let mut seen = Vec::new();
    while !seen.contains(&block) && seen.len() < MAX_BLOCKS {
        seen.push(block);
        for at in from..cfg.instructions(block).end {
            let meets = facts.instance(at).and_then(|instance| instance.effects.event);
            if matches!(meets, Some(Event::BarrierSync | Event::BarrierArrive)) {
                return None;
            }
            if !bases(facts, at).is_empty() {
                return Some(at);
            }
        }
        // A loop over data is gone into.
        block = cfg.successors(block).map(|(next, _)| next).min()?;
        from = cfg.instructions(block).start;
    }
    None
}
