use ptx_ir::ir::{FunctionKind, Initializer, Item, Operand};
use ptx_syntax::Diagnostic;

use crate::subject::module::ModuleContext;
use crate::rule::declare_rule;

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
}

fn check(context: &ModuleContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let module = context.module;
    let mut used = rustc_hash::FxHashSet::default();
    for (handle, function) in module.functions.iter() {
        let Some(body) = &function.body else { continue };
        let listed = body.targets.iter().flat_map(|(_, list)| list.targets.iter().copied());
        for operand in context.mentions(handle).all(body).chain(listed) {
            if let Operand::Function(function) = operand {
                used.insert(module.functions[function].name);
            }
        }
    }
    for (_, variable) in module.variables.iter() {
        if let Some(initializer) = &variable.initializer {
            mark(context, initializer, &mut used);
        }
    }
    used.extend(module.items.iter().filter_map(|item| match item {
        Item::Alias { target, .. } => Some(*target),
        Item::Variable(_) | Item::Function(_) | Item::Directive(_) | Item::Section(_) => None,
    }));
    for (_, function) in module.functions.iter() {
        let own =
            function.kind == FunctionKind::Function && function.body.is_some() && function.linkage.is_none();
        if own && !used.contains(&function.name) {
            let name = module.name(function.name);
            diagnostics.push(RULE.at(function.span, format!("function `{name}` is not used")));
        }
    }
}

fn mark(
    context: &ModuleContext<'_>,
    initializer: &Initializer,
    used: &mut rustc_hash::FxHashSet<ptx_ir::ir::Symbol>,
) {
    match initializer {
        Initializer::Function { function, .. } => {
            used.insert(context.module.functions[*function].name);
        }
        Initializer::List(list) => list.iter().for_each(|each| mark(context, each, used)),
        Initializer::Integer { .. }
        | Initializer::Decimal(_)
        | Initializer::SingleBits(_)
        | Initializer::DoubleBits(_)
        | Initializer::Variable { .. }
        | Initializer::Field(..)
        | Initializer::NumberField(..)
        | Initializer::Unknown => {}
    }
}
