//! Where a rendering goes: into a new text, or into a comparison with a text that should be the same.

use ptx_syntax::Span;

/// What begins a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The mnemonic after a guard.
    Mnemonic,
    /// The operands after a mnemonic.
    Operands,
    /// An operand after another.
    Operand,
    /// The names of a declaration.
    Name,
    /// An element of a list after another.
    Element,
    /// A statement after another.
    Statement,
    /// A comment after a statement.
    Comment,
}

const TABS: &str = "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t";

/// Takes a rendering piece by piece.
pub(super) trait Sink {
    /// Takes some text.
    fn push(&mut self, text: &str);

    /// Takes the text of `span` of the source that is rendered.
    fn copy(&mut self, source: &str, span: Span);

    /// Ends the line, with a blank line after it where wanted, and begins one that is indented by `depth` levels;
    /// `text` is that with tabs.
    #[inline]
    fn line(&mut self, text: &str, blank: bool, depth: usize) {
        let _ = (blank, depth);
        self.push(text);
    }

    /// Ends the last line.
    fn end(&mut self, line_end: &str) {
        self.push(line_end);
    }

    /// Indents a line of a comment by some levels.
    fn indent(&mut self, depth: u8) {
        self.push(&TABS[..usize::from(depth).min(TABS.len())]);
    }

    /// Goes to a column, where what begins at `next` of the source follows.
    #[inline]
    fn stop(&mut self, stop: Stop, next: u32) {
        let _ = next;
        self.push(if stop == Stop::Operands || stop == Stop::Name { "\t" } else { " " });
    }

    /// Something on the line at hand is kept as it is.
    fn keep(&mut self) {}

    /// What was taken so far.
    fn taken<'t>(&'t self, source: &'t str) -> &'t str;

    /// Whether the rest does not matter any more.
    fn is_done(&self) -> bool;
}

impl Sink for String {
    #[inline]
    fn push(&mut self, text: &str) {
        self.push_str(text);
    }

    #[inline]
    fn copy(&mut self, source: &str, span: Span) {
        self.push_str(span.text(source));
    }

    fn taken<'t>(&'t self, _source: &'t str) -> &'t str {
        self
    }

    #[inline]
    fn is_done(&self) -> bool {
        false
    }
}

/// Compares a rendering with the very text that is rendered.
pub(super) struct Comparison<'s> {
    source: &'s str,
    at: usize,
    same: bool,
}

impl<'s> Comparison<'s> {
    /// Nothing was compared yet.
    pub fn new(source: &'s str) -> Self {
        Self { source, at: 0, same: true }
    }

    /// Whether the rendering was `source`, no more and no less.
    pub fn is_same(&self) -> bool {
        self.same && self.at == self.source.len()
    }
}

impl Sink for Comparison<'_> {
    #[inline]
    fn push(&mut self, text: &str) {
        let end = self.at + text.len();
        self.same &= self.source.as_bytes().get(self.at..end) == Some(text.as_bytes());
        self.at = end;
    }

    #[inline]
    fn copy(&mut self, _source: &str, span: Span) {
        // The source is the text that is compared with, so only the place can be wrong.
        self.same &= self.at == span.start as usize;
        self.at = span.end as usize;
    }

    fn taken<'t>(&'t self, source: &'t str) -> &'t str {
        source.get(..self.at).unwrap_or("")
    }

    #[inline]
    fn is_done(&self) -> bool {
        !self.same
    }
}
