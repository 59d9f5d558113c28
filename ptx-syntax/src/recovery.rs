//! Parsing of a text with errors: the token vector is cut into items and statements, each of which is
//! parsed on its own, so that one mistake costs one statement and all mistakes are found in one run.
//!
//! Braces are matched on the token vector first. A function header inside a body tells that the body
//! was not closed; a statement whose error begins a line tells that its `;` is missing.

use std::cell::RefCell;

use crate::ast::{FunctionKind, StatementKind};
use crate::builder::Builder;
use crate::lexer::{Lexer, Token, TokenKind};
use crate::messages;
use crate::nesting::too_deep;
use crate::parser::{Parse, Spanned, Terminal, grammar};
use crate::prototype::Prototype;
use crate::{Span, SyntaxError};
use lalrpop_util::ParseError;

/// More errors than this in one text are not worth anybody's time.
const MAX_ERRORS: usize = 1000;

/// A statement with an error is not taken to have more tokens than this.
const MAX_STATEMENT_TOKENS: usize = 10_000;

/// Parses a text that the plain parser refused.
pub(crate) fn parse(source: &str) -> Parse {
    let mut recovery = Recovery::new(source);
    if let Some((outermost, bracket)) = too_deep(&recovery.tokens) {
        return recovery.before(outermost, bracket);
    }
    recovery.module();
    if recovery.errors.is_empty() && !recovery.lenient {
        // Something is wrong, or the plain parser would have taken the text. Better said vaguely than not.
        recovery.whole();
    }
    recovery.finish()
}

/// The tokens without trivia, with the `;` that declarations of functions lack.
fn tokens(source: &str) -> Vec<Token> {
    let semicolon = |end| Token { kind: TokenKind::Semicolon, span: Span::at(end) };
    let mut tokens: Vec<Token> = Vec::new();
    let mut prototype = Prototype::default();
    let mut depth = 0_u32;
    let mut end = 0;
    for token in Lexer::new(source).filter(|token| !token.kind.is_trivia()) {
        if depth == 0 && prototype.ends_before(token.kind) {
            tokens.push(semicolon(end));
        }
        match token.kind {
            TokenKind::OpenBrace => depth += 1,
            TokenKind::CloseBrace => depth = depth.saturating_sub(1),
            _ => {}
        }
        tokens.push(token);
        end = token.span.end;
    }
    if prototype.ends_with_text() {
        tokens.push(semicolon(end));
    }
    tokens
}

/// Which entry of the grammar.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Entry {
    Module,
    Item,
    Statement,
}

struct Recovery<'s> {
    source: &'s str,
    /// Without trivia.
    tokens: Vec<Token>,
    builder: RefCell<Builder>,
    errors: Vec<SyntaxError>,
    position: usize,
    /// Whether something was taken that the grammar refuses and ptxas takes.
    lenient: bool,
}

impl<'a> Recovery<'a> {
    fn new(source: &'a str) -> Self {
        Self {
            source,
            tokens: tokens(source),
            builder: RefCell::default(),
            errors: Vec::new(),
            position: 0,
            lenient: false,
        }
    }
}

