//! The items of a module.

use super::{Context, messages};
use crate::directive::DirectiveKind;
use crate::ir::{AddressSize, Item, Section, TextureMode};
use crate::target::Target;
use crate::version::Version;
use ptx_syntax::Span;
use ptx_syntax::ast::{self, OperandKind};
use ptx_syntax::lexer::{Lexer, TokenKind};

impl Context<'_, '_> {
    pub(super) fn module(&mut self) {
        let tree = self.tree;
        for item in &tree.items {
            match *item {
                ast::Item::Directive(index) => self.module_directive(index),
                ast::Item::Declaration(index) => self.module_declaration(index),
                ast::Item::Function(index) => self.lower_function(index),
                ast::Item::Section(index) => self.section(index),
            }
        }
    }

    pub(super) fn module_directive(&mut self, index: u32) {
        let tree = self.tree;
        let statement = tree.statements[index as usize];
        let operands = tree.operands(statement.operands);
        match DirectiveKind::parse(self.text(statement.word)) {
            Some(DirectiveKind::Version) => self.version(operands),
            Some(DirectiveKind::Target) => self.target(operands),
            Some(DirectiveKind::AddressSize) => self.address_size(operands),
            Some(DirectiveKind::Alias) => self.alias(&statement, operands),
            _ => {
                let directive = self.directive(&statement);
                self.module.items.push(Item::Directive(directive));
            }
        }
    }

    fn version(&mut self, operands: &[ast::Operand]) {
        let Some(operand) = operands.first() else { return };
        if let Some(earlier) = self.module.header.version_span {
            self.report(messages::second_header(operand.span, DirectiveKind::Version.word(), earlier));
            return;
        }
        self.module.header.version_span = Some(operand.span);
        if let Some(version) = Version::parse(self.text(operand.span)) {
            self.module.header.version = version;
        }
    }

    fn target(&mut self, operands: &[ast::Operand]) {
        let Some((target, options)) = operands.split_first() else { return };
        if let Some(earlier) = self.module.header.target_span {
            self.report(messages::second_header(target.span, DirectiveKind::Target.word(), earlier));
            return;
        }
        let header = &mut self.module.header;
        header.target_span = Some(target.span);
        if let Some(target) = Target::parse(target.span.text(self.source)) {
            header.target = target;
        }
        for option in options {
            match option.span.text(self.source) {
                "debug" => header.debug = true,
                "texmode_independent" => header.texture_mode = TextureMode::Independent,
                "texmode_unified" => header.texture_mode = TextureMode::Unified,
                "map_f64_to_f32" => header.map_f64_to_f32 = true,
                _ => {}
            }
            let symbol = self.module.symbols.intern(option.span.text(self.source));
            header.options.push((symbol, option.span));
        }
    }

    fn address_size(&mut self, operands: &[ast::Operand]) {
        let Some(operand) = operands.first() else { return };
        if let Some(earlier) = self.module.header.address_size_span {
            self.report(messages::second_header(operand.span, DirectiveKind::AddressSize.word(), earlier));
            return;
        }
        self.module.header.address_size_span = Some(operand.span);
        if let super::expression::Constant::Integer { bits, .. } =
            super::expression::integer(self.text(operand.span))
        {
            self.module.header.address_size = AddressSize::from_bits(bits);
        }
    }

    fn alias(&mut self, statement: &ast::Statement, operands: &[ast::Operand]) {
        let [name, target] = operands else {
            self.bad_declaration(messages::fault(
                statement.span,
                "`.alias` takes two names: the alias and what it stands for",
            ));
            return;
        };
        for operand in [name, target] {
            let known =
                operand.kind == OperandKind::Name && self.module_name(self.text(operand.span)).is_some();
            if !known {
                self.names.clear();
                self.function = None;
                self.undeclared(operand.span);
            }
        }
        let (name, target) = (self.intern(name.span), self.intern(target.span));
        self.module.items.push(Item::Alias { name, target, span: statement.span });
    }

    pub(super) fn section(&mut self, index: u32) {
        let section = self.tree.sections[index as usize];
        let statements = self.tree.statements(section.statements);
        let word_length =
            self.text(section.span).find(|c: char| c.is_whitespace() || c == '{').unwrap_or(0) as u32;
        let word = self.intern(Span::new(section.span.start, section.span.start + word_length));
        let text = match self.text(section.span).starts_with(DirectiveKind::Section.word()) {
            true => statements
                .iter()
                .fold(String::with_capacity(section.span.len() as usize), |text, statement| {
                    self.section_line(text, statement)
                }),
            // The source text of another language stays as it is.
            false => self
                .text(section.span)
                .split_once('{')
                .map_or("", |(_, rest)| rest.trim_end_matches('}'))
                .to_owned(),
        };
        let name = self.intern(section.name);
        self.module.items.push(Item::Section(Section { word, name, text, span: section.span }));
    }

    fn section_line(&self, mut text: String, statement: &ast::Statement) -> String {
        let raw = self.text(statement.span);
        if needs_layout(raw) {
            let mut previous: Option<TokenKind> = None;
            for token in Lexer::new(raw).filter(|token| !token.kind.is_trivia()) {
                let tight = token.kind == TokenKind::Comma || previous == Some(TokenKind::Minus);
                if previous.is_some() && !tight {
                    text.push(' ');
                }
                text.push_str(token.text(raw));
                previous = Some(token.kind);
            }
        } else {
            text.push_str(raw);
        }
        if statement.kind == ast::StatementKind::Label {
            text.push(':');
        }
        text.push('\n');
        text
    }
}

/// Whether a line of a section has comments or other white space than single blanks.
fn needs_layout(line: &str) -> bool {
    let mut before = 0;
    line.bytes().any(|byte| {
        let odd = matches!(byte, b'/' | b'\n' | b'\t') || (byte == b' ' && before == b' ');
        before = byte;
        odd
    })
}
