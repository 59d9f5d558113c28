//! Declarations of functions that have no `;`.
//!
//! NVIDIA's assembler takes `.func f (.reg .u32 x)` without its `;`, and nvopencc, the compiler of the first CUDA
//! versions, printed it so. The grammar asks for the `;`; here is told where it is missing.

use crate::lexer::TokenKind;

/// Follows the tokens of a text from one function header to its end.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Prototype {
    in_header: bool,
    parentheses: u32,
}

impl Prototype {
    /// Whether the declaration of a function ends before this token, which is no trivia, without a `;`.
    #[inline]
    pub(crate) fn ends_before(&mut self, kind: TokenKind) -> bool {
        if !self.in_header {
            self.in_header = kind == TokenKind::Func;
            self.parentheses = 0;
            return false;
        }
        match kind {
            TokenKind::OpenParen => self.parentheses += 1,
            TokenKind::CloseParen => self.parentheses = self.parentheses.saturating_sub(1),
            TokenKind::OpenBrace | TokenKind::Semicolon => self.in_header = false,
            _ if self.parentheses == 0 && begins_item(kind) => {
                self.in_header = kind == TokenKind::Func;
                return true;
            }
            _ => {}
        }
        false
    }

    /// Whether a declaration ends with the text, without a `;`.
    pub(crate) fn ends_with_text(&mut self) -> bool {
        std::mem::take(&mut self.in_header) && self.parentheses == 0
    }
}

/// Whether the token begins an item and is no part of a function header.
fn begins_item(kind: TokenKind) -> bool {
    matches!(
        kind,
        TokenKind::Entry
            | TokenKind::Func
            | TokenKind::Linkage
            | TokenKind::StateSpace
            | TokenKind::Alias
            | TokenKind::File
            | TokenKind::Section
            | TokenKind::SourceSection
            // Kernels have pragmas before their bodies, functions only inside.
            | TokenKind::Pragma
    )
}
