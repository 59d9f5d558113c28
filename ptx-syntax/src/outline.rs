//! A text in pieces: first what is at module level, then each function body by itself.
//!
//! The outline is the tree of the text with empty bodies. A body is skipped by a search for the brace that closes it,
//! which looks at nothing but braces, comments and strings; so the outline costs little, and the bodies can be parsed
//! by several threads, or one after the other with the memory of one. A text has an outline and all its bodies have
//! trees exactly where the text parses as a whole, and the trees are then the same.

mod braces;

use std::cell::RefCell;

use self::braces::Braces;
use crate::Span;
use crate::ast::{Body, Function, FunctionKind, Tree};
use crate::builder::Builder;
use crate::lexer::{Lexer, Token, TokenKind, Tokens};
use crate::parser::grammar::ModuleParser;
use crate::statement::Terminals;

/// The tree of a text without what is in the bodies of functions; none where it does not parse.
///
/// [`Body::span`] tells where a body is, and [`BodyParser`] parses it.
#[must_use]
pub fn outline(source: &str) -> Option<Tree> {
    outline_by(1, source)
}

/// The same by up to `threads` threads, if the system gives them.
#[must_use]
pub fn outline_by(threads: usize, source: &str) -> Option<Tree> {
    let braces = if threads > 1 { braces::of_text(source, threads) } else { None };
    outline_of(source, braces.as_ref(), &[])
}

/// The same of a text some of whose bodies are known: each from `{` to `}`, in order. They are not searched.
#[must_use]
pub fn outline_around(source: &str, bodies: &[Span]) -> Option<Tree> {
    outline_of(source, None, bodies)
}

fn outline_of(source: &str, braces: Option<&Braces>, known: &[Span]) -> Option<Tree> {
    let builder = RefCell::new(Builder::default());
    let tokens = OutlineTokens { lexer: Lexer::new(source), braces, known, header: None, close: None };
    let parsed = ModuleParser::new().parse(&builder, Terminals::new(tokens, &builder));
    parsed.ok().map(|()| builder.into_inner().tree)
}

/// Parses bodies of functions, one after the other in the same memory.
#[derive(Default)]
pub struct BodyParser {
    builder: RefCell<Builder>,
    grammar: ModuleParser,
}

impl BodyParser {
    /// Gives memory back that only large bodies need. What is made of a tree is smaller than the tree.
    pub fn shrink(&mut self) {
        const MAX_OPERANDS: usize = 1 << 14;
        if self.builder.get_mut().tree.operands.capacity() > MAX_OPERANDS {
            self.builder = RefCell::default();
        }
    }

    /// The tree of the body that is at `span`, from `{` to `}`: a single function without a name and without
    /// parameters. None where it does not parse.
    pub fn parse(&mut self, source: &str, span: Span) -> Option<ParsedBody<'_>> {
        let text = source.get(..span.end as usize)?;
        let builder = self.builder.get_mut();
        builder.clear();
        builder.reserve(span.len() as usize);
        let mut lexer = Lexer::new(text);
        lexer.move_to(span.start as usize);
        let header = HEADER.map(|kind| Token { kind, span: Span::at(span.start) }).into_iter();
        let terminals = Terminals::new(BodyTokens { header, lexer }, &self.builder);
        self.grammar.parse(&self.builder, terminals).ok()?;
        let tree = &self.builder.get_mut().tree;
        let is_function = |function: &&Function| function.kind != FunctionKind::Prototype;
        let body = tree.functions.iter().rfind(is_function)?.body?;
        (tree.items.len() == 1 && body.span == span).then_some(ParsedBody { tree, body })
    }
}

/// A body and the tree that it is in.
#[derive(Clone, Copy, Debug)]
pub struct ParsedBody<'t> {
    /// The tree.
    pub tree: &'t Tree,
    /// The body in it.
    pub body: Body,
}

/// The grammar knows modules: so a body gets the shortest header that there is.
const HEADER: [TokenKind; 2] = [TokenKind::Func, TokenKind::Name];

/// The tokens of a body, after those of its header.
struct BodyTokens<'s> {
    header: std::array::IntoIter<Token, 2>,
    lexer: Lexer<'s>,
}

impl<'s> Tokens<'s> for BodyTokens<'s> {
    #[inline]
    fn significant(&mut self) -> Option<Token> {
        self.header.next().or_else(|| self.lexer.significant())
    }

    #[inline]
    fn lexer(&mut self) -> &mut Lexer<'s> {
        &mut self.lexer
    }
}

/// The tokens of a text without those between the braces of functions.
struct OutlineTokens<'s> {
    lexer: Lexer<'s>,
    /// The braces of the text, where they were looked for first.
    braces: Option<&'s Braces>,
    /// Bodies that are known, but for those that are passed.
    known: &'s [Span],
    /// The open parentheses of the function header that is being read.
    header: Option<u32>,
    /// Where the body ends whose beginning was the last token.
    close: Option<usize>,
}

