//! The plan: for each token, what is before it.
//!
//! A plan depends on the tokens and the tree alone, never on white space or comments. A text and its
//! formatted text have the same tokens, so one plan serves for both, and "formatting it again would not
//! change it" can be checked without parsing again.

mod tokens;

use super::metrics::Metrics;
use super::spacing::Context;
use ptx_syntax::Span;
use ptx_syntax::ast::{Declaration, Function, Item, Run, Section, Statement, StatementKind, Tree};
use ptx_syntax::lexer::{Token, TokenKind};
use tokens::Style;

/// What is before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Separator {
    /// Nothing.
    Glue,
    /// A space.
    Space,
    /// A tab; in the aligned layout the column of operands.
    Tab,
    /// A space; the mnemonic follows, in its column.
    Guard,
    /// A space; an operand follows, which may be in a column.
    Operand,
    /// A space; the names of a declaration follow, in their column.
    Name,
    /// A space; an element of a list follows, which may be in a column.
    Element,
    /// A line end; at most one blank line stays.
    Line,
    /// A line end, and no blank line before the first thing: the line before opened something.
    First,
    /// A line end, and no blank line right before the token, which closes something.
    Last,
    /// As `Line`, or a space where the author has a row of such statements.
    Beside,
    /// A line end and no blank line.
    Tight,
    /// A line end and a blank line.
    Apart,
    /// Nothing, or a line end where the list that begins here has no room on the line.
    ListFirst,
    /// A space or, in a list on lines of its own, a line end where the author had one or the line is full.
    Row,
    /// Nothing, or a line end where the list that ends here has lines of its own.
    ListClose,
}

impl Separator {
    /// Whether the line goes on. What a list becomes is not known here.
    #[inline]
    pub fn is_inline(self) -> bool {
        use Separator as S;
        matches!(self, S::Glue | S::Space | S::Tab | S::Guard | S::Operand | S::Name | S::Element)
    }
}

/// What is before a token, and how deep the token is indented where that is a line end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub separator: Separator,
    /// Levels of indentation.
    pub depth: u8,
    /// Levels of indentation of comments on their own lines before the token.
    pub comments: u8,
}

/// Deeper blocks are not indented further: a hostile text could make the new one quadratically long.
const MAX_DEPTH: u32 = 12;

/// Marks for all tokens that are not trivia, in order.
pub(super) struct Plan {
    pub marks: Vec<Mark>,
    /// Spans of what `ptx-format skip` can keep; empty where the text has no such comment.
    pub nodes: Vec<Node>,
    /// Whether the text may have such comments.
    pub markers: bool,
    /// Widths.
    pub metrics: Metrics,
}

/// Something that can be kept as it is: indices of its first token and of the one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub first: u32,
    pub end: u32,
}

impl Plan {
    /// Makes the plan of a text without syntax errors.
    pub fn new(source: &str, tokens: &[Token], tree: &Tree, metrics: Metrics) -> Self {
        let markers = super::region::may_have_markers(source);
        let mut planner = Planner {
            source,
            tokens,
            tree,
            at: 0,
            marks: Vec::with_capacity(tokens.len()),
            nodes: Vec::new(),
            wants_nodes: markers,
            metrics,
        };
        planner.module();
        let Planner { marks, nodes, .. } = planner;
        Self { marks, nodes, markers, metrics }
    }
}

struct Planner<'a> {
    source: &'a str,
    tokens: &'a [Token],
    tree: &'a Tree,
    /// Index of the next token, comments included.
    at: usize,
    marks: Vec<Mark>,
    nodes: Vec<Node>,
    wants_nodes: bool,
    metrics: Metrics,
}

fn capped(depth: u32) -> u8 {
    depth.min(MAX_DEPTH) as u8
}

fn line(separator: Separator, depth: u32) -> Mark {
    Mark { separator, depth: capped(depth), comments: capped(depth) }
}

/// A line end before something that is one level further left than what is around it.
fn outdented(separator: Separator, depth: u32) -> Mark {
    Mark { separator, depth: capped(depth), comments: capped(depth + 1) }
}

impl<'a> Planner<'a> {
    /// The next token that is not trivia.
    #[inline]
    fn peek(&mut self) -> Option<Token> {
        loop {
            let token = *self.tokens.get(self.at)?;
            if !token.kind.is_trivia() {
                return Some(token);
            }
            self.at += 1;
        }
    }

    /// The next token, if it begins before `end`.
    #[inline]
    fn take(&mut self, end: u32) -> Option<Token> {
        let token = self.peek()?;
        if token.span.start >= end {
            return None;
        }
        self.at += 1;
        Some(token)
    }

    /// Gives the next token a mark.
    fn mark_next(&mut self, mark: Mark) {
        if self.peek().is_some() {
            self.at += 1;
            self.marks.push(mark);
        }
    }

