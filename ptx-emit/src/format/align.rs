//! The aligned layout: from lines of cells to columns.
//!
//! The renderer writes lines into [`Cells`], with a stop wherever a column may begin. Then each run of neighbouring
//! lines gets its columns: a run ends at a blank line, a label, a comment on its own line, a brace, a statement of
//! several lines, and where the indentation changes.
//!
//! * A column that the author made stays: more than half of the lines of a run have it, and some line needed more than
//!   one space to get there. Else a column begins one space after the longest cell.
//! * A cell that is much longer than the others is left out, and what follows it is one space away.
//! * A guard is in the indentation, right before the mnemonics' column, if all guards of the function have room there.
//!   Else guards begin where statements do, and those of neighbouring lines are padded to the same width.
//! * Operands after the first, elements of lists and statements in a row are in the author's columns. Second operands are
//!   in a column, too, where all lines of a run have two and the same opcode but for its last modifier, and the author
//!   made no columns.
//!
//! Each pass over a text that was aligned finds the same columns: what the author's column is taken from can only grow.

mod column;
mod rows;
#[cfg(test)]
mod tests;

use super::sink::{Sink, Stop};
use column::{Field, cell_column, comment_column, field_column};
use ptx_syntax::Span;
use rows::Track;
pub(super) use rows::{Begin, Role, Row};

/// The lines of a rendering, before their columns are known.
pub(super) struct Cells {
    text: String,
    lines: Vec<Line>,
    stops: Vec<StopAt>,
    /// Columns of a level of indentation.
    tab: usize,
    /// Whether the last line is ended.
    ended: bool,
}

/// A line of a rendering; a comment of several lines and what is kept are parts of one.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// Where it begins in the text of the cells, after its indentation.
    start: u32,
    /// Index of its first stop.
    stops: u32,
    depth: u8,
    /// Whether a blank line is before it.
    blank: bool,
    /// Whether it has line ends within, or something that is kept.
    fixed: bool,
    /// Where its first token is in the source; none where it begins with a comment.
    first: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
struct StopAt {
    stop: Stop,
    /// Where the space is in the text of the cells that stands for it.
    at: u32,
    /// Where what follows is in the source.
    next: u32,
}

impl Cells {
    pub fn new(tab: usize, capacity: usize) -> Self {
        let mut cells = Self {
            text: String::with_capacity(capacity),
            lines: Vec::new(),
            stops: Vec::new(),
            tab,
            ended: false,
        };
        cells.begin(false, 0);
        cells
    }

    fn begin(&mut self, blank: bool, depth: usize) {
        self.lines.push(Line {
            start: self.text.len() as u32,
            stops: self.stops.len() as u32,
            depth: depth as u8,
            blank,
            fixed: false,
            first: None,
        });
    }

    fn note(&mut self, text: &str, first: Option<u32>) {
        let at = self.text.len() as u32;
        if let Some(line) = self.lines.last_mut() {
            line.fixed |= text.contains('\n');
            if line.start == at {
                line.first = first;
            }
        }
    }
}

impl Sink for Cells {
    fn push(&mut self, text: &str) {
        self.note(text, None);
        self.text.push_str(text);
    }

    fn copy(&mut self, source: &str, span: Span) {
        let text = span.text(source);
        self.note(text, Some(span.start));
        self.text.push_str(text);
    }

    fn line(&mut self, _text: &str, blank: bool, depth: usize) {
        // What the column of a list is taken from needs to know that a line begins.
        self.text.push('\n');
        self.begin(blank, depth);
    }

    fn end(&mut self, _line_end: &str) {
        self.ended = true;
    }

    fn indent(&mut self, depth: u8) {
        self.text.extend(std::iter::repeat_n(' ', usize::from(depth) * self.tab));
    }

    fn stop(&mut self, stop: Stop, next: u32) {
        self.stops.push(StopAt { stop, at: self.text.len() as u32, next });
        self.text.push(' ');
    }

    fn keep(&mut self) {
        if let Some(line) = self.lines.last_mut() {
            line.fixed = true;
        }
    }

    fn taken<'t>(&'t self, _source: &'t str) -> &'t str {
        &self.text
    }

    fn is_done(&self) -> bool {
        false
    }
}

impl Cells {
    /// The text in columns.
    pub fn aligned(self, source: &str, line_end: &str) -> String {
        let mut rows = self.rows(source);
        rows::place_guards(&mut rows);
        align(&mut rows);
        self.write(&rows, line_end)
    }

    fn rows<'a>(&'a self, source: &'a str) -> Vec<Row<'a>> {
        (0..self.lines.len()).map(|index| self.row(index, source)).collect()
    }

