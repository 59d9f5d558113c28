use ptx_ir::ir::{Handle, Operand};
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use crate::subject::function::FlowContext;
use crate::dataflow::paths::{Budget, Target, Walker};
use crate::rule::declare_rule;
use crate::rules::register::maybe_uninitialized_register::with_way;

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

/// Steps of all walks of a function.
const MOST_STEPS: usize = 20_000;

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.module.features().calls {
        return;
    }
    let Some(facts) = context.facts() else { return };
    let mut walker = Walker::new(facts);
    let mut budget = Budget::new(MOST_STEPS + 2 * context.body.instructions.len());
    for handle in context.body.instructions.handles() {
        let call = handle.index() as u32;
        if facts.is_call(call) && facts.cfg.is_reachable(facts.cfg.block_of(handle)) {
            arguments(context, call, (&mut walker, &mut budget), diagnostics);
        }
    }
}

fn arguments(
    context: &FlowContext<'_>,
    call: u32,
    (walker, budget): (&mut Walker<'_, '_>, &mut Budget),
    diagnostics: &mut Vec<Diagnostic>,
) {
    let Some(facts) = context.facts() else { return };
    let module = context.module.module;
    // The list before holds the results.
    let Some((index, run)) =
        context.body.operands(Handle::new(call)).iter().enumerate().skip(1).find_map(|(index, operand)| {
            match operand {
                Operand::List(run) => Some((index, *run)),
                _ => None,
            }
        })
    else {
        return;
    };
    for (place, child) in context.body.children(run).iter().enumerate() {
        let Operand::Variable { variable: handle, .. } = *child else { continue };
        let variable = &module.variables[handle];
        if variable.space.base() != StateSpace::Param || variable.is_parameter || facts.escapes(handle) {
            continue;
        }
        if variable.size() == Some(0) {
            continue;
        }
        let found = walker.reaching(Target::Parameter(handle), call, budget);
        let Some(undefined) = found.undefined.as_ref().filter(|_| !found.unknown) else { continue };
        if ignores(context, call, place) {
            continue;
        }
        let name = module.name(variable.name);
        let message = if found.writers.is_empty() {
            format!("the argument `{name}` is passed, but nothing is stored in it before")
        } else {
            format!("the argument `{name}` may be passed before it is stored")
        };
        let span = context.body.child_spans.get(run.first as usize + place).copied();
        let span = span.unwrap_or_else(|| context.body.operand_span(Handle::new(call), index));
        let finding = RULE.at(span, message).with_secondary(variable.span, "declared here");
        diagnostics.push(if found.writers.is_empty() {
            finding
        } else {
            with_way(context, undefined, finding)
        });
    }
}

/// Whether the function that is called is known and never looks at its parameter number `place`.
fn ignores(context: &FlowContext<'_>, call: u32, place: usize) -> bool {
    let (module, summaries) = (context.module.module, context.module.summaries());
    let Some(called) = summaries.called(module, context.body, Handle::new(call)) else { return false };
    let parameter = module.functions[called].parameters.get(place);
    parameter.is_some_and(|&parameter| !summaries.looks_at(module, parameter))
}
