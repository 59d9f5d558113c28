//! What instructions do to global memory, where blocks of a grid tell each other something there.

use ptx_ir::ir::{Handle, Operand, Register};
use ptx_ir::isa::{Computation, Event, Instance, Mode, OperandSpec};
use ptx_ir::space::StateSpace;
use ptx_ir::types::{Type, TypeKind};
use rustc_hash::FxHashSet;

use super::decode::Operands;
use super::program::{Action, GlobalAccess, Source, Strength};
use super::slice::Decoder;
use crate::asynchronous::flags::loads_parameter;
use crate::values::{is_signed, space_of, width};

/// Registers that an address is computed of.
const MAX_REGISTERS: usize = 128;

impl Decoder<'_, '_> {
    /// What an instruction does to global memory; none where it does nothing there.
    pub(super) fn of_global(&mut self, instruction: u32, instance: &Instance) -> Option<Action> {
        let facts = self.facts;
        let effects = &instance.effects;
        if effects.event.is_some() || effects.asynchronous.is_some() || !instance.accesses {
            return None;
        }
        let named = Operands::of(facts, instruction, instance);
        let (operand, spec) = named.addresses().next()?;
        let access = spec.access?;
        let is_global = match access.space {
            Some(space) => space == StateSpace::Global,
            None => self.leads_to(operand).is_none_or(|space| space == StateSpace::Global),
        };
        if !is_global || !(access.reads || access.writes) {
            return None;
        }
        if let Operand::RegisterAddress { base, .. } = operand {
            self.note_roots(base);
        }
        let address = self.address(operand, spec, access.bytes)?;
        let own = facts.body.operands(Handle::new(instruction));
        let is_float = instance.ty.is_some_and(|ty| matches!(ty.kind(), TypeKind::Float | TypeKind::Packed));
        let after = own.iter().position(|each| *each == operand)? + 1;
        let mut from = Vec::new();
        if access.writes {
            for given in own.get(after..)?.iter().copied() {
                // What people compute with fractions tells nobody where to go.
                let parts = self.parts(given);
                from.extend(parts.into_iter().map(|part| match is_float {
                    true => Source::Unknown,
                    false => self.source(part),
                }));
                if !effects.atomic {
                    break;
                }
            }
        }
        let parts = match (access.writes && !effects.atomic, own.first()) {
            (true, _) => from.len(),
            (false, Some(loaded)) if after > 1 && !effects.atomic => self.parts(*loaded).len(),
            _ => 1,
        };
        let strength = Strength::of(instance);
        self.program.tells_blocks |= strength.is_strong;
        self.program.tells_devices |= instance.is(Mode::SystemScope);
        let ty = instance.ty.unwrap_or(Type::B32);
        Some(Action::Global(Box::new(GlobalAccess {
            address,
            reads: access.reads,
            writes: access.writes,
            update: effects.updates.filter(|_| !is_float),
            bits: width(ty),
            signed: is_signed(ty),
            strength,
            is_copied: false,
            points: false,
            to: Vec::new(),
            from,
            part: address.bytes / parts.max(1) as u32,
        })))
    }

    /// The global memory that a copy reads, or writes, where that is looked at.
    pub(super) fn read_by_copy(&mut self, named: &Operands<'_>) -> Option<Box<GlobalAccess>> {
        if !self.program.has_global {
            return None;
        }
        // What operations combine with what is there has no order.
        let is_plain = |spec: &OperandSpec| {
            let access = spec.access.filter(|access| access.space == Some(StateSpace::Global));
            access.is_some_and(|access| access.reads != access.writes)
        };
        let (operand, spec) = named.addresses().find(|(_, spec)| is_plain(spec))?;
        let writes = spec.access?.writes;
        if let Operand::RegisterAddress { base, .. } = operand {
            self.note_roots(base);
        }
        let address = self.address(operand, spec, spec.access?.bytes)?;
        let access = GlobalAccess::read_by_copy(address);
        Some(Box::new(GlobalAccess { reads: !writes, writes, is_copied: !writes, ..access }))
    }

    /// A fence. Between two barriers of the block it is what the translation writes for a barrier of the grid.
    pub(super) fn fence(&self, instruction: u32, instance: &Instance) -> Action {
        let facts = self.facts;
        let is_barrier = |each: Option<u32>| {
            each.and_then(|each| facts.instance(each)).is_some_and(|instance| {
                instance.effects.event == Some(Event::BarrierSync) && instance.effects.barrier
            })
        };
        let last = facts.body.instructions.len() as u32 - 1;
        let in_block = instance.is(Mode::BlockScope);
        match !in_block
            && is_barrier(instruction.checked_sub(1))
            && is_barrier((instruction < last).then_some(instruction + 1))
        {
            true => Action::GridBarrier,
            false => Action::GlobalFence { in_block },
        }
    }

    /// The registers that an access of global memory sets, as far as something reads them.
    pub(super) fn loading_global(&mut self, instruction: u32, access: &mut GlobalAccess) {
        if !access.reads {
            return;
        }
        let operands = self.facts.body.operands(Handle::new(instruction));
        let Some(&loaded) = operands.first() else { return };
        if !matches!(loaded, Operand::Register { .. } | Operand::Vector(_)) {
            return;
        }
        let parts = self.parts(loaded);
        access.to = parts.iter().map(|each| self.register(Some(each))).collect();
        access.points = parts.iter().any(|part| self.is_root(part));
    }

