use ptx_ir::isa::SpellingProblem;
use ptx_syntax::{Applicability, Diagnostic};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports a modifier that no form of the instruction has.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// add.u23 %r1, %r2, %r3;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## What it may miss
    /// Modifiers newer than the instruction table are reported although a newer assembler has them.
    name: "unknown-modifier",
    code: "P0204",
    former: ["E0202"],
    class: Invalid,
    level: Error,
    summary: "a modifier that the instruction does not have",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Spelling(SpellingProblem::UnknownModifier { range, nearest, fixed }) = occurrence.problem
    else {
        return None;
    };
    let (opcode, modifier) = (occurrence.opcode_beside(range), occurrence.part(range));
    let mut finding = RULE.at(occurrence.place(range), format!("`{opcode}` has no modifier `{modifier}`"));
    if let Some(nearest) = nearest {
        finding = finding
            .with_help(format!("a modifier of `{}` that is spelled alike: `{nearest}`", occurrence.opcode()));
    }
    Some(match fixed {
        Some(fixed) => occurrence.with_spelling(finding, fixed, Applicability::Likely),
        None => finding,
    })
}
