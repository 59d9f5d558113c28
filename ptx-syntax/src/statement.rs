//! The plain statements of a function body, read without the grammar's tables.
//!
//! Most statements are an instruction whose operands are names, numbers, addresses and flat lists, a label, a
//! declaration of registers, or a `.loc`. The grammar takes them too, and says what they mean: this reader knows a part of
//! its language, builds what the grammar builds, and leaves every other statement to it, so that a text has one tree
//! whoever reads it. It is what makes parsing several times as fast; a table-driven parser spends most of its time on
//! pushing and popping, and a reader that knows what may follow looks at one byte where a lexer makes a token.
//!
//! [`Terminals`] is between the lexer and the grammar's parser. Where a statement of a function body may begin, it says
//! `Statements` to the parser, which thereby finishes the statement before; before the next token it then
//! reads plain statements until one is not plain. Of the blocks that these begin and do not end, it tells the parser as
//! `OpenBlock`. The data of debugging sections are read likewise, and of an initial
//! value at module level the numbers, of which `Elements` tells the parser how many they are.

use std::cell::RefCell;

use crate::Span;
use crate::ast::{BinaryOperator, Guard, OperandKind, SpecifierKind, StatementKind};
use crate::builder::Builder;
use crate::lexer::{Lexer, Token, TokenKind, Tokens, begins_word};
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
    /// Blocks that the parser has to be told of.
    opened: u32,
    /// Whether the next token begins a statement of a function body, or ends a block.
    at_statement: bool,
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

impl<'s, 'b, Source: Tokens<'s>> Terminals<'b, Source> {
    pub(crate) fn new(tokens: Source, builder: &'b RefCell<Builder>) -> Self {
        Self {
            tokens,
            builder,
            nesting: Nesting::default(),
            within: Within::Module,
            next: Next::Token,
            opened: 0,
            at_statement: false,
            prototype: Prototype::default(),
            held: None,
            end: 0,
        }
    }

    /// Reads statements, or lines of a section, up to the first that is not plain.
    #[inline(never)]
    fn statements(&mut self) {
        let lexer = self.tokens.lexer();
        let mut reader = Reader { lexer: lexer.clone(), builder: &mut self.builder.borrow_mut() };
        match self.within {
            Within::Section => reader.section_lines(),
            Within::Function | Within::Module => {
                self.opened = reader.statements(&mut self.nesting);
                self.at_statement = true;
            }
        }
        *lexer = reader.lexer;
    }

    /// Reads numbers with a comma after each, which are most of a large table, and tells how many they are.
    #[inline(never)]
    fn elements(&mut self) -> u32 {
        let lexer = self.tokens.lexer();
        let mut reader = Reader { lexer: lexer.clone(), builder: &mut self.builder.borrow_mut() };
        let mut count = 0;
        while let Some(end) = reader.element() {
            self.end = end;
            count += 1;
        }
        *lexer = reader.lexer;
        count
    }

    /// The `;` that a declaration lacks.
    fn semicolon(&mut self) -> Spanned {
        self.within = Within::Module;
        Ok((self.end, Terminal::Semicolon(Span::at(self.end)), self.end))
    }

    /// What is to be said before the token that follows this one.
    #[inline]
    fn after(&mut self, kind: TokenKind) -> Next {
        let at_statement = std::mem::take(&mut self.at_statement);
        let in_function = self.within == Within::Function;
        match kind {
            TokenKind::Entry | TokenKind::Func => self.within = Within::Function,
            TokenKind::Section if self.nesting.braces() == 0 => self.within = Within::Section,
            TokenKind::OpenBrace if self.within == Within::Section => return Next::Statements,
            TokenKind::CloseBrace | TokenKind::Semicolon if self.nesting.braces() == 0 => {
                self.within = Within::Module;
            }
            TokenKind::Semicolon if in_function => return Next::Statements,
            TokenKind::OpenBrace | TokenKind::CloseBrace if in_function && at_statement => {
                return Next::Statements;
            }
            // The body begins.
            TokenKind::OpenBrace if in_function && self.nesting.braces() == 1 && !self.nesting.in_list() => {
                return Next::Statements;
            }
            TokenKind::OpenBrace | TokenKind::Comma
                if self.within == Within::Module && self.nesting.braces() > 0 =>
            {
                return Next::Elements;
            }
            _ => {}
        }
        Next::Token
    }
}

