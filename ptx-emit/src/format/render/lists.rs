//! Lists of initialisers and long vectors: on one line, or on lines of their own.

use super::super::plan::{Mark, Separator};
use super::super::sink::Sink;
use super::{END, Renderer};
use ptx_syntax::lexer::TokenKind;

/// The lists around the place at hand.
#[derive(Default)]
pub(super) struct Lists {
    /// Those with lines of their own.
    pub broken: u32,
    /// Those within one line.
    pub inline: u32,
    /// The column, where `broken` is not 0.
    pub column: usize,
    /// Whether the line was ended by the close of a broken list.
    pub closed: bool,
}

impl<S: Sink> Renderer<'_, S> {
    /// What the mark of the next token means here: lists become lines or spaces.
    #[inline(always)]
    pub(super) fn resolve(&mut self) -> Mark {
        let mark = self.marks.get(self.mark).copied().unwrap_or(END);
        if (mark.separator as u8) < Separator::ListFirst as u8 {
            return mark;
        }
        self.resolve_list(mark)
    }

    fn resolve_list(&mut self, mark: Mark) -> Mark {
        if let Some(resolved) = self.gap.resolved {
            return resolved;
        }
        let separator = match mark.separator {
            Separator::ListFirst => self.open_list(),
            Separator::Row => self.row(),
            _ => self.close_list(),
        };
        let resolved = Mark { separator, ..mark };
        self.gap.resolved = Some(resolved);
        resolved
    }

    fn open_list(&mut self) -> Separator {
        if self.lists.inline == 0 {
            self.lists.closed = false;
            if self.lists.broken == 0 {
                self.lists.column = self.column();
            }
            if self.line_ends() > 0 || !self.fits(true) {
                self.lists.broken += 1;
                return Separator::First;
            }
        }
        self.lists.inline += 1;
        Separator::Glue
    }

    fn close_list(&mut self) -> Separator {
        if self.lists.inline > 0 {
            self.lists.inline -= 1;
            return Separator::Glue;
        }
        self.lists.broken = self.lists.broken.saturating_sub(1);
        self.lists.closed = true;
        Separator::Last
    }

    fn row(&mut self) -> Separator {
        let closed = std::mem::take(&mut self.lists.closed);
        if self.lists.inline > 0 {
            return Separator::Space;
        }
        let beside = if self.metrics.aligned { Separator::Element } else { Separator::Space };
        // A comment before an element stays there, however wide the line.
        let commented = self.tokens.get(self.at).is_some_and(|token| token.kind.is_comment());
        if closed || self.line_end_ahead() || !commented && !self.fits(false) {
            Separator::Line
        } else {
            beside
        }
    }

    /// Whether what follows has room on the line and is on one line: a whole list, from its first element
    /// on, or one element.
    fn fits(&self, list: bool) -> bool {
        let mut column = self.lists.column + usize::from(!list);
        let mut depth = u32::from(list);
        // No comment is passed, so tokens and marks keep step.
        let marks = self.marks.get(self.mark..).unwrap_or(&[]);
        for ((index, token), mark) in self.tokens.iter().enumerate().skip(self.at).zip(marks) {
            if depth > 0 && index > self.at && self.line_ends_behind(index - 1) > 0 {
                return false;
            }
            match token.kind {
                TokenKind::LineComment | TokenKind::BlockComment => return depth == 0,
                TokenKind::CloseBrace if depth == 0 => return true,
                TokenKind::CloseBrace => depth -= 1,
                TokenKind::OpenBrace => depth += 1,
                _ => {}
            }
            let spaced = index > self.at && matches!(mark.separator, Separator::Space | Separator::Row);
            column += usize::from(spaced) + token.span.len() as usize;
            if column > self.metrics.width {
                return false;
            }
            if depth == 0 && matches!(token.kind, TokenKind::Comma | TokenKind::Semicolon) {
                return true;
            }
        }
        true
    }
}