    /// Notes that the tokens from `first` on are something that can be kept as it is.
    fn node(&mut self, first: usize) {
        if self.wants_nodes {
            self.nodes.push(Node { first: first as u32, end: self.marks.len() as u32 });
        }
    }

    fn module(&mut self) {
        let tree = self.tree;
        let mut was_large = false;
        for &item in &tree.items {
            let first = self.marks.len();
            let large = match item {
                Item::Function(index) => tree.functions[index as usize].body.is_some(),
                Item::Section(_) => true,
                Item::Directive(_) | Item::Declaration(_) => false,
            };
            let separator = if large || was_large { Separator::Apart } else { Separator::Line };
            let mark = line(separator, 0);
            match item {
                Item::Directive(index) => self.statement(&tree.statements[index as usize], mark, 0),
                Item::Declaration(index) => {
                    let span = tree.declarations[index as usize].span;
                    self.tokens_of(span.end, mark, Style::new(Context::Declaration, 0));
                }
                Item::Function(index) => self.function(&tree.functions[index as usize], mark),
                Item::Section(index) => self.section(&tree.sections[index as usize], mark),
            }
            was_large = large;
            self.node(first);
        }
        // Nothing is left of a text without errors; should the tree lack something, it is still kept.
        self.tokens_of(u32::MAX, line(Separator::Line, 0), Style::new(Context::Directive, 0));
    }

    fn function(&mut self, function: &Function, mark: Mark) {
        let header = Style { breakable: false, ..Style::new(Context::Declaration, 0) };
        self.tokens_of(function.name.end, mark, header);
        if let Some(parameters) = function.parameters {
            self.parameters(parameters, function.header.end);
        }
        for statement in self.tree.statements(function.directives) {
            self.statement(statement, line(Separator::Tight, 0), 0);
        }
        match function.body {
            Some(body) => {
                self.mark_next(line(Separator::Tight, 0));
                self.body(body.statements);
                self.mark_next(outdented(Separator::Last, 0));
            }
            // The assembler takes a declaration without its `;`.
            None if self.peek().is_some_and(|token| token.span.start < function.span.end) => {
                self.mark_next(Mark { separator: Separator::Glue, depth: 0, comments: 0 });
            }
            None => {}
        }
    }

    /// `(`, the parameters a line each, `)`, which ends at `end`.
    fn parameters(&mut self, parameters: Run, end: u32) {
        let glue = Mark { separator: Separator::Glue, depth: 1, comments: 1 };
        self.mark_next(glue);
        for (index, declaration) in self.tree.declarations[parameters.range()].iter().enumerate() {
            let separator = if index == 0 { Separator::First } else { Separator::Line };
            let first = self.marks.len();
            let types = if self.metrics.aligned { self.types(declaration) } else { 0 };
            let style = Style { breakable: false, types, ..Style::new(Context::Declaration, 1) };
            self.tokens_of(declaration.span.end, line(separator, 1), style);
            self.node(first);
            if index + 1 < parameters.count as usize {
                self.mark_next(glue);
            }
        }
        if self.peek().is_some_and(|token| token.span.start < end) {
            let close = if parameters.count == 0 { glue } else { outdented(Separator::Last, 0) };
            self.mark_next(close);
        }
    }

    fn body(&mut self, statements: Run) {
        let tree = self.tree;
        let mut depth = 1;
        let mut separator = Separator::First;
        let mut blocks: Vec<usize> = Vec::new();
        let mut labelled = false;
        let mut before = None;
        for statement in tree.statements(statements) {
            let alike = before.replace(statement).is_some_and(|before| self.may_be_beside(before, statement));
            let first = self.marks.len();
            match statement.kind {
                StatementKind::OpenBlock => {
                    self.mark_next(line(separator, depth));
                    depth += 1;
                    blocks.push(first);
                    separator = Separator::First;
                    labelled = false;
                    continue;
                }
                StatementKind::CloseBlock => {
                    depth = depth.saturating_sub(1).max(1);
                    self.mark_next(outdented(Separator::Last, depth));
                    self.node(blocks.pop().unwrap_or(first));
                }
                StatementKind::Label => {
                    self.tokens_of(
                        statement.span.end,
                        outdented(separator, depth - 1),
                        Style::new(Context::Directive, depth),
                    );
                    // The colon is a token of its own, after the span of a label.
                    self.colon(depth);
                    self.node(first);
                }
                _ if labelled && self.belongs_to_label(statement) => {
                    let space =
                        Mark { separator: Separator::Space, depth: capped(depth), comments: capped(depth) };
                    self.statement(statement, space, depth);
                    self.node(first);
                }
                _ => {
                    let separator = if alike { Separator::Beside } else { separator };
                    self.statement(statement, line(separator, depth), depth);
                    self.node(first);
                }
            }
            labelled = statement.kind == StatementKind::Label;
            separator = Separator::Line;
        }
    }

