use std::ops::Range;

use ptx_ir::isa::words::NEAREST;
use ptx_ir::isa::{SpellingProblem, resolve};
use ptx_syntax::{Applicability, Diagnostic};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};
use crate::subject::wanted::list_of;

declare_rule! {
    /// ## What it does
    /// Reports an instruction without a modifier that it must have: its type, its rounding, the half of a product
    /// that is wanted.
    ///
    /// ## Why is this bad
    /// The module does not assemble. The rounding of `cvt`, `add.f64` on old targets, `div.f32` and the like has
    /// no default.
    ///
    /// ## Example
    /// ```ptx
    /// cvt.f32.s64 %f1, %rd1;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// cvt.rn.f32.s64 %f1, %rd1;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "missing-modifier",
    code: "P0206",
    former: ["E0204"],
    class: Invalid,
    level: Error,
    summary: "an instruction without a modifier that it must have",
    check: Instruction(check),
}

/// More possible values than this are not worth a list.
const MOST_LISTED: usize = 8;

/// More possible values than this are named by what they are.
const MOST_NAMED: usize = 6;

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Spelling(SpellingProblem::MissingModifier { range, slot, allowed, fixed }) =
        occurrence.problem
    else {
        return None;
    };
    let name = occurrence.name();
    let message = match allowed.as_slice() {
        [only] => format!("`{name}` lacks its modifier `{only}`"),
        _ if (2..=MOST_NAMED).contains(&allowed.len()) && !is_type(slot) => {
            let names: Vec<String> = allowed.iter().map(|each| format!("`{each}`")).collect();
            // Another form of the instruction may have still others.
            format!("`{name}` lacks a modifier such as {}", list_of(&names, "or"))
        }
        _ => format!("`{name}` lacks {}", what(slot)),
    };
    let mut finding = RULE.at(occurrence.spelling_span(), message);
    let at = occurrence.place(range);
    if at.is_empty() && range.start < name.len() {
        finding = finding.with_secondary(at, "it belongs here");
    }
    if allowed.len() > MOST_NAMED || (allowed.len() > 1 && is_type(slot)) {
        finding = finding.with_help(choice(allowed));
    }
    let fixed = fixed.clone().or_else(|| rounded(name, range, allowed));
    Some(match fixed {
        Some(fixed) => occurrence.with_spelling(finding, &fixed, Applicability::Likely),
        None => finding,
    })
}

/// The spelling with `.rn`, where a rounding modifier is missing: to the nearest is what C++ does too.
fn rounded(name: &str, range: &Range<usize>, allowed: &[&'static str]) -> Option<String> {
    let (before, after) = (name.get(..range.start)?, name.get(range.start..)?);
    let nearest = NEAREST.iter().find(|word| allowed.contains(word))?;
    let spelling = format!("{before}{nearest}{after}");
    (resolve(&spelling).problem.is_none()).then_some(spelling)
}

/// What messages call a slot of the instruction table.
fn what(slot: &str) -> String {
    let word = slot.trim_start_matches(['.', '@']);
    match word.to_ascii_lowercase().as_str() {
        "type" | "t" => "a type".into(),
        "dtype" => "a result type".into(),
        "atype" | "stype" => "a source type".into(),
        "rnd" | "frnd" | "irnd" => "a rounding modifier".into(),
        "space" | "ss" => "a state space".into(),
        "op" | "operation" => "an operation".into(),
        "cmp" | "cmpop" => "a comparison".into(),
        "shape" => "a shape".into(),
        "sem" => "a memory ordering".into(),
        "scope" => "a scope".into(),
        "mode" => "a mode".into(),
        "geom" | "dim" => "a geometry".into(),
        "" => "a modifier".into(),
        _ => format!("a modifier for `{word}`"),
    }
}

fn is_type(slot: &str) -> bool {
    slot.to_ascii_lowercase().ends_with("type")
}

fn choice(allowed: &[&'static str]) -> String {
    let mut names: Vec<String> = allowed.iter().take(MOST_LISTED).map(|each| format!("`{each}`")).collect();
    if allowed.len() > MOST_LISTED {
        names.push(format!("another of {}", allowed.len()));
    }
    format!("one of {}", list_of(&names, "or"))
}
