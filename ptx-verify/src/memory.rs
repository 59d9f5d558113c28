//! What rules about memory go over: the accesses and the address conversions of a function.

use ptx_ir::ir::{Handle, Operand, Variable};
use ptx_ir::isa::{Computation, Instance};
use ptx_ir::space::StateSpace;
use ptx_syntax::Span;

use crate::dataflow::aligned;
use crate::dataflow::values::{Address, Bits, Form, Here, Object, Value};
use crate::subject::function::FlowContext;

/// An access of memory at an address that something is known about.
pub(crate) struct Access {
    /// The instruction.
    pub(crate) instruction: u32,
    /// What the instruction table calls the operand.
    pub(crate) operand: &'static str,
    /// The place of the address.
    pub(crate) span: Span,
    /// The state space of the instruction; none for a generic access.
    pub(crate) space: Option<StateSpace>,
    /// How many bytes; 0 where that is not known.
    pub(crate) bytes: u32,
    /// What the address has to be a multiple of; 0 where that is not known.
    pub(crate) aligned: u32,
    /// Whether it names a variable, rather than a register.
    pub(crate) direct: bool,
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

/// What a function does with memory, in order of the text, as far as control can come there.
#[derive(Default)]
pub(crate) struct MemoryFacts {
    /// The accesses.
    pub(crate) accesses: Vec<Access>,
    /// The address conversions.
    pub(crate) conversions: Vec<Conversion>,
}

impl MemoryFacts {
    pub(crate) fn new(context: &FlowContext<'_>) -> Self {
        let mut memory = Self::default();
        let Some(facts) = context.facts() else { return memory };
        let mut values = context.values().here();
        for block in facts.cfg.graph().node_indices().filter(|&block| facts.cfg.is_reachable(block)) {
            values.leave();
            for instruction in facts.cfg.instructions(block) {
                if let Some(instance) = facts.instance(instruction) {
                    memory.add(context, instruction, instance, &values);
                }
                values.pass(facts, instruction);
            }
        }
        memory
    }

    fn add(&mut self, context: &FlowContext<'_>, instruction: u32, instance: &Instance, values: &Here<'_>) {
        let module = context.module.module;
        let handle = Handle::new(instruction);
        let operands = context.body.operands(handle);
        let to_generic = match instance.effects.computes {
            Some(Computation::ToGeneric) => Some(true),
            Some(Computation::FromGeneric) => Some(false),
            _ => None,
        };
        if let (Some(to_generic), [_, source]) = (to_generic, operands)
            && let Some(space) = instance.modifiers.iter().find_map(|word| StateSpace::parse(word))
        {
            let (span, space) = (context.body.operand_span(handle, 1), space.base());
            let source = values.operand(module, *source);
            self.conversions.push(Conversion { span, space, to_generic, source });
        }
        for (index, &operand) in operands.iter().enumerate() {
            if !matches!(operand, Operand::RegisterAddress { .. } | Operand::VariableAddress { .. }) {
                continue;
            }
            let value = values.address(module, operand);
            if matches!(value, Value::Unset | Value::Any | Value::Number(Bits { known: 0, .. })) {
                continue;
            }
            let spec = if instance.operands.len() == operands.len() {
                instance.operands.get(index)
            } else {
                // Optional operands are left out.
                aligned(module, context.body, instance, operands)[index]
            };
            let Some((spec, memory)) = spec.and_then(|spec| Some((spec, spec.access?))) else { continue };
            let address = match value {
                Value::Address(address) => address,
                Value::Number(offset) => Address {
                    object: Object::Number,
                    space: memory.space.map_or(StateSpace::Global, StateSpace::base),
                    form: Form::Unknown,
                    offset,
                },
                Value::Unset | Value::Any => continue,
            };
            let bytes = match memory.sized {
                Some(name) => named(instance, operands, name),
                None => memory.bytes,
            };
            let aligned = if memory.aligned == 0 && bytes.is_power_of_two() { bytes } else { memory.aligned };
            self.accesses.push(Access {
                instruction,
                operand: spec.name,
                span: context.body.operand_span(handle, index),
                space: memory.space,
                bytes,
                aligned,
                direct: matches!(operand, Operand::VariableAddress { .. }),
                used: bytes - dropped(context, operands, memory.bytes),
                address,
            });
        }
    }
}

/// The value of the operand that an instance calls so; 0 where that is not known. What comes before an optional operand
/// is at its place without it, too.
fn named(instance: &Instance, operands: &[Operand], name: &str) -> u32 {
    let index = instance.operands.iter().position(|spec| spec.name == name);
    match index.and_then(|index| operands.get(index)) {
        Some(Operand::Integer { bits, .. }) => u32::try_from(*bits).unwrap_or(0),
        _ => 0,
    }
}

/// How many bytes at the end of an access of a vector go into `_`.
fn dropped(context: &FlowContext<'_>, operands: &[Operand], bytes: u32) -> u32 {
    let Some(Operand::Vector(run)) = operands.first() else { return 0 };
    let elements = context.body.children(*run);
    let sinks = elements.iter().rev().take_while(|element| matches!(element, Operand::Sink)).count() as u32;
    bytes.checked_div(elements.len() as u32).map_or(0, |size| size * sinks)
}

/// The accesses of an instruction.
pub(crate) fn accesses_of<'a>(
    context: &'a FlowContext<'_>,
    instruction: u32,
) -> impl Iterator<Item = &'a Access> {
    let accesses = context.accesses();
    let first = accesses.partition_point(|access| access.instruction < instruction);
    accesses[first..].iter().take_while(move |access| access.instruction == instruction)
}

/// The variable that an asynchronous copy writes.
pub(crate) fn written(context: &FlowContext<'_>, start: u32) -> Option<Handle<Variable>> {
    let destination = accesses_of(context, start).find(|access| matches!(access.operand, "dst" | "wideDst"));
    destination.and_then(|access| sized_variable(context, access))
}

/// The variable that an instruction reads.
pub(crate) fn read_from(context: &FlowContext<'_>, read: u32) -> Option<Handle<Variable>> {
    accesses_of(context, read).find_map(|access| sized_variable(context, access))
}

/// The variable of an address, where it is one of its own: those without a size all begin at the same place.
pub(crate) fn sized_variable(context: &FlowContext<'_>, access: &Access) -> Option<Handle<Variable>> {
    let Object::Variable(variable) = access.address.object else { return None };
    context.module.module.variables[variable].size().map(|_| variable)
}