impl Recovery<'_> {
    /// The tree and the errors.
    fn finish(self) -> Parse {
        let mut errors = self.errors;
        errors.sort_by_key(|error| error.span.start);
        Parse { tree: self.builder.into_inner().tree, errors }
    }

    /// Parses what is before the outermost of too many brackets: a block is taken to be closed at once, a statement of the
    /// module not to be there.
    fn before(mut self, outermost: usize, innermost: usize) -> Parse {
        let (open, span) = (self.tokens[outermost], self.tokens[innermost].span);
        if open.kind == TokenKind::OpenBrace {
            self.tokens.truncate(outermost + 1);
            self.tokens.push(Token { kind: TokenKind::CloseBrace, span });
        } else {
            let ends = |kind| matches!(kind, Some(TokenKind::Semicolon | TokenKind::CloseBrace));
            let is_first = |&index: &usize| self.begins_line(index) || ends(self.kind(index.wrapping_sub(1)));
            let first = (0..=outermost).rev().find(is_first).unwrap_or(0);
            self.tokens.truncate(first);
        }
        self.module();
        self.errors.retain(|error| error.span.start < open.span.start);
        self.errors.push(messages::nested_too_deeply(span, open.span));
        self.finish()
    }

    fn kind(&self, index: usize) -> Option<TokenKind> {
        self.tokens.get(index).map(|token| token.kind)
    }

    fn end_of_text(&self) -> Span {
        Span::at(self.source.len() as u32)
    }

    fn report(&mut self, error: SyntaxError) {
        if self.errors.len() < MAX_ERRORS {
            self.errors.push(error);
        }
    }

    /// Whether there are so many errors that the text is not read from the token at `index` on. Says so once.
    fn gives_up(&mut self, index: usize) -> bool {
        if self.errors.len() == MAX_ERRORS {
            self.errors.push(messages::too_many(self.tokens[index].span));
        }
        self.errors.len() > MAX_ERRORS
    }

    /// Whether a line ends between the token at `index` and the one before it.
    fn begins_line(&self, index: usize) -> bool {
        let (Some(before), Some(token)) = (self.tokens.get(index.wrapping_sub(1)), self.tokens.get(index))
        else {
            return true;
        };
        Span::new(before.span.end, token.span.start).text(self.source).contains('\n')
    }

    /// Runs one entry of the grammar over the tokens of `from..to`, and `extra` after them.
    /// On an error, gives the index of the token at fault; `to` where the text ended too early.
    fn run(&mut self, entry: Entry, from: usize, to: usize, extra: Option<Terminal>) -> Result<(), usize> {
        let end = self.tokens.get(to.wrapping_sub(1)).map_or(0, |token| token.span.end);
        let extra = extra.map(|terminal| Ok((end, terminal, end)));
        let terminals = self.tokens[from..to]
            .iter()
            .filter_map(|token| {
                let terminal = Terminal::new(token.kind, token.span)?;
                Some(Ok((token.span.start, terminal, token.span.end)))
            })
            .chain(extra);
        let result = run_entry(entry, &self.builder, terminals);
        let Err((at, expected)) = result else { return Ok(()) };
        self.builder.get_mut().abandon();
        let index = match at {
            Some(offset) => self.tokens.partition_point(|token| token.span.start < offset).min(to),
            None => to,
        };
        let place = messages::Place { source: self.source, tokens: &self.tokens, from, index, to };
        let error = messages::unexpected(place, &expected);
        self.report(error);
        Err(index)
    }

    /// Reports where the grammar stops in the text as a whole, and makes no tree of it.
    fn whole(&mut self) {
        let aside = self.builder.get_mut().set_aside();
        let _reported = self.run(Entry::Module, 0, self.tokens.len(), None);
        self.builder.get_mut().take_back(aside);
    }

    fn module(&mut self) {
        while let Some(kind) = self.kind(self.position) {
            if self.gives_up(self.position) {
                return;
            }
            let before = self.position;
            match kind {
                _ if !begins_item(kind) => self.skip_stray(),
                TokenKind::Section | TokenKind::SourceSection => self.section(),
                _ if ends_without_semicolon(kind) => self.short_directive(),
                _ => self.declaration_or_function(),
            }
            debug_assert!(self.position > before, "recovery must make progress");
            self.position = self.position.max(before + 1);
        }
    }

    /// Something at module level that begins no item: reported once, skipped up to the next item.
    fn skip_stray(&mut self) {
        let from = self.position;
        let mut to = from + 1;
        while let Some(kind) = self.kind(to) {
            if begins_item(kind) || self.kind(to - 1) == Some(TokenKind::Semicolon) {
                break;
            }
            to += 1;
        }
        to = to.max(self.behind_dwarf_lines(from));
        let error = messages::stray_at_module_level(self.source, &self.tokens[from..to]);
        self.report(error);
        self.position = to;
    }

    /// After the lines that begin with `@@DWARF`, the debugging data of PTX 1.x, which are reported once.
    fn behind_dwarf_lines(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(token) = self.tokens.get(at)
            && let start = token.span.start as usize
            && self.source[start..].starts_with(messages::DWARF)
        {
            let end = self.source[start..].find('\n').map_or(self.source.len(), |length| start + length);
            at += self.tokens[at..].iter().take_while(|token| (token.span.start as usize) < end).count();
        }
        at
    }

    /// A directive without a `;`: it ends where its arguments do, or else at the next item.
    fn short_directive(&mut self) {
        let from = self.position;
        let mut to = from + 1;
        let mut joined = true;
        while let Some(kind) = self.kind(to) {
            let argument = match self.kind(from) {
                Some(TokenKind::Target) => kind == TokenKind::Name && joined || kind == TokenKind::Comma,
                Some(TokenKind::File) if to <= from + 2 => true,
                Some(TokenKind::File) if to > from + 6 => false,
                Some(TokenKind::File) => is_number(kind) && joined || kind == TokenKind::Comma,
                _ => to == from + 1,
            };
            if begins_item(kind) || !argument {
                break;
            }
            joined = kind == TokenKind::Comma;
            to += 1;
        }
        let _reported = self.run(Entry::Item, from, to, None);
        self.position = to;
    }

    fn section(&mut self) {
        let from = self.position;
        let mut to = from + 1;
        let mut depth = 0_u32;
        while let Some(kind) = self.kind(to) {
            match kind {
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace if depth <= 1 => {
                    to += 1;
                    break;
                }
                TokenKind::CloseBrace => depth -= 1,
                TokenKind::Entry | TokenKind::Func | TokenKind::Section | TokenKind::Linkage => break,
                _ => {}
            }
            to += 1;
        }
        let _reported = self.run(Entry::Item, from, to, None);
        self.position = to;
    }

    /// The tokens of a declaration or function header: up to its `;`, to its `{`, or to the token that
    /// shows that the `;` is missing.
    fn header_end(&self, from: usize) -> usize {
        let mut depth = 0_i32;
        let (mut named, mut initializer) = (false, false);
        let mut to = from;
        while let Some(kind) = self.kind(to) {
            match kind {
                TokenKind::OpenParen | TokenKind::OpenBracket => depth += 1,
                TokenKind::CloseParen | TokenKind::CloseBracket => depth -= 1,
                TokenKind::OpenBrace if initializer => depth += 1,
                TokenKind::OpenBrace => return to,
                TokenKind::CloseBrace if initializer => depth -= 1,
                TokenKind::CloseBrace => return to,
                TokenKind::Equals => initializer = true,
                TokenKind::Semicolon => return to,
                TokenKind::Name => named |= depth == 0,
                _ if begins_item(kind)
                    && named
                    && self.begins_line(to)
                    && (depth <= 0 || kind != TokenKind::StateSpace)
                    && kind != TokenKind::Pragma =>
                {
                    return to;
                }
                _ => {}
            }
            to += 1;
        }
        to
    }

    fn declaration_or_function(&mut self) {
        let from = self.position;
        let end = self.header_end(from);
        if self.kind(end) != Some(TokenKind::OpenBrace) {
            let to = if self.kind(end) == Some(TokenKind::Semicolon) { end + 1 } else { end };
            let to = to.max(from + 1);
            self.position = to;
            self.without_body(from, to);
            return;
        }
        let close = self.matching_brace(end);
        let whole = close.map_or(self.body_end(end), |close| close + 1);
        if close.is_some() && self.attempt(Entry::Item, from, whole, None) {
            self.position = whole;
            return;
        }
        let open = self.tokens[end].span;
        if self.run(Entry::Item, from, end, Some(Terminal::Semicolon(open))).is_err() {
            self.damaged_header(from, end);
        }
        let inner_end = close.unwrap_or(whole);
        let function = self.builder.borrow().last_function();
        self.body(end + 1, inner_end);
        let last = self.tokens.get(whole - 1).map_or(open, |token| token.span);
        self.builder.get_mut().set_body(function, open.to(last));
        if close.is_none() && !self.swallows_the_rest(end, whole) {
            let found = self.next_body(whole).map(|token| token.span);
            let end_of_text = self.end_of_text();
            self.report(messages::unclosed_brace(open, found, end_of_text));
        }
        self.position = whole;
    }

    /// A declaration, or the declaration of a function.
    fn without_body(&mut self, from: usize, to: usize) {
        let function = self.tokens[from..to].iter().any(|token| is_function(token.kind));
        let complete = self.kind(to - 1) == Some(TokenKind::Semicolon);
        let end = Terminal::Semicolon(Span::at(self.tokens[to - 1].span.end));
        let Err(at) = self.run(Entry::Item, from, to, None) else { return };
        let read = function && self.body_without_brace(from, at);
        if !read && !complete && at == to {
            // Only the `;` is missing: what is declared is known all the same.
            let _known = self.attempt(Entry::Item, from, to, Some(end));
        }
    }

    /// Where ptxas finds out that a body did not end: at the next header, or at the body after it, since functions may
    /// be declared within others.
    fn next_body(&self, header: usize) -> Option<Token> {
        let first = self.tokens.get(header).copied()?;
        let rest = self.tokens[header..].iter().take(MAX_STATEMENT_TOKENS);
        let mut rest =
            rest.take_while(|token| !matches!(token.kind, TokenKind::Entry | TokenKind::Semicolon));
        rest.find(|token| token.kind == TokenKind::OpenBrace).copied().or(Some(first))
    }

    /// Whether a comment or string in a body takes what may have been its end.
    fn swallows_the_rest(&self, from: usize, to: usize) -> bool {
        self.tokens[from..to].iter().any(|token| match token.kind {
            TokenKind::UnterminatedComment | TokenKind::UnterminatedString => true,
            TokenKind::String => token.text(self.source).contains('\n'),
            _ => false,
        })
    }

    /// A header was followed by a statement at `at`: the `{` is missing, and the body is there.
    fn body_without_brace(&mut self, from: usize, at: usize) -> bool {
        if !self.kind(at).is_some_and(begins_statement) {
            return false;
        }
        let Some(close) = self.closing_brace(at, 1, self.body_end(at)) else { return false };
        self.damaged_header(from, at);
        let function = self.builder.borrow().last_function();
        self.body(at, close);
        self.builder.get_mut().set_body(function, self.tokens[at].span.to(self.tokens[close].span));
        self.position = close + 1;
        true
    }

    /// Parses `from..to` with `extra` after it; keeps nothing and reports nothing where that fails.
    fn attempt(&mut self, entry: Entry, from: usize, to: usize, extra: Option<Terminal>) -> bool {
        let tokens = &self.tokens[from..to];
        let end = tokens.last().map_or(0, |token| token.span.end);
        let terminals = tokens.iter().filter_map(|token| {
            let terminal = Terminal::new(token.kind, token.span)?;
            Some(Ok((token.span.start, terminal, token.span.end)))
        });
        let terminals = terminals.chain(extra.map(|terminal| Ok((end, terminal, end))));
        let statements = self.builder.borrow().tree.statements.len();
        let functions = self.builder.borrow().tree.functions.len();
        let done = run_entry(entry, &self.builder, terminals).is_ok();
        if !done {
            self.builder.get_mut().abandon();
            self.builder.get_mut().tree.statements.truncate(statements);
            self.builder.get_mut().tree.functions.truncate(functions);
        }
        done
    }

    fn damaged_header(&mut self, from: usize, end: usize) {
        let tokens = &self.tokens[from..end];
        let entry = tokens.iter().any(|token| token.kind == TokenKind::Entry);
        let kind = if entry { FunctionKind::Entry } else { FunctionKind::Function };
        let span = tokens[0].span;
        let mut depth = 0;
        let mut name = None;
        for token in tokens {
            match token.kind {
                TokenKind::OpenParen => depth += 1,
                TokenKind::CloseParen => depth -= 1,
                TokenKind::Name if depth == 0 => name = name.or(Some(token.span)),
                _ => {}
            }
        }
        self.builder.get_mut().damaged_function(kind, span, name.unwrap_or(span));
    }

    /// The `}` that closes the `{` at `open`; none where a header shows that it is missing.
    fn matching_brace(&self, open: usize) -> Option<usize> {
        self.closing_brace(open + 1, 1, self.body_end(open))
    }

    /// The `}` in `from..to` that closes the last of `depth` blocks. The braces of a vector that is not
    /// closed end with its statement, so that they take no `}` of a block.
    fn closing_brace(&self, from: usize, mut depth: u32, to: usize) -> Option<usize> {
        let mut vectors = 0_u32;
        for index in from..to {
            match self.tokens[index].kind {
                TokenKind::OpenBrace if vectors > 0 || self.begins_vector(index) => vectors += 1,
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace if vectors > 0 => vectors -= 1,
                TokenKind::CloseBrace if depth == 1 => return Some(index),
                TokenKind::CloseBrace => depth -= 1,
                TokenKind::Semicolon => vectors = 0,
                _ => {}
            }
        }
        None
    }

    /// Whether the `{` at `index` is where an operand may be.
    fn begins_vector(&self, index: usize) -> bool {
        match index.checked_sub(1).and_then(|before| self.kind(before)) {
            Some(TokenKind::Comma | TokenKind::Equals | TokenKind::OpenBracket | TokenKind::OpenParen) => {
                true
            }
            Some(TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace | TokenKind::Colon) => {
                false
            }
            _ => !self.begins_line(index),
        }
    }

    /// The first token after `open` that cannot be in a body.
    fn body_end(&self, open: usize) -> usize {
        let mut index = open + 1;
        while let Some(kind) = self.kind(index) {
            let header = matches!(
                kind,
                TokenKind::Entry | TokenKind::Func | TokenKind::Version | TokenKind::AddressSize
            ) || (kind == TokenKind::Linkage
                && matches!(self.kind(index + 1), Some(TokenKind::Entry | TokenKind::Func)));
            if header && self.begins_line(index) && self.local_function(index).is_none() {
                return index;
            }
            index += 1;
        }
        index
    }

    /// One past the declaration of a function that is at `index` of a body, which ptxas allows.
    fn local_function(&self, index: usize) -> Option<usize> {
        let keyword = if self.kind(index) == Some(TokenKind::Linkage) { index + 1 } else { index };
        if self.kind(keyword) != Some(TokenKind::Func) {
            return None;
        }
        let rest = self.tokens[keyword..].iter().take(MAX_STATEMENT_TOKENS);
        let length = rest.take_while(|token| {
            !matches!(token.kind, TokenKind::Semicolon | TokenKind::OpenBrace | TokenKind::CloseBrace)
        });
        let end = keyword + length.count();
        (self.kind(end) == Some(TokenKind::Semicolon)).then_some(end + 1)
    }

    /// The statements of a body.
    fn body(&mut self, from: usize, to: usize) {
        let mut index = from;
        let mut open: Vec<Span> = Vec::new();
        while index < to && !self.gives_up(index) {
            let token = self.tokens[index];
            index = match token.kind {
                TokenKind::OpenBrace => {
                    open.push(token.span);
                    self.builder.get_mut().statement(StatementKind::OpenBlock, token.span, token.span, 0);
                    index + 1
                }
                TokenKind::CloseBrace => {
                    match open.pop() {
                        Some(_) => {
                            self.builder.get_mut().statement(
                                StatementKind::CloseBlock,
                                token.span,
                                token.span,
                                0,
                            );
                        }
                        None => {
                            let stray = messages::stray_at_module_level(self.source, &[token]);
                            self.report(stray);
                        }
                    }
                    index + 1
                }
                _ => self.statement(index, to),
            };
        }
        self.close_blocks(&open, to);
    }

    /// Closes the blocks that a body left open, so that every tree is balanced.
    fn close_blocks(&mut self, open: &[Span], to: usize) {
        let at = Span::at(self.tokens.get(to.saturating_sub(1)).map_or(0, |token| token.span.end));
        for _ in open {
            self.builder.get_mut().statement(StatementKind::CloseBlock, at, at, 0);
        }
        // Where the end of the body is missing too, that is reported, and the missing brace is one of them.
        if let Some(&innermost) = open.last()
            && self.kind(to) == Some(TokenKind::CloseBrace)
        {
            let end = self.tokens[to].span;
            self.report(messages::unclosed_brace(innermost, Some(end), end));
        }
    }

    /// Parses the statement at `from`; gives the index where the next one begins.
    fn statement(&mut self, from: usize, limit: usize) -> usize {
        if let Some(to) = self.local_function(from).filter(|&to| to <= limit) {
            let outer = self.builder.get_mut().begin_inner();
            if !self.attempt(Entry::Item, from, to, None) {
                let _reported = self.run(Entry::Item, from, to, None);
            }
            self.builder.get_mut().end_inner(outer);
            self.lenient = true;
            return to;
        }
        let to = self.statement_end(from, limit);
        let Err(at) = self.run(Entry::Statement, from, to, None) else { return to };
        let resumable = self.kind(at).is_some_and(begins_statement);
        if at <= from || !resumable || !self.begins_line(at) && at < to {
            return to;
        }
        // Only the `;` is missing: what the statement declares is known all the same.
        let end = Terminal::Semicolon(Span::at(self.tokens[at - 1].span.end));
        let _known = self.attempt(Entry::Statement, from, at, Some(end));
        at
    }

    /// One past the last token of the statement at `from`.
    fn statement_end(&self, from: usize, limit: usize) -> usize {
        if self.kind(from) == Some(TokenKind::Name) && self.kind(from + 1) == Some(TokenKind::Colon) {
            return (from + 2).min(limit);
        }
        if matches!(self.kind(from), Some(TokenKind::Loc | TokenKind::File)) {
            return self.loc_end(from, limit);
        }
        let mut depth = 0_u32;
        // A text without any `;` would be read to its end once for each of its lines.
        let limit = limit.min(from + MAX_STATEMENT_TOKENS);
        for index in from..limit {
            match self.tokens[index].kind {
                TokenKind::Semicolon => return index + 1,
                TokenKind::OpenBrace => depth += 1,
                TokenKind::CloseBrace if depth == 0 => return index,
                TokenKind::CloseBrace => depth -= 1,
                _ => {}
            }
        }
        limit
    }

    /// `.loc` and `.file` have no `;`: they end where a word follows that no comma asks for.
    fn loc_end(&self, from: usize, limit: usize) -> usize {
        let mut index = from + 1;
        let mut names = 0;
        while index < limit {
            match self.tokens[index].kind {
                TokenKind::Comma => names = 2,
                TokenKind::Integer | TokenKind::String | TokenKind::Plus | TokenKind::Float => {}
                TokenKind::Name if names > 0 => names -= 1,
                _ => break,
            }
            index += 1;
        }
        index
    }
}

