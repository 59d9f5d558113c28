//! Applying the fixes of findings to a source.
//!
//! A fix is applied as a whole or not at all. Where two would change the same bytes the first one
//! wins; the source is then verified again, and what is still to be fixed is fixed in the next round.
//! A round that leads to more errors than before is taken back.

use ptx_syntax::{Applicability, Diagnostic, Edit, Fix, Severity};

use crate::options::Options;
use crate::pipeline;
use crate::source::Source;

/// A fix may make room for another one; more rounds than this would be two rules in a quarrel.
const MAX_ROUNDS: usize = 10;

/// A source with its fixes applied.
#[derive(Debug)]
pub struct Fixed {
    /// The source as it would be.
    pub source: Source,
    /// What is still found in it.
    pub diagnostics: Vec<Diagnostic>,
    /// How many fixes were applied.
    pub count: usize,
}

/// Verifies a source and applies all fixes that are certain, and with `likely` those too.
pub fn fix(source: Source, options: &Options, likely: bool) -> Fixed {
    let diagnostics = pipeline::verify(&source, options, 1);
    let mut fixed = Fixed { source, diagnostics, count: 0 };
    for _ in 0..MAX_ROUNDS {
        let wanted = |fix: &&Fix| likely || fix.applicability == Applicability::Certain;
        let fixes = fixed.diagnostics.iter().filter_map(|found| found.fix.as_ref()).filter(wanted);
        let (bytes, count) = apply(fixed.source.bytes(), fixes);
        if count == 0 {
            break;
        }
        let source = Source::new(fixed.source.name.clone(), fixed.source.kind, bytes);
        let diagnostics = pipeline::verify(&source, options, 1);
        if errors(&diagnostics) > errors(&fixed.diagnostics) {
            break;
        }
        fixed = Fixed { source, diagnostics, count: fixed.count + count };
    }
    fixed
}

fn errors(diagnostics: &[Diagnostic]) -> usize {
    diagnostics.iter().filter(|found| found.severity == Severity::Error).count()
}

/// Applies those fixes that do not get in the way of an earlier one; says how many.
fn apply<'a>(bytes: &[u8], fixes: impl Iterator<Item = &'a Fix>) -> (Vec<u8>, usize) {
    let mut fixes: Vec<&Fix> = fixes.filter(|fix| !fix.edits.is_empty()).collect();
    fixes.sort_by_key(|fix| fix.edits.iter().map(|edit| edit.span).min());
    let mut taken: Vec<&Edit> = Vec::new();
    let mut count = 0;
    for fix in fixes {
        if fix.edits.iter().all(|edit| is_free(edit, bytes, &taken)) {
            taken.extend(&fix.edits);
            taken.sort_by_key(|edit| edit.span);
            count += 1;
        }
    }
    (splice(bytes, &taken), count)
}

/// Whether nothing in `taken`, which is sorted and disjoint, touches the bytes of `edit`. Neighbours count as
/// touching: the order of two insertions at one place would be a guess.
fn is_free(edit: &Edit, bytes: &[u8], taken: &[&Edit]) -> bool {
    let after = taken.partition_point(|other| other.span.start <= edit.span.end);
    let clear = taken[..after].last().is_none_or(|other| other.span.end < edit.span.start);
    clear && edit.span.start <= edit.span.end && edit.span.end as usize <= bytes.len()
}

fn splice(bytes: &[u8], edits: &[&Edit]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    for edit in edits {
        out.extend_from_slice(&bytes[at..edit.span.start as usize]);
        out.extend_from_slice(edit.replacement.as_bytes());
        at = edit.span.end as usize;
    }
    out.extend_from_slice(&bytes[at..]);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use ptx_syntax::Span;

    fn fix(edits: &[(u32, u32, &str)]) -> Fix {
        let edit = |(start, end, text): &(u32, u32, &str)| Edit {
            span: Span::new(*start, *end),
            replacement: (*text).to_owned(),
        };
        Fix {
            message: "m".into(),
            applicability: Applicability::Certain,
            edits: edits.iter().map(edit).collect(),
        }
    }

    fn applied(text: &str, fixes: &[Fix]) -> (String, usize) {
        let (bytes, count) = apply(text.as_bytes(), fixes.iter());
        (String::from_utf8(bytes).unwrap(), count)
    }

    #[test]
    fn fixes_are_applied_whole_and_in_order() {
        let fixes = [fix(&[(6, 7, "G")]), fix(&[(0, 1, "AA"), (3, 3, "!")])];
        assert_eq!(applied("abcdefgh", &fixes), ("AAbc!defGh".into(), 2));
    }

    #[test]
    fn of_two_that_touch_the_first_wins_as_a_whole() {
        let fixes = [fix(&[(0, 2, "x")]), fix(&[(1, 3, "y"), (5, 6, "z")]), fix(&[(2, 2, "w")])];
        assert_eq!(applied("abcdefgh", &fixes), ("xcdefgh".into(), 1));
        let same = [fix(&[(4, 4, ";")]), fix(&[(4, 4, ";")])];
        assert_eq!(applied("abcdefgh", &same), ("abcd;efgh".into(), 1));
    }

    #[test]
    fn an_edit_outside_the_text_is_not_applied() {
        assert_eq!(applied("ab", &[fix(&[(1, 9, "x")])]), ("ab".into(), 0));
    }
}
