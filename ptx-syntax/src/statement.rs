//! The plain statements of a function body, read without the grammar's tables.
//!
//! Most statements are an instruction whose operands are names, numbers, addresses and flat lists, a label, or
//! a `.loc`. The grammar takes them too, and says what they mean: this reader knows a part of its language, builds what
//! the grammar builds, and leaves every other statement to it, so that a text has one tree whoever reads it. It is
//! what makes parsing nearly twice as fast; a table-driven parser spends most of its time on pushing and popping.
//!
//! [`Terminals`] is between the lexer and the grammar's parser. After each `;` in a function body it says
//! `Statements` to the parser, which thereby finishes the statement before it; before the next token it then
//! reads plain statements until one is not plain. The data of debugging sections are read likewise, and of an initial
//! value at module level the numbers, of which `Elements` tells the parser how many they are.

use std::cell::RefCell;

use crate::Span;
use crate::ast::{BinaryOperator, Guard, OperandKind, StatementKind};
use crate::builder::Builder;
use crate::lexer::{Token, TokenKind, Tokens};
use crate::nesting::Nesting;
use crate::parser::{Spanned, Terminal};
use crate::prototype::Prototype;

/// Lists within lists within lists belong to the grammar.
const DEEPEST: u32 = 3;

/// The terminals of a text, without the statements that were read on the way.
pub(crate) struct Terminals<'b, Source> {
    tokens: Source,
    builder: &'b RefCell<Builder>,
    nesting: Nesting,
    /// What the braces belong to.
    within: Within,
    next: Next,
    prototype: Prototype,
    /// A token that a `;` was put before.
    held: Option<Token>,
    /// Where the token before ends.
    end: u32,
}

/// What is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Within {
    Module,
    Function,
    Section,
}

/// What the parser is told next.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Next {
    /// A token.
    Token,
    /// That statements follow.
    Statements,
    /// A token, after the plain statements before it.
    AfterStatements,
    /// How many plain elements of an initial value follow, if any do.
    Elements,
}

impl<'b, Source: Tokens> Terminals<'b, Source> {
    pub(crate) fn new(tokens: Source, builder: &'b RefCell<Builder>) -> Self {
        Self {
            tokens,
            builder,
            nesting: Nesting::default(),
            within: Within::Module,
            next: Next::Token,
            prototype: Prototype::default(),
            held: None,
            end: 0,
        }
    }

    /// Reads statements, or lines of a section, up to the first that is not plain.
    #[inline(never)]
    fn statements(&mut self) {
        let mut builder = self.builder.borrow_mut();
        let mut reader = Reader { tokens: self.tokens.clone(), ahead: None, builder: &mut builder };
        loop {
            let mark = reader.builder.mark();
            let read = match self.within {
                Within::Section => reader.section_line(),
                Within::Function | Within::Module => reader.statement(),
            };
            if read.is_none() {
                reader.builder.return_to(mark);
                return;
            }
            match &reader.ahead {
                None => self.tokens.clone_from(&reader.tokens),
                Some((before, _)) => self.tokens.clone_from(before),
            }
        }
    }
}

impl<Source: Tokens> Terminals<'_, Source> {
    /// Reads numbers with a comma after each, which are most of a large table, and tells how many they are.
    #[inline(never)]
    fn elements(&mut self) -> u32 {
        let mut builder = self.builder.borrow_mut();
        let mut count = 0;
        loop {
            let before = self.tokens.clone();
            let kind = match self.tokens.significant() {
                Some(Token { kind: TokenKind::Integer, span }) => Some((OperandKind::Integer, span)),
                Some(Token { kind: TokenKind::Float, span }) => Some((OperandKind::Float, span)),
                _ => None,
            };
            let comma = kind.and_then(|_| self.tokens.significant());
            match (kind, comma) {
                (Some((kind, span)), Some(Token { kind: TokenKind::Comma, span: Span { end, .. } })) => {
                    builder.leaf(kind, span);
                    self.end = end;
                    count += 1;
                }
                _ => {
                    self.tokens = before;
                    return count;
                }
            }
        }
    }
}