/// Runs the grammar; an error is its offset (none: the end was reached) and what was expected.
fn run_entry(
    entry: Entry,
    builder: &RefCell<Builder>,
    terminals: impl Iterator<Item = Spanned>,
) -> Result<(), (Option<u32>, Vec<String>)> {
    let result = match entry {
        Entry::Module => grammar::ModuleParser::new().parse(builder, terminals),
        Entry::Item => grammar::OneItemParser::new().parse(builder, terminals),
        Entry::Statement => grammar::OneStatementParser::new().parse(builder, terminals),
    };
    match result {
        Ok(()) => Ok(()),
        Err(ParseError::UnrecognizedToken { token: (start, _, _), mut expected }) => {
            // Nobody writes that terminal.
            expected.retain(|terminal| !matches!(&**terminal, "statements" | "elements"));
            Err((Some(start), expected))
        }
        Err(ParseError::ExtraToken { token: (start, _, _) }) => Err((Some(start), Vec::new())),
        Err(ParseError::UnrecognizedEof { expected, .. }) => Err((None, expected)),
        Err(ParseError::InvalidToken { location }) => Err((Some(location), Vec::new())),
        Err(ParseError::User { error: () }) => Err((None, Vec::new())),
    }
}

/// Whether an item of a module may begin with this token.
fn begins_item(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Version
            | TokenKind::Target
            | TokenKind::AddressSize
            | TokenKind::Entry
            | TokenKind::Func
            | TokenKind::Linkage
            | TokenKind::StateSpace
            | TokenKind::Alias
            | TokenKind::Pragma
            | TokenKind::File
            | TokenKind::Section
            | TokenKind::SourceSection
    )
}

