//! Where a column begins.

/// A cell before a column.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct Field {
    /// Its width.
    pub width: usize,
    /// How far from the beginning of the cell the author put what follows.
    pub author: Option<usize>,
    /// How many operands the line has after the first.
    pub operands: usize,
}

/// Cells of opcodes that are no wider than this always are in the column.
const MAX_OPCODE: usize = 16;

/// How much wider than half of the cells an opcode may be.
const MAX_OPCODE_EXCESS: usize = 8;

/// How much wider than half of the lines one with a comment may be.
const MAX_LINE_EXCESS: usize = 24;

/// Opcodes in the author's column are no wider than this, and neither are lines before comments.
const MAX_AUTHOR: (usize, usize) = (48, 120);

/// The column of operands after these opcodes, or of names after these types, and whether the author made it. None where
/// there are none.
pub(super) fn field_column(fields: &[Field]) -> Option<(usize, bool)> {
    let author = author(fields, MAX_AUTHOR.0, |column, count| column.is_multiple_of(4) || count > 1);
    let common = || common(fields, |median| MAX_OPCODE.max(median + MAX_OPCODE_EXCESS));
    author.map(|column| (column, true)).or_else(|| Some((common()?, false)))
}

/// The column of comments after these lines. None where there are none.
pub(super) fn comment_column(fields: &[Field]) -> Option<usize> {
    // Comments that are not neighbours are in one column, too.
    author(fields, MAX_AUTHOR.1, |_, _| true).or_else(|| common(fields, |median| median + MAX_LINE_EXCESS))
}

/// Second operands of a table that differ more in their length than the first ones do are not in a column.
const MAX_CELL_SPREAD: usize = 12;

/// A column of cells, and how many operands the lines have that are in it.
#[derive(Clone, Copy, Debug)]
pub(in super::super) struct CellColumn {
    pub at: usize,
    least: usize,
    most: usize,
}

impl CellColumn {
    /// Whether a line with so many operands is in it.
    pub fn holds(self, operands: usize) -> bool {
        (self.least..=self.most).contains(&operands)
    }
}

/// The column of what follows these cells; in a `table` there is one even if the author made none.
pub(super) fn cell_column(fields: &[Field], table: bool) -> Option<CellColumn> {
    let author = author(fields, MAX_AUTHOR.1, |_, count| count > 1);
    if let Some(at) = author {
        let there = || fields.iter().filter(|field| field.author == Some(at) && field.width < at);
        let operands = || there().map(|field| field.operands);
        return Some(CellColumn { at, least: operands().min()?, most: operands().max()? });
    }
    let widths = || fields.iter().map(|field| field.width);
    let (least, most) = (widths().min()?, widths().max()?);
    let at = most + 1;
    (table && most - least <= MAX_CELL_SPREAD).then_some(CellColumn { at, least: 0, most: usize::MAX })
}

/// One space after the longest cell that is within the limit, which depends on the median.
fn common(fields: &[Field], limit: impl Fn(usize) -> usize) -> Option<usize> {
    let mut widths: Vec<usize> = fields.iter().map(|field| field.width).collect();
    let middle = widths.len().checked_sub(1)? / 2;
    let limit = limit(*widths.select_nth_unstable(middle).1);
    widths.iter().copied().filter(|width| *width <= limit).max().map(|width| width + 1)
}

/// The column in which more than half of what follows the cells was. It is none by chance: the cells have different
/// widths, or `alone` takes the column after so many cells of one width, and some cell was padded.
fn author(fields: &[Field], limit: usize, alone: impl Fn(usize, usize) -> bool) -> Option<usize> {
    let (mut column, mut lead) = (None, 0_usize);
    for field in fields.iter().filter(|field| field.author.is_some()) {
        match lead {
            0 => (column, lead) = (field.author, 1),
            _ if column == field.author => lead += 1,
            _ => lead -= 1,
        }
    }
    let column = column.filter(|column| *column <= limit)?;
    let there = || fields.iter().filter(|field| field.author == Some(column) && field.width < column);
    let first = there().next()?.width;
    let padded = there().any(|field| field.width + 1 < column);
    let sure = alone(column, there().count()) || there().any(|field| field.width != first);
    (2 * there().count() > fields.len() && padded && sure).then_some(column)
}
