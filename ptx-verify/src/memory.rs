//! What rules about memory go over: the accesses and the address conversions of a function.

use ptx_ir::ir::{Handle, Operand};
use ptx_ir::isa::Computation;
use ptx_ir::space::StateSpace;
use ptx_syntax::Span;

use crate::context::FlowContext;
use crate::dataflow::values::{Address, Here, Value};
use crate::dataflow::{FunctionFacts, aligned};

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
    /// How many of them go anywhere: a load may drop its last elements with `_`.
    pub(crate) used: u32,
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

/// The accesses that can be reached.
pub(crate) fn accesses(context: &FlowContext<'_>) -> Vec<Access> {
    let mut found = Vec::new();
    let Some(facts) = context.facts() else { return found };
    let module = context.module.module;
    each(context, facts, |instruction, values| {
        let handle = Handle::new(instruction);
        let operands = context.body.operands(handle);
        for (index, &operand) in operands.iter().enumerate() {
            let address = match operand {
                Operand::RegisterAddress { .. } | Operand::VariableAddress { .. } => {
                    values.address(module, operand)
                }
                _ => continue,
            };
            let Value::Address(address) = address else { continue };
            let Some(memory) = facts.instance(instruction).and_then(|instance| {
                if instance.operands.len() == operands.len() {
                    return instance.operands[index].access;
                }
                // Optional operands are left out.
                aligned(module, context.body, instance, operands)[index]?.access
            }) else {
                continue;
            };
            found.push(Access {
                instruction,
                span: context.body.operand_span(handle, index),
                space: memory.space,
                bytes: memory.bytes,
                used: memory.bytes - dropped(context, operands, memory.bytes),
                address,
            });
        }
    });
    found
}

/// The conversions that can be reached.
pub(crate) fn conversions(context: &FlowContext<'_>) -> Vec<Conversion> {
    let mut found = Vec::new();
    let Some(facts) = context.facts() else { return found };
    each(context, facts, |instruction, values| {
        let Some(instance) = facts.instance(instruction) else { return };
        let to_generic = match instance.effects.computes {
            Some(Computation::ToGeneric) => true,
            Some(Computation::FromGeneric) => false,
            _ => return,
        };
        let handle = Handle::new(instruction);
        let [_, source] = context.body.operands(handle) else { return };
        let Some(space) = instance.modifiers.iter().find_map(|word| StateSpace::parse(word)) else {
            return;
        };
        found.push(Conversion {
            span: context.body.operand_span(handle, 1),
            space: space.base(),
            to_generic,
            source: values.operand(context.module.module, *source),
        });
    });
    found
}

/// Calls `visit` for each instruction that control can come to, in order of the text, with what is known there.
fn each(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, mut visit: impl FnMut(u32, &Here<'_>)) {
    let mut values = context.values().here();
    for block in facts.cfg.graph().node_indices().filter(|&block| facts.cfg.is_reachable(block)) {
        values.leave();
        for instruction in facts.cfg.instructions(block) {
            visit(instruction, &values);
            values.pass(facts, instruction);
        }
    }
}

/// How many bytes at the end of an access of a vector go into `_`.
fn dropped(context: &FlowContext<'_>, operands: &[Operand], bytes: u32) -> u32 {
    let Some(Operand::Vector(run)) = operands.first() else { return 0 };
    let elements = context.body.children(*run);
    let sinks = elements.iter().rev().take_while(|element| matches!(element, Operand::Sink)).count() as u32;
    bytes.checked_div(elements.len() as u32).map_or(0, |size| size * sinks)
}