impl<Source> Terminals<'_, Source> {
    /// The `;` that a declaration lacks.
    fn semicolon(&mut self) -> Spanned {
        self.within = Within::Module;
        Ok((self.end, Terminal::Semicolon(Span::at(self.end)), self.end))
    }
}

impl<Source: Tokens> Iterator for Terminals<'_, Source> {
    type Item = Spanned;

    #[inline]
    fn next(&mut self) -> Option<Spanned> {
        match self.next {
            Next::Token => {}
            Next::Statements => {
                self.next = Next::AfterStatements;
                return Some(Ok((0, Terminal::Statements(Span::default()), 0)));
            }
            Next::AfterStatements => {
                self.next = Next::Token;
                self.statements();
            }
            Next::Elements => {
                self.next = Next::Token;
                let (start, count) = (self.end, self.elements());
                if count > 0 {
                    self.nesting.pass(TokenKind::Comma);
                    return Some(Ok((start, Terminal::Elements(count), self.end)));
                }
            }
        }
        loop {
            let held = self.held.take();
            let Some(token) = held.or_else(|| self.tokens.significant()) else {
                // The text is refused in any case. The parser would find out what it could go on with instead, which costs
                // a copy of its stack for each terminal.
                if self.nesting.braces() > 0 {
                    return Some(Err(()));
                }
                return self.prototype.ends_with_text().then(|| self.semicolon());
            };
            let Token { kind, span } = token;
            let Some(terminal) = Terminal::new(kind, span) else { continue };
            if held.is_none() && self.nesting.braces() == 0 && self.prototype.ends_before(kind) {
                self.held = Some(token);
                return Some(self.semicolon());
            }
            self.end = span.end;
            if self.nesting.pass(kind) {
                return Some(Err(()));
            }
            match kind {
                TokenKind::Entry | TokenKind::Func => self.within = Within::Function,
                TokenKind::Section if self.nesting.braces() == 0 => self.within = Within::Section,
                TokenKind::OpenBrace if self.within == Within::Section => self.next = Next::Statements,
                TokenKind::CloseBrace if self.nesting.braces() == 0 => self.within = Within::Module,
                TokenKind::Semicolon if self.nesting.braces() == 0 => self.within = Within::Module,
                TokenKind::Semicolon if self.within == Within::Function => self.next = Next::Statements,
                TokenKind::OpenBrace | TokenKind::Comma
                    if self.within == Within::Module && self.nesting.braces() > 0 =>
                {
                    self.next = Next::Elements;
                }
                _ => {}
            }
            return Some(Ok((span.start, terminal, span.end)));
        }
    }
}

struct Reader<'b, Source> {
    tokens: Source,
    /// A token that was taken from `tokens` and belongs to what follows, and the tokens as they were before it.
    ahead: Option<(Source, Token)>,
    builder: &'b mut Builder,
}

