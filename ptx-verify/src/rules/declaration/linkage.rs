use ptx_ir::ir::Linkage;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports `.extern`, `.visible`, `.weak` and `.common` where they cannot be.
    ///
    /// | directive | where |
    /// |---|---|
    /// | `.visible`, `.weak` | variables of the module, functions, kernels |
    /// | `.extern` | the same, without a body and without an initial value |
    /// | `.common` | `.global` variables of the module |
    /// | any | not on variables within functions |
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .extern .func f()
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .visible .func f()
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "linkage",
    code: "P0312",
    former: ["E0310"],
    class: Invalid,
    level: Error,
    summary: "a linkage directive where it cannot be",
    check: Declarations(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    for (_, variable) in context.variables() {
        if let (Some(linkage), Some(_)) = (variable.linkage, variable.function) {
            let (name, word) = (module.name(variable.name), linkage.as_str());
            out.push(
                RULE.at(variable.span, format!("`{name}` is `{word}` and belongs to a function"))
                    .with_help("only variables of the module have a linkage: move it out of the function"),
            );
        }
    }
    for (_, function) in context.functions() {
        let name = module.name(function.name);
        match function.linkage {
            Some(Linkage::Common) => {
                out.push(RULE.at(function.span, format!("`{name}` is `.common`, which is for variables")));
            }
            Some(Linkage::Extern) if function.body.is_some() => out.push(
                RULE.at(function.span, format!("`{name}` is `.extern` and has a body"))
                    .with_help("`.extern` says that another module has the body; write `.visible` for a function of this one"),
            ),
            Some(Linkage::Extern | Linkage::Visible | Linkage::Weak) | None => {}
        }
    }
}
