//! One list of files.

use rustc_hash::FxHashMap;

use crate::arena::Symbol;
use crate::directive::DirectiveKind;
use crate::ir::{Directive, DirectiveArgument, Handle, Item, Module, Statement};

/// Gives the files of the items from `first` on numbers of their own, and the lines of their functions with them. A file
/// that both name is one. The result
/// has the new number for each old one.
pub(crate) fn renumber(module: &mut Module, first: usize) -> FxHashMap<i64, i64> {
    let file = |item: &Item| match item {
        Item::Directive(directive) if directive.kind == Some(DirectiveKind::File) => {
            number_and_name(directive)
        }
        _ => None,
    };
    let known: FxHashMap<Symbol, i64> =
        module.items[..first].iter().filter_map(file).map(|(number, name)| (name, number)).collect();
    let mut next = known.values().max().map_or(1, |last| last + 1);
    let mut numbers: FxHashMap<i64, i64> = FxHashMap::default();
    let mut files = known;
    let items = std::mem::take(&mut *module.items);
    let mut functions = Vec::new();
    for (index, mut item) in items.into_iter().enumerate() {
        if index >= first {
            if let Some((number, name)) = file(&item) {
                let is_new = !files.contains_key(&name);
                let new = *files.entry(name).or_insert_with(|| {
                    next += 1;
                    next - 1
                });
                numbers.insert(number, new);
                if !is_new {
                    continue;
                }
            }
            match &mut item {
                Item::Directive(directive) => renumber_directive(directive, &numbers, module),
                Item::Function(function) => functions.push(*function),
                Item::Variable(_) | Item::Alias { .. } | Item::Section(_) => {}
            }
        }
        module.items.push(item);
    }
    if numbers.iter().all(|(old, new)| old == new) {
        return numbers;
    }
    for function in functions {
        let Some(mut body) = module.functions[function].body.take() else { continue };
        let statements = body.statements.iter();
        let directives: Vec<Handle<Directive>> = statements
            .filter_map(|statement| match statement {
                Statement::Directive(directive) => Some(*directive),
                _ => None,
            })
            .collect();
        for directive in directives {
            renumber_directive(&mut body.directives[directive], &numbers, module);
        }
        module.functions[function].body = Some(body);
    }
    numbers
}

/// `.file 1 "a.cu"`
fn number_and_name(directive: &Directive) -> Option<(i64, Symbol)> {
    match directive.arguments[..] {
        [(DirectiveArgument::Integer(number), _), (DirectiveArgument::String(name), _), ..] => {
            Some((number, name))
        }
        _ => None,
    }
}

/// The first number of a `.file` or `.loc`, and the one after `inlined_at`, is that of a file.
fn renumber_directive(directive: &mut Directive, numbers: &FxHashMap<i64, i64>, module: &Module) {
    let located = [DirectiveKind::File, DirectiveKind::Loc];
    if !directive.kind.is_some_and(|kind| located.contains(&kind)) {
        return;
    }
    let mut is_file = true;
    for (argument, _) in &mut directive.arguments {
        match argument {
            DirectiveArgument::Integer(number) if is_file => {
                *number = numbers.get(number).copied().unwrap_or(*number);
                is_file = false;
            }
            DirectiveArgument::Name(name) => is_file = module.name(*name) == "inlined_at",
            _ => is_file = false,
        }
    }
}
