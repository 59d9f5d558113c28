//! The text of comments.

use super::sink::Sink;

/// What is white space within a comment. Not all of Unicode's: a byte that is no UTF-8 may stand for
/// itself as some other character.
pub(super) const fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\r' | '\x0c')
}

/// Writes a comment. Its lines lose their trailing white space and end with `line_end`. Where it has
/// lines of its own, from `depth` levels of indentation on, and all its lines but the first begin with a
/// `*`, these are aligned; else they keep their indentation, which may be a drawing.
pub(super) fn write(sink: &mut impl Sink, text: &str, depth: Option<u8>, line_end: &str) {
    if !text.contains('\n') {
        sink.push(text.trim_end_matches(is_blank));
        return;
    }
    let starred = text.split('\n').skip(1).all(|line| line.trim_start_matches(is_blank).starts_with('*'));
    let aligned = depth.filter(|_| starred);
    for (index, line) in text.split('\n').enumerate() {
        let line = line.trim_end_matches(is_blank);
        if index == 0 {
            sink.push(line);
            continue;
        }
        sink.push(line_end);
        match aligned {
            Some(depth) => {
                sink.indent(depth);
                sink.push(" ");
                sink.push(line.trim_start_matches(is_blank));
            }
            None => sink.push(line),
        }
    }
}

/// Whether two comments are the same but for white space that the formatter may change.
pub(super) fn same(left: &str, right: &str) -> bool {
    let bare = |text| str::trim_matches(text, is_blank);
    left.split('\n').map(bare).eq(right.split('\n').map(bare))
}
