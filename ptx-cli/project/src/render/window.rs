//! The few lines of a source that a rendered finding shows.
//!
//! The library that draws looks through all of the text it is given, for every finding; so it is
//! given only the lines in question, and of very long lines only the part in question.

use ptx_syntax::Span;

use super::position::Positions;
use crate::foreign;

/// Lines longer than this are cut.
const MAX_LINE: usize = 240;
/// Places further apart than this many lines are drawn as separate windows.
const MAX_GAP: u32 = 200;
/// Bytes shown before the place on a line that is cut.
const LEAD: usize = 60;

/// A part of the source, as consecutive lines.
#[derive(Debug)]
pub struct Window {
    /// The text to draw.
    pub text: String,
    /// The number of its first line.
    pub line: u32,
    pieces: Vec<Piece>,
}

/// A run of bytes that the window shows.
#[derive(Clone, Copy, Debug)]
struct Piece {
    source: usize,
    end: usize,
    window: usize,
}

impl Window {
    /// The window around `spans`, all of which should be near each other.
    pub fn new(positions: &Positions<'_>, spans: &[Span]) -> Self {
        let first = spans.iter().map(|span| positions.place(*span).line).min().unwrap_or(1);
        let last = spans.iter().map(|span| last_line(positions, *span)).max().unwrap_or(first);
        let mut window = Self { text: String::new(), line: first, pieces: Vec::new() };
        for line in first..=last {
            window.push_line(positions, line, spans);
        }
        window
    }

    /// Groups places into those that one window can show, in the order of the source.
    pub fn clusters(positions: &Positions<'_>, spans: &[Span]) -> Vec<Vec<Span>> {
        let mut sorted = spans.to_vec();
        sorted.sort_unstable();
        let mut clusters: Vec<Vec<Span>> = Vec::new();
        let mut reached = 0;
        for span in sorted {
            let line = positions.place(span).line;
            match clusters.last_mut() {
                Some(cluster) if line <= reached + MAX_GAP => cluster.push(span),
                _ => clusters.push(vec![span]),
            }
            reached = reached.max(last_line(positions, span));
        }
        clusters
    }

    /// Where `span` is in [`Window::text`]; clamped where the window does not show all of it.
    pub fn map(&self, span: Span) -> std::ops::Range<usize> {
        let start = floor(&self.text, self.map_offset(span.start as usize));
        let end = self.map_offset(span.end as usize);
        let end = (end..=self.text.len()).find(|at| self.text.is_char_boundary(*at)).unwrap_or(end);
        start..end.max(start)
    }

    fn map_offset(&self, offset: usize) -> usize {
        let after = self.pieces.partition_point(|piece| piece.source <= offset);
        let Some(piece) = self.pieces.get(after.saturating_sub(1)) else { return 0 };
        let inside = offset.clamp(piece.source, piece.end) - piece.source;
        piece.window + inside
    }

    fn push_line(&mut self, positions: &Positions<'_>, line: u32, spans: &[Span]) {
        let source = positions.source.text.as_str();
        let whole = positions.index.line_span(line).range();
        let text = source.get(whole.clone()).unwrap_or("").trim_end_matches(['\n', '\r']);
        let end = whole.start + text.len();
        let shown =
            if text.len() <= MAX_LINE { whole.start..end } else { cut(source, whole.start, end, spans) };
        if shown.start > whole.start {
            self.text.push('…');
        }
        self.push_shown(source.get(shown.clone()).unwrap_or(""), shown.start);
        if shown.end < end {
            self.text.push('…');
        }
        self.text.push('\n');
    }

    /// Appends a part of the source. A character that must not be shown is a piece of its own, since what
    /// stands for it has another length.
    fn push_shown(&mut self, source: &str, start: usize) {
        let end = start + source.len();
        self.pieces.push(Piece { source: start, end, window: self.text.len() });
        for (at, each, picture) in foreign::pictures(source) {
            let Some(picture) = picture else {
                self.text.push(each);
                continue;
            };
            let (at, next) = (start + at, start + at + each.len_utf8());
            self.pieces.push(Piece { source: at, end: at, window: self.text.len() });
            self.text.push(picture);
            self.pieces.push(Piece { source: next, end, window: self.text.len() });
        }
    }
}

/// The last line of `span` that is drawn: a span over very many lines is shown by its beginning.
fn last_line(positions: &Positions<'_>, span: Span) -> u32 {
    let place = positions.place(span);
    if place.end_line - place.line > MAX_GAP { place.line } else { place.end_line }
}

/// The part of a long line that shows the first of `spans` on it.
fn cut(source: &str, start: usize, end: usize, spans: &[Span]) -> std::ops::Range<usize> {
    let on_line = |span: &&Span| (start..=end).contains(&(span.start as usize));
    let place = spans.iter().find(on_line).map_or(start, |span| span.start as usize);
    let from = place.saturating_sub(LEAD).max(start);
    let to = (from + MAX_LINE).min(end);
    floor(source, from)..floor(source, to)
}

/// The character boundary at or before `offset`.
fn floor(source: &str, offset: usize) -> usize {
    (0..=offset).rev().find(|at| source.is_char_boundary(*at)).unwrap_or(0)
}
