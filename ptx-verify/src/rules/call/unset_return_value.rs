use petgraph::graph::NodeIndex;
use ptx_ir::ir::{Handle, Register, Variable};
use ptx_ir::isa::Control;
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use crate::subject::function::FlowContext;
use crate::dataflow::FunctionFacts;
use crate::dataflow::paths::{Budget, Target, Walker};
use crate::rule::declare_rule;
use crate::rules::register::maybe_uninitialized_register::with_way;

declare_rule! {
    /// ## What it does
    /// Reports a function that returns although nothing has stored its return value: a `.param` that no
    /// `st.param` and no call has written on some path to the `ret`, or a register parameter that is not set.
    ///
    /// ## Why is this bad
    /// The caller reads whatever the register or the stack held.
    ///
    /// ## Example
    /// ```ptx
    /// .func (.param .b32 result) f(.param .b32 x) {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .func (.param .b32 result) f(.param .b32 x) {
    ///     st.param.b32 [result], 0;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// A value that is stored in part counts as stored. Parameters whose address is taken are not followed.
    name: "unset-return-value",
    code: "P0406",
    former: ["H0304"],
    class: Hazard,
    level: Warn,
    summary: "a return value that some path leaves unset",
    check: Flow(check),
}

/// Steps of all walks of a function.
const MOST_STEPS: usize = 20_000;

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let module = context.module.module;
    let returned = returned(facts);
    if returned.is_empty() {
        return;
    }
    let mut walker = Walker::new(facts);
    let mut budget = Budget::new(MOST_STEPS);
    // A return ends its block.
    let last = |block: &NodeIndex| facts.cfg.instructions(*block).last();
    let returns = |each: &u32| {
        facts.instance(*each).is_some_and(|instance| instance.effects.control == Control::Return)
    };
    let mut ends: Vec<u32> = facts.cfg.reverse_postorder().iter().filter_map(last).filter(returns).collect();
    ends.sort_unstable();
    for (handle, target) in returned {
        let variable = &module.variables[handle];
        let name = module.name(variable.name);
        for &end in &ends {
            let found = walker.reaching(target, end, &mut budget);
            let Some(undefined) = found.undefined.as_ref().filter(|_| !found.unknown) else { continue };
            let certain = found.writers.is_empty();
            let (sets, set) = match target {
                Target::Parameter(_) | Target::Nothing => ("stores", "stored"),
                Target::Register(_) | Target::Carry => ("sets", "set"),
            };
            let message = if certain {
                format!("this returns, but nothing {sets} the return value `{name}` before")
            } else {
                format!("this may return before the return value `{name}` is {set}")
            };
            let finding = RULE.at(context.instruction_span(end), message);
            let finding = finding.with_secondary(variable.span, "declared here");
            diagnostics.push(if certain { finding } else { with_way(context, undefined, finding) });
            break;
        }
    }
}

/// The return values that are followed: those in registers come first among the registers of the function.
fn returned(facts: &FunctionFacts<'_>) -> Vec<(Handle<Variable>, Target)> {
    let mut found = Vec::new();
    let mut next = 0;
    for &handle in &facts.function.returns {
        let variable = &facts.module.variables[handle];
        match variable.space.base() {
            StateSpace::Reg => {
                let elements = u32::from(variable.elements);
                found.extend((next..next + elements).map(|each| (handle, Target::Register(Register(each)))));
                next += elements;
            }
            StateSpace::Param if !facts.escapes(handle) => found.push((handle, Target::Parameter(handle))),
            _ => {}
        }
    }
    found
}
