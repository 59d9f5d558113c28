use ptx_ir::ir::{Statement, Symbol};
use ptx_ir::special::SpecialRegister;
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::producer::Printed;

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
    /// Names of the module that a function uses for itself. In what a compiler printed, names in the braces of an asm
    /// statement that another statement declares without braces.
    name: "shadowed-declaration",
    code: "P0318",
    former: ["H0340"],
    class: Hazard,
    level: Warn,
    summary: "a name that hides another one",
    check: Flow(check),
    scope: Whole,
}

/// A name of a scope: a group such as `%r<9>` and a single register of one name do not hide each other.
type Name = (Symbol, bool);

#[derive(Clone, Copy)]
struct Declared {
    span: Span,
    /// How many scopes are around it.
    depth: usize,
}

/// The depth of the function's own declarations.
const FUNCTION: usize = 1;

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let module = context.module.module;
    let are_of_asm = context.module.is_printed(Printed::NameInBraces);
    // The declarations of each name in the scopes that are open, the outermost first, and the names of each scope.
    let mut open: FxHashMap<Name, Vec<Declared>> = FxHashMap::default();
    let mut scopes: Vec<Vec<Name>> = vec![Vec::new()];
    for statement in &context.body.statements {
        let (symbol, is_group, span) = match statement {
            Statement::Open => {
                scopes.push(Vec::new());
                continue;
            }
            Statement::Close => {
                for name in scopes.pop().unwrap_or_default() {
                    open.get_mut(&name).map(Vec::pop);
                }
                continue;
            }
            Statement::Registers(group) => {
                let group = &context.body.registers[*group];
                (group.name, group.range.is_some(), group.span)
            }
            Statement::Variable(variable) => {
                let variable = &module.variables[*variable];
                (variable.name, false, variable.span)
            }
            Statement::Instruction(_)
            | Statement::Label(_)
            | Statement::Directive(_)
            | Statement::Targets(_)
            | Statement::Prototype(_) => continue,
        };
        let name = module.name(symbol);
        if !is_group && SpecialRegister::parse(name).is_some() {
            diagnostics.push(RULE.at(span, format!("this hides the special register `{name}`")));
        }
        let declared = open.entry((symbol, is_group)).or_default();
        let depth = scopes.len();
        // A scope has a name once in the list, so that this looks at two at most.
        let outer = declared.iter().rev().find(|other| other.depth < depth);
        let is_meant = |other: &&Declared| other.depth == FUNCTION && are_of_asm;
        if let Some(other) = outer.filter(|other| !is_meant(other)) {
            let finding = RULE.at(span, format!("this hides the outer `{name}`"));
            diagnostics.push(finding.with_secondary(other.span, "declared here"));
        }
        if declared.last().is_none_or(|other| other.depth < depth) {
            declared.push(Declared { span, depth });
            if let Some(scope) = scopes.last_mut() {
                scope.push((symbol, is_group));
            }
        }
    }
}
