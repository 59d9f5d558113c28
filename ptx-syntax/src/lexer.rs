//! The lexer: every byte of a text belongs to exactly one [`Token`], trivia included.
//!
//! A dotted spelling such as `ld.global.L1::no_allocate.v4.f32` is *one* token: modifiers then cannot
//! collide with directives (`fence.proxy.alias` and `.alias`), and a spelling can be looked up as a
//! whole. The same goes for `%tid.x` and for `v.x`, which look alike. Words that begin with a dot are
//! tokens of their own.
//!
//! Lexical structure: PTX ISA manual, chapter 4 "Syntax".

mod plain;

use crate::Span;
use logos::Logos;
pub(crate) use plain::begins_word;

/// What a token is.
#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
#[non_exhaustive]
pub enum TokenKind {
    /// Blanks, tabs, form feeds, line ends, and the byte 0x1A, with which editors of old ended a file. A vertical tab
    /// is none of them: ptxas refuses it.
    #[regex(r"[ \t\r\n\x0c\x1a]+")]
    Whitespace,
    /// `// …` up to, not including, the line end.
    ///
    /// What a preprocessor leaves, `# 1 "kernel.cu"`, is one too.
    #[regex(r"//[^\n]*", allow_greedy = true)]
    #[regex(r#"#[ \t]*(line[ \t]+)?[0-9]+[ \t]+"[^"\n]*"[^\n]*"#, allow_greedy = true)]
    LineComment,
    /// `/* … */`; they do not nest.
    #[regex(r"/\*([^*]|\*+[^*/])*\*+/")]
    BlockComment,
    /// `/*` without its end: reaches to the end of the text.
    #[regex(r"/\*", unterminated_comment)]
    UnterminatedComment,

    /// An identifier without a dot: `%r1`, `$L__BB0_1`, `ret`, and the sink `_`.
    #[regex(r"[a-zA-Z_$][a-zA-Z0-9_$]*|%[a-zA-Z0-9_$]+")]
    Name,
    /// An identifier with dotted parts: an opcode with its modifiers, or a vector element.
    #[regex(
        r"([a-zA-Z_$][a-zA-Z0-9_$]*|%[a-zA-Z0-9_$]+)((\.[a-zA-Z0-9_$]+|::[0-9]+:[0-9]+|::[a-zA-Z0-9_$]+))+"
    )]
    Dotted,
    /// A word that begins with a dot and is none of the directives below.
    #[regex(
        r"\.([a-zA-Z_$][a-zA-Z0-9_$]*|[0-9]+[a-zA-Z_$][a-zA-Z0-9_$]*)(::[0-9]+:[0-9]+|::[a-zA-Z0-9_$]+)*"
    )]
    DotWord,

    /// An integer: decimal, `0x`, octal (after a `0`) or `0b`, with an optional `U`.
    #[regex(r"(0[xX][0-9a-fA-F]+|0[bB][01]+|0[0-7]*|[1-9][0-9]*)U?", priority = 6)]
    Integer,
    /// A floating-point number: decimal, `0f` with 8 or `0d` with 16 hexadecimal digits.
    #[regex(
        r"[0-9]*\.[0-9]+([eE][+-]?[0-9]+)?|[0-9]+\.([eE][+-]?[0-9]+)?|[0-9]+[eE][+-]?[0-9]+",
        priority = 7
    )]
    #[regex(
        r"0[fF][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]",
        priority = 20
    )]
    #[regex(
        r"0[dD][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F][0-9a-fA-F]",
        priority = 20
    )]
    Float,
    /// Something that begins like a number and is none.
    #[regex(r"[0-9][a-zA-Z0-9_$]*", priority = 3)]
    BadNumber,
    /// `"…"`. A backslash means itself, and lines may end within; both are so in ptxas.
    #[regex(r#""[^"]*""#)]
    String,
    /// A quote without its partner: reaches to the end of the text.
    #[regex(r#""[^"]*"#, priority = 3)]
    UnterminatedString,
    /// `.source_begin … .source_end`, whose text is of another language.
    #[token(".source_begin", source_text)]
    SourceText,

    /// `.version`
    #[token(".version")]
    Version,
    /// `.target`
    #[token(".target")]
    Target,
    /// `.address_size`
    #[token(".address_size")]
    AddressSize,
    /// `.entry`
    #[token(".entry")]
    Entry,
    /// `.func`
    #[token(".func")]
    Func,
    /// `.visible`, `.extern`, `.weak`, `.common`
    #[token(".visible")]
    #[token(".extern")]
    #[token(".weak")]
    #[token(".common")]
    Linkage,
    /// `.reg`, `.sreg`, `.const`, `.global`, `.local`, `.param`, `.shared`, `.tex`
    #[token(".reg")]
    #[token(".sreg")]
    #[token(".const")]
    #[token(".global")]
    #[token(".local")]
    #[token(".param")]
    #[token(".shared")]
    #[token(".tex")]
    StateSpace,
    /// `.align`
    #[token(".align")]
    Align,
    /// `.attribute`
    #[token(".attribute")]
    Attribute,
    /// `.alias`
    #[token(".alias")]
    Alias,
    /// `.pragma`
    #[token(".pragma")]
    Pragma,
    /// `.file`
    #[token(".file")]
    File,
    /// `.loc` and `.loc_intermediate`
    #[token(".loc")]
    #[token(".loc_intermediate")]
    Loc,
    /// `.section`
    #[token(".section")]
    Section,
    /// `.nv_intermediate_source_section`
    #[token(".nv_intermediate_source_section")]
    SourceSection,
    /// `.callprototype`
    #[token(".callprototype")]
    CallPrototype,
    /// `.branchtargets` and `.calltargets`
    #[token(".branchtargets")]
    #[token(".calltargets")]
    Targets,

    /// `,`
    #[token(",")]
    Comma,
    /// `;`
    #[token(";")]
    Semicolon,
    /// `:`
    #[token(":")]
    Colon,
    /// `{`
    #[token("{")]
    OpenBrace,
    /// `}`
    #[token("}")]
    CloseBrace,
    /// `[`
    #[token("[")]
    OpenBracket,
    /// `]`
    #[token("]")]
    CloseBracket,
    /// `(`
    #[token("(")]
    OpenParen,
    /// `)`
    #[token(")")]
    CloseParen,
    /// `@`
    #[token("@")]
    At,
    /// `=`
    #[token("=")]
    Equals,
    /// `?`
    #[token("?")]
    Question,
    /// `!`
    #[token("!")]
    Not,
    /// `~`
    #[token("~")]
    Tilde,
    /// `+`
    #[token("+")]
    Plus,
    /// `-`
    #[token("-")]
    Minus,
    /// `*`
    #[token("*")]
    Star,
    /// `/`
    #[token("/")]
    Slash,
    /// `%` as an operator
    #[token("%")]
    Percent,
    /// `&`
    #[token("&")]
    And,
    /// `|`
    #[token("|")]
    Or,
    /// `^`
    #[token("^")]
    Caret,
    /// `<`
    #[token("<")]
    Less,
    /// `>`
    #[token(">")]
    Greater,
    /// `<<`
    #[token("<<")]
    ShiftLeft,
    /// `>>`
    #[token(">>")]
    ShiftRight,
    /// `<=`
    #[token("<=")]
    LessEqual,
    /// `>=`
    #[token(">=")]
    GreaterEqual,
    /// `==`
    #[token("==")]
    EqualEqual,
    /// `!=`
    #[token("!=")]
    NotEqual,
    /// `&&`
    #[token("&&")]
    AndAnd,
    /// `||`
    #[token("||")]
    OrOr,

    /// A character that PTX does not use.
    Unknown,
}

