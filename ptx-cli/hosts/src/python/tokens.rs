//! Python's tokens, and what their shapes say: calls, arguments, assignments.

use std::cell::Cell;
use std::collections::HashMap;
use std::ops::Range;

use ptx_syntax::Span;

use super::lex;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// A name or a keyword.
    Word,
    /// A string literal of any prefix.
    Text,
    /// A number.
    Number,
    /// The end of a logical line.
    Newline,
    /// Anything else.
    Mark,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

/// The tokens of a file.
pub(crate) struct Tokens<'s> {
    pub source: &'s str,
    pub all: Vec<Token>,
    pub comments: Vec<Span>,
    /// For each token that opens a bracket the one that closes it.
    closing: HashMap<usize, usize>,
    /// For each token the first one of its logical line.
    lines: Vec<usize>,
    assigned: HashMap<&'s str, Values>,
    /// Where functions begin: their `def` and the column of its line.
    functions: Vec<(usize, u32)>,
    /// How many more bytes of text may be made of names.
    left: Cell<usize>,
}

/// Where a name gets values: their first tokens, in order.
#[derive(Default)]
struct Values {
    all: Vec<usize>,
    /// Those outside functions.
    of_file: Vec<usize>,
}

/// So many bytes of text are made of the names of a file.
const MAX_MADE: usize = 16 << 20;

impl<'s> Tokens<'s> {
    /// The tokens of a file.
    pub fn of(source: &'s str) -> Self {
        let (all, comments) = lex::tokens(source);
        let closing = brackets(source, &all);
        let lines = lines(&all);
        let mut tokens = Self {
            source,
            all,
            comments,
            closing,
            lines,
            assigned: HashMap::new(),
            functions: Vec::new(),
            left: Cell::new(MAX_MADE),
        };
        tokens.find_assignments();
        tokens
    }

    /// The text of a token; empty past the end.
    pub fn text(&self, at: usize) -> &'s str {
        self.all.get(at).map_or("", |token| token.span.text(self.source))
    }

    /// Whether the token is this word or mark.
    pub fn is(&self, at: usize, text: &str) -> bool {
        self.all.get(at).is_some_and(|token| token.kind != Kind::Text) && self.text(at) == text
    }

    /// The token that closes the bracket at `at`.
    pub fn closing(&self, at: usize) -> Option<usize> {
        self.closing.get(&at).copied()
    }

    /// The token after the strings that follow each other from `at` on.
    pub fn end_of_texts(&self, at: usize) -> usize {
        at + self.all[at..].iter().take_while(|token| token.kind == Kind::Text).count()
    }

    /// The span of some tokens.
    pub fn span(&self, range: &Range<usize>) -> Span {
        match (self.all.get(range.start), range.end.checked_sub(1).and_then(|last| self.all.get(last))) {
            (Some(first), Some(last)) if range.start < range.end => first.span.to(last.span),
            (Some(first), _) => Span::at(first.span.start),
            _ => Span::at(self.source.len() as u32),
        }
    }

    /// The parts between commas that are in no further bracket.
    pub fn parts(&self, range: Range<usize>) -> Vec<Range<usize>> {
        let mut parts = Vec::new();
        let (mut start, mut at) = (range.start, range.start);
        while at < range.end {
            if let Some(close) = self.closing(at) {
                at = close;
            } else if self.is(at, ",") {
                parts.push(start..at);
                start = at + 1;
            }
            at += 1;
        }
        if start < range.end {
            parts.push(start..range.end);
        }
        parts
    }

    /// The one value that a name has where it is used: in its function, or else in the file outside functions.
    pub fn value(&self, name: &str, used_at: usize) -> Option<Range<usize>> {
        let known = self.assigned.get(name)?;
        let from = self.function_around(used_at).unwrap_or(used_at);
        let range = |values: &[usize]| {
            values.partition_point(|at| *at < from)..values.partition_point(|at| *at < used_at)
        };
        let mut candidates = &known.all[range(&known.all)];
        if candidates.is_empty() {
            candidates = &known.of_file;
        }
        let [value] = *candidates else { return None };
        let value = value..self.end_of_line(value);
        let length = self.span(&value).len() as usize;
        self.left.set(self.left.get().checked_sub(length)?);
        Some(value)
    }

    /// The innermost function that begins before a token and has a smaller column than its line.
    fn function_around(&self, at: usize) -> Option<usize> {
        let column = self.column(at);
        let before = self.functions.partition_point(|(start, _)| *start < at);
        let nearest = self.functions[..before].iter().rev().take(MAX_FUNCTIONS);
        nearest.filter(|(_, of)| *of < column).map(|(start, _)| *start).next()
    }

    fn end_of_line(&self, at: usize) -> usize {
        let mut at = at;
        while let Some(token) = self.all.get(at) {
            if token.kind == Kind::Newline || self.is(at, ";") {
                break;
            }
            at = self.closing(at).unwrap_or(at) + 1;
        }
        at.min(self.all.len())
    }

    /// Whether a token is the first of its logical line.
    pub fn begins_line(&self, at: usize) -> bool {
        self.lines.get(at) == Some(&at)
    }

    /// The column of a token's logical line, from 0.
    fn column(&self, at: usize) -> u32 {
        let first = self.lines.get(at).and_then(|first| self.all.get(*first));
        let Some(token) = first else { return 0 };
        let before = &self.source.as_bytes()[..token.span.start as usize];
        before.iter().rev().take(MAX_COLUMN).take_while(|byte| **byte != b'\n').count() as u32
    }

    fn find_assignments(&mut self) {
        let mut is_first = true;
        for at in 0..self.all.len() {
            let token = self.all[at];
            if token.kind == Kind::Word && self.is(at, "def") {
                let column = self.column(at);
                self.functions.push((at, column));
            }
            if is_first && token.kind == Kind::Word {
                let name = token.span.text(self.source);
                // `+=` and its like make another value, which is not followed: it counts as one more.
                let value = match self.text(at + 1) {
                    "=" => Some(at + 2),
                    ":" if !self.is(at, "else") => {
                        (at + 2..(at + 16).min(self.all.len())).find(|at| self.is(*at, "=")).map(|at| at + 1)
                    }
                    "+=" | "%=" | "|=" => Some(at + 2),
                    _ => None,
                };
                if let Some(value) = value {
                    let times = if matches!(self.text(at + 1), "=" | ":") { 1 } else { 2 };
                    let is_of_file = self.column(at) == 0;
                    let values = self.assigned.entry(name).or_default();
                    values.all.extend(std::iter::repeat_n(value, times));
                    values.of_file.extend(std::iter::repeat_n(value, if is_of_file { times } else { 0 }));
                }
            }
            is_first = token.kind == Kind::Newline || self.is(at, ";") || self.is(at, ":");
        }
    }
}

/// A line that is indented further is as if it were not.
const MAX_COLUMN: usize = 256;

/// So many functions before a token are looked at for the one that it is in.
const MAX_FUNCTIONS: usize = 64;

/// For each token the first one of its logical line.
fn lines(tokens: &[Token]) -> Vec<usize> {
    let mut first = 0;
    let mut lines = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        lines.push(first);
        if token.kind == Kind::Newline {
            first = at + 1;
        }
    }
    lines
}

fn brackets(source: &str, tokens: &[Token]) -> HashMap<usize, usize> {
    let mut open = Vec::new();
    let mut closing = HashMap::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Mark) {
        match token.span.text(source) {
            "(" | "[" | "{" => open.push(at),
            ")" | "]" | "}" => {
                if let Some(start) = open.pop() {
                    closing.insert(start, at);
                }
            }
            _ => {}
        }
    }
    closing
}
