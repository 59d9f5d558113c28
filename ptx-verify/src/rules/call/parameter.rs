use ptx_ir::ir::{Function, FunctionKind, Handle, Variable};
use ptx_ir::space::StateSpace;
use ptx_ir::types::Type;
use ptx_ir::version::Version;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::declarations::is_unsized;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports parameters and return values that a function or kernel cannot have.
    ///
    /// | what | parameters |
    /// |---|---|
    /// | kernel | `.param` |
    /// | function | `.reg`, and from PTX 2.0 and `sm_20` on `.param` |
    /// | several return values | `.reg` |
    /// | arrays | of one dimension, in `.reg` only where there is no body |
    /// | `.ptr` | parameters of kernels |
    /// | the name `_` | parameters of kernels and of `.callprototype` |
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .entry k(.reg .u64 a)
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .entry k(.param .u64 a)
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "parameter",
    code: "P0403",
    former: ["E0314"],
    class: Invalid,
    level: Error,
    summary: "a parameter that a function or kernel cannot have",
    check: Declarations(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    for (_, variable) in context.variables() {
        out.extend(pointer(context, variable));
    }
    for (_, function) in context.functions() {
        returns(context, function, out);
        for &handle in function.parameters.iter().chain(&function.returns) {
            let variable = &context.module.variables[handle];
            if let Some(what) = fault(context, function, variable) {
                let name = context.text(variable.span);
                out.push(RULE.at(variable.span, format!("`{name}` {what}")));
            }
        }
    }
}

/// `.ptr` belongs to parameters, and says one of four spaces.
fn pointer(context: &ModuleContext<'_>, variable: &Variable) -> Option<Diagnostic> {
    let name = context.module.name(variable.name);
    let pointer = variable.pointer?;
    if !variable.is_parameter {
        return Some(
            RULE.at(variable.span, format!("`{name}` has `.ptr`, which is for parameters of kernels")),
        );
    }
    let space = pointer.space?;
    let known =
        matches!(space, StateSpace::Const | StateSpace::Global | StateSpace::Local | StateSpace::Shared);
    (!known).then(|| {
        RULE.at(variable.span, format!("`{name}` points to `{space}`"))
            .with_help("`.ptr` takes `.const`, `.global`, `.local` or `.shared`")
    })
}

/// Several return values are possible only in registers.
fn returns(context: &ModuleContext<'_>, function: &Function, out: &mut Vec<Diagnostic>) {
    let in_memory = |handle: &&Handle<Variable>| context.module.variables[**handle].space != StateSpace::Reg;
    if function.returns.len() < 2 {
        return;
    }
    if let Some(&handle) = function.returns.iter().find(in_memory) {
        let variable = &context.module.variables[handle];
        let count = function.returns.len();
        out.push(
            RULE.at(variable.span, format!("{count} values are returned, which only registers can"))
                .with_help("return one `.param` array, or declare the values `.reg`"),
        );
    }
}

fn fault(context: &ModuleContext<'_>, function: &Function, variable: &Variable) -> Option<String> {
    let space = variable.space;
    let nameless = context.module.name(variable.name) == "_";
    if variable.member.is_some() {
        return Some("is several names: a parameter has one".into());
    }
    if variable.dimensions.len() > 1 {
        return Some("has several dimensions, parameters have one".into());
    }
    if variable.dimensions.iter().flatten().any(|&size| size > u64::from(u32::MAX)) {
        return Some("has more elements than 32 bits count".into());
    }
    if space == StateSpace::Reg && !variable.dimensions.is_empty() && is_kept(function, variable) {
        return Some("is an array, which registers cannot hold".into());
    }
    match function.kind {
        FunctionKind::Entry if space != StateSpace::Param => {
            Some(format!("is in `{space}`: parameters of kernels are in `.param`"))
        }
        FunctionKind::Function if nameless => Some("is no name for a parameter of a function".into()),
        FunctionKind::Function if variable.pointer.is_some() => {
            Some("has `.ptr`, which is for parameters of kernels".into())
        }
        FunctionKind::Function | FunctionKind::Prototype
            if !matches!(space, StateSpace::Param | StateSpace::Reg) =>
        {
            Some(format!("is in `{space}`: parameters of functions are in `.param` or `.reg`"))
        }
        FunctionKind::Function if space == StateSpace::Param && !has_parameters_in_memory(context) => {
            Some("is in `.param`, which functions take from PTX 2.0 and `sm_20` on".into())
        }
        FunctionKind::Entry | FunctionKind::Function | FunctionKind::Prototype => None,
    }
}

/// Whether an array of registers is looked at: not in a declaration, where it only has to have a size.
fn is_kept(function: &Function, variable: &Variable) -> bool {
    function.body.is_some() || is_unsized(variable) || variable.ty == Type::Pred
}

fn has_parameters_in_memory(context: &ModuleContext<'_>) -> bool {
    context.version() >= Version::new(2, 0) && context.target().number() >= 20
}
