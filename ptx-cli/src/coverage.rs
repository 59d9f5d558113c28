//! What `verify` tells about the asm statements that it looked at, and those that it did not.

use std::cell::LazyCell;

use ptx_syntax::LineIndex;
use ptx_syntax::cuda::MAX_VARIANTS;
use ptx_verify::{Coverage, CoverageCounts, Treatment};

use crate::source::{Kind, Source};
use ptx_project::counted;

/// How many conditions the summary names.
const MAX_CONDITIONS: usize = 3;

/// One line about all statements; none where there are none.
pub fn summary(counts: &CoverageCounts) -> Option<String> {
    if counts.found == 0 {
        return None;
    }
    let mut parts = vec![format!("{} verified", counts.verified)];
    let mut add = |count: usize, what: &str| {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    };
    add(counts.around_wildcards, "verified around parts that are not known here");
    add(counts.unknown_operands, "with unknown operands");
    add(counts.excluded.values().sum(), &format!("excluded by {}", conditions(counts)));
    add(counts.not_ptx, "of other assemblers");
    add(counts.not_expanded, "in macros that stand for too much");
    let choices = format!("of them in only {MAX_VARIANTS} choices of the `#if` branches inside");
    add(counts.with_unread_choices, &choices);
    Some(format!("{}: {}", counted(counts.found, "asm statement"), parts.join(", ")))
}

/// The conditions that exclude most.
fn conditions(counts: &CoverageCounts) -> String {
    let mut conditions: Vec<(&String, &usize)> = counts.excluded.iter().collect();
    conditions.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let named = conditions.iter().take(MAX_CONDITIONS).map(|(condition, _)| format!("`{condition}`"));
    let named = named.collect::<Vec<_>>().join(", ");
    match conditions.len().saturating_sub(MAX_CONDITIONS) {
        0 => named,
        others => format!("{named} and {}", counted(others, "other condition")),
    }
}

/// A line for each statement of a source that was not verified, or not in full.
pub fn not_verified(source: &Source, coverage: &Coverage) -> Vec<String> {
    let is_cuda = source.kind == Kind::Cuda;
    // PTX has no such statements, and much text.
    let lines = LazyCell::new(|| LineIndex::new(&source.text));
    let line = |place: u32, why: &str| {
        let at = lines.position(place);
        format!("{}:{}:{}: {why}", source.name, at.line, at.column)
    };
    coverage
        .statements
        .iter()
        .flat_map(|covered| {
            let why = match &covered.treatment {
                Treatment::Verified => None,
                Treatment::AroundWildcards => {
                    let who = if is_cuda { "only macros of other files tell" } else { "the program makes" };
                    Some(format!("verified around parts of the template that {who}"))
                }
                Treatment::UnknownOperands => {
                    let who =
                        if is_cuda { "a macro of another file stands for" } else { "the program makes the" };
                    Some(format!("not verified: {who} operands"))
                }
                Treatment::Excluded(condition) => Some(format!("not verified: excluded by `{condition}`")),
                Treatment::NotPtx => {
                    Some("not verified: assembler of the host, or of another device".to_owned())
                }
                Treatment::NotExpanded => Some("not verified: the macro stands for too much".to_owned()),
            };
            let choices = covered.choices.map(|choices| {
                let (read, all) = (choices.read, choices.all);
                format!("read in {read} of the {all} choices that the `#if` branches inside it give")
            });
            let at = covered.place.start;
            [why, choices].into_iter().flatten().map(|why| line(at, &why)).collect::<Vec<_>>()
        })
        .collect()
}
