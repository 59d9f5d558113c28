//! What is passed to and from functions whose bodies are in place of the calls: variables in parameter space.

use ptx_ir::ir::{Handle, Operand, Register, Variable};
use ptx_ir::space::StateSpace;

use crate::FunctionFacts;

/// Whether a variable in parameter space holds what is passed to or from a function whose body is here: it is none of the
/// kernel's parameters, and no call writes it.
pub(super) fn is_passed(facts: &FunctionFacts<'_>, variable: Handle<Variable>) -> bool {
    let declared = &facts.module.variables[variable];
    declared.space.base() == StateSpace::Param
        && !declared.is_parameter
        && !facts.parameter_writers(variable).iter().any(|&writer| facts.is_call(writer))
}

/// The variable of that kind that an instruction loads or stores, and the place in it.
pub(super) fn passed(facts: &FunctionFacts<'_>, instruction: u32) -> Option<(Handle<Variable>, i64)> {
    let (variable, offset) = in_parameter_space(facts, instruction)?;
    is_passed(facts, variable).then_some((variable, offset))
}

/// The variable in parameter space that an instruction loads or stores, and the place in it.
pub(super) fn in_parameter_space(
    facts: &FunctionFacts<'_>,
    instruction: u32,
) -> Option<(Handle<Variable>, i64)> {
    let operands = facts.body.operands(Handle::new(instruction));
    operands.iter().find_map(|operand| match *operand {
        Operand::VariableAddress { variable, offset }
            if facts.module.variables[variable].space.base() == StateSpace::Param =>
        {
            Some((variable, offset))
        }
        _ => None,
    })
}

/// The registers that hold what a load brings of what was passed to or from a function; none where it is no such load.
pub(super) fn brought(facts: &FunctionFacts<'_>, load: u32) -> Option<Vec<Register>> {
    let (variable, offset) = passed(facts, load)?;
    let is_store = |store: &&u32| passed(facts, **store) == Some((variable, offset));
    let stores = facts.parameter_writers(variable).iter().filter(is_store);
    let reads = stores.flat_map(|store| facts.uses().of(*store)).filter(|each| each.access().reads());
    Some(reads.map(|each| each.register).collect())
}
