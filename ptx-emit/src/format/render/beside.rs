//! Rows of statements: several on a line, as tables of constants are written.

use super::super::sink::{Sink, Stop};
use super::Renderer;
use ptx_syntax::lexer::TokenKind;

/// The row at hand.
#[derive(Default)]
pub(super) struct StatementRow {
    /// How many statements it has; 0 where it did not begin a line of the source.
    count: usize,
    /// Its width, where nothing is in a column.
    width: usize,
}

/// Rows of more statements are not for reading.
const MAX_ROW: usize = 8;

impl<S: Sink> Renderer<'_, S> {
    /// Begins a row with what is at hand.
    pub(super) fn begin_row(&mut self, depth: u8) {
        if self.metrics.aligned {
            let width = usize::from(depth) * self.metrics.tab + self.statement_width();
            self.row = StatementRow { count: usize::from(self.line_ends() > 0), width };
        }
    }

    /// Writes what is between two statements that may be in one row.
    pub(super) fn beside(&mut self, depth: u8, next: u32) {
        let ends = self.line_ends();
        let width = self.row.width + 1 + self.statement_width();
        if ends > 0 || self.row.count == 0 || self.row.count >= MAX_ROW || width > self.metrics.width {
            let goes_on = ends == 0 && self.row.count > 0;
            self.break_line(ends > 1, depth);
            // What is left of a row that is too long is a row.
            self.row.count += usize::from(goes_on);
            return;
        }
        self.row = StatementRow { count: self.row.count + 1, width };
        self.sink.stop(Stop::Statement, next);
    }

    /// The width of the statement at hand, with a space after each comma.
    fn statement_width(&self) -> usize {
        let mut width = 0;
        for token in self.tokens[self.at..].iter().filter(|token| !token.kind.is_trivia()) {
            width += token.span.len() as usize + usize::from(token.kind == TokenKind::Comma);
            if token.kind == TokenKind::Semicolon || width > self.metrics.width {
                break;
            }
        }
        width + 1
    }
}
