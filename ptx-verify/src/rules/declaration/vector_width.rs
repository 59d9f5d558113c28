use ptx_ir::types::Type;
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::function::FunctionContext;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports vectors of more than 128 bits, and vectors of predicates.
    ///
    /// ## Why is this bad
    /// The module does not assemble. Manual: section "Vectors".
    ///
    /// ## Example
    /// ```ptx
    /// .global .v4 .f64 x;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .global .v2 .f64 x[2];
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "vector-width",
    code: "P0307",
    former: ["E0305"],
    class: Invalid,
    level: Error,
    summary: "a vector type that does not exist",
    check: DeclarationsAndBodies(check, body),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    for (_, variable) in context.variables() {
        out.extend(fault(module.name(variable.name), variable.ty, variable.elements, variable.span));
    }
}

fn body(context: &FunctionContext<'_>, out: &mut Vec<Diagnostic>) {
    for (_, group) in context.body.registers.iter() {
        let name = context.module.module.name(group.name);
        out.extend(fault(name, group.ty, group.elements, group.span));
    }
}

fn fault(name: &str, ty: Type, elements: u8, span: Span) -> Option<Diagnostic> {
    if elements <= 1 {
        return None;
    }
    if ty == Type::Pred {
        return Some(RULE.at(span, format!("`{name}` is a vector of predicates, which do not exist")));
    }
    let bits = ty.bits() * u32::from(elements);
    (bits > 128)
        .then(|| RULE.at(span, format!("`.v{elements} {ty}` has {bits} bits, vectors have 128 at most")))
}
