//! What stays as it is: nodes, and what is between markers.

use super::super::comment;
use super::super::plan::{Mark, Separator};
use super::super::region::Kept;
use super::super::sink::Sink;
use super::{Gap, Renderer};
use ptx_syntax::Span;
use ptx_syntax::lexer::{Token, TokenKind};

impl<S: Sink> Renderer<'_, S> {
    /// Copies a node; the token at hand is its first, `end` the index after its last.
    pub(super) fn keep_node(&mut self, token: Token, end: usize) {
        let mark = self.resolve();
        let start = token.span.start as usize;
        let line = self.source[..start].rfind('\n').map_or(0, |at| at + 1);
        let lines = !mark.separator.is_inline();
        let alone = lines && self.source[line..start].bytes().all(|byte| byte.is_ascii_whitespace());
        let depth = if alone { 0 } else { mark.depth };
        let from = if alone { line } else { start };
        if self.gap.commented {
            self.behind_comment(
                token,
                Mark { depth, comments: if alone { 0 } else { mark.comments }, ..mark },
            );
        } else {
            self.separate(Mark { depth, ..mark }, token.span.start);
        }
        let last = self.tokens[end - 1];
        self.sink.copy(self.source, Span::new(from as u32, last.span.end));
        self.sink.keep();
        self.pass(self.at, end);
        self.written = true;
        self.end = last.span.end;
        self.gap = Gap::default();
        self.previous = Some(last.kind);
        self.at = end - 1;
    }

    /// Copies what the `off` comment at hand keeps. Gives true where the rest of the text was copied.
    pub(super) fn keep_between(&mut self, token: Token) -> bool {
        let Some(&Kept::Between { on, .. }) = self.kept.get(self.next_kept) else { return false };
        self.next_kept += 1;
        let end = on.map_or(self.source.len() as u32, |on| self.tokens[on].span.start);
        self.sink.copy(self.source, Span::new(token.span.end, end));
        let Some(on) = on else { return true };
        let passed = self.mark;
        self.pass(self.at, on);
        let resolved = if self.mark == passed { self.gap.resolved } else { None };
        self.at = on;
        let token = self.tokens[on];
        self.end = token.span.end;
        let line_end = self.line_end();
        comment::write(self.sink, token.text(self.source), None, line_end);
        self.gap = Gap {
            broken: true,
            commented: true,
            own_line: false,
            open_comment: token.kind == TokenKind::LineComment,
            divided: true,
            resolved,
        };
        false
    }

    /// Moves over the marks of the tokens `from..to`, which were copied.
    pub(super) fn pass(&mut self, from: usize, to: usize) {
        // The mark of the first token was acted upon if a comment before it asked for it.
        let mut acted = self.gap.resolved.is_some();
        for token in &self.tokens[from..to] {
            if token.kind.is_trivia() {
                continue;
            }
            if std::mem::take(&mut acted) {
                self.mark += 1;
                continue;
            }
            match self.marks.get(self.mark).map(|mark| mark.separator) {
                Some(Separator::ListFirst) => self.lists.broken += 1,
                Some(Separator::ListClose) if self.lists.inline > 0 => self.lists.inline -= 1,
                Some(Separator::ListClose) => self.lists.broken = self.lists.broken.saturating_sub(1),
                _ => {}
            }
            self.mark += 1;
        }
    }
}
