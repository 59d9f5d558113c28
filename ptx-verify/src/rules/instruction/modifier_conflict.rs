use ptx_ir::isa::SpellingProblem;
use ptx_syntax::{Applicability, Diagnostic};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};
use crate::subject::wanted::list_of;

declare_rule! {
    /// ## What it does
    /// Reports modifiers that the instruction has, but not together: the upper half of a floating-point product, two
    /// types for one place, a rounding where nothing is rounded. There is no fix: each modifier means something, and only
    /// the author knows which one has to go.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// mul.hi.f32 %f1, %f2, %f3;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mul.f32 %f1, %f2, %f3;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "modifier-conflict",
    code: "P0207",
    former: ["E0205"],
    class: Invalid,
    level: Error,
    summary: "modifiers that do not go together",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    match occurrence.problem {
        Problem::Spelling(SpellingProblem::Exclusive { range, other, allowed }) => {
            Some(exclusive(occurrence, range, other, allowed))
        }
        Problem::Spelling(SpellingProblem::Duplicate { range, other, fixed }) => {
            Some(duplicate(occurrence, range, other, fixed.as_deref()))
        }
        _ => None,
    }
}

type Bytes = std::ops::Range<usize>;

fn exclusive(
    occurrence: &Occurrence<'_>,
    range: &Bytes,
    other: &Bytes,
    allowed: &[&'static str],
) -> Diagnostic {
    let (opcode, modifier) = (occurrence.opcode_beside(range), occurrence.part(range));
    let message = if other.is_empty() {
        format!("`{opcode}` does not take `{modifier}` with its other modifiers")
    } else if other.end <= opcode.len() {
        format!("`{opcode}` does not take `{modifier}`")
    } else {
        format!("`{opcode}` does not take `{modifier}` together with `{}`", occurrence.part(other))
    };
    let mut finding = RULE.at(occurrence.place(range), message);
    if other.end > opcode.len() {
        finding = finding.with_secondary(occurrence.place(other), "does not go with it");
    }
    if (1..=8).contains(&allowed.len()) {
        let names: Vec<String> = allowed.iter().map(|each| format!("`{each}`")).collect();
        finding = finding.with_help(format!("here it could be {}", list_of(&names, "or")));
    }
    finding
}

fn duplicate(occurrence: &Occurrence<'_>, range: &Bytes, other: &Bytes, fixed: Option<&str>) -> Diagnostic {
    let (later, earlier) = (occurrence.part(range), occurrence.part(other));
    let message = if later == earlier {
        format!("`{later}` is repeated")
    } else {
        format!("`{}` takes `{earlier}` or `{later}`, not both", occurrence.opcode())
    };
    let finding =
        RULE.at(occurrence.place(range), message).with_secondary(occurrence.place(other), "the first one");
    match fixed {
        Some(fixed) => occurrence.with_spelling(finding, fixed, Applicability::Likely),
        None => finding,
    }
}
