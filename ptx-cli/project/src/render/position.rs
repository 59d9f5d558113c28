//! Where a span is, in the numbers that users see.

use std::cell::OnceCell;

use ptx_syntax::{LineIndex, Span};
use serde::Serialize;

use crate::source::Source;

/// A place: lines and columns count from 1, columns in bytes, the end is exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Place {
    /// First line.
    pub line: u32,
    /// First column.
    pub column: u32,
    /// Last line.
    pub end_line: u32,
    /// Column after the last byte.
    pub end_column: u32,
}

/// The line starts of one source.
#[derive(Debug)]
pub struct Positions<'a> {
    /// The source.
    pub source: &'a Source,
    /// Its line starts.
    pub index: LineIndex,
    /// How many characters begin before each multiple of [`CHUNK`]; counted when the first column in code points is
    /// asked for. To count from the start of the line for each place would be slow on one long line.
    characters: OnceCell<Vec<u32>>,
}

/// Bytes between two counts of characters.
const CHUNK: usize = 256;

impl<'a> Positions<'a> {
    /// Finds the line starts.
    #[must_use]
    pub fn new(source: &'a Source) -> Self {
        Self { source, index: LineIndex::new(&source.text), characters: OnceCell::new() }
    }

    /// The place of `span`.
    #[must_use]
    pub fn place(&self, span: Span) -> Place {
        let start = self.index.position(span.start);
        let end = self.index.position(span.end.max(span.start));
        Place { line: start.line, column: start.column, end_line: end.line, end_column: end.column }
    }

    /// `place` with columns counted in Unicode code points.
    #[must_use]
    pub fn code_points(&self, place: Place) -> Place {
        Place {
            column: self.code_point_column(place.line, place.column),
            end_column: self.code_point_column(place.end_line, place.end_column),
            ..place
        }
    }

    fn code_point_column(&self, line: u32, column: u32) -> u32 {
        let start = self.index.line_span(line).range().start;
        self.characters_before(start + column as usize - 1) - self.characters_before(start) + 1
    }

    /// How many characters begin before a byte of the text.
    fn characters_before(&self, offset: usize) -> u32 {
        let bytes = self.source.text.as_bytes();
        let offset = offset.min(bytes.len());
        let counts = self.characters.get_or_init(|| {
            let mut total = 0;
            let count = |chunk| {
                let before = total;
                total += beginnings(chunk);
                before
            };
            bytes.chunks(CHUNK).map(count).collect()
        });
        let chunk = (offset / CHUNK).min(counts.len().saturating_sub(1));
        counts.get(chunk).copied().unwrap_or(0) + beginnings(&bytes[chunk * CHUNK..offset])
    }
}

/// Every byte that does not continue a character begins one.
fn beginnings(bytes: &[u8]) -> u32 {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u32
}
