//! How deeply brackets may be nested.

use crate::lexer::{Token, TokenKind};

/// ptxas reads no more: its parser has room for 10,000 states, of which each bracket that is open takes one or more.
pub(crate) const MAX_NESTING: u32 = 10_000;

/// The brackets that are open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Nesting {
    braces: u32,
    /// Those of the statement: none is open behind its end, whether it was closed or not.
    others: u32,
}

impl Nesting {
    /// Goes past a token; whether more brackets are open behind it than may be.
    #[inline]
    pub(crate) fn pass(&mut self, kind: TokenKind) -> bool {
        match kind {
            TokenKind::OpenParen | TokenKind::OpenBracket => self.others += 1,
            TokenKind::CloseParen | TokenKind::CloseBracket => self.others = self.others.saturating_sub(1),
            TokenKind::Semicolon => self.others = 0,
            TokenKind::OpenBrace => self.braces += 1,
            TokenKind::CloseBrace => self.braces = self.braces.saturating_sub(1),
            _ => return false,
        }
        self.braces.saturating_add(self.others) > MAX_NESTING
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
