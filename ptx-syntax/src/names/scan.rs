//! The tokens of a text as statements, as far as names need it.

use super::{Declared, Instruction, NameKind, Names, Occurrence, Scope, ScopeKind};
use crate::Span;
use crate::lexer::{Lexer, Token, TokenKind};

/// Reads the names of a text, without their order by hash.
pub(super) fn scan(source: &str) -> Names {
    let module =
        Scope { kind: ScopeKind::Module, span: Span::new(0, source.len() as u32), brace: None, parent: 0 };
    let names = Names { scopes: vec![module], ..Names::default() };
    let cursor = Cursor { lexer: Lexer::new(source), source, ahead: None, end: 0 };
    let mut scanner = Scanner { source, cursor, names, open: vec![0], begin: None };
    while let Some(first) = scanner.cursor.next() {
        scanner.statement(first);
    }
    scanner.close_all(source.len() as u32);
    scanner.names
}

/// A token that means something, and whether a line ended before it.
#[derive(Clone, Copy)]
struct Word {
    kind: TokenKind,
    span: Span,
    on_new_line: bool,
}

struct Cursor<'s> {
    lexer: Lexer<'s>,
    source: &'s str,
    ahead: Option<Word>,
    /// Where the last word ended.
    end: u32,
}

impl Cursor<'_> {
    fn read(&mut self) -> Option<Word> {
        let mut on_new_line = false;
        loop {
            let Token { kind, span } = self.lexer.next()?;
            if !kind.is_trivia() {
                return Some(Word { kind, span, on_new_line });
            }
            on_new_line |= kind == TokenKind::Whitespace
                && memchr::memchr(b'\n', &self.source.as_bytes()[span.range()]).is_some();
        }
    }

    fn peek(&mut self) -> Option<Word> {
        if self.ahead.is_none() {
            self.ahead = self.read();
        }
        self.ahead
    }

    fn next(&mut self) -> Option<Word> {
        let word = self.peek()?;
        self.ahead = None;
        self.end = word.span.end;
        Some(word)
    }

    fn take(&mut self, kind: TokenKind) -> Option<Word> {
        self.peek().filter(|word| word.kind == kind)?;
        self.next()
    }

    /// Whether a colon follows the token that is at `end`.
    fn has_colon_at(&self, end: u32) -> bool {
        let rest = self.source.get(end as usize..).unwrap_or_default();
        let rest = rest.trim_start_matches([' ', '\t']);
        rest.starts_with(':') && !rest.starts_with("::")
    }
}

struct Scanner<'s> {
    source: &'s str,
    cursor: Cursor<'s>,
    names: Names,
    /// The open scopes, the innermost last.
    open: Vec<u32>,
    /// Where the linkage directive of the next declaration begins.
    begin: Option<u32>,
}

