use ptx_ir::arena::Symbol;
use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::{Definition, Function, FunctionKind, Item, Linkage, Module};
use ptx_syntax::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use crate::rule::declare_rule;
use crate::rules::call::prototype_mismatch::difference;
use crate::subject::module::ModuleContext;

declare_rule! {
    /// ## What it does
    /// Reports `.alias a, b;` where `a` cannot be another name of `b`.
    ///
    /// | what | rule |
    /// |---|---|
    /// | `a` | a function that is declared, without a body, and not aliased yet |
    /// | `b` | a function, not `.weak`, other than `a` |
    /// | both | the same parameters |
    ///
    /// ## Why is this bad
    /// The module does not assemble. Manual: section "Kernel and Function Directives: .alias".
    ///
    /// ## Example
    /// ```ptx
    /// .weak .func b()
    /// {
    ///     ret;
    /// }
    /// .visible .func a();
    /// .alias a, b;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .visible .func b()
    /// {
    ///     ret;
    /// }
    /// .visible .func a();
    /// .alias a, b;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "alias",
    code: "P0317",
    former: ["E0319"],
    class: Invalid,
    level: Error,
    summary: "an alias of what cannot have one",
    check: Module(check),
}

fn check(context: &ModuleContext<'_>, out: &mut Vec<Diagnostic>) {
    let module = context.module;
    let mut aliased: FxHashMap<Symbol, Span> = FxHashMap::default();
    for item in &module.items {
        let Item::Alias { name, target, span } = item else { continue };
        if let Some(&earlier) = aliased.get(name) {
            let name = module.name(*name);
            out.push(
                RULE.at(*span, format!("`{name}` is an alias already"))
                    .with_secondary(earlier, "the first one"),
            );
            continue;
        }
        aliased.insert(*name, *span);
        out.extend(fault(module, *name, *target).map(|what| RULE.at(*span, what)));
    }
}

fn fault(module: &Module, name: Symbol, target: Symbol) -> Option<String> {
    let (alias, aliasee) = (module.name(name), module.name(target));
    let both = [(alias, name), (aliasee, target)];
    let mut functions: Vec<&Function> = Vec::new();
    for (text, symbol) in both {
        match module.names.get(&symbol)? {
            Definition::Variable(_) => {
                return Some(format!("`{text}` is a variable, `.alias` is for functions"));
            }
            Definition::Function(handle) => functions.push(module.functions.get(*handle)?),
        }
        if functions.last().is_some_and(|function| function.kind == FunctionKind::Entry) {
            return Some(format!("`{text}` is a kernel, `.alias` is for functions"));
        }
    }
    let [first, second] = functions.as_slice() else { return None };
    if name == target {
        return Some(format!("`{alias}` cannot be an alias of itself"));
    }
    if first.body.is_some() {
        return Some(format!("`{alias}` has a body, so that it cannot be an alias"));
    }
    if second.linkage == Some(Linkage::Weak) {
        return Some(format!("`{aliasee}` is `.weak` and cannot have an alias"));
    }
    match (first.has(DirectiveKind::NoReturn), second.has(DirectiveKind::NoReturn)) {
        (true, false) => return Some(format!("`{alias}` is `.noreturn` and `{aliasee}` is not")),
        (false, true) => return Some(format!("`{aliasee}` is `.noreturn` and `{alias}` is not")),
        (true, true) | (false, false) => {}
    }
    let (what, _) = difference(module, second, first)?;
    let what = what.replace(" here and ", ", and ").replace(" before", &format!(" of `{aliasee}`"));
    Some(format!("`{alias}` cannot be an alias of `{aliasee}`: it {what}"))
}
