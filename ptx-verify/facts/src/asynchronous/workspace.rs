//! Global memory that threads write and bulk copies read: through two proxies.

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Computation, Event, Instance, Mode};
use ptx_ir::space::StateSpace;

use super::tables::name_of;
use super::{address_root, address_steps, is_weak, may_be_global};
use crate::FunctionFacts;
use crate::reach::{Ends, Reach};

/// A store to global memory, and a bulk copy from there that a path leads to without a fence of the proxy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unseen {
    /// The store.
    pub store: u32,
    /// The copy.
    pub copy: u32,
}

/// Copies of one function that are looked at.
const MAX_COPIES: usize = 16;
/// Registers that a distance is computed of.
const MAX_REGISTERS: usize = 64;

/// The first copy that reads what threads have stored before: both addresses come of one register, and nothing is added to
/// it that may lead to another part of the memory after it.
#[must_use]
pub fn unseen_stores(facts: &FunctionFacts<'_>) -> Option<Unseen> {
    let copies: Vec<(u32, Register)> =
        facts.reaching_out().filter_map(|each| Some((each, global_source(facts, each)?))).collect();
    if copies.is_empty() {
        return None;
    }
    let is_fence = |&each: &u32| facts.instance(each).is_none_or(fences_global) || facts.is_call(each);
    let mut fences: Vec<u32> = facts.reaching_out().filter(is_fence).collect();
    fences.sort_unstable();
    let stores =
        facts.reaching_out().filter(|&each| is_weak(facts, each, true) && may_be_global(facts, each));
    let stores: Vec<(u32, Vec<Register>)> = stores
        .filter_map(|store| Some((store, address_steps(facts, store, facts.address_in_register(store)?.0))))
        .collect();
    copies.iter().take(MAX_COPIES).find_map(|&(copy, base)| {
        let own = address_steps(facts, copy, base);
        let reach = Reach::to(facts, Ends::Instructions(&[copy]), &fences);
        let is_read = |(store, steps): &&(u32, Vec<Register>)| {
            let Some(common) = own.iter().find(|register| steps.contains(register)) else { return false };
            let stays = |steps: &[Register]| {
                let until = steps.iter().position(|step| step == common).unwrap_or(0);
                steps[..=until].windows(2).all(|pair| stays_near(facts, pair[0], pair[1]))
            };
            *store < copy && reach.at(*store).is_some() && stays(&own) && stays(steps)
        };
        // Pages that one list leads to, to which something is added before any is copied.
        let after = Reach::from(facts, Ends::Instructions(&[copy]), &[]);
        let root = own.last().map(|root| name_of(facts, *root));
        let lists = lists_of(facts, base);
        let is_added = |(store, steps): &&(u32, Vec<Register>)| {
            let is_before = *store < copy && reach.at(*store).is_some() && after.at(*store).is_none();
            is_before
                && !lists.is_empty()
                && steps.last().map(|root| name_of(facts, *root)) == root
                && facts
                    .address_in_register(*store)
                    .is_some_and(|(base, _)| lists_of(facts, base).iter().any(|list| lists.contains(list)))
        };
        // Who reads by the same pointer first changes in place what it has read, and goes on to other parts.
        let is_own = |store: u32| {
            copies.iter().any(|&(first, base)| {
                first < store
                    && first != copy
                    && address_steps(facts, first, base).last().map(|root| name_of(facts, *root)) == root
                    && Reach::from(facts, Ends::Instructions(&[first]), &[]).at(store).is_some()
            })
        };
        let is_read = |each: &&(u32, Vec<Register>)| is_read(each) && !is_own(each.0);
        let (store, _) = stores.iter().rev().find(is_read).or_else(|| stores.iter().rev().find(is_added))?;
        Some(Unseen { store: *store, copy })
    })
}

/// The pointers of the lists in global memory whose elements an address is computed of.
fn lists_of(facts: &FunctionFacts<'_>, address: Register) -> Vec<Register> {
    let (mut pending, mut seen, mut lists) = (vec![address], Vec::new(), Vec::new());
    while let Some(register) = pending.pop() {
        if seen.contains(&register) || seen.len() > MAX_REGISTERS {
            continue;
        }
        seen.push(register);
        for &write in facts.definitions(register) {
            let effects = facts.instance(write).map(|instance| &instance.effects);
            if effects.is_some_and(|effects| effects.reads_memory) {
                if may_be_global(facts, write) {
                    lists.extend(address_root(facts, write));
                }
                continue;
            }
            let operands = facts.body.operands(Handle::new(write)).iter().skip(1);
            pending.extend(operands.filter_map(|operand| match *operand {
                Operand::Register { register, .. } => Some(register),
                _ => None,
            }));
        }
    }
    lists
}

/// Whether an instruction orders the accesses of global memory by the generic proxy with those by the asynchronous one.
#[must_use]
pub fn fences_global(instance: &Instance) -> bool {
    match instance.effects.event {
        Some(Event::GlobalProxyFence) => true,
        Some(Event::ProxyFence) => !instance.is(Mode::SharedOnly),
        _ => false,
    }
}

/// Whether what is added in a step of an address to the next register is computed of the numbers of threads and blocks, so that
/// it does not lead to another part of what is there.
fn stays_near(facts: &FunctionFacts<'_>, step: Register, next: Register) -> bool {
    facts.definitions(step).iter().all(|&write| {
        let operands = facts.body.operands(Handle::new(write));
        operands.iter().skip(1).all(|operand| match *operand {
            Operand::Register { register, .. } => {
                register == next || register == step || is_distance(facts, register)
            }
            Operand::Integer { bits, .. } => bits < NEAR,
            _ => false,
        })
    })
}

/// A distance that goes on within what a block works on.
const NEAR: u64 = 4096;

/// Whether a register is computed of the numbers of threads and blocks and of constants.
fn is_distance(facts: &FunctionFacts<'_>, register: Register) -> bool {
    let (mut pending, mut seen) = (vec![register], Vec::new());
    while let Some(register) = pending.pop() {
        if seen.contains(&register) {
            continue;
        }
        seen.push(register);
        if seen.len() > MAX_REGISTERS {
            return false;
        }
        for &write in facts.definitions(register) {
            let computes = facts.instance(write).and_then(|instance| instance.effects.computes);
            if computes.is_none_or(|computes| computes == Computation::Load) {
                return false;
            }
            for operand in facts.body.operands(Handle::new(write)).iter().skip(1) {
                match *operand {
                    Operand::Register { register: from, .. } => pending.push(from),
                    Operand::Integer { .. } | Operand::Special(_) => {}
                    _ => return false,
                }
            }
        }
    }
    true
}

/// The address in global memory that a bulk copy to shared memory reads from.
fn global_source(facts: &FunctionFacts<'_>, instruction: u32) -> Option<Register> {
    let instance = facts.instance(instruction)?;
    if instance.effects.asynchronous != Some((AsyncGroup::Mbarrier, AsyncAction::Start)) {
        return None;
    }
    let operands = facts.body.operands(Handle::new(instruction));
    let mut named = instance.operands.iter().zip(operands);
    named.find_map(|(spec, operand)| match *operand {
        Operand::RegisterAddress { base, .. } => {
            let access = spec.access.filter(|access| access.reads && !access.writes)?;
            (access.space == Some(StateSpace::Global)).then_some(base)
        }
        _ => None,
    })
}
