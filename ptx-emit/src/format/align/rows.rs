//! The lines of a text with their cells.

use super::super::metrics::after_tab;
use super::super::sink::Stop;
use super::column::{CellColumn, Field};

/// What a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) enum Role {
    /// A whole statement or parameter.
    Statement,
    /// A part of something that has several lines, a directive.
    Part,
    /// A comment, label or brace, something with line ends or tabs within.
    Boundary,
}

/// A place where a column may begin.
#[derive(Clone, Copy, Debug)]
struct Place {
    stop: Stop,
    /// Where the cell before it ends in the line.
    end: usize,
    /// Where what follows is in the source.
    next: u32,
    /// How many spaces there are.
    spaces: usize,
}

/// Where the cells of a line are being looked at.
pub(in super::super) struct Track {
    /// Index of the place after the cell at hand.
    place: usize,
    /// Where the cell begins in the text.
    text: usize,
    /// Its column.
    width: usize,
    /// Where columns are counted from in the source.
    source: Option<u32>,
}

/// How a line begins.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Begin {
    /// Where its first token is in the source; none where it begins with a comment.
    pub first: Option<u32>,
    /// Whether a blank line is before it.
    pub blank: bool,
    /// Whether it has line ends within, or something that is kept.
    pub fixed: bool,
}

/// A line with its cells.
pub(in super::super) struct Row<'a> {
    source: &'a str,
    text: &'a str,
    places: Vec<Place>,
    /// Where the first token is in the source.
    first: Option<u32>,
    /// Columns before the mnemonic or, without one, before the line.
    indent: usize,
    pub blank: bool,
    pub role: Role,
    /// How many operands it has after the first.
    operands: usize,
    /// Whether the author made the column of the operands.
    pub authored: bool,
    /// Whether the guard is in the indentation.
    outdented: bool,
}

impl<'a> Row<'a> {
    pub fn new(
        source: &'a str,
        text: &'a str,
        places: impl Iterator<Item = (Stop, usize, u32)>,
        indent: usize,
        line: Begin,
    ) -> Self {
        let places: Vec<Place> =
            places.map(|(stop, end, next)| Place { stop, end, next, spaces: 1 }).collect();
        let comment = places.iter().find(|place| place.stop == Stop::Comment);
        let operands = places.iter().filter(|place| place.stop == Stop::Operand).count();
        let bare = &text[..comment.map_or(text.len(), |place| place.end)];
        let named = places.iter().any(|place| place.stop == Stop::Name);
        let boundary = line.fixed
            || line.first.is_none()
            || text.contains('\t')
            || bare.ends_with(':')
            || bare.starts_with(['{', '}']);
        let role = match bare.ends_with(';') || named && !bare.ends_with('{') {
            // Rows of lists begin with braces, but have something after them.
            _ if boundary => Role::Boundary,
            true => Role::Statement,
            false => Role::Part,
        };
        Self {
            source,
            text,
            places,
            first: line.first,
            indent,
            blank: line.blank,
            role,
            operands,
            authored: false,
            outdented: false,
        }
    }

    fn place(&self, stop: Stop) -> Option<&Place> {
        self.places.iter().find(|place| place.stop == stop)
    }

    /// Which column its first cell is before.
    pub fn kind(&self) -> Option<Stop> {
        self.places.iter().map(|place| place.stop).find(|stop| matches!(stop, Stop::Operands | Stop::Name))
    }

    /// The width of the guard, 0 for none.
    fn guard(&self) -> usize {
        self.place(Stop::Mnemonic).map_or(0, |place| width(&self.text[..place.end]))
    }

    /// The cell before a column, with all that is before it but for the indentation.
    pub fn field(&self, stop: Stop) -> Option<Field> {
        let place = self.place(stop).filter(|_| self.role == Role::Statement)?;
        Some(self.field_before(place))
    }

    fn field_before(&self, place: &Place) -> Field {
        let operands = self.operands;
        Field { width: self.columns_before(place), author: self.author(place), operands }
    }

