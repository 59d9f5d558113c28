//! Why a spelling has no meaning, found by looking for the smallest change that gives it one.

use std::ops::Range;

use super::instance::OpcodeId;
use super::problem::SpellingProblem;
use super::resolve::{Hole, Spelling, fillers, is_exact, words, wrong_order};
use super::table::{Form, OPCODES, Slot, forms_of, texts};
use crate::types::Type;

/// The problem of a spelling whose root is no opcode.
pub(super) fn unknown_opcode(spelling: &Spelling<'_>) -> SpellingProblem {
    let nearest = nearest(spelling.root, OPCODES.iter().map(|opcode| opcode.name));
    SpellingProblem::UnknownOpcode { range: 0..spelling.root.len(), nearest }
}

/// The problem of a spelling whose root is an opcode.
pub(super) fn problem(opcode: OpcodeId, spelling: &Spelling<'_>) -> SpellingProblem {
    None.or_else(|| unknown_modifier(opcode, spelling))
        .or_else(|| wrong_order(opcode, spelling))
        .or_else(|| duplicate(opcode, spelling))
        .or_else(|| missing(opcode, spelling))
        .or_else(|| superfluous(opcode, spelling))
        .or_else(|| replaceable(opcode, spelling))
        .unwrap_or_else(|| unexplained(opcode, spelling))
}

/// The problem of a spelling that is too long to look for what was meant.
pub(super) fn too_many(opcode: OpcodeId, spelling: &Spelling<'_>) -> SpellingProblem {
    unknown_modifier(opcode, spelling).unwrap_or_else(|| unexplained(opcode, spelling))
}

/// Every modifier that some form of the opcode has, cut at inner dots.
fn known_modifiers(opcode: OpcodeId) -> impl Iterator<Item = &'static str> {
    let values = forms_of(opcode).flat_map(|(_, form)| form.slots).flat_map(|slot| slot.values);
    values.flat_map(|value| words(value))
}

fn unknown_modifier(opcode: OpcodeId, spelling: &Spelling<'_>) -> Option<SpellingProblem> {
    let index = (0..spelling.modifiers.len())
        .find(|&index| !known_modifiers(opcode).any(|known| known == spelling.modifier(index)))?;
    let range = spelling.modifiers[index].clone();
    let nearest = nearest(spelling.modifier(index), known_modifiers(opcode));
    let fixed = nearest.map(|value| replaced(spelling, &range, value)).filter(|text| is_exact(opcode, text));
    Some(SpellingProblem::UnknownModifier { range, nearest, fixed })
}

fn duplicate(opcode: OpcodeId, spelling: &Spelling<'_>) -> Option<SpellingProblem> {
    let later = (1..spelling.modifiers.len()).find_map(|later| {
        let earlier = (0..later).find(|&earlier| spelling.modifier(earlier) == spelling.modifier(later))?;
        let text = replaced(spelling, &spelling.modifiers[later], "");
        is_exact(opcode, &text).then_some((earlier, later, text))
    });
    let (earlier, later, text) = later?;
    let (range, other) = (spelling.modifiers[later].clone(), spelling.modifiers[earlier].clone());
    Some(SpellingProblem::Duplicate { range, other, fixed: Some(text) })
}

/// Whether one more modifier makes the spelling right: it may be at any place between the others.
fn missing(opcode: OpcodeId, spelling: &Spelling<'_>) -> Option<SpellingProblem> {
    let mut starts: Vec<usize> = spelling.modifiers.iter().map(|range| range.start).collect();
    starts.push(spelling.text.len());
    for (place, at) in starts.into_iter().enumerate() {
        let known = fitting(opcode, &replaced(spelling, &(at..at), HOLE), place);
        let slots = || forms_of(opcode).flat_map(|(_, form)| form.slots);
        let Some(slot) = slots().find(|slot| texts(slot.values).any(|value| known.contains(&value))) else {
            continue;
        };
        // What other forms could have there is a choice too, unless it is of another sort.
        let is_type = has_type(slot);
        let alike = slots().filter(|other| has_type(other) == is_type);
        let mut allowed: Vec<&'static str> = Vec::new();
        for value in alike.flat_map(|slot| texts(slot.values)).filter(|value| known.contains(value)) {
            if !allowed.contains(&value) {
                allowed.push(value);
            }
        }
        let fixed = (allowed.len() == 1).then(|| replaced(spelling, &(at..at), allowed[0]));
        return Some(SpellingProblem::MissingModifier {
            range: at..at,
            slot: slot.name.as_str(),
            allowed,
            fixed,
        });
    }
    None
}

