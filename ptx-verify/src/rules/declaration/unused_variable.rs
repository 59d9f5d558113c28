use std::collections::HashSet;

use ptx_ir::ir::FunctionKind;
use ptx_ir::space::StateSpace;
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::module::ModuleContext;
use crate::subject::producer::Printed;

declare_rule! {
    /// ## What it does
    /// Reports a variable that no instruction and no initial value refers to: of a function, or of the module
    /// where it has no linkage that lets others see it. Parameters are part of an interface and not counted. A declaration
    /// `name<N>` counts as one variable.
    ///
    /// ## Why is this bad
    /// Shared and local memory is taken all the same.
    ///
    /// ## Example
    /// ```ptx
    /// .shared .b32 scratch[64];
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// Variables of modules with debugging sections.
    /// What compilers print whatever the program, where the comment at the head of the file names
    /// the compiler.
    name: "unused-variable",
    code: "P0320",
    former: ["S0405"],
    class: Style,
    level: Info,
    summary: "a variable that nothing refers to",
    check: Declarations(check),
    scope: Whole,
}

fn check(context: &ModuleContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let module = context.module;
    if context.has_sections() {
        return;
    }
    let used = context.part.used;
    let parts = context.all_variables().filter(|(handle, _)| used.has_variable(*handle));
    let used_groups: HashSet<Span> =
        parts.filter(|(_, variable)| variable.member.is_some()).map(|(_, variable)| variable.span).collect();
    for (handle, variable) in
        context.variables().filter(|(_, variable)| !used_groups.contains(&variable.span))
    {
        let of_prototype =
            variable.function.is_some_and(|owner| module.functions[owner].kind == FunctionKind::Prototype);
        let hidden =
            used.has_variable(handle) || variable.is_parameter || of_prototype || variable.linkage.is_some();
        if hidden || variable.space.base() == StateSpace::Reg || variable.span.start == variable.span.end {
            continue;
        }
        let name = module.name(variable.name);
        if context.is_printed(Printed::Unused(name)) {
            continue;
        }
        let message = match variable.member {
            Some(member) => {
                let prefix = name.strip_suffix('0').unwrap_or(name);
                format!("no variable of `{prefix}<{}>` is used", member.count)
            }
            None => format!("variable `{name}` is not used"),
        };
        diagnostics.push(RULE.at(variable.span, message));
    }
}