    /// What is before the comment, as long as it is not a whole line.
    pub fn comment(&self) -> Option<Field> {
        let place = self.place(Stop::Comment).filter(|_| self.role != Role::Boundary)?;
        Some(self.field_before(place))
    }

    /// The columns from the mnemonic, or from a guard that is in its place, to the end of the cell before `place`.
    fn columns_before(&self, place: &Place) -> usize {
        let mut from = 0;
        let mut columns = 0;
        for each in &self.places {
            if self.outdented && each.stop == Stop::Mnemonic {
                (from, columns) = (each.end + 1, 0);
                continue;
            }
            columns += width(&self.text[from..each.end]);
            if each.end == place.end {
                break;
            }
            columns += each.spaces;
            from = each.end + 1;
        }
        columns
    }

    /// How far from the mnemonic the author put what follows `place`.
    fn author(&self, place: &Place) -> Option<usize> {
        let mnemonic = self.place(Stop::Mnemonic).filter(|_| self.outdented);
        let from = mnemonic.map_or(self.first, |mnemonic| Some(mnemonic.next))?;
        distance(self.source, from as usize, place.next as usize)
    }

    /// The spaces before what follows the place of this index.
    pub fn spaces(&self, index: usize) -> usize {
        self.places.get(index).map_or(1, |place| place.spaces)
    }

    pub fn pad(&mut self, stop: Stop, spaces: usize) {
        if let Some(place) = self.places.iter_mut().find(|place| place.stop == stop) {
            place.spaces = spaces.max(1);
        }
    }

    /// What its cells after the first are counted from; none where it has none.
    pub fn cells(&self) -> Option<Stop> {
        let has = |stop| self.places.iter().any(|place| place.stop == stop);
        match self.role {
            Role::Boundary => None,
            _ if has(Stop::Statement) => Some(Stop::Statement),
            Role::Statement if has(Stop::Operand) => Some(Stop::Operands),
            _ if has(Stop::Element) => Some(Stop::Element),
            _ => None,
        }
    }

    /// The beginning of the cells.
    pub fn track(&self) -> Track {
        let operands = self.places.iter().position(|place| place.stop == Stop::Operands);
        match operands.filter(|_| self.role == Role::Statement) {
            Some(at) => Track {
                place: at + 1,
                text: self.places[at].end + 1,
                width: 0,
                source: Some(self.places[at].next),
            },
            None => Track { place: 0, text: 0, width: 0, source: self.first },
        }
    }

    /// What follows the cell at hand.
    pub fn next(&self, track: &Track) -> Option<Stop> {
        self.places.get(track.place).map(|place| place.stop).filter(|stop| *stop != Stop::Comment)
    }

    /// The cell at hand, if a `statement` follows it or another cell, as is asked.
    pub fn cell(&self, track: &mut Track, statement: bool) -> Option<Field> {
        self.next(track).filter(|next| (*next == Stop::Statement) == statement)?;
        let place = self.places.get(track.place)?;
        let author = track.source.and_then(|from| distance(self.source, from as usize, place.next as usize));
        track.width += width(&self.text[track.text..place.end]);
        Some(Field { width: track.width, author, operands: self.operands })
    }

    /// Puts what follows the cell at hand into a column, and goes on to it.
    pub fn pad_cell(&mut self, track: &mut Track, column: Option<CellColumn>, statement: bool) {
        if self.next(track).is_none_or(|next| (next == Stop::Statement) != statement) {
            return;
        }
        let column = column.filter(|column| statement || column.holds(self.operands));
        let Some(place) = self.places.get_mut(track.place) else { return };
        place.spaces = column.map_or(1, |column| column.at.saturating_sub(track.width).max(1));
        (track.place, track.text, track.width) = (track.place + 1, place.end + 1, track.width + place.spaces);
    }

    /// Whether it is a statement of two operands.
    pub fn is_pair(&self) -> bool {
        self.role == Role::Statement && self.operands == 1
    }

