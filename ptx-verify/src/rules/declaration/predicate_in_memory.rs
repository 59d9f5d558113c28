use ptx_ir::types::Type;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::declarations::{is_of_declaration, is_register};
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports variables and parameters of type `.pred` outside of registers.
    ///
    /// ## Why is this bad
    /// The module does not assemble: predicates live in registers only. Manual: section "Predicate Operands". Parameters
    /// `.reg .pred` of functions are fine, and the assembler takes `.param .pred` in a `.callprototype`.
    ///
    /// ## Example
    /// ```ptx
    /// .global .pred flag;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .global .u8 flag;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "predicate-in-memory",
    code: "P0305",
    former: ["E0303"],
    class: Invalid,
    level: Error,
    summary: "a predicate that is not in a register",
    check: Declarations(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    for (_, variable) in context.variables() {
        if variable.ty == Type::Pred && !is_register(variable) && !is_of_declaration(context.module, variable)
        {
            let (name, space) = (context.module.name(variable.name), variable.space);
            out.push(
                RULE.at(
                    variable.span,
                    format!("`{name}` is a predicate in `{space}`: predicates live in registers"),
                )
                .with_help("store it as an integer: `selp` makes one of a predicate, `setp.ne` the reverse"),
            );
        }
    }
}
