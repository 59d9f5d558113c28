//! Lines and columns as the protocol counts them.
//!
//! Lines end with `\n`, `\r\n` or `\r`, unlike those of our messages. A column counts bytes or units of UTF-16.

use std::ops::Range;

use lsp_types::Position;

/// In which units the editor counts columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Encoding {
    /// Bytes.
    Utf8,
    /// Units of UTF-16, the protocol's default.
    #[default]
    Utf16,
}

impl Encoding {
    fn len(self, text: &str) -> u32 {
        match self {
            Self::Utf8 => text.len() as u32,
            Self::Utf16 => text.encode_utf16().count() as u32,
        }
    }

    /// The byte at which `units` of a text are over; inside a character, its first byte.
    fn byte(self, text: &str, units: u32) -> usize {
        match self {
            Self::Utf8 => boundary(text, units as usize),
            Self::Utf16 => {
                let mut left = units as usize;
                let fits = |each: &(usize, char)| {
                    let length = each.1.len_utf16();
                    let fits = length <= left;
                    left = left.saturating_sub(if fits { length } else { left });
                    fits
                };
                text.char_indices().take_while(fits).last().map_or(0, |(at, last)| at + last.len_utf8())
            }
        }
    }
}

/// The last place up to `at` that is not inside a character.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// Where lines begin that are ended by one of these bytes.
fn starts_after(text: &str, bytes: Range<u32>) -> impl Iterator<Item = u32> {
    let all = text.as_bytes();
    let (from, to) = (bytes.start as usize, (bytes.end as usize).min(all.len()));
    memchr::memchr2_iter(b'\n', b'\r', all.get(from..to).unwrap_or_default())
        .map(move |at| from + at)
        .filter(|&at| all[at] == b'\n' || all.get(at + 1) != Some(&b'\n'))
        .map(|at| at as u32 + 1)
}

/// Where the lines of a text begin.
#[derive(Clone, Debug)]
pub struct Lines {
    starts: Vec<u32>,
}

impl Lines {
    pub fn new(text: &str) -> Self {
        let starts = std::iter::once(0).chain(starts_after(text, 0..text.len() as u32));
        Self { starts: starts.collect() }
    }

    /// Follows the text, in which `replaced` bytes have become `length` others.
    pub fn replace(&mut self, text: &str, replaced: Range<u32>, length: u32) {
        // Whether a line ends before the replaced bytes depends on the first of them.
        let first = replaced.start.max(1);
        let from = self.starts.partition_point(|&start| start < first);
        let to = self.starts.partition_point(|&start| start <= replaced.end).max(from);
        for start in &mut self.starts[to..] {
            *start = *start - replaced.end + (replaced.start + length);
        }
        let again = starts_after(text, first - 1..replaced.start + length);
        self.starts.splice(from..to, again.collect::<Vec<_>>());
    }

    /// The place of a byte.
    pub fn position(&self, text: &str, encoding: Encoding, offset: u32) -> Position {
        Sweep::new(self, text, encoding).position(offset)
    }

    /// The byte at a place: past the end of a line, the end of the line; past the last line, the end of the text.
    pub fn offset(&self, text: &str, encoding: Encoding, position: Position) -> u32 {
        let line = position.line as usize;
        let Some(&start) = self.starts.get(line) else { return text.len() as u32 };
        let inside = &text[start as usize..self.content_end(text, line)];
        start + encoding.byte(inside, position.character) as u32
    }

    /// The line that a byte is in, from 0.
    pub fn line(&self, offset: u32) -> u32 {
        self.starts.partition_point(|&start| start <= offset).saturating_sub(1) as u32
    }

    /// The first byte of a line; of one that is not there, that of the last.
    pub fn start(&self, line: u32) -> u32 {
        let line = (line as usize).min(self.starts.len().saturating_sub(1));
        self.starts.get(line).copied().unwrap_or_default()
    }

    /// The column at which a line ends.
    pub fn offset_of_end(&self, text: &str, encoding: Encoding, line: u32) -> u32 {
        if line as usize >= self.starts.len() {
            return 0;
        }
        let start = self.start(line) as usize;
        encoding.len(&text[start..self.content_end(text, line as usize)])
    }

    /// Where the text of a line ends, before what ends the line.
    fn content_end(&self, text: &str, line: usize) -> usize {
        let start = self.starts[line] as usize;
        let end = self.starts.get(line + 1).map_or(text.len(), |next| *next as usize);
        start + text[start..end].trim_end_matches(['\r', '\n']).len()
    }
}

