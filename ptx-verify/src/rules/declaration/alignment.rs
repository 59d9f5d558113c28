use ptx_ir::ir::{FunctionKind, Variable};
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::declarations::owner;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports `.align` with a number that is no power of two, and `.param` variables that functions take with an
    /// alignment above 128.
    ///
    /// | what | alignment |
    /// |---|---|
    /// | anything | a power of two, from 1 to 2147483648 |
    /// | parameters of functions, and `.param` variables for calls | 128 at most |
    /// | parameters of kernels and of prototypes | no such limit |
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .global .align 12 .b8 x[24];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .global .align 16 .b8 x[24];
    /// ```
    ///
    /// ## What it may miss
    /// `.align` with a number above 4294967295.
    name: "alignment",
    code: "P0308",
    former: ["E0306"],
    class: Invalid,
    level: Error,
    summary: "an alignment that does not exist",
    check: Declarations(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    for (_, variable) in context.variables() {
        let name = context.module.name(variable.name);
        let pointed_to = variable.pointer.and_then(|pointer| pointer.align);
        for align in [variable.align, pointed_to].into_iter().flatten() {
            if !align.is_power_of_two() {
                let finding =
                    RULE.at(variable.span, format!("`.align {align}` of `{name}` is no power of two"));
                let higher = align.checked_next_power_of_two().filter(|_| align > 0);
                out.push(match higher {
                    Some(higher) => finding.with_help(format!("the next one is {higher}")),
                    None => finding,
                });
            }
        }
        let limited = is_passed(context, variable);
        if let Some(align) = variable.align.filter(|align| limited && align.is_power_of_two() && *align > 128)
        {
            out.push(
                RULE.at(variable.span, format!("`.align {align}` of `{name}`: parameters have 128 at most")),
            );
        }
    }
}

/// Whether a variable is passed to a function.
fn is_passed(context: &ModuleContext<'_>, variable: &Variable) -> bool {
    let unlimited = owner(context.module, variable).is_some_and(|function| match function.kind {
        FunctionKind::Entry => variable.is_parameter,
        FunctionKind::Prototype => true,
        // A declaration alone may say any.
        FunctionKind::Function => variable.is_parameter && function.body.is_none(),
    });
    variable.space.base() == StateSpace::Param && !unlimited
}