    /// Whether an author may have a row of these two: instructions with the same opcode, as a table of constants has.
    fn may_be_beside(&self, before: &Statement, statement: &Statement) -> bool {
        let opcode = |statement: &Statement| match statement.kind {
            StatementKind::Instruction(_) if statement.span.start == statement.word.start => {
                Some(statement.word.text(self.source))
            }
            _ => None,
        };
        self.metrics.aligned && opcode(before).is_some_and(|word| opcode(statement) == Some(word))
    }

    /// The `:` of a label.
    fn colon(&mut self, depth: u32) {
        if self.peek().is_some_and(|token| token.kind == TokenKind::Colon) {
            self.mark_next(Mark {
                separator: Separator::Glue,
                depth: capped(depth),
                comments: capped(depth),
            });
        }
    }

    /// Whether a statement means nothing without the label before it.
    fn belongs_to_label(&mut self, statement: &Statement) -> bool {
        statement.kind == StatementKind::CallPrototype
            || self.peek().is_some_and(|token| token.kind == TokenKind::Targets)
    }

    /// A statement of a body (`depth` above 0) or of the module.
    fn statement(&mut self, statement: &Statement, mark: Mark, depth: u32) {
        let Statement { span, word, operands, kind } = *statement;
        let style = match kind {
            StatementKind::Instruction(_) => {
                Style { word: word.end, guarded: word.start, ..Style::new(Context::Instruction, depth) }
            }
            StatementKind::Declaration => Style {
                types: self.register_types(operands.first),
                ..Style::new(Context::Declaration, depth)
            },
            StatementKind::CallPrototype => {
                self.prototype(span, mark, depth);
                return;
            }
            StatementKind::Data => Style::new(Context::Dense, depth),
            StatementKind::Directive => {
                let first = self.peek().map_or(TokenKind::Pragma, |token| token.kind);
                let unbroken = matches!(first, TokenKind::Loc | TokenKind::File);
                let context = if unbroken { Context::Dense } else { Context::Directive };
                let word = if depth > 0 { word.end } else { 0 };
                Style { word, breakable: !unbroken, ..Style::new(context, depth) }
            }
            StatementKind::Label | StatementKind::OpenBlock | StatementKind::CloseBlock => {
                Style::new(Context::Directive, depth)
            }
        };
        self.tokens_of(span.end, mark, style);
    }

    /// The end of the specifiers of a `.reg` declaration; 0 for another one.
    fn register_types(&mut self, declaration: u32) -> u32 {
        if !self.peek().is_some_and(|token| token.kind == TokenKind::StateSpace) {
            return 0;
        }
        let token = self.tokens[self.at];
        // `.reg` is the one state space of four bytes.
        if token.span.len() == 4 { self.types(&self.tree.declarations[declaration as usize]) } else { 0 }
    }

    /// The end of the specifiers of a declaration; 0 where it has none.
    fn types(&self, declaration: &Declaration) -> u32 {
        self.tree.specifiers[declaration.specifiers.range()].last().map_or(0, |last| last.span.end)
    }

    fn prototype(&mut self, span: Span, mark: Mark, depth: u32) {
        self.tokens_of(span.end, mark, Style::new(Context::Prototype, depth));
    }

    fn section(&mut self, section: &Section, mark: Mark) {
        let tree = self.tree;
        if self.peek().is_some_and(|token| token.kind == TokenKind::SourceSection) {
            self.source_section(section.span.end, mark);
            return;
        }
        self.tokens_of(section.name.end, mark, Style::new(Context::Dense, 0));
        self.mark_next(line(Separator::Tight, 0));
        let mut separator = Separator::First;
        for statement in tree.statements(section.statements) {
            let first = self.marks.len();
            match statement.kind {
                StatementKind::Label => {
                    self.tokens_of(
                        statement.span.end,
                        outdented(separator, 0),
                        Style::new(Context::Dense, 1),
                    );
                    self.colon(1);
                }
                _ => self.statement(statement, line(separator, 1), 1),
            }
            separator = Separator::Line;
            self.node(first);
        }
        self.mark_next(outdented(Separator::Last, 0));
    }

    /// `.nv_intermediate_source_section { … }`: braces and words have lines of their own.
    fn source_section(&mut self, end: u32, mark: Mark) {
        let mut depth = 0_u32;
        let mut separator = mark.separator;
        let mut colon = false;
        while let Some(token) = self.take(end) {
            let mark = match token.kind {
                TokenKind::OpenBrace => {
                    depth += 1;
                    line(Separator::Tight, depth - 1)
                }
                TokenKind::CloseBrace => {
                    depth = depth.saturating_sub(1);
                    outdented(Separator::Last, depth)
                }
                TokenKind::Colon => Mark { separator: Separator::Glue, ..line(separator, depth) },
                _ if colon => Mark { separator: Separator::Space, ..line(separator, depth) },
                _ => line(separator, depth),
            };
            self.marks.push(mark);
            colon = token.kind == TokenKind::Colon;
            separator = if token.kind == TokenKind::OpenBrace { Separator::First } else { Separator::Line };
        }
    }
}
