//! Edits as such: which of them go together, and the text with them.

use std::collections::BTreeMap;

use ptx_syntax::{Diagnostic, Edit, Span};

/// Whether the edits are in order, apart from each other, and at characters of the text.
pub(super) fn fits(text: &str, edits: &[Edit]) -> bool {
    let inside = |edit: &Edit| edit.span.start <= edit.span.end && text.get(edit.span.range()).is_some();
    edits.iter().all(inside) && edits.is_sorted_by(|one, next| one.span.end <= next.span.start)
}

/// Those of the findings at `wanted` whose fixes do not touch the bytes of an earlier one, in the order of their edits.
/// Neighbours count as touching: the order of two insertions at one place would be a guess.
pub(super) fn apart(text: &str, found: &[Diagnostic], wanted: &[usize]) -> Vec<usize> {
    let edits = |index: usize| found[index].fix.as_ref().map_or(&[][..], |fix| &fix.edits);
    let mut order: Vec<usize> = wanted.to_vec();
    order.sort_by_key(|&index| edits(index).iter().map(|edit| edit.span).min());
    // The start of each taken edit, and its end.
    let mut taken: BTreeMap<u32, u32> = BTreeMap::new();
    order.retain(|&index| {
        let free = |edit: &Edit| {
            let before = taken.range(..=edit.span.end).next_back();
            before.is_none_or(|(_, &end)| end < edit.span.start)
        };
        let edits = edits(index);
        // What does not fit is judged later, and must not be in anybody's way.
        if !fits(text, edits) {
            return true;
        }
        let all_free = edits.iter().all(free);
        if all_free {
            taken.extend(edits.iter().map(|edit| (edit.span.start, edit.span.end)));
        }
        all_free
    });
    order
}

/// The text with edits applied, which are in order and fit it, and where each of them is in the result.
pub(super) fn splice<'e>(text: &str, edits: impl Iterator<Item = &'e Edit>) -> (String, Vec<Span>) {
    let mut out = String::with_capacity(text.len());
    let mut places = Vec::new();
    let mut at = 0;
    for edit in edits {
        out.push_str(text.get(at..edit.span.start as usize).unwrap_or_default());
        let start = out.len() as u32;
        out.push_str(&edit.replacement);
        places.push(Span::new(start, out.len() as u32));
        at = edit.span.end as usize;
    }
    out.push_str(text.get(at..).unwrap_or_default());
    (out, places)
}
