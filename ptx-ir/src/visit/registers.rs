//! Which registers an instruction reads and writes.

use crate::ir::{Body, Handle, Instruction, Module, Operand, Register, Run};
use crate::isa::{Instance, OperandSpec, Purpose, Role, Roles};

/// What happens to a register at an operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// It is read.
    Read,
    /// It is written, whole.
    Write,
    /// It is read, then written.
    ReadWrite,
    /// The operands fit no form of the instruction: it may be anything.
    Unknown,
}

impl Access {
    pub(super) const fn of(role: Role) -> Self {
        match role {
            Role::Source => Self::Read,
            Role::Destination => Self::Write,
            Role::Both => Self::ReadWrite,
        }
    }

    /// Whether the old value matters.
    #[must_use]
    pub const fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether there may be a new value.
    #[must_use]
    pub const fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite | Self::Unknown)
    }
}

/// Calls `visit` for each register among the operands of an instruction, in order of the operands. The guard is
/// not an operand. A vector register counts as its elements.
#[inline]
pub fn for_each_register(
    module: &Module,
    body: &Body,
    instruction: Handle<Instruction>,
    mut visit: impl FnMut(Register, Access),
) {
    for_each_register_with_operand(module, body, instruction, |register, access, _| visit(register, access));
}

/// The same, with the index of the operand.
#[inline]
pub fn for_each_register_with_operand(
    module: &Module,
    body: &Body,
    instruction: Handle<Instruction>,
    visit: impl FnMut(Register, Access, usize),
) {
    let instance = module.instance(&body.instructions[instruction]);
    for_each_register_of((module, body), instance, body.operands(instruction), visit);
}

/// The same for an instruction of which it is known what it means and what its operands are.
#[inline]
pub fn for_each_register_of(
    (module, body): (&Module, &Body),
    instance: Option<&Instance>,
    operands: &[Operand],
    mut visit: impl FnMut(Register, Access, usize),
) {
    let Some(instance) = instance else {
        for (index, &operand) in operands.iter().enumerate() {
            visit_operand(body, operand, Access::Unknown, None, &mut |register, access| {
                visit(register, access, index);
            });
        }
        return;
    };
    if instance.operands.len() == operands.len() && operands.len() <= Roles::COUNT {
        for (index, &operand) in operands.iter().enumerate() {
            let access = match instance.roles.get(index) {
                Role::Source => Access::Read,
                Role::Destination => Access::Write,
                Role::Both => accumulator(instance, operands),
            };
            match operand {
                Operand::Register { register, .. } => visit(register, access, index),
                Operand::RegisterAddress { base, .. } => visit(base, read(access), index),
                Operand::Integer { .. } => {}
                _ => visit_operand(
                    body,
                    operand,
                    access,
                    instance.operands.get(index),
                    &mut |register, access| {
                        visit(register, access, index);
                    },
                ),
            }
        }
        return;
    }
    for (index, spec) in aligned(module, body, instance, operands).into_iter().enumerate() {
        let access = spec.map_or(Access::Unknown, |spec| Access::of(spec.role));
        visit_operand(body, operands[index], access, spec, &mut |register, access| {
            visit(register, access, index);
        });
    }
}

/// What happens to an accumulator. Where an operand says at run time whether the old value counts, the
/// first of a row of instructions commonly finds it unset and ignores it.
#[cold]
pub(super) fn accumulator(instance: &Instance, operands: &[Operand]) -> Access {
    let scale = instance.operand_for(Purpose::Accumulate);
    match scale.and_then(|index| operands.get(index)) {
        None | Some(Operand::Integer { bits: 1.., .. }) => Access::ReadWrite,
        Some(_) => Access::Write,
    }
}

/// The operand of the instance that each operand of the statement stands for, where optional ones are left out.
#[cold]
#[must_use]
pub fn aligned<'i>(
    module: &Module,
    body: &Body,
    instance: &'i Instance,
    operands: &[Operand],
) -> Vec<Option<&'i OperandSpec>> {
    let (mut shapes, mut children) = (Vec::new(), Vec::new());
    for &operand in operands {
        module.push_shape(body, operand, &mut shapes, &mut children);
    }
    match instance.align(&shapes, &children) {
        Some(indices) => indices.into_iter().map(|index| instance.operands.get(index)).collect(),
        None => vec![None; operands.len()],
    }
}

pub(super) fn visit_operand(
    body: &Body,
    operand: Operand,
    access: Access,
    spec: Option<&OperandSpec>,
    visit: &mut impl FnMut(Register, Access),
) {
    match operand {
        Operand::Register { register, .. } => visit(register, access),
        Operand::VectorRegister { first, count, .. } => {
            for element in 0..u32::from(count) {
                visit(Register(first.0 + element), access);
            }
        }
        // The half words that a selector leaves out of a result keep their values, or come from another operand.
        Operand::Selected { register, .. } => visit(register, access),
        Operand::Negated { register, .. }
        | Operand::Minus { register, .. }
        | Operand::Sum { register, .. } => {
            visit(register, read(access));
        }
        Operand::RegisterAddress { base, .. } | Operand::Element { index: base, .. } => {
            visit(base, read(access));
        }
        Operand::Vector(run) | Operand::List(run) => visit_children(body, run, access, &[], visit),
        Operand::Pair(run) => {
            visit_children(body, run, access, spec.map_or(&[], |spec| &spec.children), visit);
        }
        Operand::Bracket(run) => visit_children(body, run, read(access), &[], visit),
        Operand::Special(_)
        | Operand::SpecialSum { .. }
        | Operand::Integer { .. }
        | Operand::Decimal(_)
        | Operand::SingleBits(_)
        | Operand::DoubleBits(_)
        | Operand::WarpSize
        | Operand::Sink
        | Operand::Variable { .. }
        | Operand::Function(_)
        | Operand::Prototype(_)
        | Operand::Label(_)
        | Operand::Targets(_)
        | Operand::VariableAddress { .. }
        | Operand::ConstantAddress { .. }
        | Operand::Unknown(_) => {}
    }
}

/// What is part of an address is read, whatever happens to the memory.
pub(super) const fn read(access: Access) -> Access {
    match access {
        Access::Unknown => Access::Unknown,
        Access::Read | Access::Write | Access::ReadWrite => Access::Read,
    }
}

fn visit_children(
    body: &Body,
    run: Run,
    access: Access,
    specs: &[OperandSpec],
    visit: &mut impl FnMut(Register, Access),
) {
    for (index, &child) in body.children(run).iter().enumerate() {
        let access = match (access, specs.get(index)) {
            (Access::Unknown, _) | (_, None) => access,
            (_, Some(spec)) => Access::of(spec.role),
        };
        visit_operand(body, child, access, None, visit);
    }
}
