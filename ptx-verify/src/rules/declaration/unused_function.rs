use ptx_ir::ir::FunctionKind;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports a `.func` with a body and without linkage that no call, no address and no initial value names.
    ///
    /// ## Why is this bad
    /// It is assembled for nothing, and is often what a renamed function leaves over.
    ///
    /// ## Example
    /// ```ptx
    /// .func helper() { ret; }
    /// .visible .entry kernel() { ret; }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .func helper() { ret; }
    /// .visible .entry kernel() { call helper; ret; }
    /// ```
    ///
    /// ## What it may miss
    /// A function that only calls itself, or that only unused functions call.
    name: "unused-function",
    code: "P0321",
    former: ["S0406"],
    class: Style,
    level: Info,
    summary: "a function that nothing calls and nobody else can see",
    check: Module(check),
    scope: Whole,
}

fn check(context: &ModuleContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let module = context.module;
    for (_, function) in module.functions.iter() {
        let own =
            function.kind == FunctionKind::Function && function.body.is_some() && function.linkage.is_none();
        if own && !context.part.used.has_function(function.name) {
            let name = module.name(function.name);
            diagnostics.push(RULE.at(function.span, format!("function `{name}` is not used")));
        }
    }
}
