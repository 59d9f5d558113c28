//! Edits of blanks.

use ptx_syntax::Span;

/// White space that becomes so many spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Its place in the old source.
    pub span: Span,
    /// How many spaces it becomes.
    pub spaces: usize,
}

/// These edits in the order of their places. Those that are not after the ones before them are left out: statements do
/// not share literals.
pub(super) fn in_order<'e>(edits: impl Iterator<Item = &'e Edit>) -> Vec<Edit> {
    let mut edits: Vec<Edit> = edits.copied().collect();
    edits.sort_by_key(|edit| edit.span.start);
    let mut end = 0;
    edits.retain(|edit| {
        let follows = end <= edit.span.start;
        if follows {
            end = edit.span.end;
        }
        follows
    });
    edits
}

/// The source with these edits, which are in order.
pub(super) fn apply(source: &str, edits: &[Edit]) -> String {
    let mut text = String::with_capacity(source.len() + source.len() / 16);
    let mut at = 0;
    for edit in edits {
        text.push_str(&source[at..edit.span.start as usize]);
        text.extend(std::iter::repeat_n(' ', edit.spaces));
        at = edit.span.end as usize;
    }
    text.push_str(&source[at..]);
    text
}