impl TokenKind {
    /// Whether the token means nothing to the parser.
    #[must_use]
    pub const fn is_trivia(self) -> bool {
        matches!(self, Self::Whitespace | Self::LineComment | Self::BlockComment)
    }

    /// Whether the token is a comment.
    #[must_use]
    pub const fn is_comment(self) -> bool {
        matches!(self, Self::LineComment | Self::BlockComment)
    }

    /// Whether the token begins with a dot and is a word.
    #[must_use]
    pub const fn is_dot_word(self) -> bool {
        (self as u8 >= Self::Version as u8 && self as u8 <= Self::Targets as u8)
            || matches!(self, Self::DotWord)
    }
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    /// What it is.
    pub kind: TokenKind,
    /// Where it is.
    pub span: Span,
}

impl Token {
    /// The text of the token.
    #[must_use]
    pub fn text(self, source: &str) -> &str {
        self.span.text(source)
    }
}

/// The tokens of `source`, in order and without gaps.
#[derive(Clone)]
pub struct Lexer<'s> {
    source: &'s str,
    at: usize,
}

impl<'s> Lexer<'s> {
    /// Begins at the first byte of `source`.
    #[must_use]
    pub fn new(source: &'s str) -> Self {
        Self { source, at: 0 }
    }

    /// Goes on at another byte of the text, which is the first of a character.
    pub(crate) fn move_to(&mut self, at: usize) {
        self.at = at;
    }

