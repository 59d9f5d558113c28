//! Numbers in the memory of a thread: arrays that an index chooses from, such as the phases of a ring's stages or the
//! addresses of its objects, are there in what compilers print.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Computation, Control, Instance};
use ptx_ir::space::StateSpace;

use super::decode::Operands;
use super::kept::{Kept, LARGEST};
use super::known::Actions;
use super::machine::Machine;
use super::passed::{brought, in_parameter_space, is_passed};
use super::program::Action;
use super::slice::Decoder;
use super::value::{Value, lanes};

/// A kernel with more stores there uses it for data.
const MAX_STORES: usize = 256;

impl Decoder<'_, '_> {
    /// A load of the memory of a thread, or a store there; none where it is not followed.
    pub(super) fn of_local(&mut self, instruction: u32, stores: bool) -> Option<Action> {
        let facts = self.facts;
        let instance = facts.instance(instruction)?;
        let named = Operands::of(facts, instruction, instance);
        let operands = facts.body.operands(Handle::new(instruction));
        let (operand, spec) = named.addresses().next()?;
        let access = spec.access?;
        let numbers = self.parts(*operands.get(usize::from(stores))?);
        let part = access.bytes / numbers.len().max(1) as u32;
        if part == 0 || u64::from(part) > LARGEST || access.writes != stores || access.reads == stores {
            return None;
        }
        let address = self.address(operand, spec, access.bytes)?;
        let (mut to, mut from) = (Vec::new(), Vec::new());
        match stores {
            true => from = numbers.into_iter().map(|each| self.source(each)).collect(),
            false => to = numbers.iter().map(|each| self.register(Some(each))).collect(),
        }
        Some(Action::Local { address, to, from, part })
    }

    /// A load or a store of what is passed to or from a function, which is memory of the thread. What a call gives back that
    /// is not followed is none.
    pub(super) fn of_passed(&mut self, instruction: u32, instance: &Instance) -> Option<Action> {
        let facts = self.facts;
        let (variable, _) = in_parameter_space(facts, instruction)?;
        if !is_passed(facts, variable) {
            self.program.asks_calls |= !facts.module.variables[variable].is_parameter;
            return None;
        }
        if facts.escapes(variable) && !instance.effects.writes_memory {
            return None;
        }
        facts.parameter_writers(variable).iter().for_each(|&writer| self.push(writer));
        self.of_local(instruction, instance.effects.writes_memory)
    }

    /// Takes in what is stored to the memory of a thread, where something is loaded from there; whether that is more than
    /// before.
    pub(super) fn ask_for_local_stores(&mut self, actions: &mut Actions) -> bool {
        if !std::mem::take(&mut self.loads_local) {
            return false;
        }
        let mut is_more = false;
        for instruction in self.local_stores.clone().unwrap_or_default() {
            if actions.has(instruction) {
                continue;
            }
            if let Some(action) = self.of_local(instruction, true) {
                self.push(instruction);
                actions.insert(instruction, action);
                is_more = true;
            }
        }
        is_more
    }

    /// Whether what threads keep in their own memory can be followed: only plain stores write there.
    pub(super) fn knows_local(&mut self) -> bool {
        if self.local_stores.is_none() && !self.is_local_unknown {
            self.local_stores = self.stores_to_local();
            self.is_local_unknown = self.local_stores.is_none();
        }
        self.local_stores.is_some()
    }

    fn stores_to_local(&self) -> Option<Vec<u32>> {
        let facts = self.facts;
        let mut all = Vec::new();
        for &block in facts.cfg.reverse_postorder() {
            for instruction in facts.cfg.instructions(block) {
                let Some(instance) = facts.instance(instruction) else { continue };
                if instance.effects.control == Control::Call || !instance.effects.writes_memory {
                    continue;
                }
                let named = Operands::of(facts, instruction, instance);
                for (operand, spec) in named.addresses() {
                    let Some(access) = spec.access.filter(|access| access.writes) else { continue };
                    match access.space.map(StateSpace::base) {
                        Some(StateSpace::Local) => all.push(instruction),
                        // It might be there as well.
                        None if spec.may_access_shared() && self.may_be_local(operand) => {
                            let is_local =
                                self.leads_to_local(operand) == Some(true) && !self.points_to_shared(operand);
                            if !is_local {
                                return None;
                            }
                            all.push(instruction);
                        }
                        _ => {}
                    }
                }
            }
        }
        (all.len() <= MAX_STORES).then_some(all)
    }

    /// Whether a generic address may be one of the memory of a thread: such an address leads there.
    fn may_be_local(&self, operand: Operand) -> bool {
        self.leads_to_local(operand) != Some(false)
    }

    /// The same; none where that is not known.
    pub(super) fn leads_to_local(&self, operand: Operand) -> Option<bool> {
        const MAX_VISITS: usize = 64;
        let Operand::RegisterAddress { base, .. } = operand else { return None };
        let (mut pending, mut seen) = (vec![base], Vec::new());
        while let Some(register) = pending.pop() {
            if seen.contains(&register) {
                continue;
            }
            seen.push(register);
            if seen.len() > MAX_VISITS {
                return None;
            }
            for &write in self.facts.definitions(register) {
                let instance = self.facts.instance(write)?;
                if instance.effects.computes == Some(Computation::ToGeneric) {
                    if crate::values::space_of(instance) == Some(StateSpace::Local) {
                        return Some(true);
                    }
                    continue;
                }
                match brought(self.facts, write) {
                    Some(passed) => pending.extend(passed),
                    None => {
                        let reads = self.facts.uses().of(write).iter().filter(|each| each.access().reads());
                        pending.extend(reads.map(|each| each.register));
                    }
                }
            }
        }
        Some(false)
    }
}

impl Machine<'_> {
    /// Loads and stores what a thread keeps in its own memory.
    pub(super) fn keep(&mut self, warp: usize, mask: u32, action: &Action) {
        let Action::Local { address, to, from, part } = action else { return };
        let addresses = self.certain_address(warp, *address);
        let part = u64::from(*part);
        let place = addresses.all(mask);
        for (register, index) in to.iter().zip(0..) {
            let Some(register) = register else { continue };
            let own = &self.warps[warp].local;
            let (value, assumed) = match place {
                Some(place) => own.load(place.wrapping_add(index * part), part),
                None => {
                    let mut assumed = false;
                    let numbers: Vec<Option<u64>> = (0..32)
                        .map(|lane| {
                            let place = addresses.lane(lane).filter(|_| mask >> lane & 1 != 0)?;
                            let (value, is_assumed) = own.load(place.wrapping_add(index * part), part);
                            assumed |= is_assumed;
                            value.lane(lane)
                        })
                        .collect();
                    match lanes(mask).all(|lane| numbers[lane as usize].is_some()) {
                        true => (Value::by_lane(|lane| numbers[lane as usize].unwrap_or(0)), assumed),
                        false => (Value::Unknown, false),
                    }
                }
            };
            self.put(warp, Some(*register), value, mask, assumed);
        }
        if from.is_empty() {
            return;
        }
        let Some(place) = place else {
            self.warps[warp].local.clear();
            return;
        };
        for (source, index) in from.iter().zip(0..) {
            let (value, assumed) = (self.value(warp, *source), self.are_assumed(warp, &[*source]));
            let own = &mut self.warps[warp];
            let place = place.wrapping_add(index * part);
            own.local.store(place, Kept { bytes: part, value, assumed }, mask, own.alive);
        }
    }
}
