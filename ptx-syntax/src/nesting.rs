//! How deeply brackets may be nested.
//!
//! ptxas has a parser with a stack of 10,000 states, and refuses a text that needs more: "memory exhausted". What that
//! takes was measured with ptxas 13.5, and is the same for each target and version: 6 for a block, 1 for any other bracket.
//! Operators and the elements of lists take some too. Those of constant expressions are counted where these are evaluated.

use crate::lexer::{Token, TokenKind};

/// What open brackets may weigh together.
pub(crate) const MAX_WEIGHT: u32 = 9_988;

/// The weight of a function's body, which is more than that of a declaration of the module.
const BODY: u32 = 10;

/// The weight of a block.
const BLOCK: u32 = 6;

/// How many blocks may be open within each other.
pub(crate) const MAX_BLOCKS: u32 = (MAX_WEIGHT - BODY) / BLOCK;

/// The brackets that are open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nesting {
    /// All braces.
    braces: u32,
    /// Those of them that are lists of the statement: none is open behind its end, whether it was closed or not.
    lists: u32,
    /// Other brackets of the statement, of which the same holds.
    others: u32,
    /// Whether a brace would begin a list here.
    before_list: bool,
}

impl Nesting {
    /// Goes past a token; whether more brackets are open behind it than may be.
    #[inline]
    pub(crate) fn pass(&mut self, kind: TokenKind) -> bool {
        match kind {
            TokenKind::OpenParen | TokenKind::OpenBracket => self.others += 1,
            TokenKind::CloseParen | TokenKind::CloseBracket => self.others = self.others.saturating_sub(1),
            TokenKind::Semicolon => {
                self.braces = self.braces.saturating_sub(self.lists);
                (self.others, self.lists) = (0, 0);
            }
            TokenKind::OpenBrace => {
                self.lists += u32::from(self.lists > 0 || self.others > 0 || self.before_list);
                self.braces += 1;
            }
            TokenKind::CloseBrace => {
                self.braces = self.braces.saturating_sub(1);
                self.lists = self.lists.saturating_sub(1);
            }
            _ => {
                self.before_list = self.is_before_list(kind);
                return false;
            }
        }
        self.before_list = false;
        self.weight() > MAX_WEIGHT
    }

    /// Whether a list may follow the token: a statement or an initialiser has begun. What begins a function's body may
    /// follow a name too, and what `.loc` says ends with a number.
    const fn is_before_list(&self, kind: TokenKind) -> bool {
        match kind {
            TokenKind::Equals | TokenKind::Comma => true,
            TokenKind::Name | TokenKind::Dotted | TokenKind::DotWord => self.braces > 0,
            _ => false,
        }
    }

    fn weight(&self) -> u32 {
        let blocks = match self.braces.saturating_sub(self.lists) {
            0 => 0,
            blocks => BODY.saturating_add((blocks - 1).saturating_mul(BLOCK)),
        };
        blocks.saturating_add(self.lists).saturating_add(self.others)
    }

    /// Whether a list is open.
    #[inline]
    pub(crate) const fn in_list(&self) -> bool {
        self.lists > 0
    }

    /// How many braces are open.
    #[inline]
    pub(crate) const fn braces(&self) -> u32 {
        self.braces
    }
}

/// The first bracket that is nested more deeply than may be, and the outermost of those around it.
pub(crate) fn too_deep(tokens: &[Token]) -> Option<(usize, usize)> {
    let mut nesting = Nesting::default();
    let mut outermost = 0;
    for (index, token) in tokens.iter().enumerate() {
        if nesting.braces == 0 && nesting.others == 0 {
            outermost = index;
        }
        if nesting.pass(token.kind) {
            return Some((outermost, index));
        }
    }
    None
}
