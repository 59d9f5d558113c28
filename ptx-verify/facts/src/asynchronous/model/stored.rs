//! The numbers of shared memory: which instructions load and store those that decide about something.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{Computation, Instance, Mode};

use super::decode::Operands;
use super::known::Actions;
use super::program::Action;
use super::slice::Decoder;
use crate::values::{is_signed, width};

impl Decoder<'_, '_> {
    /// An access with the registers that it loads, as far as something relevant reads them.
    pub(super) fn loading(&mut self, instruction: u32, mut action: Action) -> Action {
        let facts = self.facts;
        let Action::Access { address, reads: true, to, part, extends, update, .. } = &mut action else {
            return action;
        };
        let operands = facts.body.operands(Handle::new(instruction));
        match facts.instance(instruction) {
            Some(instance) if loads_number(instance) => {
                let Some(&loaded) = operands.first() else { return action };
                let parts = self.parts(loaded);
                *part = address.bytes / parts.len().max(1) as u32;
                *to = parts.iter().map(|each| self.register(Some(each))).collect();
                let ty = facts.instance(instruction).and_then(|instance| instance.ty);
                let bits = to.iter().flatten().map(|register| self.bits_of(*register)).next();
                *extends = bits.filter(|bits| ty.is_some_and(is_signed) && *bits > 8 * *part);
            }
            _ => {
                // What else comes of memory is no number that was stored.
                *part = if update.is_some() { address.bytes } else { u32::MAX };
                let written = facts.uses().of(instruction).iter().filter(|each| each.access().writes());
                *to = written.map(|each| self.registers.get(each.register)).collect();
            }
        }
        if to.iter().all(Option::is_none) {
            to.clear();
        }
        action
    }

    /// Takes in what is stored to shared memory, where numbers are loaded from there; whether that is more than before.
    pub(super) fn ask_for_stores(&mut self, actions: &mut Actions) -> bool {
        let facts = self.facts;
        let mut shapes: Vec<(usize, u32)> = Vec::new();
        let mut stores: Vec<(u32, u32)> = Vec::new();
        for &(instruction, ref action) in actions.iter() {
            let Action::Access { address, reads, writes, from, update, .. } = action else { continue };
            let Some(instance) = facts.instance(instruction) else { continue };
            let operands = facts.body.operands(Handle::new(instruction));
            if update.is_some() {
                let mut written = facts.uses().of(instruction).iter().filter(|each| each.access().writes());
                let shape = (1, address.bytes);
                if written.any(|each| self.registers.get(each.register).is_some()) && !shapes.contains(&shape)
                {
                    shapes.push(shape);
                }
                if from.is_empty() {
                    stores.push((instruction, address.bytes));
                }
            } else if *reads && loads_number(instance) {
                let parts = operands.first().map(|loaded| self.parts(*loaded)).unwrap_or_default();
                let bytes = address.bytes / parts.len().max(1) as u32;
                let is_asked = |part: &Operand| match part {
                    Operand::Register { register, .. } => self.registers.get(*register).is_some(),
                    _ => false,
                };
                if parts.iter().any(is_asked) && !shapes.contains(&(parts.len(), bytes)) {
                    shapes.push((parts.len(), bytes));
                }
            } else if *writes && !*reads && from.is_empty() && operands.len() == 2 {
                stores.push((instruction, instance.ty.map_or(0, |ty| width(ty) / 8)));
            }
        }
        self.program.remembers |= !shapes.is_empty();
        stores.sort_unstable();
        let mut is_more = false;
        for (instruction, bytes) in stores {
            if let Some(given) = self.updating(instruction) {
                let Some(Action::Access { from, .. }) = actions.get_mut(instruction) else { continue };
                if shapes.contains(&(1, bytes)) {
                    *from = given.into_iter().map(|each| self.source(each)).collect();
                    is_more = true;
                }
                continue;
            }
            let Some(&stored) = facts.body.operands(Handle::new(instruction)).get(1) else { continue };
            let parts = self.parts(stored);
            let Some(Action::Access { address, from, part, .. }) = actions.get_mut(instruction) else {
                continue;
            };
            let is_plain = address.bytes == bytes * parts.len() as u32;
            let is_constant = parts.iter().all(|part| matches!(part, Operand::Integer { .. }));
            if is_plain && !shapes.is_empty() && (is_constant || shapes.contains(&(parts.len(), bytes))) {
                *part = bytes;
                *from = parts.into_iter().map(|each| self.source(each)).collect();
                is_more = true;
            }
        }
        is_more
    }

    /// What an atomic operation is given beside its address.
    fn updating(&self, instruction: u32) -> Option<Vec<Operand>> {
        let instance = self.facts.instance(instruction).filter(|instance| instance.effects.atomic)?;
        let (address, _) = Operands::of(self.facts, instruction, instance).addresses().next()?;
        let operands = self.facts.body.operands(Handle::new(instruction));
        let after = operands.iter().position(|each| *each == address)? + 1;
        Some(operands.get(after..)?.to_vec())
    }
}

/// Whether an instruction loads what is stored in memory, also while other threads may store there.
fn loads_number(instance: &Instance) -> bool {
    let effects = &instance.effects;
    let is_ordered = [Mode::Relaxed, Mode::Acquire].iter().any(|&mode| instance.is(mode));
    effects.computes == Some(Computation::Load)
        || is_ordered && effects.reads_memory && !effects.writes_memory && effects.asynchronous.is_none()
}
