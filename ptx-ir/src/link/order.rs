//! The order of a module's items: PTX wants everything declared before it is used.

use rustc_hash::FxHashSet;

use crate::arena::{Handle, Symbol};
use crate::ir::{Body, Definition, Function, FunctionKind, Initializer, Item, Module, Variable};
use ptx_syntax::Span;

/// Moves variables before what uses them, and declares functions there. Nothing else moves.
pub(crate) fn declare_before_use(module: &mut Module) {
    let items = std::mem::take(&mut *module.items);
    let mut order = Order {
        emitted: vec![false; module.variables.len()],
        own: vec![false; module.variables.len()],
        declared: FxHashSet::default(),
        items: Vec::with_capacity(items.len()),
        module,
    };
    for item in &items {
        if let Item::Variable(variable) = item {
            order.own[variable.index()] = true;
        }
    }
    for item in items {
        match item {
            Item::Variable(variable) => order.variable(variable),
            Item::Function(function) => order.function(function),
            Item::Directive(_) | Item::Alias { .. } | Item::Section(_) => order.items.push(item),
        }
    }
    let items = order.items;
    *module.items = items;
}

struct Order<'m> {
    module: &'m mut Module,
    items: Vec<Item>,
    /// The variables that are among the items by now.
    emitted: Vec<bool>,
    /// The variables that are items at all.
    own: Vec<bool>,
    /// The names of functions that were declared by now.
    declared: FxHashSet<Symbol>,
}

/// What something refers to.
#[derive(Default)]
struct Uses {
    variables: Vec<Handle<Variable>>,
    functions: Vec<Handle<Function>>,
}

impl Order<'_> {
    fn function(&mut self, handle: Handle<Function>) {
        let name = self.module.functions[handle].name;
        self.declared.insert(name);
        let uses = self.module.functions[handle].body.as_ref().map(|body| self.of_body(body));
        let Uses { variables, functions } = uses.unwrap_or_default();
        variables.into_iter().for_each(|variable| self.variable(variable));
        functions.into_iter().for_each(|function| self.declare(function));
        self.items.push(Item::Function(handle));
    }

    /// What of the module a body refers to and is not declared yet.
    fn of_body(&self, body: &Body) -> Uses {
        let mut uses = Uses::default();
        let lists = body.targets.iter().flat_map(|(_, list)| &list.targets);
        for operand in body.operands.iter().chain(&body.children).chain(lists) {
            if let Some(variable) = operand.variable().filter(|variable| self.is_missing(*variable)) {
                uses.variables.push(variable);
            }
            if let Some(function) = operand.function().filter(|function| self.is_undeclared(*function)) {
                uses.functions.push(function);
            }
        }
        uses
    }

    fn is_missing(&self, variable: Handle<Variable>) -> bool {
        self.own[variable.index()] && !self.emitted[variable.index()]
    }

    fn is_undeclared(&self, function: Handle<Function>) -> bool {
        let function = &self.module.functions[function];
        function.kind != FunctionKind::Prototype && !self.declared.contains(&function.name)
    }

    /// Puts a variable after those that its initial value refers to.
    fn variable(&mut self, variable: Handle<Variable>) {
        let mut stack = vec![variable];
        let mut entered: FxHashSet<Handle<Variable>> = FxHashSet::default();
        while let Some(&top) = stack.last() {
            if !self.is_missing(top) {
                stack.pop();
                continue;
            }
            let mut uses = Uses::default();
            if let Some(initializer) = &self.module.variables[top].initializer {
                of_initializer(initializer, &mut uses);
            }
            uses.functions.retain(|function| self.is_undeclared(*function));
            uses.functions.into_iter().for_each(|function| self.declare(function));
            let missing = uses.variables.into_iter().filter(|variable| self.is_missing(*variable));
            let missing: Vec<_> = missing.collect();
            if entered.insert(top) && !missing.is_empty() {
                stack.extend(missing);
                continue;
            }
            self.emitted[top.index()] = true;
            self.items.push(Item::Variable(top));
            stack.pop();
        }
    }

    /// Declares a function that comes later.
    fn declare(&mut self, function: Handle<Function>) {
        if !self.is_undeclared(function) {
            return;
        }
        let declaration = declaration_of(self.module, function);
        self.declared.insert(self.module.functions[function].name);
        // The first of the chain that the definition, or another declaration, goes on with.
        let mut first = match self.module.names.get(&self.module.functions[function].name) {
            Some(&Definition::Function(latest)) => latest,
            _ => function,
        };
        while let Some(earlier) = self.module.functions[first].earlier {
            first = earlier;
        }
        self.module.functions[first].earlier = Some(declaration);
        self.items.push(Item::Function(declaration));
    }
}

/// A declaration of a function that has the same signature.
pub(crate) fn declaration_of(module: &mut Module, function: Handle<Function>) -> Handle<Function> {
    let Function { name, kind, linkage, ref attributes, ref returns, ref parameters, ref directives, .. } =
        module.functions[function];
    // Those of a kernel are of its definition only.
    let directives = if kind == FunctionKind::Entry { Vec::new() } else { directives.clone() };
    let attributes = attributes.clone();
    let (returns, parameters) = (returns.clone(), parameters.clone());
    let handle = Handle::new(module.functions.len() as u32);
    let mut copies = |all: Vec<Handle<Variable>>| {
        let copy = |variable: Handle<Variable>| {
            let copy = Variable { function: Some(handle), ..module.variables[variable].clone() };
            module.variables.push(copy)
        };
        all.into_iter().map(copy).collect::<Vec<_>>()
    };
    let (returns, parameters) = (copies(returns), copies(parameters));
    module.functions.push(Function {
        name,
        kind,
        linkage,
        attributes,
        returns,
        parameters,
        directives,
        body: None,
        earlier: None,
        span: Span::default(),
        header: Span::default(),
    })
}

fn of_initializer(initializer: &Initializer, uses: &mut Uses) {
    match initializer {
        Initializer::Variable { variable, .. } => uses.variables.push(*variable),
        Initializer::Function { function, .. } => uses.functions.push(*function),
        // Lists are no deeper than the grammar lets them be.
        Initializer::List(parts) => parts.iter().for_each(|part| of_initializer(part, uses)),
        Initializer::Integer { .. }
        | Initializer::Decimal(_)
        | Initializer::SingleBits(_)
        | Initializer::DoubleBits(_)
        | Initializer::Field(..)
        | Initializer::NumberField(..)
        | Initializer::Unknown => {}
    }
}
