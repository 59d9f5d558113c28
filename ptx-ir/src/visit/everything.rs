//! Everything of a module with other names, handles and places.

use super::Rename;
use crate::arena::{Arena, Handle, Symbol};
use crate::ir::{
    Body, Definition, Directive, DirectiveArgument, Function, Initializer, Item, Spelling, Statement,
    Variable,
};
use ptx_syntax::Span;

/// Gives whole items other names, handles and places; what is not given stays.
pub(crate) trait Everything: Rename {
    /// The place instead of this one.
    fn place(&mut self, span: Span) -> Span {
        span
    }

    /// The spelling instead of this one.
    fn spelling(&mut self, spelling: Handle<Spelling>) -> Handle<Spelling> {
        spelling
    }

    fn name(&mut self, name: &mut Symbol) {
        *name = self.symbol(*name);
    }

    fn span(&mut self, span: &mut Span) {
        *span = self.place(*span);
    }

    fn variable_itself(&mut self, variable: &mut Variable) {
        self.name(&mut variable.name);
        variable.function = variable.function.map(|function| self.function(function));
        variable.attributes.iter_mut().for_each(|(name, _)| self.name(name));
        if let Some(initializer) = &mut variable.initializer {
            self.initializer(initializer);
        }
        self.span(&mut variable.span);
        self.span(&mut variable.declaration);
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
        self.span(&mut function.span);
        self.span(&mut function.header);
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
        for_each(&mut body.instructions, |each| each.spelling = self.spelling(each.spelling));
        for_each(&mut body.registers, |group| {
            self.span(&mut group.span);
            self.name(&mut group.name);
        });
        for_each(&mut body.labels, |label| {
            self.span(&mut label.span);
            self.name(&mut label.name);
        });
        for_each(&mut body.targets, |list| {
            self.span(&mut list.span);
            list.name = list.name.map(|name| self.symbol(name));
            list.targets.iter_mut().for_each(|target| *target = self.operand(*target));
        });
        for_each(&mut body.directives, |directive| self.directive(directive));
        self.span(&mut body.span);
        for spans in [&mut body.spans, &mut body.operand_spans, &mut body.child_spans] {
            spans.iter_mut().for_each(|span| self.span(span));
        }
    }

    fn directive(&mut self, directive: &mut Directive) {
        self.name(&mut directive.word);
        self.span(&mut directive.span);
        for (argument, span) in &mut directive.arguments {
            self.span(span);
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
                self.span(span);
            }
            Item::Section(section) => {
                self.name(&mut section.word);
                self.name(&mut section.name);
                self.span(&mut section.span);
            }
        }
    }

    /// What a name stands for.
    fn meaning(&mut self, definition: Definition) -> Definition {
        match definition {
            Definition::Variable(variable) => Definition::Variable(self.variable(variable)),
            Definition::Function(function) => Definition::Function(self.function(function)),
        }
    }
}

fn for_each<T>(arena: &mut Arena<T>, mut change: impl FnMut(&mut T)) {
    for handle in arena.handles() {
        change(&mut arena[handle]);
    }
}