impl<'s, Source: Tokens<'s>> Iterator for Terminals<'_, Source> {
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
        if let Some(rest) = self.opened.checked_sub(1) {
            self.opened = rest;
            return Some(Ok((0, Terminal::OpenBlock(Span::default()), 0)));
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
            self.next = self.after(kind);
            return Some(Ok((span.start, terminal, span.end)));
        }
    }
}

/// Reads what is plain. A method gives none where something else follows; what it has built and passed then is undone by
/// who reads whole statements.
struct Reader<'r, 's> {
    lexer: Lexer<'s>,
    builder: &'r mut Builder,
}

impl Reader<'_, '_> {
    /// Reads statements up to the first that is not plain, and tells how many blocks begin among them and do not end.
    fn statements(&mut self, nesting: &mut Nesting) -> u32 {
        let mut open = 0;
        loop {
            let first = self.lexer.peek();
            let (place, mark) = (self.lexer.place(), self.builder.mark());
            let read = match first {
                b'{' => self.open_block(nesting).map(|()| open += 1),
                b'}' if open > 0 => {
                    open -= 1;
                    nesting.pass(TokenKind::CloseBrace);
                    let span = self.lexer.sign();
                    self.builder.statement(StatementKind::CloseBlock, span, span, 0);
                    Some(())
                }
                b'@' => self.guarded(),
                b'.' => self.directive(),
                _ if begins_word(first) => self.instruction(None),
                _ => None,
            };
            if read.is_none() {
                self.lexer.move_to(place);
                self.builder.return_to(mark);
                return open;
            }
        }
    }

    fn open_block(&mut self, nesting: &mut Nesting) -> Option<()> {
        let mut within = nesting.clone();
        if within.pass(TokenKind::OpenBrace) {
            return None;
        }
        *nesting = within;
        let span = self.lexer.sign();
        self.builder.statement(StatementKind::OpenBlock, span, span, 0);
        Some(())
    }

    fn guarded(&mut self) -> Option<()> {
        let at = self.lexer.sign();
        let mut guard = Guard::If;
        if self.lexer.peek() == b'!' {
            if self.lexer.is_second(b'=') {
                return None;
            }
            self.lexer.sign();
            guard = Guard::Unless;
        }
        let name = self.name()?;
        self.builder.leaf(OperandKind::Name, name);
        begins_word(self.lexer.peek()).then_some(())?;
        self.instruction(Some((guard, at)))
    }

    /// An instruction or a label, whose first word is next.
    #[inline]
    fn instruction(&mut self, guard: Option<(Guard, Span)>) -> Option<()> {
        let Token { kind, span: word } = self.lexer.word()?;
        let mut count = 0;
        match self.lexer.peek() {
            b';' => {}
            b':' if guard.is_none() && kind == TokenKind::Name => {
                self.lexer.sign();
                self.builder.statement(StatementKind::Label, word, word, 0);
                return Some(());
            }
            _ => count = self.operands(b';', DEEPEST)?,
        }
        let end = self.lexer.sign();
        self.builder.instruction(guard.unwrap_or((Guard::None, word)), word, count, end);
        Some(())
    }

    /// Some operands; `end` comes after them.
    fn operands(&mut self, end: u8, depth: u32) -> Option<u32> {
        let mut count = 0;
        loop {
            let next = self.operand(depth)?;
            count += 1;
            if next == end {
                return Some(count);
            }
            if next != b',' {
                return None;
            }
            self.lexer.sign();
        }
    }

    /// Gives the byte after the operand.
    #[inline(always)]
    fn operand(&mut self, depth: u32) -> Option<u8> {
        let first = self.lexer.peek();
        if begins_word(first) {
            self.word()?;
        } else {
            match first {
                b'[' => self.list(OperandKind::Bracket, b']', depth)?,
                b'{' => self.list(OperandKind::Vector, b'}', depth)?,
                b'(' => self.list(OperandKind::Parens, b')', depth)?,
                b'!' => {
                    let sign = self.lexer.sign();
                    let name = self.name()?;
                    self.builder.leaf(OperandKind::Name, name);
                    self.builder.prefix(OperandKind::Not, sign);
                }
                _ => self.signed_number(first)?,
            }
            if matches!(first, b'[' | b'{' | b'(' | b'!') {
                return Some(self.lexer.peek());
            }
        }
        let operator = match self.lexer.peek() {
            b'+' => BinaryOperator::Add,
            b'-' => BinaryOperator::Subtract,
            b'|' if !self.lexer.is_second(b'|') => BinaryOperator::Or,
            next => return Some(next),
        };
        self.lexer.sign();
        self.second(operator)?;
        Some(self.lexer.peek())
    }