    /// The opcode without its last modifier.
    pub fn stem(&self) -> Option<&str> {
        let end = self.place(Stop::Operands)?.end;
        let from = self.place(Stop::Mnemonic).map_or(0, |place| place.end + 1);
        let opcode = self.text.get(from..end)?;
        Some(opcode.rsplit_once('.').map_or(opcode, |(stem, _)| stem))
    }

    /// Appends the line.
    pub fn write(&self, text: &mut String) {
        let guard = if self.outdented { self.guard() + 1 } else { 0 };
        if !self.text.is_empty() {
            spaces(text, self.indent.saturating_sub(guard));
        }
        let mut from = 0;
        for place in &self.places {
            text.push_str(&self.text[from..place.end]);
            spaces(text, place.spaces);
            from = place.end + 1;
        }
        text.push_str(&self.text[from..]);
    }

    /// Whether a function ends here.
    fn ends_function(&self) -> bool {
        self.indent == 0 && self.text.starts_with('}')
    }
}

fn spaces(text: &mut String, count: usize) {
    text.extend(std::iter::repeat_n(' ', count));
}

fn width(text: &str) -> usize {
    text.chars().count()
}

/// Authors put nothing further away.
const MAX_DISTANCE: usize = 256;

/// How many columns are from one byte to another of the same line.
fn distance(source: &str, from: usize, to: usize) -> Option<usize> {
    let between = source.as_bytes().get(from..to).filter(|between| between.len() <= MAX_DISTANCE)?;
    if between.contains(&b'\n') {
        return None;
    }
    if !between.contains(&b'\t') {
        return Some(width(source.get(from..to)?));
    }
    let before = &source.as_bytes()[from.saturating_sub(MAX_DISTANCE)..from];
    let line = before.iter().rposition(|byte| *byte == b'\n').map(|at| from - before.len() + at + 1);
    let start = line.or_else(|| (before.len() == from).then_some(0))?;
    let advance = |column, character| if character == '\t' { after_tab(column) } else { column + 1 };
    let first = source.get(start..from)?.chars().fold(0, advance);
    Some(source.get(from..to)?.chars().fold(first, advance) - first)
}

/// The end of the run of lines from `from` on.
pub(super) fn run_end(rows: &[Row<'_>], from: usize) -> usize {
    let first = &rows[from];
    if first.role == Role::Boundary {
        return from + 1;
    }
    let goes_on = |row: &&Row<'_>| row.role != Role::Boundary && !row.blank && row.indent == first.indent;
    from + 1 + rows[from + 1..].iter().take_while(goes_on).count()
}

/// Decides for each function whether its guards are in the indentation.
pub(super) fn place_guards(rows: &mut [Row<'_>]) {
    for function in rows.split_inclusive_mut(Row::ends_function) {
        if function.iter().all(|row| row.guard() < row.indent.max(1)) {
            let guarded = function.iter_mut().filter(|row| row.place(Stop::Mnemonic).is_some());
            guarded.for_each(|row| row.outdented = true);
        }
    }
}

/// Guards that are shorter than others in neighbouring lines by more are not padded.
const MAX_GUARD_SPREAD: usize = 6;

/// Pads the guards of neighbouring lines to the same width, where they are not in the indentation.
pub(super) fn pad_guards(rows: &mut [Row<'_>]) {
    let is_guarded = |row: &Row<'_>| row.guard() > 0 && !row.outdented && row.role == Role::Statement;
    for run in rows.chunk_by_mut(|left, right| is_guarded(left) && is_guarded(right)) {
        let (Some(most), Some(least)) = (run.iter().map(Row::guard).max(), run.iter().map(Row::guard).min())
        else {
            continue;
        };
        if least > 0 && most - least <= MAX_GUARD_SPREAD && run.iter().all(is_guarded) {
            run.iter_mut().for_each(|row| row.pad(Stop::Mnemonic, most + 1 - row.guard()));
        }
    }
}
