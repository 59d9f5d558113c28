//! Everything of a module as part of another one, with handles, names and spellings of that.

use rustc_hash::FxHashMap;

use super::header;
use crate::arena::{Handle, Symbol};
use crate::ir::{Definition, Function, Module, Spelling, Variable};
use crate::visit::{Everything, Rename};
use ptx_syntax::Span;

/// Adds everything of `from` to `into`, but for what its names mean, which is the result.
pub(super) fn import(into: &mut Module, mut from: Module) -> Vec<(Symbol, Definition)> {
    let mut import = Import {
        symbols: from.symbols.iter().map(|name| into.symbols.intern(name)).collect(),
        spellings: spellings(into, &from),
        first_function: into.functions.len() as u32,
        first_variable: into.variables.len() as u32,
    };
    let options: Vec<Symbol> = from.header.options.iter().map(|(option, _)| import.symbol(*option)).collect();
    header::add_options(into, options.into_iter());
    for handle in from.variables.handles().collect::<Vec<_>>() {
        import.variable_itself(&mut from.variables[handle]);
        into.variables.push(from.variables[handle].clone());
    }
    for handle in from.functions.handles().collect::<Vec<_>>() {
        let body = from.functions[handle].body.take();
        let mut function = from.functions[handle].clone();
        function.body = body;
        import.function_itself(&mut function);
        into.functions.push(function);
    }
    for mut item in std::mem::take(&mut *from.items) {
        import.item(&mut item);
        into.items.push(item);
    }
    from.names.iter().map(|(name, definition)| (import.symbol(*name), import.meaning(*definition))).collect()
}

/// The spelling of `into` for each of `from`.
fn spellings(into: &mut Module, from: &Module) -> Vec<Handle<Spelling>> {
    let known = into.spellings.iter().map(|(handle, spelling)| (spelling.text.clone(), handle));
    let known: FxHashMap<Box<str>, Handle<Spelling>> = known.collect();
    let all = from.spellings.iter();
    let new = all.map(|(_, spelling)| match known.get(&spelling.text) {
        Some(&handle) => handle,
        None => into.spellings.push(spelling.clone()),
    });
    new.collect()
}

/// The numbers that things have in the new module.
struct Import {
    symbols: Vec<Symbol>,
    spellings: Vec<Handle<Spelling>>,
    first_function: u32,
    first_variable: u32,
}

impl Rename for Import {
    fn variable(&mut self, variable: Handle<Variable>) -> Handle<Variable> {
        Handle::new(self.first_variable + variable.index() as u32)
    }

    fn function(&mut self, function: Handle<Function>) -> Handle<Function> {
        Handle::new(self.first_function + function.index() as u32)
    }

    fn symbol(&mut self, symbol: Symbol) -> Symbol {
        self.symbols[symbol.index()]
    }
}

impl Everything for Import {
    /// The text is another.
    fn place(&mut self, _: Span) -> Span {
        Span::default()
    }

    fn spelling(&mut self, spelling: Handle<Spelling>) -> Handle<Spelling> {
        self.spellings[spelling.index()]
    }
}
