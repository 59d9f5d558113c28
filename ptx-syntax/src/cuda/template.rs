//! The text of an asm template after the compiler has joined and decoded its strings, with the way back.

use crate::Span;

/// Stands in [`Template::text`] for a part that only the preprocessor knows.
pub const WILDCARD: char = '\u{FFFC}';

/// What a piece of a template is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PieceKind {
    /// Decoded text of one string literal, or of a macro of the same file that is one.
    Literal,
    /// A macro, a macro's parameter or something else whose text is not known: one [`WILDCARD`].
    Wildcard,
    /// A macro's parameter made a string with `#`: one [`WILDCARD`].
    Stringified,
    /// A text that `#` or `##` made of a macro's arguments.
    Made,
}

/// One part of a template as written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// Its bytes in [`Template::text`].
    pub decoded: Span,
    /// The token or tokens in the source, quotes included.
    pub source: Span,
}

/// A template, decoded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Template {
    /// The decoded text; a part that is not known is one [`WILDCARD`].
    pub text: String,
    /// The parts, in order; they cover `text` without gaps.
    pub pieces: Vec<Piece>,
    /// From a byte of `text` to the source.
    pub map: SourceMap,
    /// From the first to the last part in the source.
    pub span: Span,
}

impl Template {
    /// Gives back memory that was kept for more.
    pub(super) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.pieces.shrink_to_fit();
        self.map.runs.shrink_to_fit();
    }

    /// Whether a part of the text is not known.
    #[must_use]
    pub fn has_wildcards(&self) -> bool {
        self.pieces.iter().any(|piece| matches!(piece.kind, PieceKind::Wildcard | PieceKind::Stringified))
    }
}

/// A stretch of decoded text that one stretch of the source gave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Run {
    decoded: u32,
    source: Span,
    /// Whether the bytes are the same, one for one; otherwise the whole run comes from the whole of `source`.
    verbatim: bool,
}

/// The way from a byte of a decoded template to the source file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SourceMap {
    runs: Vec<Run>,
    decoded_len: u32,
    /// The statement, if some of the text comes from elsewhere: from macros.
    home: Option<Span>,
}

impl SourceMap {
    fn run_at(&self, decoded: u32) -> Option<(Run, u32)> {
        let after = self.runs.partition_point(|run| run.decoded <= decoded);
        let run = *self.runs.get(after.checked_sub(1)?)?;
        let end = self.runs.get(after).map_or(self.decoded_len, |next| next.decoded);
        (decoded < end).then_some((run, end))
    }

    /// The source of the decoded byte at `decoded`: one byte, or the whole escape or macro that made it. At and
    /// past the end of the text, the empty range after the last source byte.
    #[must_use]
    pub fn byte(&self, decoded: u32) -> Span {
        match self.run_at(decoded) {
            Some((run, _)) if run.verbatim => {
                let at = run.source.start + (decoded - run.decoded);
                Span::new(at, at + 1)
            }
            Some((run, _)) => run.source,
            None => Span::at(self.runs.last().map_or(0, |run| run.source.end)),
        }
    }

    /// The source of a range of decoded text: from its first byte to its last, so that quotes, comments and
    /// other tokens between two strings are covered too. For an empty range, the point before its start.
    #[must_use]
    pub fn span(&self, decoded: Span) -> Span {
        let first = self.byte(decoded.start);
        if decoded.is_empty() {
            return Span::at(first.start);
        }
        match self.home {
            Some(home) => self.scattered(decoded, home),
            None => first.to(self.byte(decoded.end - 1)),
        }
    }

    /// The decoded byte that the source byte at `source` gives, where that is one byte for one: not in an escape, and
    /// not in a macro. After the last byte of a string too.
    #[must_use]
    pub fn decoded(&self, source: u32) -> Option<u32> {
        let holds = |run: &&Run| run.verbatim && run.source.start <= source && source <= run.source.end;
        let run = self.runs.iter().filter(holds).max_by_key(|run| run.source.start)?;
        Some(run.decoded + (source - run.source.start))
    }

    /// The part of a range that is in the statement itself; if there is none, its first part elsewhere.
    fn scattered(&self, decoded: Span, home: Span) -> Span {
        let (mut own, mut other): (Option<Span>, Option<Span>) = (None, None);
        let mut at = decoded.start;
        while let Some((run, end)) = self.run_at(at).filter(|_| at < decoded.end) {
            let part = match run.verbatim {
                true => self.byte(at).to(self.byte(end.min(decoded.end) - 1)),
                false => run.source,
            };
            if home.start <= part.start && part.end <= home.end {
                own = Some(own.map_or(part, |before| before.to(part)));
            } else if other.is_none_or(|before| before.end <= part.start && part.start < before.end + 16) {
                other = Some(other.map_or(part, |before| before.to(part)));
            }
            at = end;
        }
        own.or(other).unwrap_or_else(|| self.byte(decoded.start))
    }

    /// Notes the statement that the text belongs to.
    pub(super) fn set_home(&mut self, home: Span) {
        let outside = |run: &Run| run.source.start < home.start || home.end < run.source.end;
        self.home = self.runs.iter().any(outside).then_some(home);
    }

    /// Moves stretches to other places, whole.
    pub(super) fn relocate(&mut self, place: impl Fn(Span) -> Option<Span>) {
        for run in &mut self.runs {
            if let Some(source) = place(run.source) {
                (run.source, run.verbatim) = (source, false);
            }
        }
    }

    /// Whether the decoded range is in the source byte for byte, so that an edit of the one is an edit of
    /// the other.
    #[must_use]
    pub fn is_verbatim(&self, decoded: Span) -> bool {
        let source = self.span(decoded);
        let inside = |at: u32| self.run_at(at).is_some_and(|(run, _)| run.verbatim);
        source.len() == decoded.len() && (decoded.start..decoded.end).all(inside)
    }

    /// Appends `length` decoded bytes that are in the source from `source` on.
    pub(super) fn push_verbatim(&mut self, length: u32, source: u32) {
        let continues =
            self.runs.last().is_some_and(|run| run.verbatim && run.source.end == source && length > 0);
        if continues {
            if let Some(run) = self.runs.last_mut() {
                run.source.end += length;
            }
        } else if length > 0 {
            let source = Span::new(source, source + length);
            self.runs.push(Run { decoded: self.decoded_len, source, verbatim: true });
        }
        self.decoded_len += length;
    }

    /// Appends `length` decoded bytes that all come from `source`.
    pub(super) fn push_opaque(&mut self, length: u32, source: Span) {
        if length > 0 {
            self.runs.push(Run { decoded: self.decoded_len, source, verbatim: false });
            self.decoded_len += length;
        }
    }
}
