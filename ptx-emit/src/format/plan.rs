//! The plan: for each token, what is before it.
//!
//! A plan depends on the tokens and the tree alone, never on white space or comments. A text and its
//! formatted text have the same tokens, so one plan serves for both, and "formatting it again would not
//! change it" can be checked without parsing again.

use super::fill;
use super::spacing::{Context, Spacing};
use ptx_syntax::Span;
use ptx_syntax::ast::{Function, Item, Run, Section, Statement, StatementKind, Tree};
use ptx_syntax::lexer::{Token, TokenKind};

/// What is before a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum Separator {
    /// Nothing.
    Glue,
    /// A space.
    Space,
    /// A tab.
    Tab,
    /// A line end; at most one blank line stays.
    Line,
    /// A line end, and no blank line before the first thing: the line before opened something.
    First,
    /// A line end, and no blank line right before the token, which closes something.
    Last,
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

/// Columns of a level of indentation.
pub(super) const TAB: usize = 8;

/// The column after a tab that is at `column`.
pub(super) const fn after_tab(column: usize) -> usize {
    column / TAB * TAB + TAB
}

/// Marks for all tokens that are not trivia, in order.
pub(super) struct Plan {
    pub marks: Vec<Mark>,
    /// Spans of what `ptx-format skip` can keep; empty where the text has no such comment.
    pub nodes: Vec<Node>,
    /// Whether the text may have such comments.
    pub markers: bool,
}

/// Something that can be kept as it is: indices of its first token and of the one after its last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Node {
    pub first: u32,
    pub end: u32,
}

impl Plan {
    /// Makes the plan of a text without syntax errors.
    pub fn new(source: &str, tokens: &[Token], tree: &Tree) -> Self {
        let markers = super::region::may_have_markers(source);
        let mut planner = Planner {
            tokens,
            tree,
            at: 0,
            marks: Vec::with_capacity(tokens.len()),
            nodes: Vec::new(),
            wants_nodes: markers,
        };
        planner.module();
        let Planner { marks, nodes, .. } = planner;
        Self { marks, nodes, markers }
    }
}

struct Planner<'a> {
    tokens: &'a [Token],
    tree: &'a Tree,
    /// Index of the next token, comments included.
    at: usize,
    marks: Vec<Mark>,
    nodes: Vec<Node>,
    wants_nodes: bool,
}

/// How the tokens of a statement are laid out.
#[derive(Clone, Copy)]
struct Style {
    context: Context,
    depth: u32,
    /// End of the opcode or directive whose operands a tab follows; 0 for none.
    word: u32,
    /// Start of the opcode, which a guard may precede.
    guarded: u32,
    /// End of the type of a register declaration, which a tab follows; 0 for none.
    types: u32,
    breakable: bool,
}

impl Style {
    fn new(context: Context, depth: u32) -> Self {
        Self { context, depth, word: 0, guarded: 0, types: 0, breakable: true }
    }
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
            self.tokens_of(
                declaration.span.end,
                line(separator, 1),
                Style { breakable: false, ..Style::new(Context::Declaration, 1) },
            );
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
        for statement in tree.statements(statements) {
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
                    self.statement(statement, line(separator, depth), depth);
                    self.node(first);
                }
            }
            labelled = statement.kind == StatementKind::Label;
            separator = Separator::Line;
        }
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
        let declaration = &self.tree.declarations[declaration as usize];
        let specifiers = &self.tree.specifiers[declaration.specifiers.range()];
        let token = self.tokens[self.at];
        // `.reg` is the one state space of four bytes.
        match specifiers.last() {
            Some(last) if token.span.len() == 4 => last.span.end,
            _ => 0,
        }
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

    /// Marks the tokens up to `end`: the first with `mark`, the others by their neighbours.
    fn tokens_of(&mut self, end: u32, mark: Mark, style: Style) {
        let (from, at) = (self.marks.len(), self.at);
        let Some(first) = self.take(end) else { return };
        self.marks.push(mark);
        let depth = capped(style.depth + 1);
        let mut spacing = Spacing::new(style.context, first.kind);
        let mut previous = first;
        let mut column = usize::from(mark.depth) * TAB + first.span.len() as usize;
        let (mut commas, mut lists) = (false, 0_u32);
        let mut initializer = false;
        while let Some(token) = self.take(end) {
            let mut separator = spacing.step(token.kind);
            if previous.span.end == style.word && token.kind != TokenKind::Semicolon
                || previous.span.end == style.types
            {
                separator = Separator::Tab;
            } else if token.span.start < style.word && token.span.start >= style.guarded {
                separator = Separator::Space;
            }
            let mut mark = Mark { separator, depth, comments: depth };
            if initializer {
                mark = list_mark(mark, previous.kind, token.kind, &mut lists, style.depth);
            }
            initializer |= style.context == Context::Declaration && token.kind == TokenKind::Equals;
            commas |= token.kind == TokenKind::Comma;
            column = match separator {
                Separator::Tab => after_tab(column),
                Separator::Space => column + 1,
                _ => column,
            } + token.span.len() as usize;
            self.marks.push(mark);
            previous = token;
        }
        if column > fill::WIDTH && commas && style.breakable && !initializer {
            fill::fill(&self.tokens[at..self.at], &mut self.marks[from..]);
        }
    }
}

/// The mark of a token within an initialiser, where braces make lists.
fn list_mark(mark: Mark, previous: TokenKind, token: TokenKind, lists: &mut u32, depth: u32) -> Mark {
    let separator = match (previous, token) {
        (TokenKind::OpenBrace, TokenKind::CloseBrace) => {
            *lists = lists.saturating_sub(1);
            Separator::Glue
        }
        (TokenKind::OpenBrace, _) => Separator::ListFirst,
        (_, TokenKind::CloseBrace) => {
            *lists = lists.saturating_sub(1);
            Separator::ListClose
        }
        (TokenKind::Comma, _) if *lists > 0 => Separator::Row,
        _ => mark.separator,
    };
    let inner = capped(depth + *lists);
    if token == TokenKind::OpenBrace {
        *lists += 1;
    }
    match separator {
        Separator::ListClose => Mark { separator, depth: inner, comments: capped(depth + *lists + 1) },
        Separator::ListFirst | Separator::Row => Mark { separator, depth: inner, comments: inner },
        _ => Mark { separator, ..mark },
    }
}