impl OutlineTokens<'_> {
    /// Where a body has begun, goes on at its end.
    #[inline]
    fn skip_body(&mut self) {
        if let Some(close) = self.close.take() {
            self.lexer.move_to(close);
        }
    }

    /// The place of the brace that closes a body which is known.
    fn known_end(&mut self, start: u32) -> Option<usize> {
        let passed = self.known.partition_point(|body| body.start < start);
        self.known = &self.known[passed..];
        let body = self.known.first().filter(|body| body.start == start)?;
        Some(body.end as usize - 1)
    }

    #[inline]
    fn pass(&mut self, token: Token) -> Token {
        match (token.kind, self.header) {
            (TokenKind::Entry | TokenKind::Func, _) => self.header = Some(0),
            (_, None) => {}
            (TokenKind::OpenParen, Some(depth)) => self.header = Some(depth + 1),
            (TokenKind::CloseParen, Some(depth)) => self.header = Some(depth.saturating_sub(1)),
            (TokenKind::OpenBrace, Some(0)) => {
                self.header = None;
                // Where nothing closes it, the text does not parse.
                let open = token.span.end as usize;
                self.close = self.known_end(token.span.start).or_else(|| match self.braces {
                    Some(braces) => braces.closing(self.lexer.source(), open),
                    None => closing_brace(self.lexer.source(), open),
                });
            }
            (kind, Some(0)) if ends_header(kind) => self.header = None,
            _ => {}
        }
        token
    }
}

impl<'s> Tokens<'s> for OutlineTokens<'s> {
    #[inline]
    fn significant(&mut self) -> Option<Token> {
        self.skip_body();
        let token = self.lexer.significant()?;
        Some(self.pass(token))
    }

    #[inline]
    fn lexer(&mut self) -> &mut Lexer<'s> {
        self.skip_body();
        &mut self.lexer
    }
}

/// Whether a function header without a body ends at or before this token. Old compilers left out its `;`.
fn ends_header(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Semicolon
            | TokenKind::Linkage
            | TokenKind::StateSpace
            | TokenKind::Alias
            | TokenKind::File
            | TokenKind::Section
            | TokenKind::SourceSection
            | TokenKind::Equals
    )
}

/// The place of the brace that closes one which was opened before `at`.
fn closing_brace(source: &str, at: usize) -> Option<usize> {
    let bytes = source.as_bytes();
    let mut remarkable = Remarkable::new(bytes, at);
    let mut depth = 1_u32;
    while let Some(place) = remarkable.next() {
        match bytes[place] {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return Some(place);
                }
            }
            // What looks like the beginning of a comment or a string may hold braces.
            _ => {
                let mut lexer = Lexer::new(source);
                lexer.move_to(place);
                remarkable = Remarkable::new(bytes, lexer.next()?.span.end as usize);
            }
        }
    }
    None
}

/// 0 for a brace, and for what a comment or a string may begin with. Of comparisons the compiler would make a table of
/// bits, which takes one byte at a time.
#[inline(always)]
fn distance(byte: u8) -> u8 {
    let braces = (byte ^ b'{').min(byte ^ b'}');
    braces.min(byte ^ b'"').min(byte ^ b'/').min(byte ^ b'#')
}

const BLOCK: usize = 16;

/// The places of the remarkable bytes. Blocks are looked at without branches, which vector instructions do.
struct Remarkable<'s> {
    bytes: &'s [u8],
    /// Where the block is, and a bit for each remarkable byte in it that is still to come.
    block: usize,
    found: u128,
}

impl<'s> Remarkable<'s> {
    /// Those from a place on.
    fn new(bytes: &'s [u8], at: usize) -> Self {
        let mut new = Self { bytes, block: at, found: 0 };
        new.found = new.in_block();
        new
    }

    fn in_block(&self) -> u128 {
        let rest = self.bytes.get(self.block..).unwrap_or_default();
        let mut found = [0; BLOCK];
        let mark = |(byte, found): (&u8, &mut u8)| *found = if distance(*byte) == 0 { 0x80 } else { 0 };
        match rest.first_chunk::<BLOCK>() {
            Some(block) => block.iter().zip(&mut found).for_each(mark),
            None => rest.iter().zip(&mut found).for_each(mark),
        }
        u128::from_le_bytes(found)
    }
}

impl Iterator for Remarkable<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.found == 0 {
            self.block += BLOCK;
            if self.block >= self.bytes.len() {
                return None;
            }
            self.found = self.in_block();
        }
        let place = self.block + self.found.trailing_zeros() as usize / 8;
        self.found &= self.found - 1;
        Some(place)
    }
}

#[cfg(test)]
mod tests;