    fn row<'a>(&'a self, index: usize, source: &'a str) -> Row<'a> {
        let line = self.lines[index];
        let next = self.lines.get(index + 1);
        // The line end before the next line is no part of this one.
        let end = next.map_or(self.text.len(), |next| next.start as usize - 1);
        let stops = next.map_or(self.stops.len(), |next| next.stops as usize);
        let stops = &self.stops[line.stops as usize..stops];
        let text = &self.text[line.start as usize..end];
        let places = stops.iter().map(|stop| (stop.stop, (stop.at - line.start) as usize, stop.next));
        let indent = usize::from(line.depth) * self.tab;
        let begin = Begin { first: line.first, blank: line.blank, fixed: line.fixed };
        Row::new(source, text, places, indent, begin)
    }

    fn write(&self, rows: &[Row<'_>], line_end: &str) -> String {
        let mut text = String::with_capacity(self.text.len() + self.text.len() / 4);
        for (index, row) in rows.iter().enumerate() {
            if index > 0 {
                text.push_str(line_end);
            }
            if row.blank {
                text.push_str(line_end);
            }
            row.write(&mut text);
        }
        if self.ended {
            text.push_str(line_end);
        }
        text
    }
}

/// Gives each run of rows its columns.
pub(super) fn align(rows: &mut [Row<'_>]) {
    let mut from = 0;
    while from < rows.len() {
        let end = rows::run_end(rows, from);
        align_fields(&mut rows[from..end]);
        align_cells(&mut rows[from..end]);
        align_comments(&mut rows[from..end]);
        from = end;
    }
}

/// Gives the rows of a run the columns of their operands or names, and of the operands after the first.
fn align_fields(rows: &mut [Row<'_>]) {
    for stop in [Stop::Operands, Stop::Name] {
        let mut from = 0;
        while from < rows.len() {
            // Statements without operands are in between as they like.
            let other =
                |row: &Row<'_>| row.role == Role::Statement && row.kind().is_some_and(|kind| kind != stop);
            let end = (from..rows.len()).find(|index| other(&rows[*index])).unwrap_or(rows.len());
            align_field(&mut rows[from..end], stop);
            from = end.max(from + 1);
        }
    }
}

fn align_field(rows: &mut [Row<'_>], stop: Stop) {
    rows::pad_guards(rows);
    let fields: Vec<Field> = rows.iter().filter_map(|row| row.field(stop)).collect();
    let Some((column, authored)) = field_column(&fields) else { return };
    rows.iter_mut().for_each(|row| row.authored = authored);
    for row in rows {
        if let Some(field) = row.field(stop) {
            row.pad(stop, column.saturating_sub(field.width));
        }
    }
}

/// Gives the cells after the first of a run their columns: operands after the first operand, elements of lists, and
/// all that is in rows of statements.
fn align_cells(rows: &mut [Row<'_>]) {
    for rows in rows.chunk_by_mut(|left, right| left.cells() == right.cells()) {
        let Some(kind) = rows.first().and_then(Row::cells) else { continue };
        let table = kind == Stop::Operands && is_table(rows);
        let mut tracks: Vec<Track> = rows.iter().map(Row::track).collect();
        for index in 0.. {
            // The next statement of a row waits for the operands of all lines.
            let waits =
                |(row, track): (&Row<'_>, &Track)| row.next(track).is_none_or(|next| next == Stop::Statement);
            let statement = rows.iter().zip(&tracks).all(waits);
            let mut fields = Vec::new();
            for (row, track) in rows.iter().zip(&mut tracks) {
                fields.extend(row.cell(track, statement));
            }
            if fields.is_empty() {
                break;
            }
            let column = cell_column(&fields, table && index == 0);
            for (row, track) in rows.iter_mut().zip(&mut tracks) {
                row.pad_cell(track, column, statement);
            }
        }
    }
}

/// Whether the statements are alike, have two operands, and no column that the author made.
fn is_table(rows: &[Row<'_>]) -> bool {
    let authored = rows.iter().any(|row| row.authored);
    rows.len() > 1 && !authored && rows.iter().all(|row| row.is_pair() && row.stem() == rows[0].stem())
}

fn align_comments(rows: &mut [Row<'_>]) {
    let fields: Vec<Field> = rows.iter().filter_map(Row::comment).collect();
    let Some(column) = comment_column(&fields) else { return };
    for row in rows {
        if let Some(field) = row.comment() {
            row.pad(Stop::Comment, column.saturating_sub(field.width));
        }
    }
}