impl Scanner<'_> {
    fn scope(&self) -> u32 {
        self.open.last().copied().unwrap_or(0)
    }

    fn open(&mut self, kind: ScopeKind, start: u32, brace: Option<u32>) -> u32 {
        let parent = self.scope();
        let index = self.names.scopes.len() as u32;
        self.names.scopes.push(Scope { kind, span: Span::at(start), brace, parent });
        self.open.push(index);
        self.names.changes.push((start, index));
        index
    }

    fn close(&mut self, end: u32) {
        if self.open.len() > 1
            && let Some(scope) = self.open.pop()
        {
            let scope = &mut self.names.scopes[scope as usize];
            scope.span.end = end.max(scope.span.start);
            let change = (scope.span.end, scope.parent);
            self.names.changes.push(change);
        }
    }

    fn close_all(&mut self, end: u32) {
        // What nothing closes holds the end of the text too.
        let changes = self.names.changes.len();
        while self.open.len() > 1 {
            self.close(end);
        }
        self.names.changes.truncate(changes);
        // The span of a function with a body ends with its scope.
        let scopes = &self.names.scopes;
        for each in &mut self.names.declared {
            if let Some(scope) = each.own_scope {
                each.span.end = each.span.end.max(scopes[scope as usize].span.end);
            }
        }
    }

    /// The name of a word, without its elements.
    fn occurs(&mut self, word: Word, declares: Option<u32>) {
        let text = word.span.text(self.source);
        let length = text.find('.').unwrap_or(text.len()) as u32;
        let span = Span::new(word.span.start, word.span.start + length);
        if span.text(self.source) != "_" {
            self.names.occurrences.push(Occurrence { span, scope: self.scope(), declares });
        }
    }

    fn declare(&mut self, word: Word, kind: NameKind, span: Span, specifiers: Span, scope: u32) -> usize {
        let index = self.names.declared.len();
        self.occurs(word, Some(index as u32));
        let (name, own_scope) = (word.span, None);
        self.names.declared.push(Declared { name, kind, span, specifiers, count: None, scope, own_scope });
        index
    }

    fn statement(&mut self, first: Word) {
        use TokenKind as T;
        let begin = self.begin.take().unwrap_or(first.span.start);
        match first.kind {
            T::OpenBrace => {
                self.open(ScopeKind::Block, first.span.start, Some(first.span.start));
            }
            T::CloseBrace => self.close(first.span.end),
            T::Linkage => self.begin = Some(begin),
            T::Entry | T::Func => self.function(first, begin),
            T::StateSpace => self.declaration(first, begin),
            T::Section | T::SourceSection => self.section(first),
            T::Version | T::Target | T::AddressSize | T::File | T::Loc => self.line(),
            T::At => {
                self.cursor.take(T::Not);
                if let Some(guard) = self.cursor.take(T::Name) {
                    self.occurs(guard, None);
                }
            }
            T::Name if self.cursor.peek().is_some_and(|word| word.kind == T::Colon) => self.label(first),
            T::Name | T::Dotted => {
                let index = self.names.instructions.len();
                self.names.instructions.push(Instruction { opcode: first.span, end: first.span.end });
                self.rest(false);
                self.names.instructions[index].end = self.cursor.end;
            }
            T::CallPrototype => self.rest(true),
            T::Alias | T::Pragma | T::Targets | T::DotWord => self.rest(false),
            _ => {}
        }
    }

    fn label(&mut self, name: Word) {
        self.cursor.next();
        let kind = match self.cursor.peek().map(|word| word.kind) {
            Some(TokenKind::CallPrototype) => NameKind::Prototype,
            Some(TokenKind::Targets) => NameKind::Targets,
            _ => NameKind::Label,
        };
        let innermost = self.scope();
        let is_section = self.names.scopes[innermost as usize].kind == ScopeKind::Section;
        let scope = if is_section { 0 } else { innermost };
        self.declare(
            name,
            kind,
            Span::new(name.span.start, self.cursor.end),
            Span::at(name.span.start),
            scope,
        );
    }

    /// Whether no statement goes on with this word: something before it lacks its end.
    fn begins_another(&self, word: Word) -> bool {
        use TokenKind as T;
        match word.kind {
            T::Entry | T::Func | T::Linkage | T::Version | T::Target | T::AddressSize | T::Section => true,
            T::Loc | T::Pragma | T::File => true,
            T::StateSpace => word.on_new_line || word.span.text(self.source) == ".reg",
            T::Name => word.on_new_line && self.cursor.has_colon_at(word.span.end),
            _ => false,
        }
    }

    /// The rest of a statement, up to its `;`.
    fn rest(&mut self, declares: bool) {
        use TokenKind as T;
        let (mut depth, mut goes_on) = (0_u32, true);
        while let Some(word) = self.cursor.peek() {
            match word.kind {
                // A block after a statement without its `;`: a list of operands would follow a comma.
                T::OpenBrace if depth == 0 && word.on_new_line && !goes_on => return,
                T::OpenBrace => depth += 1,
                T::CloseBrace if depth == 0 => return,
                T::CloseBrace => depth -= 1,
                T::Name | T::StateSpace if declares => {}
                _ if self.begins_another(word) => return,
                T::Name | T::Dotted => self.occurs(word, None),
                _ => {}
            }
            self.cursor.next();
            goes_on = matches!(word.kind, T::Comma | T::Or);
            if word.kind == T::Semicolon {
                return;
            }
        }
    }

    /// A directive that ends with its line.
    fn line(&mut self) {
        while let Some(word) = self.cursor.peek().filter(|word| !word.on_new_line) {
            if word.kind == TokenKind::CloseBrace {
                return;
            }
            if word.kind == TokenKind::Name {
                self.occurs(word, None);
            }
            self.cursor.next();
        }
    }

    fn section(&mut self, first: Word) {
        while let Some(word) = self.cursor.peek() {
            if self.begins_another(word) || word.kind == TokenKind::CloseBrace {
                return;
            }
            self.cursor.next();
            if word.kind == TokenKind::OpenBrace {
                self.open(ScopeKind::Section, first.span.start, Some(word.span.start));
                return;
            }
        }
    }

    fn function(&mut self, first: Word, begin: u32) {
        use TokenKind as T;
        // A function within another: what closes that one is missing.
        while self.open.len() > 1 {
            self.close(begin);
        }
        let kind = if first.kind == T::Entry { NameKind::Kernel } else { NameKind::Function };
        let scope = self.open(ScopeKind::Function, begin, None);
        if self.cursor.peek().is_some_and(|word| word.kind == T::OpenParen) {
            self.parameters();
        }
        let declared = self.cursor.take(T::Name).map(|name| {
            let index = self.declare(name, kind, Span::at(begin), Span::at(begin), 0);
            self.names.declared[index].own_scope = Some(scope);
            index
        });
        if self.cursor.peek().is_some_and(|word| word.kind == T::OpenParen) {
            self.parameters();
        }
        let header = Span::new(begin, self.cursor.end);
        let mut is_open = false;
        while let Some(word) = self.cursor.peek() {
            match word.kind {
                T::OpenBrace => {
                    self.names.scopes[scope as usize].brace = Some(word.span.start);
                    self.cursor.next();
                    is_open = true;
                    break;
                }
                T::Semicolon => {
                    self.cursor.next();
                    break;
                }
                T::CloseBrace | T::StateSpace | T::Alias => break,
                _ if word.kind != T::Pragma && self.begins_another(word) => break,
                _ => {}
            }
            self.cursor.next();
        }
        let end = self.cursor.end;
        if !is_open {
            self.close(end);
        }
        if let Some(index) = declared {
            let each = &mut self.names.declared[index];
            (each.span, each.specifiers) = (Span::new(begin, end), header);
        }
    }

    /// The parameters between parentheses.
    fn parameters(&mut self) {
        use TokenKind as T;
        let mut depth = 0_u32;
        let mut begin = self.cursor.end;
        let mut last = None;
        while let Some(word) = self.cursor.peek() {
            match word.kind {
                T::OpenBrace | T::CloseBrace | T::Semicolon => return,
                _ if word.kind != T::StateSpace && self.begins_another(word) => return,
                _ => {}
            }
            self.cursor.next();
            match word.kind {
                T::OpenParen => depth += 1,
                T::CloseParen if depth <= 1 => {
                    self.end_of(last, word.span.start);
                    return;
                }
                T::CloseParen => depth -= 1,
                T::Comma if depth == 1 => {
                    self.end_of(last.take(), word.span.start);
                    begin = self.cursor.peek().map_or(word.span.end, |word| word.span.start);
                    continue;
                }
                T::Name if depth == 1 && last.is_none() && word.span.text(self.source) != "_" => {
                    let specifiers = Span::new(begin, word.span.start);
                    let scope = self.scope();
                    let index = self.declare(
                        word,
                        NameKind::Parameter,
                        Span::new(begin, word.span.end),
                        specifiers,
                        scope,
                    );
                    self.names.declared[index].count = self.count();
                    last = Some(index);
                }
                _ => {}
            }
            if word.kind == T::OpenParen && depth == 1 {
                begin = self.cursor.peek().map_or(word.span.end, |word| word.span.start);
            }
        }
    }

    fn end_of(&mut self, declared: Option<usize>, end: u32) {
        if let Some(index) = declared {
            self.names.declared[index].span.end = end;
        }
    }

    /// `<N>` after a name.
    fn count(&mut self) -> Option<u32> {
        self.cursor.take(TokenKind::Less)?;
        let number = self.cursor.take(TokenKind::Integer)?;
        self.cursor.take(TokenKind::Greater);
        Some(number.span.text(self.source).parse().unwrap_or(u32::MAX))
    }

    /// `.reg .b32 %r<9>, %a;` and declarations of variables.
    fn declaration(&mut self, first: Word, begin: u32) {
        use TokenKind as T;
        let is_register = first.span.text(self.source) == ".reg";
        let kind = if is_register { NameKind::Register } else { NameKind::Variable };
        let from = self.names.declared.len();
        let mut specifiers = Span::new(begin, first.span.end);
        let (mut depth, mut expects) = (0_u32, true);
        while let Some(word) = self.cursor.peek() {
            if self.begins_another(word) || word.kind == T::CloseBrace && depth == 0 {
                break;
            }
            self.cursor.next();
            match word.kind {
                T::Semicolon => break,
                T::OpenBrace | T::OpenParen | T::OpenBracket => depth += 1,
                T::CloseBrace | T::CloseParen | T::CloseBracket => depth = depth.saturating_sub(1),
                T::Comma if depth == 0 => expects = true,
                T::Name if depth == 0 && expects => {
                    expects = false;
                    let scope = self.scope();
                    let index = self.declare(word, kind, Span::at(begin), specifiers, scope);
                    self.names.declared[index].count = self.count();
                }
                T::Name | T::Dotted => self.occurs(word, None),
                _ => {}
            }
            if self.names.declared.len() == from && word.kind != T::Comma {
                specifiers.end = word.span.end;
            }
        }
        let span = Span::new(begin, self.cursor.end);
        for each in &mut self.names.declared[from..] {
            each.span = span;
        }
    }
}
