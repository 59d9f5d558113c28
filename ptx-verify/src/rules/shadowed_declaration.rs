use ptx_ir::ir::{Statement, Symbol};
use ptx_ir::special::SpecialRegister;
use ptx_syntax::{Diagnostic, Span};

use crate::context::FlowContext;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a register or a variable declared in an inner scope under a name that an outer scope of the same
    /// function has too, and a declaration under the name of a special register.
    ///
    /// ## Why is this bad
    /// What is meant as the outer register reads and writes the inner one, and the assembler says nothing.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .u32 %x;
    /// mov.u32 %x, 1;
    /// {
    ///     .reg .u32 %x;
    ///     add.u32 %r1, %x, 1;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .u32 %x;
    /// mov.u32 %x, 1;
    /// {
    ///     .reg .u32 %y;
    ///     mov.u32 %y, %x;
    ///     add.u32 %r1, %y, 1;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Names of the module that a function uses for itself.
    name: "shadowed-declaration",
    code: "H0340",
    class: Hazard,
    level: Warn,
    summary: "a name that hides another one",
    check: Flow(check),
}

/// A name of a scope.
struct Declared {
    name: Symbol,
    /// `N` of `%r<N>`.
    range: Option<u32>,
    span: Span,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let module = context.module.module;
    let mut scopes: Vec<Vec<Declared>> = vec![Vec::new()];
    for statement in &context.body.statements {
        let declared = match statement {
            Statement::Open => {
                scopes.push(Vec::new());
                continue;
            }
            Statement::Close => {
                scopes.pop();
                continue;
            }
            Statement::Registers(group) => {
                let group = &context.body.registers[*group];
                Declared { name: group.name, range: group.range, span: group.span }
            }
            Statement::Variable(variable) => {
                let variable = &module.variables[*variable];
                Declared { name: variable.name, range: None, span: variable.span }
            }
            Statement::Instruction(_)
            | Statement::Label(_)
            | Statement::Directive(_)
            | Statement::Targets(_)
            | Statement::Prototype(_) => continue,
        };
        let name = module.name(declared.name);
        if declared.range.is_none() && SpecialRegister::parse(name).is_some() {
            diagnostics.push(RULE.at(declared.span, format!("this hides the special register `{name}`")));
        }
        let outer = scopes.len().saturating_sub(1);
        let hidden =
            scopes[..outer].iter().rev().flatten().find(|other| {
                other.name == declared.name && other.range.is_some() == declared.range.is_some()
            });
        if let Some(other) = hidden {
            let finding = RULE.at(declared.span, format!("this hides the outer `{name}`"));
            diagnostics.push(finding.with_secondary(other.span, "declared here"));
        }
        if let Some(scope) = scopes.last_mut() {
            scope.push(declared);
        }
    }
}
