//! Operands of the IR as the instruction table compares them.
//!
//! Lowering compared them once; an instruction that fits nothing is compared again, to learn why.

use ptx_ir::ir::{Body, Handle, Instruction, Module, Operand};
use ptx_ir::isa::{Class, Shape};

/// The operands of an instruction and the parts of those that have parts.
pub(crate) fn shapes(
    module: &Module,
    body: &Body,
    instruction: Handle<Instruction>,
) -> (Vec<Shape>, Vec<Shape>) {
    let (mut operands, mut children) = (Vec::new(), Vec::new());
    for &operand in body.operands(instruction) {
        module.push_shape(body, operand, &mut operands, &mut children);
    }
    (operands, children)
}

/// Whether an operand, or a part of one, has been reported already.
pub(crate) fn has_unknown(body: &Body, instruction: Handle<Instruction>) -> bool {
    let unknown = |operand: &Operand| matches!(operand, Operand::Unknown(_));
    let has = |operand: &Operand| match operand.parts() {
        Some(run) => body.children(run).iter().any(unknown),
        None => unknown(operand),
    };
    body.operands(instruction).iter().any(has)
}

/// The class of an operand that is one thing, of the base of an address, or of the elements of a vector register.
pub(crate) fn class_of(module: &Module, body: &Body, operand: Operand) -> Class {
    if operand.parts().is_some() {
        return Class::Unknown;
    }
    let mut shapes = Vec::new();
    module.push_shape(body, operand, &mut shapes, &mut Vec::new());
    shapes.first().and_then(|shape| shape.classes.iter().next()).unwrap_or(Class::Unknown)
}
