//! The end of a function: registers are gathered into declarations and numbered in the order of the text.

use rustc_hash::FxHashMap;

use super::error::BuildError;
use super::function::{FunctionBuilder, RegisterInfo};
use super::module::ModuleBuilder;
use crate::arena::{Arena, Handle, Symbol};
use crate::ir::{Body, Label, Operand, Register, RegisterGroup, Statement};
use crate::isa::Control;
use crate::types::Type;
use ptx_syntax::Span;

impl FunctionBuilder<'_> {
    /// Fails where control may run past the last instruction.
    pub(super) fn check_end(&self) -> Result<(), BuildError> {
        let last = self.body.statements.iter().rev().find(|statement| match statement {
            Statement::Instruction(_) | Statement::Label(_) => true,
            Statement::Open
            | Statement::Close
            | Statement::Registers(_)
            | Statement::Variable(_)
            | Statement::Directive(_)
            | Statement::Targets(_)
            | Statement::Prototype(_) => false,
        });
        let ends = match last {
            Some(Statement::Instruction(handle)) => {
                let instruction = &self.body.instructions[*handle];
                let control = self.control(instruction).unwrap_or(Control::Next);
                instruction.guard.is_none() && !control.falls_through()
            }
            _ => false,
        };
        if ends { Ok(()) } else { Err(BuildError::MissingEnd { function: self.name() }) }
    }
}

/// Declares the registers at the beginning of their blocks and renumbers registers and labels to match the text.
pub(super) fn lay_out(builder: &mut ModuleBuilder, body: &mut Body, registers: &[RegisterInfo]) {
    let mut new_numbers = vec![0; body.register_count as usize];
    let mut statements = Vec::with_capacity(body.statements.len() + 8);
    let mut next = 0;
    let mut block = 0;
    let old = std::mem::take(&mut body.statements);
    declare_block(builder, body, registers, block, (&mut new_numbers, &mut next), &mut statements);
    let mut labels: Arena<Label> = Arena::default();
    let mut new_labels: FxHashMap<Handle<Label>, Handle<Label>> = FxHashMap::default();
    for statement in old {
        match statement {
            Statement::Label(handle) => {
                let new = labels.push(body.labels[handle].clone());
                new_labels.insert(handle, new);
                statements.push(Statement::Label(new));
            }
            Statement::Open => {
                statements.push(statement);
                block += 1;
                declare_block(
                    builder,
                    body,
                    registers,
                    block,
                    (&mut new_numbers, &mut next),
                    &mut statements,
                );
            }
            Statement::Instruction(_)
            | Statement::Close
            | Statement::Registers(_)
            | Statement::Variable(_)
            | Statement::Directive(_)
            | Statement::Targets(_)
            | Statement::Prototype(_) => statements.push(statement),
        }
    }
    body.statements = statements;
    body.labels = labels;
    let renumber = |register: &mut Register| register.0 = new_numbers[register.index()];
    let relabel = |label: &mut Handle<Label>| *label = new_labels.get(label).copied().unwrap_or(*label);
    for operand in body.operands.iter_mut().chain(&mut body.children) {
        renumber_operand(operand, renumber, relabel);
    }
    for list in body.targets.handles().collect::<Vec<_>>() {
        for operand in &mut body.targets[list].targets {
            renumber_operand(operand, renumber, relabel);
        }
    }
    for handle in body.instructions.handles().collect::<Vec<_>>() {
        if let Some(register) =
            body.instructions[handle].guard.as_mut().and_then(|guard| guard.register.as_mut())
        {
            renumber(register);
        }
    }
}

/// Declares the registers of one block: those without a name by their types, then those with one.
fn declare_block(
    builder: &mut ModuleBuilder,
    body: &mut Body,
    registers: &[RegisterInfo],
    block: u32,
    (new_numbers, next): (&mut [u32], &mut u32),
    statements: &mut Vec<Statement>,
) {
    let in_block = || registers.iter().filter(|info| info.block == block);
    let mut kinds: Vec<(Type, u8)> =
        in_block().filter(|info| info.name.is_none()).map(|info| (info.ty, info.elements)).collect();
    // Predicates first, as compilers have it, then in the order of the types.
    kinds.sort_unstable_by_key(|&(ty, elements)| (ty != Type::Pred, ty, elements));
    kinds.dedup();
    let mut declare = |name: Symbol, range: Option<u32>, members: &[&RegisterInfo]| {
        let Some(&RegisterInfo { ty, elements, .. }) = members.first().copied() else { return };
        let first = Register(*next);
        let handle =
            body.registers.push(RegisterGroup { name, range, ty, elements, first, span: Span::default() });
        statements.push(Statement::Registers(handle));
        for info in members {
            for element in 0..u32::from(info.elements) {
                new_numbers[(info.first + element) as usize] = *next;
                *next += 1;
            }
        }
    };
    for (ty, elements) in kinds {
        let members: Vec<&RegisterInfo> = in_block()
            .filter(|info| info.name.is_none() && (info.ty, info.elements) == (ty, elements))
            .collect();
        let prefix = prefix(builder, ty, elements, block);
        let name = builder.intern(&prefix);
        declare(name, Some(members.len() as u32), &members);
    }
    for info in in_block() {
        if let Some(name) = info.name {
            declare(name, None, &[info]);
        }
    }
}

/// The part of the names of unnamed registers before the number, which no other name of the module begins
/// with before a number.
fn prefix(builder: &ModuleBuilder, ty: Type, elements: u8, block: u32) -> String {
    let mut prefix = letters(ty).to_owned();
    if elements > 1 {
        prefix += &format!("v{elements}_");
    }
    if block > 0 {
        prefix += &format!("b{block}_");
    }
    let collides = |prefix: &str| {
        builder.module.symbols.iter().any(|name| {
            name.strip_prefix(prefix)
                .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
        })
    };
    while collides(&prefix) {
        prefix.push('_');
    }
    prefix
}

const fn letters(ty: Type) -> &'static str {
    match ty {
        Type::Pred => "%p",
        Type::B8 => "%b",
        Type::B16 => "%h",
        Type::B32 => "%r",
        Type::B64 => "%rd",
        Type::B128 => "%rq",
        Type::U8 => "%ub",
        Type::U16 => "%uh",
        Type::U32 => "%u",
        Type::U64 => "%ud",
        Type::S8 => "%sb",
        Type::S16 => "%sh",
        Type::S32 => "%s",
        Type::S64 => "%sd",
        Type::F16 => "%hf",
        Type::F16x2 => "%hx",
        Type::F32 => "%f",
        Type::F64 => "%fd",
        _ => "%x",
    }
}

fn renumber_operand(
    operand: &mut Operand,
    renumber: impl Fn(&mut Register),
    relabel: impl Fn(&mut Handle<Label>),
) {
    match operand {
        Operand::Register { register, .. }
        | Operand::Negated { register, .. }
        | Operand::Selected { register, .. }
        | Operand::Minus { register, .. }
        | Operand::Sum { register, .. }
        | Operand::Element { index: register, .. }
        | Operand::RegisterAddress { base: register, .. }
        | Operand::VectorRegister { first: register, .. } => renumber(register),
        Operand::Label(label) => relabel(label),
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
        | Operand::Targets(_)
        | Operand::VariableAddress { .. }
        | Operand::ConstantAddress { .. }
        | Operand::Vector(_)
        | Operand::Pair(_)
        | Operand::Bracket(_)
        | Operand::List(_)
        | Operand::Unknown(_) => {}
    }
}
