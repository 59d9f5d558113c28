use ptx_ir::arena::Symbol;
use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::{Function, FunctionKind, Handle, Linkage, Module, Variable};
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::rule::declare_rule;
use crate::subject::declarations::type_of;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports a second declaration of a function or variable that does not go with the first.
    ///
    /// | first | second | |
    /// |---|---|---|
    /// | function without body | the same with or without body | linkage equal, or none the second time unless the first is `.extern` |
    /// | function with body | anything | refused |
    /// | function | kernel | refused |
    /// | `.noreturn` | without it, or the reverse | refused |
    /// | variable | not `.extern` twice | refused |
    /// | `.extern` variable | `.visible`, `.weak`, `.common`, `.extern` | type and dimensions equal, `[]` goes with any size |
    /// | `.extern` variable | without linkage | refused |
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .func f();
    /// .visible .func f()
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .visible .func f();
    /// .visible .func f()
    /// {
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// State spaces and alignments of variables may differ: the assembler does not compare them.
    name: "redeclaration",
    code: "P0313",
    former: ["E0311"],
    class: Invalid,
    level: Error,
    summary: "two declarations of a name that contradict each other",
    check: Module(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    for (_, function) in module.functions.iter() {
        if let Some(earlier) = function.earlier.and_then(|handle| module.functions.get(handle)) {
            out.extend(functions(module, earlier, function));
        }
    }
    let mut seen: FxHashMap<Symbol, Handle<Variable>> = FxHashMap::default();
    for (handle, variable) in module.variables.iter().filter(|(_, variable)| variable.function.is_none()) {
        if let Some(earlier) = seen.insert(variable.name, handle) {
            out.extend(variables(module, &module.variables[earlier], variable));
        }
    }
}

fn conflict(module: &Module, name: Symbol, span: Span, earlier: Span, what: &str) -> Diagnostic {
    let name = module.name(name);
    RULE.at(span, format!("`{name}` {what}")).with_secondary(earlier, "first declared here")
}

fn functions(module: &Module, first: &Function, second: &Function) -> Option<Diagnostic> {
    let report = |what: &str| Some(conflict(module, second.name, second.span, first.span, what));
    let kernel = |function: &Function| function.kind == FunctionKind::Entry;
    if kernel(first) != kernel(second) {
        return report("is declared as a kernel and as a function");
    }
    if first.body.is_some() {
        // A second body was reported as a duplicate name.
        return if second.body.is_none() { report("is declared again after its definition") } else { None };
    }
    match (first.linkage, second.linkage) {
        (Some(Linkage::Extern), Some(Linkage::Extern)) if second.body.is_none() => {}
        // Reported as `linkage`.
        (_, Some(Linkage::Extern)) if second.body.is_some() => return None,
        (Some(Linkage::Extern), _) => {
            return report("was declared `.extern`, so that this module cannot define it");
        }
        (_, None) => {}
        (first, second) if first == second => {}
        (first, second) => {
            let word = |linkage: Option<Linkage>| linkage.map_or("no linkage", Linkage::as_str);
            return report(&format!("has `{}` here and {} before", word(second), quoted(word(first))));
        }
    }
    match (first.has(DirectiveKind::NoReturn), second.has(DirectiveKind::NoReturn)) {
        (true, false) => report("was declared `.noreturn`"),
        (false, true) => report("was declared without `.noreturn`"),
        _ => None,
    }
}

fn quoted(word: &str) -> String {
    if word.starts_with('.') { format!("`{word}`") } else { word.to_owned() }
}

fn variables(module: &Module, first: &Variable, second: &Variable) -> Option<Diagnostic> {
    let report = |what: &str| Some(conflict(module, second.name, second.span, first.span, what));
    let is_extern = |variable: &Variable| variable.linkage == Some(Linkage::Extern);
    if !same_type(first, second) {
        return report(&format!("is `{}` here and `{}` before", type_of(second), type_of(first)));
    }
    if is_extern(first) && second.linkage.is_none() {
        return report("was declared `.extern`: its definition needs `.visible`, `.weak` or `.common`");
    }
    let reported = !matches!(first.linkage, Some(Linkage::Common | Linkage::Weak))
        && second.linkage != Some(Linkage::Common);
    if !is_extern(first) && !is_extern(second) && !reported {
        return report("is defined twice");
    }
    None
}

/// Type, vector and dimensions agree; an unsized first dimension goes with any size.
fn same_type(first: &Variable, second: &Variable) -> bool {
    let sizes = |(index, (a, b)): (usize, (&Option<u64>, &Option<u64>))| {
        a == b || (index == 0 && (a.is_none() || b.is_none()))
    };
    first.ty == second.ty
        && first.elements == second.elements
        && first.dimensions.len() == second.dimensions.len()
        && first.dimensions.iter().zip(&second.dimensions).enumerate().all(sizes)
}
