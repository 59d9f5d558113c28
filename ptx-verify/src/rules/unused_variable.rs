use ptx_ir::ir::{FunctionKind, Initializer, Operand};
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use crate::context::ModuleContext;
use crate::producer::Printed;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a variable that no instruction and no initial value refers to: of a function, or of the module
    /// where it has no linkage that lets others see it. Parameters are part of an interface and not counted.
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
    code: "S0405",
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
    for (handle, variable) in module.variables.iter() {
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
        diagnostics.push(RULE.at(variable.span, format!("variable `{name}` is not used")));
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
