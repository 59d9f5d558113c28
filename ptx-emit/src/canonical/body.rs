//! Function bodies: statements in the order of the source, one a line.

use super::printer::Printer;
use ptx_ir::directive::DirectiveKind;
use ptx_ir::ir::{Body, Directive, DirectiveArgument, Function, FunctionKind, Statement, TargetListKind};

impl Printer<'_> {
    /// `{`, the statements, `}`, each on a line of its own. A blank line follows the declarations in front.
    pub fn body(&mut self, body: &Body) {
        self.text("{\n");
        let declarations = body.statements.iter().take_while(|statement| is_declaration(statement)).count();
        for (index, &statement) in body.statements.iter().enumerate() {
            if index == declarations && index > 0 {
                self.text("\n");
            }
            self.statement(body, statement);
            self.text("\n");
        }
        self.text("}\n");
    }

    /// A statement, without its line end.
    pub fn statement(&mut self, body: &Body, statement: Statement) {
        match statement {
            Statement::Label(label) => {
                self.symbol(body.labels[label].name);
                self.text(":");
            }
            Statement::Instruction(instruction) => self.instruction(body, instruction),
            Statement::Open => self.text("{"),
            Statement::Close => self.text("}"),
            Statement::Registers(group) => {
                self.register_group(&body.registers[group]);
                self.text(";");
            }
            Statement::Variable(variable) => {
                self.variable(variable);
                self.text(";");
            }
            Statement::Directive(directive) => self.directive(&body.directives[directive]),
            Statement::Targets(list) => {
                let list = &body.targets[list];
                if let Some(name) = list.name {
                    self.symbol(name);
                    self.text(": ");
                }
                self.text(match list.kind {
                    TargetListKind::Branch => ".branchtargets ",
                    TargetListKind::Call => ".calltargets ",
                });
                self.separated(&list.targets, |printer, target| printer.operand(body, *target, None));
                self.text(";");
            }
            Statement::Prototype(prototype) => self.prototype(&self.module.functions[prototype]),
        }
    }

    /// `name: .callprototype (.param .b32 _) _ (.param .b32 _);`
    fn prototype(&mut self, prototype: &Function) {
        let Function { name, kind: FunctionKind::Prototype, returns, parameters, directives, .. } = prototype
        else {
            return;
        };
        if self.module.name(*name) != "_" {
            self.symbol(*name);
            self.text(": ");
        }
        self.text(".callprototype ");
        if !returns.is_empty() {
            self.parameter_list(returns);
            self.text(" ");
        }
        self.text("_ ");
        self.parameter_list(parameters);
        for directive in directives {
            self.text(" ");
            self.directive(directive);
        }
        self.text(";");
    }

    /// A directive with plain arguments. `.loc` has its numbers without commas, `.pragma` ends in `;`.
    pub fn directive(&mut self, directive: &Directive) {
        let word = self.module.name(directive.word);
        self.text(word);
        let is = |kind| directive.kind == Some(kind);
        let located = is(DirectiveKind::Loc) || is(DirectiveKind::LocIntermediate);
        for (index, (argument, _)) in directive.arguments.iter().enumerate() {
            let attribute = matches!(argument, DirectiveArgument::Name(name)
                if matches!(self.module.name(*name), "function_name" | "inlined_at"));
            // `.file 1 "a.cu", 0, 0`: no comma after the number of the file.
            let comma = if located { attribute } else { index > usize::from(is(DirectiveKind::File)) };
            self.text(if comma { ", " } else { " " });
            self.argument(argument);
        }
        if is(DirectiveKind::Pragma) {
            self.text(";");
        }
    }

    fn argument(&mut self, argument: &DirectiveArgument) {
        match argument {
            DirectiveArgument::Integer(value) => self.text(&value.to_string()),
            DirectiveArgument::Number(text)
            | DirectiveArgument::String(text)
            | DirectiveArgument::Name(text) => self.symbol(*text),
            DirectiveArgument::LabelOffset(label, offset) => {
                self.symbol(*label);
                self.offset(*offset);
            }
        }
    }
}

fn is_declaration(statement: &Statement) -> bool {
    match statement {
        Statement::Registers(_) | Statement::Variable(_) => true,
        Statement::Instruction(_)
        | Statement::Label(_)
        | Statement::Open
        | Statement::Close
        | Statement::Directive(_)
        | Statement::Targets(_)
        | Statement::Prototype(_) => false,
    }
}
