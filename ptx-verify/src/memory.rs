//! What rules about memory go over: the accesses and the address conversions of a function.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::{self, Instance, OperandSpec};
use ptx_ir::space::StateSpace;
use ptx_syntax::Span;

use crate::context::FlowContext;
use crate::dataflow::aligned;
use crate::dataflow::semantics::Operation;
use crate::dataflow::values::{Address, Value};

/// An access of memory at an address that something is known about.
pub(crate) struct Access {
    /// The instruction.
    pub(crate) instruction: u32,
    /// The place of the address.
    pub(crate) span: Span,
    /// The state space of the instruction; none for a generic access.
    pub(crate) space: Option<StateSpace>,
    /// How many bytes; 0 where that does not follow from the spelling.
    pub(crate) bytes: u32,
    /// The address.
    pub(crate) address: Address,
}

/// `cvta` and `cvta.to` of a value.
pub(crate) struct Conversion {
    /// The place of the value.
    pub(crate) span: Span,
    /// The state space converted from or to.
    pub(crate) space: StateSpace,
    /// Whether the result is generic.
    pub(crate) to_generic: bool,
    /// What is known of the value.
    pub(crate) source: Value,
}

/// Calls `visit` for each access that can be reached.
pub(crate) fn accesses(context: &FlowContext<'_>, mut visit: impl FnMut(Access)) {
    each(context, |instruction, instance| {
        let handle = Handle::new(instruction);
        let operands = context.body.operands(handle);
        let memory = |spec: Option<&OperandSpec>| spec.and_then(|spec| spec.access);
        let mut show = |index: usize, operand: Operand, memory: Option<isa::Access>| {
            let Some(memory) = memory else { return };
            let known = match operand {
                Operand::RegisterAddress { .. } | Operand::VariableAddress { .. } => {
                    context.values().address(context.module.module, operand)
                }
                _ => return,
            };
            let Value::Address(address) = known else { return };
            visit(Access {
                instruction,
                span: context.body.operand_span(handle, index),
                space: memory.space,
                bytes: memory.bytes,
                address,
            });
        };
        if instance.operands.len() == operands.len() {
            for (index, (operand, spec)) in operands.iter().zip(&instance.operands).enumerate() {
                show(index, *operand, memory(Some(spec)));
            }
        } else {
            // Optional operands are left out.
            let specs = aligned(context.module.module, context.body, instance, operands);
            for (index, (operand, spec)) in operands.iter().zip(specs).enumerate() {
                show(index, *operand, memory(spec));
            }
        }
    });
}

/// Calls `visit` for each conversion that can be reached.
pub(crate) fn conversions(context: &FlowContext<'_>, mut visit: impl FnMut(Conversion)) {
    each(context, |instruction, instance| {
        let to_generic = match Operation::of(instance) {
            Operation::ToGeneric => true,
            Operation::FromGeneric => false,
            _ => return,
        };
        let handle = Handle::new(instruction);
        let [_, source] = context.body.operands(handle) else { return };
        let Some(space) = instance.modifiers.iter().find_map(|word| StateSpace::parse(word)) else { return };
        visit(Conversion {
            span: context.body.operand_span(handle, 1),
            space: space.base(),
            to_generic,
            source: context.values().operand(context.module.module, *source),
        });
    });
}

fn each(context: &FlowContext<'_>, mut visit: impl FnMut(u32, &Instance)) {
    let Some(facts) = context.facts() else { return };
    for block in facts.cfg.graph().node_indices() {
        if facts.cfg.is_reachable(block) {
            for instruction in facts.cfg.instructions(block) {
                if let Some(instance) = facts.instance(instruction) {
                    visit(instruction, instance);
                }
            }
        }
    }
}
