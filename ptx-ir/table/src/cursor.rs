//! Steps over the tokens of a definition or clause.

use crate::fault::Fault;
use crate::lexer::{Spanned, Token};

/// A place in a list of tokens.
pub struct Cursor<'a> {
    file: &'a str,
    tokens: &'a [Spanned],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// The beginning of a list.
    pub const fn new(file: &'a str, tokens: &'a [Spanned]) -> Self {
        Self { file, tokens, at: 0 }
    }

    /// The next token.
    pub fn peek(&self) -> Option<&'a Token> {
        self.tokens.get(self.at).map(|spanned| &spanned.token)
    }

    /// The token that is so many after the next one.
    pub fn ahead(&self, count: usize) -> Option<&'a Token> {
        self.tokens.get(self.at + count).map(|spanned| &spanned.token)
    }

    /// Steps over a token.
    pub fn next(&mut self) -> Option<&'a Token> {
        let token = self.peek();
        self.at += 1;
        token
    }

    /// Whether all tokens were read.
    pub fn is_at_end(&self) -> bool {
        self.at >= self.tokens.len()
    }

    /// The line of the next token.
    pub fn line(&self) -> usize {
        self.tokens.get(self.at).or(self.tokens.last()).map_or(0, |spanned| spanned.line)
    }

    /// The column of the next token.
    pub fn column(&self) -> usize {
        self.tokens.get(self.at).map_or(0, |spanned| spanned.column)
    }

    /// Steps to the next line that begins no further right than `column`, which is where a clause after a faulty one
    /// begins.
    pub fn skip_to_line(&mut self, column: usize) {
        let line = self.line();
        let rest = self.tokens.iter().skip(self.at + 1);
        let ahead = rest.take_while(|next| next.line == line || next.column > column).count();
        self.at += 1 + ahead;
    }

    /// A mistake at the next token.
    pub fn fault(&self, message: impl Into<String>) -> Fault {
        Fault::new(self.file, self.line(), message)
    }

    pub fn unexpected(&self, wanted: &str) -> Fault {
        match self.peek() {
            Some(token) => self.fault(format!("expected {wanted}, found {token}")),
            None => self.fault(format!("expected {wanted}, found the end")),
        }
    }

    /// Steps over a mark if it is next.
    pub fn eat(&mut self, mark: char) -> bool {
        let found = self.peek() == Some(&Token::Mark(mark));
        self.at += usize::from(found);
        found
    }

    /// Steps over a word if it is next.
    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = matches!(self.peek(), Some(Token::Word(text)) if text == word);
        self.at += usize::from(found);
        found
    }

    /// Whether a word is next.
    pub fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(), Some(Token::Word(text)) if text == word)
    }

    pub fn previous_is(&self, word: &str) -> bool {
        matches!(self.tokens.get(self.at.wrapping_sub(1)), Some(Spanned { token: Token::Word(text), .. }) if text == word)
    }

    pub fn next_is(&self, mark: char) -> bool {
        self.tokens.get(self.at + 1).is_some_and(|spanned| spanned.token == Token::Mark(mark))
    }

    /// Whether names with dots and commas lead to a set of values.
    pub fn defines_slot(&self) -> bool {
        let rest = self.tokens.get(self.at..).unwrap_or_default().iter().map(|spanned| &spanned.token);
        let mut rest = rest.skip_while(|token| matches!(token, Token::Dotted(_) | Token::Mark(',')));
        let first = matches!(self.peek(), Some(Token::Dotted(_)));
        first
            && rest.next() == Some(&Token::Mark('='))
            && rest.take(2).any(|token| *token == Token::Mark('{'))
    }

    /// Whether names and commas lead to a colon.
    pub fn defines_operand(&self) -> bool {
        let mut rest = self.tokens[self.at..].iter().map(|spanned| &spanned.token);
        loop {
            match rest.next() {
                Some(Token::Word(_) | Token::Mark(',' | '[' | ']')) => {}
                Some(Token::Mark(':')) => return true,
                _ => return false,
            }
        }
    }

    /// Requires a mark.
    pub fn mark(&mut self, mark: char) -> Result<(), Fault> {
        if self.eat(mark) { Ok(()) } else { Err(self.unexpected(&format!("`{mark}`"))) }
    }

    /// Requires a word.
    pub fn word(&mut self, word: &str) -> Result<(), Fault> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }

    /// Requires a name, with or without a dot.
    pub fn name(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Word(text) | Token::Dotted(text)) => {
                self.at += 1;
                Ok(text.trim_start_matches('.').to_owned())
            }
            _ => Err(self.unexpected("a name")),
        }
    }

    /// Requires a dotted word and keeps its dots.
    pub fn dotted(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Dotted(text)) => {
                self.at += 1;
                Ok(text.clone())
            }
            _ => Err(self.unexpected("a modifier with its dot")),
        }
    }

    /// Reads modifiers with their dots up to something else.
    pub fn dotted_words(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(Token::Dotted(word)) = self.peek() {
            words.push(word.clone());
            self.at += 1;
        }
        words
    }

    /// Requires an integer.
    pub fn number(&mut self) -> Result<i64, Fault> {
        match self.peek() {
            Some(&Token::Number(value)) => {
                self.at += 1;
                Ok(value)
            }
            _ => Err(self.unexpected("a number")),
        }
    }

    /// Requires a quoted text.
    pub fn text(&mut self) -> Result<String, Fault> {
        match self.peek() {
            Some(Token::Text(text)) => {
                self.at += 1;
                Ok(text.clone())
            }
            _ => Err(self.unexpected("a quoted text")),
        }
    }

    /// Reads words up to something else; numbers count as words, for `0f` and `0d`.
    pub fn words(&mut self) -> Vec<String> {
        let mut words = Vec::new();
        while let Some(Token::Word(word)) = self.peek() {
            words.push(word.clone());
            self.at += 1;
        }
        words
    }

    /// Requires a version, major and minor. The lexer cuts `8.6` into a number and a dotted word.
    pub fn version_numbers(&mut self) -> Result<(u8, u8), Fault> {
        let major = self.number()?;
        let minor = self.dotted()?;
        let numbers = u8::try_from(major).ok().zip(minor[1..].parse().ok());
        numbers.ok_or_else(|| self.fault("this is no version"))
    }

    pub fn end(&self) -> Result<(), Fault> {
        if self.is_at_end() { Ok(()) } else { Err(self.unexpected("the end of the definition")) }
    }
}