/// Finds the places of many bytes. What was counted of a line is not counted again, as long as the bytes come nearly in
/// order: findings on one long line cost no more than the line.
pub struct Sweep<'a> {
    lines: &'a Lines,
    text: &'a str,
    encoding: Encoding,
    /// A byte, and its place.
    known: (usize, Position),
}

impl<'a> Sweep<'a> {
    pub fn new(lines: &'a Lines, text: &'a str, encoding: Encoding) -> Self {
        Self { lines, text, encoding, known: (0, Position::new(0, 0)) }
    }

    /// The places of some bytes, in the order in which they are given.
    pub fn positions(mut self, offsets: &[u32]) -> Vec<Position> {
        let mut order: Vec<usize> = (0..offsets.len()).collect();
        order.sort_by_key(|&index| offsets[index]);
        let mut places = vec![Position::default(); offsets.len()];
        for index in order {
            places[index] = self.position(offsets[index]);
        }
        places
    }

    /// The place of a byte; inside a character, the place of the character; at the end of a line, where its text ends.
    pub fn position(&mut self, offset: u32) -> Position {
        let line = self.lines.starts.partition_point(|&start| start <= offset) - 1;
        let end = self.lines.content_end(self.text, line);
        let offset = boundary(self.text, (offset as usize).min(end));
        let (mut from, mut column) = (self.lines.starts[line] as usize, 0);
        if self.known.1.line as usize == line && self.known.0 <= offset {
            (from, column) = (self.known.0, self.known.1.character);
        }
        let place = Position::new(line as u32, column + self.encoding.len(&self.text[from..offset]));
        self.known = (offset, place);
        place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_counted_in_the_units_of_the_editor() {
        let text = "ab\r\n// é𝄞x\rz\n";
        let lines = Lines::new(text);
        let x = text.find('x').unwrap() as u32;
        assert_eq!(lines.position(text, Encoding::Utf8, x), Position::new(1, 9));
        assert_eq!(lines.position(text, Encoding::Utf16, x), Position::new(1, 6));
        assert_eq!(lines.position(text, Encoding::Utf16, x + 2), Position::new(2, 0));
        for encoding in [Encoding::Utf8, Encoding::Utf16] {
            for (at, _) in text.char_indices().filter(|(_, each)| !"\r\n".contains(*each)) {
                let place = lines.position(text, encoding, at as u32);
                assert_eq!(lines.offset(text, encoding, place), at as u32);
            }
            let end = |line, character| lines.offset(text, encoding, Position::new(line, character));
            assert_eq!((end(0, 99), end(0, u32::MAX)), (2, 2));
            assert_eq!((end(99, 0), end(3, 5)), (text.len() as u32, text.len() as u32));
        }
    }

    #[test]
    fn lines_follow_any_replacement() {
        let pieces = ["", "\n", "\r", "\r\n", "a", "\nb\r", "\n\n"];
        for text in ["", "a", "\r\n", "a\r\nb\n\rc", "\n\r\n\r", "x\ny\nz"] {
            for start in 0..=text.len() {
                for end in start..=text.len() {
                    for piece in pieces {
                        let mut lines = Lines::new(text);
                        let mut changed = text.to_owned();
                        changed.replace_range(start..end, piece);
                        lines.replace(&changed, start as u32..end as u32, piece.len() as u32);
                        let expected = Lines::new(&changed);
                        assert_eq!(lines.starts, expected.starts, "{text:?} {start}..{end} {piece:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn inside_a_character_is_its_beginning() {
        let text = "é𝄞x";
        let lines = Lines::new(text);
        let at = |encoding, units| lines.offset(text, encoding, Position::new(0, units));
        assert_eq!([0, 1, 2, 3, 4].map(|units| at(Encoding::Utf16, units)), [0, 2, 2, 6, 7]);
        assert_eq!([0, 1, 2, 5, 6].map(|units| at(Encoding::Utf8, units)), [0, 0, 2, 2, 6]);
        assert_eq!(lines.position(text, Encoding::Utf16, 4), Position::new(0, 1));
        assert_eq!(Lines::new("").offset("", Encoding::Utf16, Position::new(0, 4)), 0);
    }

    #[test]
    fn places_on_one_long_line_are_counted_once() {
        let text = "é ".repeat(200_000);
        let lines = Lines::new(&text);
        let offsets: Vec<u32> = (0..text.len() as u32).rev().collect();
        let started = std::time::Instant::now();
        let places = Sweep::new(&lines, &text, Encoding::Utf16).positions(&offsets);
        // One by one, these are 600,000 counts of 300,000 characters in the mean.
        assert!(started.elapsed().as_secs() < 20);
        assert_eq!(places[0], Position::new(0, 399_999));
        assert_eq!(places.last(), Some(&Position::new(0, 0)));
    }
}
