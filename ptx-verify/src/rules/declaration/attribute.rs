use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::Variable;
use ptx_ir::space::StateSpace;
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports `.attribute(…)` with an attribute that does not exist, or where it cannot be.
    ///
    /// | attribute | where | needs |
    /// |---|---|---|
    /// | `.managed` | `.global` variables | PTX 4.0, `sm_30` |
    /// | `.unified(a, b)` | `.global` variables, functions | PTX 9.0, separate compilation |
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .shared .attribute(.managed) .u32 x;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .global .attribute(.managed) .u32 x;
    /// ```
    ///
    /// ## What it may miss
    /// `.unified` is refused in whole-program compilation only, which the module does not tell.
    name: "attribute",
    code: "P0311",
    former: ["E0309"],
    class: Invalid,
    level: Error,
    summary: "an attribute that does not exist or cannot be there",
    check: Declarations(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    for (_, variable) in context.variables() {
        for (symbol, values) in &variable.attributes {
            let word = module.name(*symbol);
            out.extend(fault(word, values.len(), Some(variable), variable.span));
        }
    }
    for (_, function) in context.functions() {
        for (symbol, values) in &function.attributes {
            out.extend(fault(module.name(*symbol), values.len(), None, function.span));
        }
    }
}

fn fault(word: &str, values: usize, variable: Option<&Variable>, span: Span) -> Option<Diagnostic> {
    let kind = DirectiveKind::parse(word);
    let Some(expected) = kind.and_then(DirectiveKind::attribute_numbers) else {
        return Some(RULE.at(span, format!("there is no attribute `{word}`")));
    };
    if values != expected {
        return Some(
            RULE.at(span, format!("attribute `{word}` takes {expected} numbers, {values} are given")),
        );
    }
    match variable {
        None if kind == Some(DirectiveKind::Managed) => {
            Some(RULE.at(span, format!("`{word}` is an attribute of variables")))
        }
        Some(variable) if variable.space != StateSpace::Global => {
            let space = variable.space;
            Some(RULE.at(span, format!("`{word}` is for `.global` variables, this one is in `{space}`")))
        }
        _ => None,
    }
}
