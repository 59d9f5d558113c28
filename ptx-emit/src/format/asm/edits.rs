//! Edits of blanks.

use ptx_syntax::Span;

/// White space that becomes so many spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Edit {
    pub span: Span,
    pub spaces: usize,
}

/// The source with these edits. Those that are not after the ones before them are passed over: statements do not share
/// literals.
pub(super) fn apply<'e>(source: &str, edits: impl Iterator<Item = &'e Edit>) -> String
where
{
    let mut edits: Vec<Edit> = edits.copied().collect();
    edits.sort_by_key(|edit| edit.span.start);
    let mut text = String::with_capacity(source.len() + source.len() / 16);
    let mut at = 0;
    for edit in edits {
        let (start, end) = (edit.span.start as usize, edit.span.end as usize);
        let Some(kept) = source.get(at..start).filter(|_| at <= start) else { continue };
        text.push_str(kept);
        text.extend(std::iter::repeat_n(' ', edit.spaces));
        at = end;
    }
    text.push_str(&source[at..]);
    text
}
