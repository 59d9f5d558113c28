use ptx_facts::FunctionFacts;
use ptx_facts::memory::Access;
use ptx_ir::ir::{FunctionKind, Handle, Linkage, Operand, Variable};
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;
use rustc_hash::FxHashMap;

use crate::rule::{declare_rule, with_others};
use crate::subject::declarations::is_unsized;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports an access of a variable that is only aligned if the variable happens to lie better than it is declared:
    /// the distance from its start is a multiple of what the access needs, and the declared alignment is not.
    ///
    /// ## Why is this bad
    /// An address has to be a multiple of the size of the access, else the behaviour is undefined: the kernel stops with
    /// a misaligned address. Where the variable lies depends on what is declared beside it. PTX ISA manual, section
    /// "Alignment".
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 4 .b8 tile[16];
    /// ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 16 .b8 tile[16];
    /// ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [tile];
    /// ```
    ///
    /// ## What it may miss
    /// Distances of which it is not known what they are multiples of. Variables that are defined elsewhere, and parameters,
    /// whose places others decide about. A buffer of 128 bytes or more that is all that a kernel has in shared memory, but
    /// for what is sized at the launch, which lies behind the rest: it lies at the start.
    name: "declared-alignment-too-low",
    code: "P0705",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a variable that is accessed in larger pieces than it is aligned to",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    // The first access of each variable, the largest alignment that one needs, and how many there are besides.
    let mut found: Vec<(Handle<Variable>, &Access, u32, usize)> = Vec::new();
    let mut places: FxHashMap<Handle<Variable>, usize> = FxHashMap::default();
    for access in context.accesses() {
        let Some(handle) = access.variable().filter(|&variable| is_too_low(context, access, variable)) else {
            continue;
        };
        match places.get(&handle).map(|&place| &mut found[place]) {
            Some((_, _, needed, others)) => {
                *needed = access.aligned.max(*needed);
                *others += 1;
            }
            None if !is_buffer_alone(context, handle) && context.can_come(access.instruction) => {
                places.insert(handle, found.len());
                found.push((handle, access, access.aligned, 0));
            }
            None => {}
        }
    }
    for (handle, access, needed, others) in found {
        let variable = &context.module.module.variables[handle];
        let name = context.module.module.name(variable.name);
        let (aligned, alignment) = (access.aligned, variable.alignment());
        let message =
            format!("this access needs a multiple of {aligned}, and `{name}` is aligned to {alignment}");
        let finding = RULE.at(access.span, with_others(message, others, "access"));
        let finding = finding.with_secondary(variable.span, format!("aligned to {alignment} bytes"));
        diagnostics.push(finding.with_help(format!("declare `{name}` with `.align {needed}`")));
    }
}

/// A smaller array is no buffer for values of other types, and may lie anywhere.
const MIN_BUFFER: u64 = 128;

/// Whether a variable is a buffer in shared memory, and the kernel names no other variable of known size there and
/// calls nothing: shared memory begins with it then, better aligned than any access needs. What is sized at the launch lies
/// behind it.
fn is_buffer_alone(context: &FlowContext<'_>, handle: Handle<Variable>) -> bool {
    let module = context.module.module;
    let is_shared =
        |variable: Handle<Variable>| module.variables[variable].space.base() == StateSpace::Shared;
    let is_of_launch = |variable: Handle<Variable>| {
        let variable = &module.variables[variable];
        variable.linkage == Some(Linkage::Extern) && is_unsized(variable)
    };
    let names_another = |operand: Operand| match operand {
        Operand::Variable { variable, .. }
        | Operand::VariableAddress { variable, .. }
        | Operand::Element { variable, .. } => {
            variable != handle && is_shared(variable) && !is_of_launch(variable)
        }
        Operand::Function(_) => true,
        _ => false,
    };
    let calls =
        |facts: &FunctionFacts<'_>| (0..facts.body.instructions.len() as u32).any(|each| facts.is_call(each));
    is_shared(handle)
        && module.variables[handle].size().is_some_and(|size| size >= MIN_BUFFER)
        && module.functions[context.handle].kind == FunctionKind::Entry
        && !context.mentions.all(context.body).any(names_another)
        && !context.facts().is_none_or(calls)
}

/// Whether the address is aligned only where the variable is better than it says.
fn is_too_low(context: &FlowContext<'_>, access: &Access, variable: Handle<Variable>) -> bool {
    let variable = &context.module.module.variables[variable];
    let Some(low) = access.aligned.checked_sub(1).filter(|_| access.aligned.is_power_of_two()) else {
        return false;
    };
    variable.alignment() < access.aligned
        && variable.linkage != Some(Linkage::Extern)
        && !is_unsized(variable)
        && variable.space.base() != StateSpace::Param
        && access.span_from_start().is_some_and(|distance| distance.zeros & u64::from(low) == u64::from(low))
}
