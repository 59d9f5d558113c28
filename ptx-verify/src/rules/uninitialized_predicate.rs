use ptx_syntax::{Diagnostic, Severity};

use crate::context::FlowContext;
use crate::instruction::register_name;
use crate::registry::declare_rule;
use crate::rules::maybe_uninitialized_register;
use crate::rules::uninitialized_register::{explain, grade, is_predicate, place};

declare_rule! {
    /// ## What it does
    /// Reports a predicate that is read, as a guard or as an operand, though nothing has set it: an error where
    /// no write can come before, a warning where some way leaves it unset.
    ///
    /// ## Why is this bad
    /// Whether the guarded instruction runs is then anybody's guess, and it may differ between threads.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .pred %p<2>;
    /// @%p1 bra DONE;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .pred %p<2>;
    /// setp.eq.u32 %p1, %r1, 0;
    /// @%p1 bra DONE;
    /// ```
    ///
    /// ## What it may miss
    /// The same as `maybe-uninitialized-register`.
    name: "uninitialized-predicate",
    code: "H0303",
    class: Hazard,
    level: Error,
    summary: "a predicate that nothing sets before it is read",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    for unset in context.unset().iter().filter(|unset| is_predicate(context, unset)) {
        let name = register_name(context.module.module, context.body, unset.register);
        let place = place(context, unset);
        diagnostics.push(if unset.certain {
            let finding = RULE.at(place, format!("predicate `{name}` is read, but nothing sets it before"));
            grade(context, unset).of(explain(context, unset, finding))
        } else {
            let mut finding = RULE.at(place, format!("predicate `{name}` may be read before it is set"));
            finding.severity = Severity::Warning;
            maybe_uninitialized_register::explain(context, unset, finding)
        });
    }
}
