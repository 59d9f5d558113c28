//! Text to tree: one pass of the LALRPOP grammar over the lexer where the text is sound, and the
//! recovering driver of [`crate::recovery`] where it is not.

use std::cell::RefCell;

use crate::ast::Tree;
use crate::builder::Builder;
use crate::lexer::{Lexer, TokenKind};
use crate::statement::Terminals;
use crate::{Span, SyntaxError};

lalrpop_util::lalrpop_mod!(
    #[allow(clippy::all, clippy::pedantic, clippy::allow_attributes_without_reason, missing_docs, unused, unused_qualifications, reason = "generated")]
    pub(crate) grammar
);

macro_rules! terminals {
    ($($name:ident),* $(,)?) => {
        /// A token as the grammar sees it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names are those of the token kinds")]
        pub enum Terminal { $($name(Span),)* Statements(Span), OpenBlock(Span), Elements(u32) }

        impl Terminal {
            /// The terminal of a token; none for trivia.
            #[inline]
            pub(crate) fn new(kind: TokenKind, span: Span) -> Option<Self> {
                Some(match kind {
                    TokenKind::Whitespace | TokenKind::LineComment | TokenKind::BlockComment => return None,
                    $(TokenKind::$name => Self::$name(span),)*
                    TokenKind::UnterminatedComment | TokenKind::BadNumber | TokenKind::UnterminatedString =>
                        Self::Unknown(span),
                })
            }
        }
    };
}

terminals!(
    Name,
    Dotted,
    DotWord,
    Integer,
    Float,
    String,
    SourceText,
    Version,
    Target,
    AddressSize,
    Entry,
    Func,
    Linkage,
    StateSpace,
    Align,
    Attribute,
    Alias,
    Pragma,
    File,
    Loc,
    Section,
    SourceSection,
    CallPrototype,
    Targets,
    Comma,
    Semicolon,
    Colon,
    OpenBrace,
    CloseBrace,
    OpenBracket,
    CloseBracket,
    OpenParen,
    CloseParen,
    At,
    Equals,
    Question,
    Not,
    Tilde,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    And,
    Or,
    Caret,
    Less,
    Greater,
    ShiftLeft,
    ShiftRight,
    LessEqual,
    GreaterEqual,
    EqualEqual,
    NotEqual,
    AndAnd,
    OrOr,
    Unknown,
);

/// What the generated parsers take.
pub(crate) type Spanned = Result<(u32, Terminal, u32), ()>;

/// The result of parsing: a tree in every case, and what was wrong.
#[derive(Clone, Debug, Default)]
pub struct Parse {
    /// What could be understood.
    pub tree: Tree,
    /// What is wrong, in order of the places. Empty exactly when the text follows the grammar.
    pub errors: Vec<SyntaxError>,
}

/// Parses a PTX module. Never fails: what cannot be understood is left out of the tree and reported.
#[must_use]
pub fn parse(source: &str) -> Parse {
    let mut builder = Builder::default();
    builder.reserve(source.len());
    let builder = RefCell::new(builder);
    match grammar::ModuleParser::new().parse(&builder, Terminals::new(Lexer::new(source), &builder)) {
        Ok(()) => Parse { tree: builder.into_inner().tree, errors: Vec::new() },
        Err(_) => crate::recovery::parse(source),
    }
}
