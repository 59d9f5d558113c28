use ptx_ir::ir::{FunctionKind, Handle, Initializer, Linkage, Variable};
use ptx_ir::space::StateSpace;
use ptx_ir::version::Version;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::declarations::{is_unsized, owner};
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports arrays without a size where there must be one.
    ///
    /// | what | may be `[]` |
    /// |---|---|
    /// | `.extern` variables | yes |
    /// | variables with an initialiser | yes |
    /// | the last parameter of a function | yes (PTX 6.0, `sm_30`) |
    /// | parameters of kernels, return values, all other variables | no |
    ///
    /// A size of 0 counts as none.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 16 .b8 buffer[];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .extern .shared .align 16 .b8 buffer[];
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "incomplete-array",
    code: "P0309",
    former: ["E0307"],
    class: Invalid,
    level: Error,
    summary: "an array without a size",
    check: Declarations(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    for (handle, variable) in context.variables() {
        let name = context.module.name(variable.name);
        if variable.dimensions.iter().skip(1).any(|size| size.is_none_or(|size| size == 0)) {
            out.push(RULE.at(
                variable.span,
                format!("`{name}` lacks the size of an inner dimension: only the first may be left out"),
            ));
            continue;
        }
        if !is_unsized(variable) {
            continue;
        }
        let what = if variable.is_parameter {
            parameter(context, handle, variable)
        } else {
            ordinary(context, variable)
        };
        if let Some(what) = what {
            out.push(RULE.at(variable.span, format!("`{name}` has no size: {what}")));
        }
    }
}

fn ordinary(context: &ModuleContext<'_>, variable: &Variable) -> Option<&'static str> {
    let sized_by_value = match &variable.initializer {
        Some(Initializer::List(values)) => !values.is_empty(),
        Some(_) => true,
        None => false,
    };
    let elsewhere = variable.linkage == Some(Linkage::Extern);
    if elsewhere && variable.space.base() == StateSpace::Const && context.version() < Version::new(2, 2) {
        return Some("before PTX 2.2 an `.extern` array in `.const` needs one, unless its bank is named");
    }
    (!sized_by_value && !elsewhere)
        .then_some("only `.extern` arrays and those with an initialiser may leave it out")
}

fn parameter(
    context: &ModuleContext<'_>,
    handle: Handle<Variable>,
    variable: &Variable,
) -> Option<&'static str> {
    let function = owner(context.module, variable)?;
    if function.kind == FunctionKind::Entry {
        return Some("parameters of kernels need one");
    }
    if function.returns.contains(&handle) {
        return Some("return values need one");
    }
    (function.parameters.last() != Some(&handle)).then_some("only the last parameter may leave it out")
}