fn is_function(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Entry | TokenKind::Func)
}

fn is_number(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Integer | TokenKind::Float | TokenKind::BadNumber)
}

fn ends_without_semicolon(kind: TokenKind) -> bool {
    matches!(kind, TokenKind::Version | TokenKind::Target | TokenKind::AddressSize | TokenKind::File)
}

/// Whether a statement may begin with this token.
fn begins_statement(kind: TokenKind) -> bool {
    kind.is_dot_word()
        || matches!(
            kind,
            TokenKind::Name
                | TokenKind::Dotted
                | TokenKind::At
                | TokenKind::OpenBrace
                | TokenKind::CloseBrace
        )
}

#[cfg(test)]
mod tests {
    use super::Recovery;
    use crate::SyntaxError;
    use crate::nesting::MAX_BLOCKS;
    use crate::parser::parse;

    #[test]
    fn what_is_nested_too_deeply_is_left_out_and_told_once() {
        let body = |blocks: u32| {
            let (open, close) = ("{".repeat(blocks as usize), "}".repeat(blocks as usize));
            format!(
                ".version 8.0\n.target sm_90\n.address_size 64\n.entry k() {{{open}{close}}}\n.entry l() {{}}\n"
            )
        };
        let errors = |text: &str| parse(text).errors;
        let is_too_deep = |error: &SyntaxError| error.what.message.contains("nested more deeply");
        assert_eq!(errors(&body(MAX_BLOCKS)), []);
        let deep = parse(&body(MAX_BLOCKS + 1));
        assert_eq!((deep.errors.len(), deep.tree.functions.len()), (1, 1));
        assert!(is_too_deep(&deep.errors[0]), "{:?}", deep.errors[0].what);
        // Neither closed nor alone.
        let open = ".version 8.0\n.target 1 2\n.global .u32 x = ".to_owned() + &"(".repeat(100_000);
        let open = errors(&open);
        assert!(open[0].what.message.contains(".target"), "{open:?}");
        assert!(open.last().is_some_and(is_too_deep), "{open:?}");
        // What is closed, or ends with its statement, is not open.
        assert_eq!(errors(&format!(".version 8.0\n.entry k() {{ {} }}", "{ }".repeat(20_000))), []);
        for open in ["(", "{", ", {1, {"] {
            let lost = format!("mov.b32 {open}%r1;\n").repeat(20_000);
            let lost = errors(&format!(".version 8.0\n.entry k() {{ {lost} }}"));
            assert!(!lost.iter().any(is_too_deep));
        }
        // Lists weigh less than blocks.
        let lists = "{".repeat(9_000) + "1" + &"}".repeat(9_000);
        assert_eq!(errors(&format!(".version 8.0\n.global .u32 x = {lists};")), []);
        assert_eq!(errors(&format!(".version 8.0\n.entry k() {{ .global .u32 x = {lists}; }}")), []);
    }

    #[test]
    fn the_text_as_a_whole_leaves_the_tree_of_its_parts_alone() {
        let text = ".version 8.0\n.entry k() { ret; ret; }\n.entry l() { ret; }\n";
        let mut recovery = Recovery::new(text);
        recovery.module();
        let before = recovery.builder.get_mut().tree.clone();
        recovery.whole();
        let tree = &recovery.builder.get_mut().tree;
        assert_eq!((tree.functions.len(), tree.statements.len()), (2, before.statements.len()));
        assert_eq!(format!("{tree:?}"), format!("{before:?}"));
    }
}
