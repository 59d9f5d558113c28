use ptx_facts::initialization::Unset;
use ptx_facts::paths::Undefined;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::rules::register::uninitialized_register::{Together, by_operand, is_predicate};
use crate::subject::describe::register_name;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a register that is set on some paths to a read and not on others, where some instruction looks at what was
    /// read. Guards count: what `@%p1` sets is set where `%p1` holds, and a branch on `%p1`, a second guard with the same
    /// condition, or `@%p1` and `@!%p1` together are understood, through copies, negations, comparisons, votes and the
    /// turns of loops too.
    ///
    /// ## Why is this bad
    /// On the other paths the register holds any value, and neither the assembler nor the driver says so.
    ///
    /// ## Example
    /// ```ptx
    /// @%p1 mov.u32 %r1, 1;
    /// add.u32 %r2, %r1, 1;
    /// st.global.u32 [%rd1], %r2;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.u32 %r1, 0;
    /// @%p1 mov.u32 %r1, 1;
    /// add.u32 %r2, %r1, 1;
    /// st.global.u32 [%rd1], %r2;
    /// ```
    ///
    /// ## What it may miss
    /// In what NVIDIA's compiler and LLVM print, only predicates are looked at, by uninitialized-predicate: these compilers leave registers unset on paths on which the
    /// program does not need them. Only one read of each register is reported. Where following all paths would take too long, nothing is.
    /// Conditions that depend on each other in a way that is not followed may be reported although the program never takes
    /// the path. What threads give to `shfl` is trusted, because only some of them are asked for it.
    name: "maybe-uninitialized-register",
    code: "P0502",
    former: ["H0302"],
    class: Hazard,
    level: Warn,
    summary: "a register that is read though some path leaves it unset",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let found = context.unset().iter().filter(|unset| !unset.certain && !is_predicate(context, unset));
    diagnostics.extend(by_operand(context, found).into_iter().map(
        |Together { first, names, span, all, .. }| {
            let message = format!("{names} may be read before {} set", they_are(&all));
            explain(context, first, RULE.at(span, message))
        },
    ));
}

/// The words for what was named.
pub(crate) fn they_are(all: &[&Unset]) -> &'static str {
    if all.len() == 1 { "it is" } else { "they are" }
}

/// Adds where the register is set, and a path on which it is not.
pub(crate) fn explain(context: &FlowContext<'_>, unset: &Unset, mut finding: Diagnostic) -> Diagnostic {
    const MOST_WRITES: usize = 3;
    for &write in unset.reaching.writers.iter().take(MOST_WRITES) {
        finding = finding.with_secondary(context.instruction_span(write), "set here");
    }
    match &unset.reaching.undefined {
        Some(undefined) => with_path(context, undefined, finding),
        None => finding,
    }
}

/// Describes the path on which something is undefined by the conditions on it.
pub(crate) fn with_path(context: &FlowContext<'_>, undefined: &Undefined, finding: Diagnostic) -> Diagnostic {
    const MOST_CONDITIONS: usize = 4;
    let Some(facts) = context.facts() else { return finding };
    let conditions: Vec<String> = undefined
        .path
        .iter()
        .filter_map(|&(instruction, happened)| {
            let condition = facts.condition(instruction)?;
            let name = register_name(context.module.module, context.body, condition.register);
            Some(format!("`{name}` is {}", if condition.value == happened { "true" } else { "false" }))
        })
        .collect();
    if conditions.is_empty() {
        return finding;
    }
    let mut shown: Vec<&str> = Vec::new();
    for condition in &conditions {
        if !shown.contains(&condition.as_str()) && shown.len() < MOST_CONDITIONS {
            shown.push(condition);
        }
    }
    finding.with_note(format!("it is not where {}", shown.join(" and ")))
}
