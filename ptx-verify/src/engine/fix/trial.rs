//! Trying fixes together, and finding those that are not good.

use std::collections::{HashMap, HashSet};

use ptx_syntax::{Diagnostic, Edit, LineIndex, Severity, Span};

use super::comments::Comments;
use super::{Language, Refusal, is_error, splice};

/// So many trials a text may always have.
const MIN_TRIALS: usize = 64;
/// More of them as long as this many bytes are not exceeded.
const MAX_BYTES: usize = 32 << 20;
/// And never more than this: each could be a fix of its own.
const MAX_TRIALS: usize = 512;

/// A text that fixes are tried on.
pub(super) struct Base<'a> {
    pub text: &'a str,
    pub language: Language,
    pub found: &'a [Diagnostic],
    pub comments: Comments,
    /// Whether the fixes may bring findings to light.
    pub reveals: bool,
}

/// What came of the fixes of a round.
#[derive(Default)]
pub(super) struct Tried {
    /// The text with all that is good, and what is found in it; none where nothing is good.
    pub accepted: Option<(String, Vec<Diagnostic>)>,
    pub count: usize,
    pub refused: Vec<(usize, Refusal)>,
}

/// How many more trials there may be.
pub(super) struct Trials {
    left: usize,
}

/// A trial that failed.
struct Failed {
    refusal: Refusal,
    /// The fixes on the lines of what is wrong, as far as that is known.
    suspects: Vec<usize>,
}

impl Trials {
    pub fn new(bytes: usize) -> Self {
        Self { left: (MIN_TRIALS + MAX_BYTES / bytes.max(1)).min(MAX_TRIALS) }
    }

    /// Applies those of the fixes of the findings at `wanted`, which do not touch each other and are in the order of
    /// their edits, that are good together.
    pub fn run(
        &mut self,
        base: &Base<'_>,
        wanted: Vec<usize>,
        verify: &mut impl FnMut(&str) -> Vec<Diagnostic>,
    ) -> Tried {
        let mut tried = Tried::default();
        let mut accepted: Vec<usize> = Vec::new();
        let mut groups = vec![wanted];
        while let Some(group) = groups.pop().filter(|group| !group.is_empty()) {
            if self.left == 0 {
                tried.refused.extend(group.into_iter().map(|index| (index, Refusal::Untried)));
                continue;
            }
            self.left -= 1;
            let current = tried.accepted.as_ref().map_or(base.found, |(_, found)| found);
            match attempt(base, current, &accepted, &group, verify) {
                Ok(result) => {
                    tried.accepted = Some(result);
                    accepted.extend(group);
                }
                Err(failed) => match group.as_slice() {
                    [single] => tried.refused.push((*single, failed.refusal)),
                    _ => groups.extend(divided(group, &failed.suspects)),
                },
            }
        }
        tried.count = accepted.len();
        tried
    }
}

/// Two parts of a group, neither of them empty: the suspects, and the others, which are tried first. Without suspects,
/// the second half and the first.
fn divided(group: Vec<usize>, suspects: &[usize]) -> [Vec<usize>; 2] {
    let suspects: HashSet<usize> = suspects.iter().copied().collect();
    let (suspected, others): (Vec<usize>, Vec<usize>) =
        group.iter().partition(|index| suspects.contains(index));
    if suspected.is_empty() || others.is_empty() {
        let (first, second) = group.split_at(group.len() / 2);
        return [second.to_vec(), first.to_vec()];
    }
    [suspected, others]
}

/// Applies the fixes of `group` on top of those that were accepted, which led to the findings `current`.
fn attempt(
    base: &Base<'_>,
    current: &[Diagnostic],
    accepted: &[usize],
    group: &[usize],
    verify: &mut impl FnMut(&str) -> Vec<Diagnostic>,
) -> Result<(String, Vec<Diagnostic>), Failed> {
    let all = || accepted.iter().chain(group).copied();
    let edits_of = |index: usize| base.found[index].fix.iter().flat_map(|fix| &fix.edits);
    let mut edits: Vec<(usize, &Edit)> =
        all().flat_map(|index| edits_of(index).map(move |edit| (index, edit))).collect();
    edits.sort_by_key(|(_, edit)| edit.span);
    let (text, places) = splice::splice(base.text, edits.iter().map(|(_, edit)| *edit));
    let mut subjects: Vec<usize> =
        all().filter_map(|index| base.comments.subject(&base.found[index])).collect();
    subjects.sort_unstable();
    if !Comments::of(&text, base.language).are_those_of(&base.comments, &subjects) {
        return Err(Failed { refusal: Refusal::Comment, suspects: Vec::new() });
    }
    let found = verify(&text);
    let fixed: Vec<&Diagnostic> = group.iter().map(|&index| &base.found[index]).collect();
    // Where the place of a single finding is in the new text.
    let place = |found: &Diagnostic| {
        let before = edits.iter().map(|(_, edit)| edit).take_while(|edit| edit.span.end <= found.span.start);
        let grown: i64 = before.map(|edit| edit.replacement.len() as i64 - i64::from(edit.span.len())).sum();
        i64::from(found.span.start) + grown
    };
    let worse = match (base.reveals, fixed.as_slice()) {
        (true, [single]) if remains(single, place(single), &found) => Some((Refusal::Remains, Vec::new())),
        (true, _) => more_errors(current, &found, fixed.len()),
        (false, _) => more_findings(current, &found, &fixed),
    };
    match worse {
        None => Ok((text, found)),
        Some((refusal, spans)) => {
            let of_group: HashSet<usize> = group.iter().copied().collect();
            let placed = edits.iter().zip(places).filter(|((index, _), _)| of_group.contains(index));
            let suspects = suspects(&text, &spans, placed.map(|((index, _), place)| (*index, place)));
            Err(Failed { refusal, suspects })
        }
    }
}