/// Whether the values of a slot are types.
fn has_type(slot: &Slot) -> bool {
    slot.values.iter().any(|value| is_type(value))
}

fn is_type(modifier: &str) -> bool {
    Type::parse(modifier).is_some()
}

/// Whether the spelling is right without one of its modifiers.
fn superfluous(opcode: OpcodeId, spelling: &Spelling<'_>) -> Option<SpellingProblem> {
    let without = |index: &usize| is_exact(opcode, &replaced(spelling, &spelling.modifiers[*index], ""));
    let candidates: Vec<usize> = (0..spelling.modifiers.len()).filter(without).collect();
    // A type is seldom what is too much: prefer to blame what is before it.
    let &first = candidates.first()?;
    let range = spelling.modifiers[first].clone();
    let other = candidates
        .get(1)
        .map_or_else(|| conflicting(opcode, spelling, first), |&other| spelling.modifiers[other].clone());
    let allowed = replacements(opcode, spelling, &range);
    Some(SpellingProblem::Exclusive { range, other, allowed })
}

/// Another modifier whose change would also let the one at `index` stay.
fn conflicting(opcode: OpcodeId, spelling: &Spelling<'_>, index: usize) -> Range<usize> {
    let others = (0..spelling.modifiers.len()).rev().filter(|&other| other != index);
    let mut changeable =
        others.filter(|&other| !replacements(opcode, spelling, &spelling.modifiers[other]).is_empty());
    changeable.next().map_or(0..0, |other| spelling.modifiers[other].clone())
}

