use ptx_facts::FunctionFacts;
use ptx_facts::paths::Undefined;
use ptx_ir::ir::{Handle, Operand, Variable};
use ptx_ir::space::StateSpace;
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::rules::register::maybe_uninitialized_register::with_path;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;

declare_rule! {
    /// ## What it does
    /// Reports a call with an argument in the `.param` space that nothing has stored before, on all paths to the
    /// call or on some.
    ///
    /// ## Why is this bad
    /// The function that is called reads whatever the register or the stack held.
    ///
    /// ## Example
    /// ```ptx
    /// {
    ///     .param .b32 argument;
    ///     call helper, (argument);
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// {
    ///     .param .b32 argument;
    ///     st.param.b32 [argument], %r1;
    ///     call helper, (argument);
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// An argument that is stored in part counts as stored. Parameters whose address is taken are not followed.
    /// Nothing is said where the function that is called is in the module and never looks at the parameter. Compilers
    /// leave an argument unset where the source passes an undefined value.
    name: "unset-call-argument",
    code: "P0407",
    former: ["H0305"],
    class: Hazard,
    level: Warn,
    summary: "an argument of a call that some path leaves unset",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.module.features().has(Features::CALLS) {
        return;
    }
    let Some(facts) = context.facts() else { return };
    let mut open = Vec::new();
    for handle in context.body.instructions.handles() {
        let call = handle.index() as u32;
        if facts.is_call(call) && facts.cfg.is_reachable(facts.cfg.block_of(handle)) {
            open.extend(arguments(context, facts, call));
        }
    }
    if open.is_empty() {
        return;
    }
    context.walk(|walker| {
        for argument in open {
            let found = walker.reaching(facts.parameter_writers(argument.variable), argument.call);
            let undefined = found.undefined.as_ref().filter(|_| !found.unknown);
            if let Some(undefined) = undefined.filter(|_| !ignores(context, argument.call, argument.place)) {
                diagnostics.push(finding(context, &argument, undefined, found.writers.is_empty()));
            }
        }
    });
}

/// An argument that nothing stores in the block of its call.
struct Argument {
    call: u32,
    /// Which of the parameters it is for.
    place: usize,
    variable: Handle<Variable>,
    span: Span,
}

fn arguments(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, call: u32) -> Vec<Argument> {
    let (module, handle) = (context.module.module, Handle::new(call));
    // The list before holds the results.
    let mut operands = context.body.operands(handle).iter().enumerate().skip(1);
    let Some((index, run)) = operands.find_map(|(index, operand)| match operand {
        Operand::List(run) => Some((index, *run)),
        _ => None,
    }) else {
        return Vec::new();
    };
    let open = context.body.children(run).iter().enumerate().filter_map(|(place, child)| {
        let Operand::Variable { variable: handle, .. } = *child else { return None };
        let variable = &module.variables[handle];
        let is_followed = variable.space.base() == StateSpace::Param
            && !variable.is_parameter
            && !facts.escapes(handle)
            && variable.size() != Some(0)
            && !is_stored_in_block(facts, facts.parameter_writers(handle), call);
        let span = context.body.child_spans.get(run.first as usize + place).copied();
        let span = span.unwrap_or_else(|| context.body.operand_span(Handle::new(call), index));
        is_followed.then_some(Argument { call, place, variable: handle, span })
    });
    open.collect()
}

fn finding(
    context: &FlowContext<'_>,
    argument: &Argument,
    undefined: &Undefined,
    certain: bool,
) -> Diagnostic {
    let module = context.module.module;
    let variable = &module.variables[argument.variable];
    let name = module.name(variable.name);
    let message = if certain {
        format!("the argument `{name}` is passed, but nothing is stored in it before")
    } else {
        format!("the argument `{name}` may be passed before it is stored")
    };
    let finding = RULE.at(argument.span, message).with_secondary(variable.span, "declared here");
    if certain { finding } else { with_path(context, undefined, finding) }
}

/// Whether one of the writes runs in any case before the call, in the same block, as compilers have it.
fn is_stored_in_block(facts: &FunctionFacts<'_>, writes: &[u32], call: u32) -> bool {
    let start = facts.cfg.instructions(facts.cfg.block_of(Handle::new(call))).start;
    let before = &writes[..writes.partition_point(|&write| write < call)];
    before.iter().rev().take_while(|&&write| write >= start).any(|&write| !facts.is_guarded(write))
}

/// Whether the function that is called is known and never looks at its parameter number `place`.
fn ignores(context: &FlowContext<'_>, call: u32, place: usize) -> bool {
    let (module, summaries) = (context.module.module, context.module.summaries());
    let Some(called) = summaries.called(module, context.body, Handle::new(call)) else { return false };
    let parameter = module.functions[called].parameters.get(place);
    parameter.is_some_and(|&parameter| !summaries.looks_at(module, parameter))
}
