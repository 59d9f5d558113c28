//! Tensor maps in global memory that a kernel changes, and the copies that go by them: the hardware that reads a map sees a change
//! after a release by the one who makes it, and an acquire by the one who copies.

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Event, Instance, Mode, Purpose};
use ptx_ir::space::StateSpace;

use super::{address_root, address_steps};
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// What is missing between the change of a map and a copy by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// `fence.proxy.tensormap::generic.release`.
    Release,
    /// `fence.proxy.tensormap::generic.acquire`.
    Acquire,
    /// `tensormap.cp_fenceproxy`, of a map that is changed in shared memory.
    Copy,
}

/// A copy that may go by a map as it was before a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StaleMap {
    /// What changes the map.
    pub change: u32,
    /// The copy.
    pub copy: u32,
    /// What no path between the two has.
    pub missing: Missing,
    /// A fence between the two that orders something else.
    pub other: Option<u32>,
}

/// Changes, and copies, of one function that are looked at.
const MAX_LOOKED_AT: usize = 32;

/// The first copy by a map that the function has changed before, where nothing on any way between the two makes the change known.
#[must_use]
pub fn stale_map(facts: &FunctionFacts<'_>) -> Option<StaleMap> {
    let changes: Vec<(u32, Register, bool)> =
        facts.reaching_out().filter_map(|each| change(facts, each)).take(MAX_LOOKED_AT).collect();
    if changes.is_empty() {
        return left_in_shared(facts);
    }
    let copies: Vec<(u32, Register)> = facts
        .reaching_out()
        .filter_map(|each| Some((each, map_of(facts, each)?)))
        .take(MAX_LOOKED_AT)
        .collect();
    let is_fence = |each: u32, missing: Missing| {
        facts.is_call(each) || facts.instance(each).is_none_or(|instance| makes_known(instance, missing))
    };
    let fences = |missing| facts.reaching_out().filter(move |&each| is_fence(each, missing));
    let releases: Vec<u32> = fences(Missing::Release).collect();
    let acquires: Vec<u32> = fences(Missing::Acquire).collect();
    let all: Vec<u32> = changes.iter().map(|(change, ..)| *change).collect();
    for &(change, map, is_released) in &changes {
        for &(copy, _) in copies.iter().filter(|(_, of)| *of == map) {
            let after = Reach::from(facts, Ends::Instructions(&[change]), &[copy]);
            let others: Vec<u32> = sorted(all.iter().copied().filter(|each| *each != copy));
            let before = Reach::to(facts, Ends::Instructions(&[copy]), &others);
            if Reach::from(facts, Ends::Instructions(&[change]), &[]).at(copy).is_none() {
                continue;
            }
            let is_between = |&each: &u32| after.at(each).is_some() && before.at(each).is_some();
            let orders = |each: &u32| {
                let event = facts.instance(*each).and_then(|instance| instance.effects.event);
                matches!(event, Some(Event::Fence | Event::ProxyFence | Event::GlobalProxyFence))
            };
            let other = || facts.reaching_out().filter(orders).find(is_between);
            if !is_released && !releases.iter().any(is_between) {
                return Some(StaleMap { change, copy, missing: Missing::Release, other: other() });
            }
            if !acquires.iter().any(is_between) {
                return Some(StaleMap { change, copy, missing: Missing::Acquire, other: other() });
            }
        }
    }
    None
}

/// A copy after a change of a map in shared memory that nothing takes out of there.
fn left_in_shared(facts: &FunctionFacts<'_>) -> Option<StaleMap> {
    let has = |event: Event| {
        facts.reaching_out().filter(move |&each| {
            facts.instance(each).is_some_and(|instance| instance.effects.event == Some(event))
        })
    };
    let change = has(Event::MapChange).min()?;
    let may_publish = has(Event::MapRelease).next().is_some()
        || has(Event::MapPublish).next().is_some()
        || facts.reaching_out().any(|each| facts.is_call(each));
    if may_publish {
        return None;
    }
    let after = Reach::from(facts, Ends::Instructions(&[change]), &[]);
    let copy = facts
        .reaching_out()
        .filter(|&each| map_of(facts, each).is_some() && after.at(each).is_some())
        .min()?;
    Some(StaleMap { change, copy, missing: Missing::Copy, other: None })
}

fn sorted(all: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = all.collect();
    all.sort_unstable();
    all
}

/// Whether an instruction makes changes of maps known, of what is missing for that.
fn makes_known(instance: &Instance, missing: Missing) -> bool {
    match (instance.effects.event, missing) {
        (Some(Event::MapRelease | Event::MapPublish), Missing::Release) => true,
        (Some(Event::MapAcquire), Missing::Release) => instance.is(Mode::Release),
        (Some(Event::MapAcquire), Missing::Acquire) => true,
        _ => false,
    }
}

/// The map in global memory that an instruction changes, as the register that its address comes of, and whether it releases it.
fn change(facts: &FunctionFacts<'_>, instruction: u32) -> Option<(u32, Register, bool)> {
    let instance = facts.instance(instruction)?;
    let is_released = match instance.effects.event? {
        Event::MapChange => false,
        Event::MapPublish => true,
        _ => return None,
    };
    // A map in shared memory is no map yet: it is copied from there.
    let mut accesses = instance.operands.iter().filter_map(|spec| spec.access);
    let is_elsewhere =
        accesses.next()?.space.is_some_and(|space| space.base() != StateSpace::Global && !is_released);
    if is_elsewhere {
        return None;
    }
    Some((instruction, address_root(facts, instruction)?, is_released))
}

/// The register that the address of the map comes of which a copy goes by.
fn map_of(facts: &FunctionFacts<'_>, instruction: u32) -> Option<Register> {
    let instance = facts.instance(instruction)?;
    if !instance.effects.async_proxy {
        return None;
    }
    let operands = facts.body.operands(Handle::new(instruction));
    let map = instance.operands.iter().zip(operands).find_map(|(spec, operand)| {
        let Operand::Bracket(run) = *operand else { return None };
        let mut parts = spec.children.iter().zip(facts.body.children(run));
        parts.find_map(|(spec, part)| (spec.purpose == Some(Purpose::TensorMap)).then_some(*part))
    })?;
    let Operand::Register { register, .. } = map else { return None };
    address_steps(facts, instruction, register).last().copied()
}
