use std::collections::HashSet;

use ptx_ir::ir::{FunctionKind, Initializer, Operand};
use ptx_ir::space::StateSpace;
use ptx_syntax::{Diagnostic, Span};

use crate::subject::module::ModuleContext;
use crate::subject::declarations::variables;
use crate::subject::producer::Printed;
use crate::rule::declare_rule;

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
    check: Module(check),
}

fn check(context: &ModuleContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let module = context.module;
    if context.features().sections {
        return;
    }
    let mut used = vec![false; module.variables.len()];
    for (handle, function) in module.functions.iter() {
        let Some(body) = &function.body else { continue };
        for operand in context.mentions(handle).all(body) {
            if let Operand::Variable { variable, .. }
            | Operand::VariableAddress { variable, .. }
            | Operand::Element { variable, .. } = operand
            {
                used[variable.index()] = true;
            }
        }
    }
    for (_, variable) in module.variables.iter() {
        if let Some(initializer) = &variable.initializer {
            mark(initializer, &mut used);
        }
    }
    let parts = module.variables.iter().filter(|(handle, _)| used[handle.index()]);
    let used_groups: HashSet<Span> =
        parts.filter(|(_, variable)| variable.member.is_some()).map(|(_, variable)| variable.span).collect();
    for (handle, variable) in variables(module).filter(|(_, variable)| !used_groups.contains(&variable.span))
    {
        let of_prototype =
            variable.function.is_some_and(|owner| module.functions[owner].kind == FunctionKind::Prototype);
        let hidden =
            used[handle.index()] || variable.is_parameter || of_prototype || variable.linkage.is_some();
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

fn mark(initializer: &Initializer, used: &mut [bool]) {
    match initializer {
        Initializer::Variable { variable, .. } => used[variable.index()] = true,
        Initializer::List(list) => list.iter().for_each(|each| mark(each, used)),
        Initializer::Integer { .. }
        | Initializer::Decimal(_)
        | Initializer::SingleBits(_)
        | Initializer::DoubleBits(_)
        | Initializer::Function { .. }
        | Initializer::Field(..)
        | Initializer::NumberField(..)
        | Initializer::Unknown => {}
    }
}