/// Whether the spelling is right with another value for one of its modifiers.
fn replaceable(opcode: OpcodeId, spelling: &Spelling<'_>) -> Option<SpellingProblem> {
    let candidates: Vec<(usize, Vec<&'static str>)> = (0..spelling.modifiers.len())
        .map(|index| (index, replacements(opcode, spelling, &spelling.modifiers[index])))
        .filter(|(_, allowed)| !allowed.is_empty())
        .collect();
    // What is last follows from what is before it; a type is seldom what is wrong.
    let (index, allowed) = candidates
        .iter()
        .rev()
        .min_by_key(|(index, allowed)| (allowed.len(), is_type(spelling.modifier(*index))))?;
    let range = spelling.modifiers[*index].clone();
    let other = candidates.iter().find(|(other, _)| other != index);
    let other = other.map_or(0..0, |(other, _)| spelling.modifiers[*other].clone());
    Some(SpellingProblem::Exclusive { range, other, allowed: allowed.clone() })
}

/// What stands for a modifier that is looked for; no value is spelled like it.
const HOLE: &str = ".?";

/// The modifiers that could be at the place of another so that the spelling is right.
fn replacements(opcode: OpcodeId, spelling: &Spelling<'_>, range: &Range<usize>) -> Vec<&'static str> {
    let Some(place) = spelling.modifiers.iter().position(|each| each == range) else { return Vec::new() };
    fitting(opcode, &replaced(spelling, range, HOLE), place)
}

/// The modifiers that can stand for the hole of a spelling, its modifier number `place`.
fn fitting(opcode: OpcodeId, text: &str, place: usize) -> Vec<&'static str> {
    let with_hole = Spelling::new(text);
    let mut known: Vec<&'static str> = Vec::new();
    for (id, form) in forms_of(opcode) {
        let found = fillers(id, form, &with_hole, Hole(place));
        known.extend(found.iter().map(|&(slot, value)| form.slots[slot].values[value as usize].as_str()));
    }
    known.sort_unstable();
    known.dedup();
    known
}

/// No single change helps: blame the first modifier that does not fit the form that takes the most of them.
fn unexplained(opcode: OpcodeId, spelling: &Spelling<'_>) -> SpellingProblem {
    let longest =
        forms_of(opcode).map(|(_, form)| longest_prefix(form, spelling)).max_by_key(|(count, _)| *count);
    let (count, slot) = longest.unwrap_or((0, None));
    match (spelling.modifiers.get(count), slot) {
        (Some(range), _) => {
            SpellingProblem::Exclusive { range: range.clone(), other: 0..0, allowed: Vec::new() }
        }
        (None, Some(slot)) => {
            let end = spelling.text.len();
            SpellingProblem::MissingModifier {
                range: end..end,
                slot: slot.name.as_str(),
                allowed: texts(slot.values).collect(),
                fixed: None,
            }
        }
        (None, None) => {
            let range = spelling.modifiers.first().cloned().unwrap_or(0..spelling.text.len());
            SpellingProblem::Exclusive { range, other: 0..0, allowed: Vec::new() }
        }
    }
}

/// How many modifiers fit the slots of a form from the left, and the required slot where that ended.
fn longest_prefix(form: &Form, spelling: &Spelling<'_>) -> (usize, Option<&'static Slot>) {
    let mut next = 0;
    for slot in form.slots {
        let fits = |value: &&str| {
            next < spelling.modifiers.len()
                && spelling.text[spelling.modifiers[next].start..].starts_with(*value)
        };
        match texts(slot.values).filter(fits).max_by_key(|value| value.len()) {
            Some(value) => next += value.bytes().filter(|&byte| byte == b'.').count(),
            None if slot.optional => {}
            None => return (next, Some(slot)),
        }
    }
    (next.min(spelling.modifiers.len()), None)
}

/// The spelling with other text at a place.
fn replaced(spelling: &Spelling<'_>, range: &Range<usize>, with: &str) -> String {
    format!("{}{with}{}", &spelling.text[..range.start], &spelling.text[range.end..])
}

/// The candidate that is spelled most alike, if it is alike enough to be meant.
fn nearest(text: &str, candidates: impl Iterator<Item = &'static str>) -> Option<&'static str> {
    // Of three letters one may be wrong: with two of them anything is like `.add`.
    let limit = (text.trim_start_matches('.').len() / 3).max(1);
    let lower = text.to_ascii_lowercase();
    let mut rows = Rows::default();
    let mut best: Option<(usize, &'static str)> = None;
    for candidate in candidates {
        if candidate == lower {
            return Some(candidate);
        }
        // What is as far away as the best so far may come before it in the alphabet.
        let limit = best.map_or(limit, |(distance, _)| distance);
        if let Some(distance) = rows.distance(text.as_bytes(), candidate.as_bytes(), limit) {
            best = Some(best.map_or((distance, candidate), |best| best.min((distance, candidate))));
        }
    }
    best.map(|(_, candidate)| candidate)
}

/// The candidates that are spelled alike enough to be meant, the likest first.
#[must_use]
pub fn alike<'a>(text: &str, candidates: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let limit = (text.trim_start_matches(['.', '%']).len() / 3).max(1);
    let lower = text.to_ascii_lowercase();
    let mut rows = Rows::default();
    let mut found: Vec<(usize, &str)> = candidates
        .filter_map(|candidate| {
            Some((rows.distance(lower.as_bytes(), candidate.as_bytes(), limit)?, candidate))
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|(_, candidate)| candidate).collect()
}

/// Three rows of the table from which a distance is read, kept from one pair of words to the next: a text of nothing
/// but unknown words has each of them compared with every word that there is.
#[derive(Default)]
struct Rows {
    before: Vec<usize>,
    row: Vec<usize>,
    next: Vec<usize>,
}

impl Rows {
    /// How many single characters have to be changed, added, removed or swapped; `None` where more than `limit`.
    fn distance(&mut self, one: &[u8], other: &[u8], limit: usize) -> Option<usize> {
        if one.len().abs_diff(other.len()) > limit {
            return None;
        }
        let Self { before, row, next } = self;
        row.clear();
        row.extend(0..=other.len());
        for (i, a) in one.iter().enumerate() {
            next.clear();
            next.push(i + 1);
            let mut nearest = i + 1;
            for (j, b) in other.iter().enumerate() {
                let mut least = (row[j] + usize::from(a != b)).min(row[j + 1] + 1).min(next[j] + 1);
                if i > 0 && j > 0 && *a == other[j - 1] && one[i - 1] == *b {
                    least = least.min(before[j - 1] + 1);
                }
                nearest = nearest.min(least);
                next.push(least);
            }
            // A later row has nothing below the lowest of the two rows before it.
            if nearest > limit && row.iter().all(|&distance| distance >= limit) {
                return None;
            }
            std::mem::swap(before, row);
            std::mem::swap(row, next);
        }
        row.last().copied().filter(|&distance| distance <= limit)
    }
}
