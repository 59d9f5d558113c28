//! Byte ranges of a source text, and the way from a byte to a line and column.

use std::ops::Range;

/// A half-open range of bytes of one source text. Files are at most 4 GiB, so 32 bits are enough.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "crate::serial::Bounds")
)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// Offset one past the last byte.
    pub end: u32,
}

impl Span {
    /// The range from `start` to `end`.
    #[must_use]
    #[inline]
    pub const fn new(start: u32, end: u32) -> Self {
        Self { start, end }
    }

    /// The empty range at `offset`.
    #[must_use]
    #[inline]
    pub const fn at(offset: u32) -> Self {
        Self::new(offset, offset)
    }

    /// The smallest range that covers both.
    #[must_use]
    #[inline]
    pub fn to(self, other: Self) -> Self {
        Self::new(self.start.min(other.start), self.end.max(other.end))
    }

    /// Number of bytes.
    #[must_use]
    #[inline]
    pub const fn len(self) -> u32 {
        self.end - self.start
    }

    /// Whether the range holds no byte.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.start == self.end
    }

    /// The range as indices of a slice.
    #[must_use]
    pub const fn range(self) -> Range<usize> {
        self.start as usize..self.end as usize
    }

    /// The text that this range covers; empty where the range does not fit the text.
    #[must_use]
    #[inline]
    pub fn text(self, source: &str) -> &str {
        source.get(self.range()).unwrap_or("")
    }
}

impl std::fmt::Debug for Span {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}..{}", self.start, self.end)
    }
}

/// Where the lines of a source text begin. Built only when a position is to be shown.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<u32>,
    len: u32,
}

/// A position as users see it: both counted from 1, the column in UTF-8 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LineColumn {
    /// Line, from 1.
    pub line: u32,
    /// Column in bytes, from 1.
    pub column: u32,
}

impl LineIndex {
    /// Finds the line starts of `source`. Lines end at `\n`; a `\r` before it belongs to the line.
    #[must_use]
    #[inline]
    pub fn new(source: &str) -> Self {
        let mut starts = vec![0];
        starts.extend(memchr::memchr_iter(b'\n', source.as_bytes()).map(|at| at as u32 + 1));
        Self { starts, len: source.len() as u32 }
    }

    /// The line and column of the byte at `offset`; past the end, those of the end.
    #[must_use]
    pub fn position(&self, offset: u32) -> LineColumn {
        let offset = offset.min(self.len);
        let line = self.starts.partition_point(|&start| start <= offset) - 1;
        LineColumn { line: line as u32 + 1, column: offset - self.starts[line] + 1 }
    }

    /// The bytes of `line` (from 1), its end of line included.
    #[must_use]
    pub fn line_span(&self, line: u32) -> Span {
        let index = (line.max(1) - 1) as usize;
        let start = self.starts.get(index).copied().unwrap_or(self.len);
        let end = self.starts.get(index + 1).copied().unwrap_or(self.len);
        Span::new(start, end)
    }

    /// How many lines there are; a text without a newline has one.
    #[must_use]
    pub fn line_count(&self) -> u32 {
        self.starts.len() as u32
    }
}
