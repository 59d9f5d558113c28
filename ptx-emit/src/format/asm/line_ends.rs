//! Blanks before the ends of lines: none, but where authors have the `\n` of several lines in one column.

use super::edits::Edit;
use super::statement::{Part, column};
use ptx_syntax::Span;

/// The end of a line of a template.
#[derive(Clone, Copy)]
pub(super) struct LineEnd {
    /// The blanks before it.
    blanks: Span,
    /// Its column; none where it is a line end of the source.
    column: Option<usize>,
    /// The blanks that keep it in its column.
    kept: isize,
}

impl LineEnd {
    /// The end of the line that a part is the last of, which gets longer by `shift` columns.
    pub fn of(source: &str, part: &Part<'_>, shift: isize) -> Option<Self> {
        let end = part.end();
        let rest = source.get(end as usize..)?;
        let count = rest.bytes().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        let blanks = Span::new(end, end + count as u32);
        let kept = count as isize - shift;
        match rest.as_bytes().get(count..)? {
            [b'\\', b'n', ..] => Some(Self { blanks, column: Some(column(source, blanks.end)), kept }),
            [b'\n' | b'\r', ..] => Some(Self { blanks, column: None, kept }),
            _ => None,
        }
    }
}

/// What changes at the ends of lines.
pub(super) fn edits(mut ends: Vec<LineEnd>) -> Vec<Edit> {
    ends.sort_by_key(|end| (end.column, end.blanks.start));
    let mut edits = Vec::new();
    for column in ends.chunk_by(|left, right| left.column == right.column) {
        // It is by chance that lines of one length end in one column.
        let differ =
            |value: &dyn Fn(&LineEnd) -> isize| column.iter().any(|end| value(end) != value(&column[0]));
        let is_column = column[0].column.is_some()
            && differ(&|end| end.blanks.len() as isize)
            && differ(&|end| end.kept)
            && column.iter().all(|end| end.kept >= 0);
        for end in column {
            let spaces = if is_column { end.kept as usize } else { 0 };
            if spaces != end.blanks.len() as usize {
                edits.push(Edit { span: end.blanks, spaces });
            }
        }
    }
    edits
}
