//! Everything of a module as part of another one, with handles, names and spellings of that.

use rustc_hash::FxHashMap;

use super::header;
use crate::arena::{Arena, Handle, Symbol};
use crate::ir::{
    Body, Definition, Directive, DirectiveArgument, Function, Initializer, Item, Module, Spelling, Statement,
    Variable,
};
use crate::visit::Rename;
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
    let mut meaning = |(name, definition): (&Symbol, &Definition)| {
        let definition = match *definition {
            Definition::Variable(variable) => Definition::Variable(import.variable(variable)),
            Definition::Function(function) => Definition::Function(import.function(function)),
        };
        (import.symbol(*name), definition)
    };
    from.names.iter().map(&mut meaning).collect()
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

impl Import {
    fn name(&mut self, name: &mut Symbol) {
        *name = self.symbol(*name);
    }

    fn variable_itself(&mut self, variable: &mut Variable) {
        self.name(&mut variable.name);
        variable.function = variable.function.map(|function| self.function(function));
        variable.attributes.iter_mut().for_each(|(name, _)| self.name(name));
        if let Some(initializer) = &mut variable.initializer {
            self.initializer(initializer);
        }
        (variable.span, variable.declaration) = (Span::default(), Span::default());
    }

    fn initializer(&mut self, initializer: &mut Initializer) {
        match initializer {
            Initializer::Variable { variable, .. } => *variable = self.variable(*variable),
            Initializer::Function { function, .. } => *function = self.function(*function),
            Initializer::List(parts) => parts.iter_mut().for_each(|part| self.initializer(part)),
            Initializer::Field(name, value) => {
                self.name(name);
                self.name(value);
            }
            Initializer::NumberField(name, _) => self.name(name),
            Initializer::Integer { .. }
            | Initializer::Decimal(_)
            | Initializer::SingleBits(_)
            | Initializer::DoubleBits(_)
            | Initializer::Unknown => {}
        }
    }

    fn function_itself(&mut self, function: &mut Function) {
        self.name(&mut function.name);
        function.attributes.iter_mut().for_each(|(name, _)| self.name(name));
        for parameter in function.returns.iter_mut().chain(&mut function.parameters) {
            *parameter = self.variable(*parameter);
        }
        function.directives.iter_mut().for_each(|directive| self.directive(directive));
        function.earlier = function.earlier.map(|earlier| self.function(earlier));
        (function.span, function.header) = (Span::default(), Span::default());
        if let Some(body) = &mut function.body {
            self.body(body);
        }
    }

    fn body(&mut self, body: &mut Body) {
        for operand in body.operands.iter_mut().chain(&mut body.children) {
            *operand = self.operand(*operand);
        }
        for statement in &mut body.statements {
            match statement {
                Statement::Variable(variable) => *variable = self.variable(*variable),
                Statement::Prototype(prototype) => *prototype = self.function(*prototype),
                _ => {}
            }
        }
        for_each(&mut body.instructions, |each| each.spelling = self.spellings[each.spelling.index()]);
        for_each(&mut body.registers, |group| {
            group.span = Span::default();
            self.name(&mut group.name);
        });
        for_each(&mut body.labels, |label| {
            label.span = Span::default();
            self.name(&mut label.name);
        });
        for_each(&mut body.targets, |list| {
            list.span = Span::default();
            list.name = list.name.map(|name| self.symbol(name));
            list.targets.iter_mut().for_each(|target| *target = self.operand(*target));
        });
        for_each(&mut body.directives, |directive| self.directive(directive));
        body.span = Span::default();
        for spans in [&mut body.spans, &mut body.operand_spans, &mut body.child_spans] {
            spans.fill(Span::default());
        }
    }

    fn directive(&mut self, directive: &mut Directive) {
        self.name(&mut directive.word);
        directive.span = Span::default();
        for (argument, span) in &mut directive.arguments {
            *span = Span::default();
            match argument {
                DirectiveArgument::Number(name)
                | DirectiveArgument::String(name)
                | DirectiveArgument::Name(name)
                | DirectiveArgument::LabelOffset(name, _) => self.name(name),
                DirectiveArgument::Integer(_) => {}
            }
        }
    }

    fn item(&mut self, item: &mut Item) {
        match item {
            Item::Variable(variable) => *variable = self.variable(*variable),
            Item::Function(function) => *function = self.function(*function),
            Item::Directive(directive) => self.directive(directive),
            Item::Alias { name, target, span } => {
                self.name(name);
                self.name(target);
                *span = Span::default();
            }
            Item::Section(section) => {
                self.name(&mut section.word);
                self.name(&mut section.name);
                section.span = Span::default();
            }
        }
    }
}

fn for_each<T>(arena: &mut Arena<T>, mut change: impl FnMut(&mut T)) {
    for handle in arena.handles() {
        change(&mut arena[handle]);
    }
}