    /// What follows an operator.
    #[inline(never)]
    fn second(&mut self, operator: BinaryOperator) -> Option<()> {
        let first = self.lexer.peek();
        if begins_word(first) {
            self.word()?;
        } else {
            self.signed_number(first)?;
        }
        self.builder.binary(operator);
        Some(())
    }

    /// A name, which is next.
    #[inline(always)]
    fn word(&mut self) -> Option<()> {
        let Token { kind, span } = self.lexer.word()?;
        let kind = if kind == TokenKind::Name { OperandKind::Name } else { OperandKind::Dotted };
        self.builder.leaf(kind, span);
        Some(())
    }

    /// A number, or minus a number, that begins with `first`.
    fn signed_number(&mut self, first: u8) -> Option<()> {
        if first != b'-' {
            return self.number();
        }
        let sign = self.lexer.sign();
        self.lexer.peek();
        self.number()?;
        self.builder.prefix(OperandKind::Negate, sign);
        Some(())
    }

    /// A number, which is next.
    #[inline]
    fn number(&mut self) -> Option<()> {
        let Token { kind, span } = self.lexer.number()?;
        let kind = if kind == TokenKind::Integer { OperandKind::Integer } else { OperandKind::Float };
        self.builder.leaf(kind, span);
        Some(())
    }

    /// A name without dots.
    #[inline]
    fn name(&mut self) -> Option<Span> {
        begins_word(self.lexer.peek()).then_some(())?;
        let Token { kind, span } = self.lexer.word()?;
        (kind == TokenKind::Name).then_some(span)
    }

    /// `[a, b]`, `{a, b}` or `(a, b)`.
    fn list(&mut self, kind: OperandKind, close: u8, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        let open = self.lexer.sign();
        // An address is not empty.
        let is_empty = kind != OperandKind::Bracket && self.lexer.peek() == close;
        let count = if is_empty { 0 } else { self.operands(close, depth)? };
        let span = open.to(self.lexer.sign());
        self.builder.node(kind, span, count);
        Some(())
    }

    /// What begins with a word that begins with a dot.
    fn directive(&mut self) -> Option<()> {
        let Token { kind, span } = self.lexer.next()?;
        match kind {
            TokenKind::Loc => self.loc(span),
            TokenKind::StateSpace => self.declaration(span),
            _ => None,
        }
    }

    /// `.reg .b32 a, %r<8>;`, `.shared .align 8 .b8 x[16];`: what has no initial value, and a number for each
    /// size.
    fn declaration(&mut self, space: Span) -> Option<()> {
        self.builder.specifier(SpecifierKind::StateSpace, space);
        let mut specifiers = 1;
        while self.lexer.peek() == b'.' {
            let Token { kind, span } = self.lexer.next()?;
            match kind {
                TokenKind::DotWord => self.builder.specifier(SpecifierKind::Word, span),
                TokenKind::StateSpace => self.builder.specifier(SpecifierKind::StateSpace, span),
                TokenKind::Align => {
                    self.lexer.peek();
                    self.number()?;
                    self.builder.specifier_with_operand(SpecifierKind::Align, span);
                }
                _ => return None,
            }
            specifiers += 1;
        }
        let mut declarators = 0;
        loop {
            self.declarator()?;
            declarators += 1;
            match self.lexer.peek() {
                b',' => self.lexer.sign(),
                b';' => break,
                _ => return None,
            };
        }
        let end = self.lexer.sign();
        self.builder.declaration_statement(specifiers, declarators, end);
        Some(())
    }

