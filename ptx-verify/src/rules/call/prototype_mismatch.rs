use ptx_ir::ir::{Function, Handle, Module, Variable};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::declarations::{effective_alignment, type_of};
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports a function whose parameters or return values differ from those of its earlier declaration: their
    /// number, type (`.b32` is not `.u32` here), dimensions, alignment, or state space. Names may differ.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .func f(.param .b32 a);
    /// .func f(.param .u32 a)
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .func f(.param .b32 a);
    /// .func f(.param .b32 a)
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "prototype-mismatch",
    code: "P0401",
    former: ["E0312"],
    class: Invalid,
    level: Error,
    summary: "a function whose parameters differ from those declared before",
    check: Module(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    for (_, function) in module.functions.iter() {
        let Some(earlier) = function.earlier.and_then(|handle| module.functions.get(handle)) else {
            continue;
        };
        if earlier.body.is_some() || earlier.kind != function.kind {
            continue;
        }
        if let Some((what, place)) = difference(module, earlier, function) {
            let name = module.name(function.name);
            let span = place.map_or(function.span, |(_, later)| later.span);
            let first = place.map_or(earlier.span, |(first, _)| first.span);
            out.push(
                RULE.at(span, format!("`{name}` {what}")).with_secondary(first, "declared before, here"),
            );
        }
    }
}

type Pair<'a> = Option<(&'a Variable, &'a Variable)>;

/// The first difference between two declarations of a function, and the parameters it is about.
pub(crate) fn difference<'a>(
    module: &'a Module,
    first: &'a Function,
    second: &'a Function,
) -> Option<(String, Pair<'a>)> {
    let lists = [
        ("return value", &first.returns, &second.returns),
        ("parameter", &first.parameters, &second.parameters),
    ];
    lists.into_iter().find_map(|(noun, first, second)| list(module, noun, first, second))
}

fn list<'a>(
    module: &'a Module,
    noun: &str,
    first: &[Handle<Variable>],
    second: &[Handle<Variable>],
) -> Option<(String, Pair<'a>)> {
    if first.len() != second.len() {
        let plural = if second.len() == 1 { "" } else { "s" };
        return Some((format!("has {} {noun}{plural} here and {} before", second.len(), first.len()), None));
    }
    first.iter().zip(second).enumerate().find_map(|(index, (first, second))| {
        let (first, second) = (&module.variables[*first], &module.variables[*second]);
        let number = index + 1;
        let what = |later: String, before: String| {
            Some((format!("has {later} as {noun} {number} here and {before} before"), Some((first, second))))
        };
        if first.space != second.space {
            return what(format!("`{}`", second.space), format!("`{}`", first.space));
        }
        let types = |variable: &Variable| (variable.ty, variable.elements, variable.dimensions.clone());
        if types(first) != types(second) {
            return what(format!("`{}`", type_of(second)), format!("`{}`", type_of(first)));
        }
        let (later, before) = (effective_alignment(second), effective_alignment(first));
        if later != before {
            return what(format!("alignment {later}"), format!("alignment {before}"));
        }
        None
    })
}
