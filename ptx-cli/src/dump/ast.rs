//! `dump --ast`: the syntax tree, one node a line, children indented.

use std::io::{self, Write};

use ptx_syntax::ast::{Declaration, Function, Item, Operand, Run, Specifier, Statement, StatementKind, Tree};
use ptx_syntax::{LineIndex, Span};

/// Nodes nested deeper than this are not indented further: real code never is.
const MAX_DEPTH: usize = 64;

/// Writes the tree of `source`.
pub fn ast(out: &mut dyn Write, source: &str, tree: &Tree) -> io::Result<()> {
    let mut printer = Printer { out, source, tree, index: LineIndex::new(source) };
    tree.items.iter().try_for_each(|item| printer.item(*item))
}

struct Printer<'a> {
    out: &'a mut dyn Write,
    source: &'a str,
    tree: &'a Tree,
    index: LineIndex,
}

impl Printer<'_> {
    fn line(&mut self, depth: usize, span: Span, what: &str) -> io::Result<()> {
        let at = self.index.position(span.start);
        writeln!(self.out, "{:indent$}{what} @{}:{}", "", at.line, at.column, indent = 2 * depth)
    }

    /// The text of `span`, cut where it is long.
    fn text(&self, span: Span) -> String {
        const MAX: usize = 60;
        let text = span.text(self.source);
        match text.char_indices().nth(MAX) {
            Some((at, _)) => format!("`{}…`", text[..at].escape_debug()),
            None => format!("`{}`", text.escape_debug()),
        }
    }

    fn item(&mut self, item: Item) -> io::Result<()> {
        match item {
            Item::Directive(index) => self.statement(0, self.tree.statements[index as usize]),
            Item::Declaration(index) => self.declaration(0, self.tree.declarations[index as usize]),
            Item::Function(index) => self.function(0, self.tree.functions[index as usize]),
            Item::Section(index) => {
                let section = self.tree.sections[index as usize];
                self.line(0, section.span, &format!("section {}", self.text(section.name)))?;
                self.statements(1, section.statements)
            }
        }
    }

    fn function(&mut self, depth: usize, function: Function) -> io::Result<()> {
        let title = format!("function {:?} {}", function.kind, self.text(function.name));
        self.line(depth, function.span, &title)?;
        self.specifiers(depth + 1, function.specifiers)?;
        self.parameters(depth + 1, "returns", function.returns)?;
        self.parameters(depth + 1, "parameters", function.parameters)?;
        self.statements(depth + 1, function.directives)?;
        let Some(body) = function.body else { return Ok(()) };
        self.line(depth + 1, body.span, "body")?;
        self.statements(depth + 2, body.statements)
    }

    fn parameters(&mut self, depth: usize, what: &str, run: Option<Run>) -> io::Result<()> {
        let Some(run) = run else { return Ok(()) };
        writeln!(self.out, "{:indent$}{what}", "", indent = 2 * depth)?;
        let declarations = &self.tree.declarations[run.range()];
        declarations.iter().try_for_each(|declaration| self.declaration(depth + 1, *declaration))
    }

    fn specifiers(&mut self, depth: usize, run: Run) -> io::Result<()> {
        let tree = self.tree;
        tree.specifiers[run.range()].iter().try_for_each(|specifier| self.specifier(depth, *specifier))
    }

    fn specifier(&mut self, depth: usize, specifier: Specifier) -> io::Result<()> {
        let text = self.text(specifier.span);
        self.line(depth, specifier.span, &format!("specifier {:?} {text}", specifier.kind))
    }

    fn declaration(&mut self, depth: usize, declaration: Declaration) -> io::Result<()> {
        self.line(depth, declaration.span, "declaration")?;
        self.specifiers(depth + 1, declaration.specifiers)?;
        let tree = self.tree;
        for declarator in &tree.declarators[declaration.declarators.range()] {
            let name = format!("name {}", self.text(declarator.name));
            self.line(depth + 1, declarator.span, &name)?;
            self.operand_at(depth + 2, "range ", declarator.range)?;
            self.operands(depth + 2, "dimension ", declarator.dimensions)?;
            self.operand_at(depth + 2, "initializer ", declarator.initializer)?;
        }
        Ok(())
    }

    fn statements(&mut self, mut depth: usize, run: Run) -> io::Result<()> {
        let outer = depth;
        let tree = self.tree;
        for statement in tree.statements(run) {
            if statement.kind == StatementKind::CloseBlock {
                depth = depth.saturating_sub(1).max(outer);
            }
            self.statement(depth.min(outer + MAX_DEPTH), *statement)?;
            if statement.kind == StatementKind::OpenBlock {
                depth += 1;
            }
        }
        Ok(())
    }

    fn statement(&mut self, depth: usize, statement: Statement) -> io::Result<()> {
        let tree = self.tree;
        let index = statement.operands.first as usize;
        match statement.kind {
            StatementKind::Declaration => self.declaration(depth, tree.declarations[index]),
            StatementKind::CallPrototype => self.function(depth, tree.functions[index]),
            StatementKind::OpenBlock => self.line(depth, statement.span, "{"),
            StatementKind::CloseBlock => self.line(depth, statement.span, "}"),
            StatementKind::Instruction(_)
            | StatementKind::Label
            | StatementKind::Directive
            | StatementKind::Data => {
                let word = self.text(statement.word);
                self.line(depth, statement.span, &format!("{:?} {word}", statement.kind))?;
                self.operands(depth + 1, "", statement.operands)
            }
        }
    }

    fn operands(&mut self, depth: usize, what: &str, run: Run) -> io::Result<()> {
        let tree = self.tree;
        tree.operands(run).iter().try_for_each(|operand| self.operand(depth, what, *operand))
    }

    fn operand_at(&mut self, depth: usize, what: &str, index: Option<u32>) -> io::Result<()> {
        let Some(index) = index else { return Ok(()) };
        self.operand(depth, what, self.tree.operands[index as usize])
    }

    /// Writes an operand and what is in it, without recursion, since operands may nest without bound.
    fn operand(&mut self, depth: usize, what: &str, operand: Operand) -> io::Result<()> {
        let tree = self.tree;
        let mut pending = vec![(depth, what, operand)];
        while let Some((depth, what, operand)) = pending.pop() {
            let title = format!("{what}{:?} {}", operand.kind, self.text(operand.span));
            self.line(depth.min(MAX_DEPTH), operand.span, &title)?;
            pending.extend(tree.children(operand).iter().rev().map(|child| (depth + 1, "", *child)));
        }
        Ok(())
    }
}