    fn is_root(&self, part: &Operand) -> bool {
        matches!(part, Operand::Register { register, .. } if self.roots.contains(register))
    }

    /// What a load of parameters brings where some of them are pointers: each is one to a place of its own.
    pub(super) fn pointers_of(&mut self, instruction: u32, instance: &Instance) -> Option<Action> {
        let facts = self.facts;
        let named = Operands::of(facts, instruction, instance);
        let (operand, spec) = named.addresses().next()?;
        let loaded = *facts.body.operands(Handle::new(instruction)).first()?;
        let parts = self.parts(loaded);
        if !parts.iter().any(|part| self.is_root(part)) {
            return None;
        }
        let address = self.address(operand, spec, spec.access?.bytes)?;
        let mut to = Vec::new();
        for part in &parts {
            let register = self.register(Some(part));
            to.push(register.map(|register| (register, self.bits_of(register), self.is_root(part))));
        }
        Some(Action::Pointers { address, to })
    }

    /// Takes note of the registers that an address comes of, through moves, sums and choices.
    fn note_roots(&mut self, base: Register) {
        let facts = self.facts;
        let (mut pending, mut seen) = (vec![base], FxHashSet::default());
        while let Some(register) = pending.pop() {
            if !seen.insert(register) || seen.len() > MAX_REGISTERS {
                continue;
            }
            for &write in facts.definitions(register) {
                let Some(instance) = facts.instance(write) else { continue };
                let operands = facts.body.operands(Handle::new(write));
                let of = |index: usize| match operands.get(index) {
                    Some(Operand::Register { register, .. }) => Some(*register),
                    _ => None,
                };
                match instance.effects.computes {
                    Some(Computation::Load) => {
                        self.roots.insert(register);
                    }
                    Some(Computation::Add) => {
                        let (one, other) = (of(1), of(2));
                        let is_pointer = |from: &Register| is_pointer(facts, *from, MAX_STEPS);
                        // What is added to a pointer is none.
                        let chosen =
                            other.filter(|from| is_pointer(from) && !one.is_some_and(|one| is_pointer(&one)));
                        pending.extend(chosen.or(one));
                    }
                    Some(Computation::MultiplyAdd | Computation::MultiplyAddWide) => pending.extend(of(3)),
                    Some(Computation::Select) => pending.extend([of(1), of(2)].into_iter().flatten()),
                    Some(
                        Computation::Move
                        | Computation::Subtract
                        | Computation::And
                        | Computation::ToGeneric
                        | Computation::FromGeneric,
                    ) => pending.extend(of(1)),
                    _ => {}
                }
            }
        }
    }

    /// The state space that the variable of a generic address is in, where it is in sight.
    fn leads_to(&self, operand: Operand) -> Option<StateSpace> {
        let Operand::RegisterAddress { base, .. } = operand else { return None };
        let mut register = base;
        for _ in 0..MAX_STEPS {
            let [write] = self.facts.definitions(register) else { return None };
            let instance = self.facts.instance(*write)?;
            match instance.effects.computes? {
                Computation::ToGeneric => return space_of(instance).map(StateSpace::base),
                Computation::MapRank => return Some(StateSpace::Shared),
                Computation::Add | Computation::Move => {}
                _ => return None,
            }
            match self.facts.body.operands(Handle::new(*write)).get(1) {
                Some(Operand::Register { register: from, .. }) => register = *from,
                _ => return None,
            }
        }
        None
    }
}

/// Steps through which a pointer is looked for.
const MAX_STEPS: usize = 16;

/// Whether a register comes of a number of 64 bits that is loaded, through moves and sums.
fn is_pointer(facts: &crate::FunctionFacts<'_>, register: Register, left: usize) -> bool {
    let Some(left) = left.checked_sub(1) else { return false };
    let [write, ..] = facts.definitions(register) else { return false };
    let Some(instance) = facts.instance(*write) else { return false };
    match instance.effects.computes {
        Some(Computation::Load) => {
            instance.ty.is_some_and(|ty| width(ty) == 64)
                && (loads_parameter(facts, *write) || space_of(instance) != Some(StateSpace::Local))
        }
        Some(Computation::Move | Computation::Add | Computation::ToGeneric | Computation::FromGeneric) => {
            match facts.body.operands(Handle::new(*write)).get(1) {
                Some(Operand::Register { register, .. }) => is_pointer(facts, *register, left),
                _ => false,
            }
        }
        _ => false,
    }
}

impl Strength {
    fn of(instance: &Instance) -> Self {
        let is = |mode: Mode| instance.is(mode);
        let effects = &instance.effects;
        let is_strong = effects.atomic
            || [Mode::Relaxed, Mode::Acquire, Mode::Release, Mode::Volatile, Mode::Coherent]
                .into_iter()
                .any(is);
        Self {
            is_strong,
            acquires: is(Mode::Acquire),
            releases: is(Mode::Release),
            is_volatile: is(Mode::Volatile) || is(Mode::Coherent),
            in_block: is(Mode::BlockScope),
        }
    }
}