    fn declarator(&mut self) -> Option<()> {
        let name = self.name()?;
        let (mut range, mut dimensions) = (None, 0);
        match self.lexer.peek() {
            b'<' => {
                self.lexer.sign();
                self.lexer.peek();
                self.number()?;
                let is_close = self.lexer.peek() == b'>' && !self.lexer.is_second(b'>');
                (is_close && !self.lexer.is_second(b'=')).then_some(())?;
                range = Some(self.lexer.sign());
            }
            b'[' => {
                while self.lexer.peek() == b'[' {
                    let open = self.lexer.sign();
                    let count = u32::from(self.lexer.peek() != b']');
                    if count == 1 {
                        self.number()?;
                    }
                    (self.lexer.peek() == b']').then_some(())?;
                    let span = open.to(self.lexer.sign());
                    self.builder.node(OperandKind::Bracket, span, count);
                    dimensions += 1;
                }
            }
            _ => {}
        }
        self.builder.declarator(name, range, dimensions, false);
        Some(())
    }

    /// `.loc 1 2 3, function_name label, inlined_at 1 2 3`, which has no end but the next statement.
    fn loc(&mut self, word: Span) -> Option<()> {
        self.integers()?;
        let mut count = 3;
        while self.lexer.peek() == b',' {
            self.lexer.sign();
            let name = self.name()?;
            self.builder.leaf(OperandKind::Name, name);
            if begins_word(self.lexer.peek()) {
                let label = self.name()?;
                self.builder.leaf(OperandKind::Name, label);
                count += 2;
                if self.lexer.peek() == b'+' {
                    self.lexer.sign();
                    self.integer()?;
                    self.builder.binary(BinaryOperator::Add);
                }
            } else {
                self.integers()?;
                count += 4;
            }
        }
        self.builder.open_statement(word, count);
        Some(())
    }

    fn integers(&mut self) -> Option<()> {
        self.integer()?;
        self.integer()?;
        self.integer()
    }

    fn integer(&mut self) -> Option<()> {
        self.lexer.peek();
        let Token { kind, span } = self.lexer.number()?;
        self.builder.leaf(OperandKind::Integer, span);
        (kind == TokenKind::Integer).then_some(())
    }

    /// A number and the comma after it, whose end it gives.
    fn element(&mut self) -> Option<u32> {
        let place = self.lexer.place();
        self.lexer.peek();
        if let Some(Token { kind, span }) = self.lexer.number()
            && self.lexer.peek() == b','
        {
            let kind = if kind == TokenKind::Integer { OperandKind::Integer } else { OperandKind::Float };
            self.builder.leaf(kind, span);
            return Some(self.lexer.sign().end);
        }
        self.lexer.move_to(place);
        None
    }

    /// Reads lines of a section up to the first that is not plain.
    fn section_lines(&mut self) {
        loop {
            let place = self.lexer.place();
            if self.section_line().is_none() {
                self.lexer.move_to(place);
                return;
            }
        }
    }

    /// `label:`, or `.b8 1, 2`, which has no end but the next line.
    fn section_line(&mut self) -> Option<()> {
        let first = self.lexer.peek();
        if begins_word(first) {
            let word = self.name()?;
            (self.lexer.peek() == b':').then_some(())?;
            self.lexer.sign();
            self.builder.statement(StatementKind::Label, word, word, 0);
            return Some(());
        }
        let Token { kind: TokenKind::DotWord, span: word } = self.lexer.next()? else { return None };
        loop {
            let Token { kind: first, span: mut last } = self.datum()?;
            let operator = self.lexer.peek();
            if matches!(operator, b'+' | b'-') {
                self.lexer.sign();
                let second = self.lexer.significant()?;
                let is_sum = match operator {
                    b'+' => {
                        matches!(first, TokenKind::Name | TokenKind::DotWord)
                            && second.kind == TokenKind::Integer
                    }
                    _ => first == TokenKind::Name && second.kind == TokenKind::Name,
                };
                is_sum.then_some(())?;
                last = second.span;
            }
            if self.lexer.peek() != b',' {
                self.builder.data(word, last);
                return Some(());
            }
            self.lexer.sign();
        }
    }

    /// What is in a list of data: a number, a name or a text. Of a negative number it gives what comes after the sign.
    #[inline]
    fn datum(&mut self) -> Option<Token> {
        if self.lexer.peek() == b'-' {
            self.lexer.sign();
            self.lexer.peek();
            return self.lexer.number();
        }
        let token = self.lexer.next()?;
        let is_datum = matches!(
            token.kind,
            TokenKind::Integer | TokenKind::Float | TokenKind::Name | TokenKind::DotWord | TokenKind::String
        );
        is_datum.then_some(token)
    }
}

#[cfg(test)]
mod tests;