/// The fixes that changed a line of one of `spans`.
fn suspects(text: &str, spans: &[Span], placed: impl Iterator<Item = (usize, Span)>) -> Vec<usize> {
    let index = LineIndex::new(text);
    let line = |offset: u32| index.position(offset).line;
    let mut lines: Vec<(u32, u32)> = spans.iter().map(|span| (line(span.start), line(span.end))).collect();
    lines.sort_unstable();
    // For each of them the last line of it and those before it.
    let mut last = 0;
    for (_, end) in &mut lines {
        last = last.max(*end);
        *end = last;
    }
    let hit = |place: Span| {
        let begun = lines.partition_point(|(first, _)| *first <= line(place.end));
        begun.checked_sub(1).is_some_and(|index| lines[index].1 >= line(place.start))
    };
    placed.filter(|(_, place)| hit(*place)).map(|(index, _)| index).collect()
}

/// Whether the same finding is still there, at a place that is given in the new text.
fn remains(fixed: &Diagnostic, place: i64, after: &[Diagnostic]) -> bool {
    let same = |other: &Diagnostic| {
        other.code == fixed.code && other.message == fixed.message && i64::from(other.span.start) == place
    };
    after.iter().any(same)
}

/// What the findings `after` have of errors more than those before, when so many were to be fixed. The fix of an error
/// may show another one in its place: where it is tried alone, it is enough that there are not more.
fn more_errors(before: &[Diagnostic], after: &[Diagnostic], fixed: usize) -> Option<(Refusal, Vec<Span>)> {
    let count = |found: &[Diagnostic]| found.iter().filter(|found| is_error(found)).count();
    let (old, new) = (count(before), count(after));
    if new + fixed <= old || (fixed == 1 && new <= old) {
        return None;
    }
    let errors = after.iter().filter(|found| is_error(found));
    Some((refusal(before, after), errors.map(|found| found.span).collect()))
}

/// For each rule and each severity there must be as many findings less as were fixed. What an error leaves behind may
/// be told as something less.
fn more_findings(
    before: &[Diagnostic],
    after: &[Diagnostic],
    fixed: &[&Diagnostic],
) -> Option<(Refusal, Vec<Span>)> {
    type Counts = HashMap<(&'static str, Severity), i64>;
    const SEVERITIES: [Severity; 3] = [Severity::Info, Severity::Warning, Severity::Error];
    let mut room: Counts = HashMap::new();
    let mut add = |found: &Diagnostic, number: i64| {
        for severity in SEVERITIES.into_iter().filter(|severity| *severity <= found.severity) {
            *room.entry((found.code, severity)).or_default() += number;
        }
    };
    before.iter().for_each(|found| add(found, 1));
    after.iter().for_each(|found| add(found, -1));
    for found in fixed {
        *room.entry((found.code, found.severity)).or_default() -= 1;
    }
    let over = |code: &'static str| {
        SEVERITIES.iter().any(|severity| room.get(&(code, *severity)).is_some_and(|room| *room < 0))
    };
    if !room.values().any(|room| *room < 0) {
        return None;
    }
    let spans = after.iter().filter(|found| over(found.code)).map(|found| found.span).collect();
    Some((refusal(before, after), spans))
}

/// The first finding that is new.
fn refusal(before: &[Diagnostic], after: &[Diagnostic]) -> Refusal {
    let mut old: HashMap<(&str, &str), usize> = HashMap::new();
    for found in before {
        *old.entry((found.code, &found.message)).or_default() += 1;
    }
    for found in after {
        match old.get_mut(&(found.code, found.message.as_str())) {
            Some(count) if *count > 0 => *count -= 1,
            _ => return Refusal::Finding { rule: found.rule, message: found.message.clone() },
        }
    }
    Refusal::Remains
}
