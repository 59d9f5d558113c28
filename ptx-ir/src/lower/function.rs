//! Functions, kernels and prototypes.

use super::names::Entity;
use super::{Context, messages};
use crate::arena::{Handle, Symbol};
use crate::directive::DirectiveKind;
use crate::ir::{Body, Definition, Directive, DirectiveArgument, Function, FunctionKind, Item, Variable};
use crate::space::StateSpace;
use ptx_syntax::ast::{self, BinaryOperator, OperandKind, SpecifierKind};
use ptx_syntax::{Applicability, Edit, Span};

impl Context<'_, '_> {
    pub(super) fn lower_function(&mut self, index: u32) {
        let (ast, handle) = self.header(index);
        if let Some(body) = ast.body {
            self.extend_to(body.span);
            self.statements(body);
            self.names.close();
            self.module.functions[handle].body = Some(std::mem::take(&mut self.body));
        }
        self.end_function(handle);
    }

    /// All of a function but its body, of which only the place is kept.
    pub(super) fn function_without_body(&mut self, index: u32) -> (Handle<Function>, bool) {
        let (ast, handle) = self.header(index);
        self.module.functions[handle].body = ast.body.map(|body| Body { span: body.span, ..Body::default() });
        self.end_function(handle);
        (handle, ast.body.is_some())
    }

    fn end_function(&mut self, handle: Handle<Function>) {
        let function = &self.module.functions[handle];
        if function.body.is_some() {
            self.with_body.insert(function.name, handle);
        }
        self.module.items.push(Item::Function(handle));
        self.function = None;
    }

    /// Lowers a function up to its body, which is made ready for.
    fn header(&mut self, index: u32) -> (ast::Function, Handle<Function>) {
        let ast = self.tree.functions[index as usize];
        let handle = self.next_function();
        self.function = Some(handle);
        let in_body = ast.body.is_some();
        self.begin_body(ast.body.map_or(Span::default(), |body| body.span));
        self.extend_to(ast.header);
        let specifiers = self.specifiers(ast.specifiers);
        self.refuse_parts_of_a_variable(ast.specifiers, ast.kind);
        let kind = match ast.kind {
            ast::FunctionKind::Entry => FunctionKind::Entry,
            ast::FunctionKind::Function => FunctionKind::Function,
            ast::FunctionKind::Prototype => FunctionKind::Prototype,
        };
        self.names.open();
        let returns = self.parameters(ast.returns, kind, in_body);
        let parameters = self.parameters(ast.parameters, kind, in_body);
        let directives = self.directives(ast.directives);
        let name = self.intern(ast.name);
        let function = Function {
            name,
            kind,
            linkage: specifiers.linkage,
            attributes: specifiers.attributes,
            returns,
            parameters,
            directives,
            body: None,
            earlier: None,
            span: ast.name,
            header: ast.header,
        };
        self.check_name(ast.name);
        self.module.functions.push(function);
        self.define_function(handle, in_body);
        (ast, handle)
    }

    /// From here on, parametrised variables are those that this part of the function names.
    pub(super) fn extend_to(&mut self, extent: Span) {
        self.extent = extent;
        self.local_members = None;
    }

    /// Declares the parameters of a function, whose header was lowered before, in the names of its body.
    pub(super) fn declare_parameters(&mut self, handle: Handle<Function>) {
        let function = &self.module.functions[handle];
        let all: Vec<_> = function.returns.iter().chain(&function.parameters).copied().collect();
        for handle in all {
            let variable = &self.module.variables[handle];
            let (span, ty, elements) = (variable.span, variable.ty, variable.elements);
            let text = self.text(span);
            if text == "_" {
                continue;
            }
            if variable.space == StateSpace::Reg {
                let range = variable.member.map(|member| member.count);
                self.declare_registers(span, range, ty, elements);
            } else {
                let _told_before = self.names.declare(text, span, Entity::Variable(handle));
            }
        }
    }

    /// Gives a name of the module a meaning and returns the one that it had.
    pub(super) fn define(&mut self, name: Symbol, definition: Definition) -> Option<Definition> {
        self.history.define(&mut self.module, name, definition)
    }

    /// Before `.func` and `.entry` is a linkage at most.
    fn refuse_parts_of_a_variable(&mut self, specifiers: ast::Run, kind: ast::FunctionKind) {
        let tree = self.tree;
        let is_part = |specifier: &&ast::Specifier| {
            matches!(specifier.kind, SpecifierKind::StateSpace | SpecifierKind::Align | SpecifierKind::Word)
        };
        let Some(part) = tree.specifiers[specifiers.range()].iter().find(is_part) else { return };
        let is_entry = kind == ast::FunctionKind::Entry;
        let word = if is_entry { DirectiveKind::Entry } else { DirectiveKind::Func }.word();
        let what = format!("`{}` is before `{word}`", self.text(part.span));
        self.bad_declaration(
            messages::fault(part.span, what)
                .with_help(format!("only `.extern`, `.visible` or `.weak` comes before `{word}`")),
        );
    }

