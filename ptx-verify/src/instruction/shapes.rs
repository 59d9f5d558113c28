//! Operands of the IR as the instruction table compares them.
//!
//! Lowering compared them once; an instruction that fits nothing is compared again, to learn why.

use ptx_ir::ir::{Body, Function, FunctionKind, Handle, Instruction, Module, Operand, Variable};
use ptx_ir::isa::{Class, ClassSet, Shape, ShapeFlags, ShapeKind};
use ptx_ir::space::StateSpace;
use ptx_ir::types::Type;

/// The operands of an instruction and the parts of those that have parts.
pub(super) fn shapes(
    module: &Module,
    body: &Body,
    instruction: Handle<Instruction>,
) -> (Vec<Shape>, Vec<Shape>) {
    let mut children = Vec::new();
    let operands = body
        .operands(instruction)
        .iter()
        .map(|&operand| shape(module, body, operand, &mut children))
        .collect();
    (operands, children)
}

/// The class of an operand that is one thing, of the base of an address, or of the elements of a vector register.
pub(crate) fn class(module: &Module, operand: Operand) -> Class {
    match operand {
        Operand::Register { class, .. }
        | Operand::VectorRegister { class, .. }
        | Operand::Negated { class, .. }
        | Operand::Selected { class, .. }
        | Operand::RegisterAddress { class, .. } => class,
        Operand::Special(special) => Class::special(special.reads()),
        Operand::Integer { negative: false, .. } | Operand::ConstantAddress { .. } => Class::Integer,
        Operand::Integer { negative: true, .. } => Class::NegativeInteger,
        Operand::Decimal(_) => Class::Decimal,
        Operand::SingleBits(_) => Class::SingleBits,
        Operand::DoubleBits(_) => Class::DoubleBits,
        Operand::WarpSize => Class::WarpSize,
        Operand::Sink => Class::Sink,
        Operand::Variable { variable, .. } | Operand::VariableAddress { variable, .. } => {
            variable_class(module, &module.variables[variable])
        }
        Operand::Function(function) => match module.functions[function].kind {
            FunctionKind::Entry => Class::Kernel,
            FunctionKind::Function => Class::Function,
            FunctionKind::Prototype => Class::CallPrototype,
        },
        Operand::Prototype(_) => Class::CallPrototype,
        Operand::Label(_) => Class::Label,
        Operand::Targets(_) => Class::BranchTargets,
        Operand::Vector(_)
        | Operand::Pair(_)
        | Operand::Bracket(_)
        | Operand::List(_)
        | Operand::Unknown(_) => Class::Unknown,
    }
}

fn variable_class(module: &Module, variable: &Variable) -> Class {
    match variable.ty {
        Type::Texref => return Class::Texref,
        Type::Samplerref => return Class::Samplerref,
        Type::Surfref => return Class::Surfref,
        _ => {}
    }
    match variable.space {
        StateSpace::Global => Class::Global,
        StateSpace::Const => Class::Const,
        StateSpace::Local => Class::Local,
        StateSpace::Tex => Class::Tex,
        StateSpace::Shared | StateSpace::SharedCta | StateSpace::SharedCluster => Class::Shared,
        StateSpace::Param | StateSpace::ParamEntry | StateSpace::ParamFunc => {
            parameter_class(variable.function.map(|function| &module.functions[function]), module, variable)
        }
        StateSpace::Reg | StateSpace::Sreg => Class::Unknown,
    }
}

/// A `.param` variable is a parameter of its function, or was declared in the body for a call.
fn parameter_class(function: Option<&Function>, module: &Module, variable: &Variable) -> Class {
    let Some(function) = function else { return Class::Param };
    let same = |&handle: &Handle<Variable>| std::ptr::eq(&raw const module.variables[handle], variable);
    if !function.parameters.iter().chain(&function.returns).any(same) {
        return Class::Param;
    }
    match function.kind {
        FunctionKind::Entry => Class::ParamEntry,
        FunctionKind::Function | FunctionKind::Prototype => Class::ParamFunc,
    }
}

fn shape(module: &Module, body: &Body, operand: Operand, children: &mut Vec<Shape>) -> Shape {
    let value = class(module, operand);
    match operand {
        Operand::Integer { bits, .. } => Shape { immediate: bits as i64, ..Shape::value(value) },
        Operand::Variable { offset, .. } if offset != 0 => Shape::value(value).with_flags(ShapeFlags::OFFSET),
        Operand::VectorRegister { count, .. } => {
            Shape::vector(value.into(), u16::from(count)).with_flags(ShapeFlags::VECTOR_REGISTER)
        }
        Operand::Negated { .. } => Shape::negated(value),
        Operand::Selected { selector, .. } => {
            Shape { immediate: selector.bits(), ..Shape::of(ShapeKind::Selected, value.into(), 1) }
        }
        Operand::RegisterAddress { offset, unified, .. } => address(value, i64::from(offset), unified),
        Operand::VariableAddress { offset, .. } => address(value, offset, false),
        Operand::ConstantAddress { .. } => address(value, 0, false),
        Operand::Vector(run) => {
            let classes: ClassSet = body.children(run).iter().map(|&each| class(module, each)).collect();
            Shape::vector(classes, run.count.min(u32::from(u16::MAX)) as u16)
        }
        Operand::Pair(run) => composite(module, body, ShapeKind::Pair, body.children(run), children),
        Operand::Bracket(run) => composite(module, body, ShapeKind::Bracket, body.children(run), children),
        Operand::List(run) => {
            Shape::of(ShapeKind::List, ClassSet::NONE, run.count.min(u32::from(u16::MAX)) as u16)
        }
        Operand::Register { .. }
        | Operand::Special(_)
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
        | Operand::Unknown(_) => Shape::value(value),
    }
}

fn address(base: Class, offset: i64, unified: bool) -> Shape {
    let mut flags = ShapeFlags::NONE;
    if offset != 0 {
        flags = flags.with(ShapeFlags::OFFSET);
    }
    if unified {
        flags = flags.with(ShapeFlags::UNIFIED);
    }
    Shape::address(base).with_flags(flags)
}

fn composite(
    module: &Module,
    body: &Body,
    kind: ShapeKind,
    parts: &[Operand],
    children: &mut Vec<Shape>,
) -> Shape {
    let shapes: Vec<Shape> = parts.iter().map(|&part| shape(module, body, part, children)).collect();
    let classes = shapes.iter().fold(ClassSet::NONE, |all, part| all.union(part.classes));
    let first = children.len() as u32;
    let count = shapes.len().min(usize::from(u16::MAX)) as u16;
    children.extend(shapes);
    Shape::of(kind, classes, count).with_children(first)
}