    /// The text.
    pub(crate) fn source(&self) -> &'s str {
        self.source
    }

    /// What logos finds here.
    #[cold]
    fn unusual(&mut self) -> Option<Token> {
        let mut lexer = TokenKind::lexer(self.source);
        lexer.bump(self.at);
        let kind = lexer.next()?.unwrap_or(TokenKind::Unknown);
        Some(self.token(kind, lexer.span().end))
    }

    #[inline]
    fn token(&mut self, kind: TokenKind, end: usize) -> Token {
        let start = std::mem::replace(&mut self.at, end);
        Token { kind, span: Span::new(start as u32, end as u32) }
    }
}

impl Iterator for Lexer<'_> {
    type Item = Token;

    #[inline]
    fn next(&mut self) -> Option<Token> {
        match plain::token(self.source.as_bytes(), self.at) {
            Some((kind, end)) => Some(self.token(kind, end)),
            None => self.unusual(),
        }
    }
}

/// Reading with a look at the next byte, which tells what most tokens are.
impl Lexer<'_> {
    /// Skips what means nothing and gives the byte after it; 0, which no token begins with that means something, at the
    /// end of the text.
    #[inline(always)]
    pub(crate) fn peek(&mut self) -> u8 {
        let bytes = self.source.as_bytes();
        self.at = plain::blanks(bytes, self.at);
        match bytes.get(self.at) {
            Some(&byte) if !plain::begins_comment(byte) => byte,
            Some(_) => self.peek_far(),
            None => 0,
        }
    }

    #[inline(never)]
    fn peek_far(&mut self) -> u8 {
        let bytes = self.source.as_bytes();
        loop {
            self.at = plain::blanks(bytes, self.at);
            let Some(&byte) = bytes.get(self.at) else { return 0 };
            let start = self.at;
            if !plain::begins_comment(byte) || !self.next().is_some_and(|token| token.kind.is_trivia()) {
                self.at = start;
                return byte;
            }
        }
    }

    /// Whether the byte after the one that [`Self::peek`] gave is this one.
    #[inline(always)]
    pub(crate) fn is_second(&self, byte: u8) -> bool {
        self.source.as_bytes().get(self.at + 1) == Some(&byte)
    }

    /// Takes the byte that [`Self::peek`] gave, which is a token.
    #[inline(always)]
    pub(crate) fn sign(&mut self) -> Span {
        self.at += 1;
        Span::new(self.at as u32 - 1, self.at as u32)
    }

    /// Takes a name, dotted or not, whose first byte [`Self::peek`] gave.
    #[inline(always)]
    pub(crate) fn word(&mut self) -> Option<Token> {
        match plain::word(self.source.as_bytes(), self.at) {
            Some((kind, end)) => Some(self.token(kind, end)),
            None => self.unusual().filter(|token| matches!(token.kind, TokenKind::Name | TokenKind::Dotted)),
        }
    }

    /// Takes a number, if [`Self::peek`] gave its first byte.
    #[inline(always)]
    pub(crate) fn number(&mut self) -> Option<Token> {
        match plain::number(self.source.as_bytes(), self.at) {
            Some((kind, end)) => Some(self.token(kind, end)),
            None => {
                self.unusual().filter(|token| matches!(token.kind, TokenKind::Integer | TokenKind::Float))
            }
        }
    }

    /// The next token that means something.
    #[inline]
    pub(crate) fn significant(&mut self) -> Option<Token> {
        self.peek();
        self.next()
    }

    /// Where the next token begins, or what is before it.
    #[inline]
    pub(crate) fn place(&self) -> usize {
        self.at
    }
}

/// A source of tokens for the parser, which has no use for trivia.
pub(crate) trait Tokens<'s> {
    /// The next token that means something.
    fn significant(&mut self) -> Option<Token>;

    /// What the tokens after the last one come from.
    fn lexer(&mut self) -> &mut Lexer<'s>;
}

impl<'s> Tokens<'s> for Lexer<'s> {
    #[inline]
    fn significant(&mut self) -> Option<Token> {
        Lexer::significant(self)
    }

    #[inline]
    fn lexer(&mut self) -> &mut Lexer<'s> {
        self
    }
}

/// Collects all tokens of `source`, trivia included.
///
/// A text of more than 4 GiB is cut there; callers refuse such texts before.
#[must_use]
pub fn tokenize(source: &str) -> Vec<Token> {
    // Compilers' output has a token, white space included, in about five bytes. Pages that stay unused
    // cost no memory; growing would copy all of it several times.
    let mut tokens = Vec::with_capacity(source.len() / 4 + 16);
    tokens.extend(Lexer::new(source));
    tokens
}

fn unterminated_comment(lexer: &mut logos::Lexer<'_, TokenKind>) {
    lexer.bump(lexer.remainder().len());
}

fn source_text(lexer: &mut logos::Lexer<'_, TokenKind>) {
    const END: &str = ".source_end";
    let rest = lexer.remainder();
    lexer.bump(rest.find(END).map_or(rest.len(), |at| at + END.len()));
}
