//! What `// ptx-format off`, `on` and `skip` keep as it is.

use super::comment::is_blank;
use super::plan::{Node, Plan};
use ptx_syntax::Span;
use ptx_syntax::lexer::{Token, TokenKind};

const MARKER: &str = "ptx-format";

/// A part of the text that is copied, in indices of tokens, comments included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kept {
    /// What is between two comments; to the end of the text where the second is missing.
    Between { off: usize, on: Option<usize> },
    /// From the token `first` up to, not including, the token `end`.
    Node { first: usize, end: usize },
}

impl Kept {
    fn start(self) -> usize {
        match self {
            Self::Between { off, .. } => off,
            Self::Node { first, .. } => first,
        }
    }

    fn end(self, tokens: usize) -> usize {
        match self {
            Self::Between { on, .. } => on.map_or(tokens, |on| on + 1),
            Self::Node { end, .. } => end,
        }
    }
}

/// Whether the text can have markers at all.
pub(super) fn may_have_markers(source: &str) -> bool {
    memchr::memmem::find(source.as_bytes(), MARKER.as_bytes()).is_some()
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Off,
    On,
    Skip,
}

fn marker(comment: &str) -> Option<Marker> {
    let inner = match comment.strip_prefix("//") {
        Some(inner) => inner,
        None => comment.strip_prefix("/*")?.strip_suffix("*/")?,
    };
    match inner.trim_matches(is_blank).strip_prefix(MARKER)?.trim_matches(is_blank) {
        "off" => Some(Marker::Off),
        "on" => Some(Marker::On),
        "skip" => Some(Marker::Skip),
        _ => None,
    }
}

/// The parts of the text that are kept, in order; they do not overlap.
pub(super) fn kept(source: &str, tokens: &[Token], plan: &Plan) -> Vec<Kept> {
    if !plan.markers {
        return Vec::new();
    }
    let mut kept = Vec::new();
    // Indices of the tokens that are not trivia.
    let significant: Vec<usize> =
        (0..tokens.len()).filter(|&index| !tokens[index].kind.is_trivia()).collect();
    let mut off: Option<usize> = None;
    for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind.is_comment()) {
        match (marker(token.text(source)), off) {
            (Some(Marker::Off), None) => off = Some(index),
            (Some(Marker::On), Some(begin)) => {
                kept.push(Kept::Between { off: begin, on: Some(index) });
                off = None;
            }
            (Some(Marker::Skip), None) => kept.extend(skipped(source, tokens, plan, &significant, index)),
            _ => {}
        }
    }
    kept.extend(off.map(|off| Kept::Between { off, on: None }));
    kept.sort_by_key(|kept| kept.start());
    let mut free = 0;
    kept.retain(|kept| {
        let fits = kept.start() >= free;
        free = if fits { kept.end(tokens.len()) } else { free };
        fits
    });
    kept
}

/// What the `skip` at the token `comment` is about.
fn skipped(
    source: &str,
    tokens: &[Token],
    plan: &Plan,
    significant: &[usize],
    comment: usize,
) -> Option<Kept> {
    let next = significant.partition_point(|&index| index < comment);
    // The tokens from the last one that is no comment to the marker, and what is between them.
    let near = significant.get(next.wrapping_sub(1)).map_or(&[][..], |&last| &tokens[last..=comment]);
    let mut gaps = near.windows(2).map(|pair| Span::new(pair[0].span.end, pair[1].span.start));
    let own_line = next == 0 || gaps.any(|gap| gap.text(source).contains('\n'));
    let node = if own_line {
        let begins = plan.nodes.iter().filter(|node| node.first as usize == next);
        begins.max_by_key(|node| node.end)
    } else {
        let comma = tokens[significant[next - 1]].kind == TokenKind::Comma;
        let end = if comma { next - 1 } else { next };
        plan.nodes.iter().filter(|node| node.end as usize == end).max_by_key(|node| node.first)
    };
    let Node { first, end } = *node?;
    let first = *significant.get(first as usize)?;
    let last = *significant.get((end as usize).checked_sub(1)?)?;
    Some(Kept::Node { first, end: last + 1 })
}