impl<Source: Tokens> Reader<'_, Source> {
    #[inline]
    fn token(&mut self) -> Option<Token> {
        self.tokens.significant()
    }

    /// The first token of a statement, which the one before may have looked at.
    #[inline]
    fn first(&mut self) -> Option<Token> {
        match self.ahead.take() {
            Some((_, token)) => Some(token),
            None => self.token(),
        }
    }

    /// The next token if it is of this kind; else it stays.
    #[inline]
    fn accept(&mut self, kind: TokenKind) -> Option<Span> {
        if self.ahead.is_none() {
            let before = self.tokens.clone();
            let token = self.token()?;
            if token.kind == kind {
                return Some(token.span);
            }
            self.ahead = Some((before, token));
            return None;
        }
        let span = self.ahead.as_ref().filter(|(_, token)| token.kind == kind).map(|(_, token)| token.span);
        if span.is_some() {
            self.ahead = None;
        }
        span
    }

    /// The next token if it is of this kind.
    #[inline]
    fn expect(&mut self, kind: TokenKind) -> Option<Span> {
        let token = self.token()?;
        (token.kind == kind).then_some(token.span)
    }

    /// One statement; none if it is not plain.
    fn statement(&mut self) -> Option<()> {
        let first = self.first()?;
        match first.kind {
            TokenKind::Name | TokenKind::Dotted => self.instruction((Guard::None, first.span), first),
            TokenKind::At => {
                let mut token = self.token()?;
                let mut guard = Guard::If;
                if token.kind == TokenKind::Not {
                    guard = Guard::Unless;
                    token = self.token()?;
                }
                if token.kind != TokenKind::Name {
                    return None;
                }
                self.builder.leaf(OperandKind::Name, token.span);
                let opcode = self.token()?;
                self.instruction((guard, first.span), opcode)
            }
            TokenKind::Loc => self.loc(first.span),
            _ => None,
        }
    }

    fn instruction(&mut self, guard: (Guard, Span), opcode: Token) -> Option<()> {
        let word = opcode.span;
        if !matches!(opcode.kind, TokenKind::Name | TokenKind::Dotted) {
            return None;
        }
        let mut token = self.token()?;
        match token.kind {
            TokenKind::Semicolon => {
                self.builder.instruction(guard, word, 0, token.span);
                return Some(());
            }
            TokenKind::Colon if opcode.kind == TokenKind::Name && guard.0 == Guard::None => {
                self.builder.statement(StatementKind::Label, word, word, 0);
                return Some(());
            }
            _ => {}
        }
        let mut count = 0;
        loop {
            let end = self.operand(token, DEEPEST)?;
            count += 1;
            match end.kind {
                TokenKind::Comma => token = self.token()?,
                TokenKind::Semicolon => {
                    self.builder.instruction(guard, word, count, end.span);
                    return Some(());
                }
                _ => return None,
            }
        }
    }

    /// An operand that begins with `first`; gives the token after it.
    fn operand(&mut self, first: Token, depth: u32) -> Option<Token> {
        match first.kind {
            TokenKind::Not => {
                let name = self.token()?;
                if name.kind != TokenKind::Name {
                    return None;
                }
                self.builder.leaf(OperandKind::Name, name.span);
                self.builder.prefix(OperandKind::Not, first.span);
                return self.token();
            }
            TokenKind::OpenBracket => {
                return self.list(OperandKind::Bracket, TokenKind::CloseBracket, first, depth);
            }
            TokenKind::OpenBrace => {
                return self.list(OperandKind::Vector, TokenKind::CloseBrace, first, depth);
            }
            TokenKind::OpenParen => {
                return self.list(OperandKind::Parens, TokenKind::CloseParen, first, depth);
            }
            _ => self.leaf(first)?,
        }
        let operator = self.token()?;
        let kind = match operator.kind {
            TokenKind::Plus => BinaryOperator::Add,
            TokenKind::Minus => BinaryOperator::Subtract,
            TokenKind::Or => BinaryOperator::Or,
            _ => return Some(operator),
        };
        let second = self.token()?;
        self.leaf(second)?;
        self.builder.binary(kind);
        self.token()
    }

    /// A name or a number, or minus a number.
    #[inline]
    fn leaf(&mut self, token: Token) -> Option<()> {
        let kind = match token.kind {
            TokenKind::Name => OperandKind::Name,
            TokenKind::Dotted => OperandKind::Dotted,
            TokenKind::Integer => OperandKind::Integer,
            TokenKind::Float => OperandKind::Float,
            TokenKind::Minus => {
                let number = self.token()?;
                let kind = match number.kind {
                    TokenKind::Integer => OperandKind::Integer,
                    TokenKind::Float => OperandKind::Float,
                    _ => return None,
                };
                self.builder.leaf(kind, number.span);
                self.builder.prefix(OperandKind::Negate, token.span);
                return Some(());
            }
            _ => return None,
        };
        self.builder.leaf(kind, token.span);
        Some(())
    }

    /// `[a, b]`, `{a, b}` or `(a, b)`; gives the token after it.
    fn list(&mut self, kind: OperandKind, close: TokenKind, open: Token, depth: u32) -> Option<Token> {
        let depth = depth.checked_sub(1)?;
        let mut token = self.token()?;
        let mut count = 0;
        // An address is not empty.
        if token.kind != close || kind == OperandKind::Bracket {
            loop {
                let end = self.operand(token, depth)?;
                count += 1;
                if end.kind == close {
                    token = end;
                    break;
                }
                if end.kind != TokenKind::Comma {
                    return None;
                }
                token = self.token()?;
            }
        }
        self.builder.node(kind, open.span.to(token.span), count);
        self.token()
    }

    /// `.loc 1 2 3, function_name label, inlined_at 1 2 3`, which has no end but the next statement.
    fn loc(&mut self, word: Span) -> Option<()> {
        self.integers()?;
        let mut count = 3;
        loop {
            if self.accept(TokenKind::Comma).is_none() {
                self.builder.open_statement(word, count);
                return Some(());
            }
            let name = self.expect(TokenKind::Name)?;
            self.builder.leaf(OperandKind::Name, name);
            if let Some(label) = self.accept(TokenKind::Name) {
                self.builder.leaf(OperandKind::Name, label);
                count += 2;
                if self.accept(TokenKind::Plus).is_some() {
                    let number = self.expect(TokenKind::Integer)?;
                    self.builder.leaf(OperandKind::Integer, number);
                    self.builder.binary(BinaryOperator::Add);
                }
            } else {
                if let Some((before, _)) = self.ahead.take() {
                    self.tokens = before;
                }
                self.integers()?;
                count += 4;
            }
        }
    }

    /// `label:`, or `.b8 1, 2`, which has no end but the next line.
    fn section_line(&mut self) -> Option<()> {
        let word = self.first()?;
        match word.kind {
            TokenKind::Name => {
                self.expect(TokenKind::Colon)?;
                self.builder.statement(StatementKind::Label, word.span, word.span, 0);
                return Some(());
            }
            TokenKind::DotWord => {}
            _ => return None,
        }
        loop {
            let (first, mut last) = self.datum()?;
            let mut end = self.tokens.clone();
            let mut next = self.token()?;
            if let TokenKind::Plus | TokenKind::Minus = next.kind {
                let second = self.token()?;
                let is_sum = match next.kind {
                    TokenKind::Plus => {
                        matches!(first, TokenKind::Name | TokenKind::DotWord)
                            && second.kind == TokenKind::Integer
                    }
                    _ => first == TokenKind::Name && second.kind == TokenKind::Name,
                };
                if !is_sum {
                    return None;
                }
                last = second.span;
                end = self.tokens.clone();
                next = self.token()?;
            }
            if next.kind != TokenKind::Comma {
                self.ahead = Some((end, next));
                self.builder.data(word.span, last);
                return Some(());
            }
        }
    }

    /// What is in a list of data: a number, a name or a text.
    #[inline]
    fn datum(&mut self) -> Option<(TokenKind, Span)> {
        let mut token = self.token()?;
        match token.kind {
            TokenKind::Integer
            | TokenKind::Float
            | TokenKind::Name
            | TokenKind::DotWord
            | TokenKind::String => return Some((token.kind, token.span)),
            TokenKind::Minus => {}
            _ => return None,
        }
        token = self.token()?;
        let is_number = matches!(token.kind, TokenKind::Integer | TokenKind::Float);
        is_number.then_some((token.kind, token.span))
    }

    fn integers(&mut self) -> Option<()> {
        for _ in 0..3 {
            let number = self.expect(TokenKind::Integer)?;
            self.builder.leaf(OperandKind::Integer, number);
        }
        Some(())
    }
}

#[cfg(test)]
mod tests;