    fn define_function(&mut self, handle: Handle<Function>, has_body: bool) {
        let (name, span) = (self.module.functions[handle].name, self.module.functions[handle].span);
        match self.define(name, Definition::Function(handle)) {
            None => {}
            Some(Definition::Function(earlier)) => {
                self.module.functions[handle].earlier = Some(earlier);
                let first_body = self.with_body.get(&name).copied();
                if let Some(first) = first_body.filter(|_| has_body) {
                    let earlier = self.module.functions[first].span;
                    self.report(messages::duplicate(span, "function", self.text(span), earlier));
                }
            }
            Some(Definition::Variable(earlier)) => {
                // The first declaration stays.
                self.define(name, Definition::Variable(earlier));
                let earlier = self.variable(earlier).span;
                self.report(messages::duplicate(span, "function", self.text(span), earlier));
            }
        }
    }

    fn parameters(
        &mut self,
        run: Option<ast::Run>,
        kind: FunctionKind,
        in_body: bool,
    ) -> Vec<Handle<Variable>> {
        let Some(run) = run else { return Vec::new() };
        run.range().filter_map(|index| self.parameter(index as u32, kind, in_body)).collect()
    }

    fn directives(&mut self, run: ast::Run) -> Vec<Directive> {
        let tree = self.tree;
        tree.statements(run).iter().map(|statement| self.directive(statement)).collect()
    }

    /// `.callprototype`, whose label is its name.
    pub(super) fn prototype(&mut self, ast: &ast::Function, label: Option<Span>) -> Handle<Function> {
        let handle = self.next_function();
        let outer = self.function.replace(handle);
        let returns = self.parameters(ast.returns, FunctionKind::Prototype, false);
        let parameters = self.parameters(ast.parameters, FunctionKind::Prototype, false);
        self.function = outer;
        if self.text(ast.name) != "_" {
            let edit = Edit { span: ast.name, replacement: "_".into() };
            self.bad_declaration(
                messages::fault(ast.name, "a prototype has `_` in place of a name")
                    .with_help("calls refer to it by its label")
                    .with_fix("write `_`", Applicability::Certain, vec![edit]),
            );
        }
        let directives = self.directives(ast.directives);
        let span = label.unwrap_or(ast.name);
        let function = Function {
            name: self.intern(span),
            kind: FunctionKind::Prototype,
            linkage: None,
            attributes: Vec::new(),
            returns,
            parameters,
            directives,
            body: None,
            earlier: None,
            span,
            header: ast.header,
        };
        self.module.functions.push(function)
    }

    /// A directive with plain arguments.
    pub(super) fn directive(&mut self, statement: &ast::Statement) -> Directive {
        let tree = self.tree;
        let arguments = tree.operands(statement.operands).iter();
        let arguments = arguments.map(|node| (self.argument(*node), node.span)).collect();
        let (word, kind) = self.directive_word(statement.word);
        Directive { kind, word, arguments, span: statement.span }
    }

    /// The name of a directive. `.loc` may be before each instruction, so that its name is looked up once.
    fn directive_word(&mut self, word: Span) -> (Symbol, Option<DirectiveKind>) {
        let location = DirectiveKind::Loc;
        if self.text(word) != location.word() {
            return (self.intern(word), DirectiveKind::parse(self.text(word)));
        }
        if let Some(symbol) = self.location {
            return (symbol, Some(location));
        }
        let symbol = self.intern(word);
        (*self.location.insert(symbol), Some(location))
    }

    fn argument(&mut self, node: ast::Operand) -> DirectiveArgument {
        match node.kind {
            OperandKind::Integer => match super::expression::integer(self.text(node.span)) {
                super::expression::Constant::Integer { bits, .. } => DirectiveArgument::Integer(bits as i64),
                _ => {
                    self.report(messages::trouble(&super::expression::Trouble::Overflow(node.span)));
                    DirectiveArgument::Integer(0)
                }
            },
            OperandKind::Float => DirectiveArgument::Number(self.intern(node.span)),
            OperandKind::String => DirectiveArgument::String(self.intern(node.span)),
            OperandKind::Binary(BinaryOperator::Add) => self.label_offset(node),
            _ => DirectiveArgument::Name(self.intern(node.span)),
        }
    }

    fn label_offset(&mut self, node: ast::Operand) -> DirectiveArgument {
        let [label, offset] = self.tree.children(node) else {
            return DirectiveArgument::Name(self.intern(node.span));
        };
        let (label, offset) = (label.span, *offset);
        match super::expression::evaluate(self.tree, self.source, offset, self.room) {
            Ok(super::expression::Constant::Integer { bits, .. }) => {
                DirectiveArgument::LabelOffset(self.intern(label), bits as i64)
            }
            _ => DirectiveArgument::Name(self.intern(node.span)),
        }
    }
}
