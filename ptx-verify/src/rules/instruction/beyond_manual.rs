use ptx_ir::ir::Operand;
use ptx_ir::isa::Beyond;
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Notes what NVIDIA's assembler takes though the PTX manual does not have it: a form, a value of a modifier, an
    /// operand of another kind, such as the address of a function where a number belongs, or a second result that is dropped
    /// (`%r1|_`) of an instruction that has one. `ptx-cli isa --tolerance` tells what there is of it.
    ///
    /// ## Why is this bad
    /// Nothing promises that the next assembler takes it, and other readers of PTX may not.
    ///
    /// ## Example
    /// ```ptx
    /// fma.rz.bf16x2 %r1, %r2, %r3, %r4;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// fma.rn.bf16x2 %r1, %r2, %r3, %r4;
    /// ```
    ///
    /// ## What it may miss
    /// Odd spellings and misread operands are findings of other rules. Nothing is said of a single value in braces, which
    /// Triton writes everywhere.
    name: "beyond-manual",
    code: "P0227",
    former: [],
    class: Style,
    level: Info,
    summary: "what the assembler takes and the manual does not have",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::BeyondManual(beyond) = occurrence.problem else { return None };
    let spelled = |what: &str, reason: &str| {
        RULE.at(occurrence.spelling_span(), format!("the manual does not have {what}: {reason}"))
    };
    match beyond {
        Beyond::Form { reason } => Some(spelled(&format!("this form of `{}`", occurrence.opcode()), reason)),
        Beyond::Modifier { modifier, reason } => {
            Some(spelled(&format!("`{modifier}` of `{}`", occurrence.opcode()), reason))
        }
        Beyond::Operand { operand, part: None, .. } if in_braces(occurrence.operands()[*operand]) => None,
        Beyond::Operand { operand, part, reasons, .. } => {
            let (_, span) = occurrence.operand(*operand, *part)?;
            let message = format!("the manual does not have such an operand of `{}`", occurrence.name());
            let finding = RULE.at(span, message);
            Some(match reasons.is_empty() {
                true => finding,
                false => finding.with_note(format!("the assembler takes it: {}", reasons.join("; "))),
            })
        }
        _ => None,
    }
}

/// The finding of a second result, `_`, of an instruction that has one result. `rest` is what follows the first.
pub(super) fn second_result(span: Span, rest: Span) -> Diagnostic {
    let edit = Edit { span: rest, replacement: String::new() };
    RULE.at(span, "the manual does not have `|_` after this operand")
        .with_note("the assembler takes it after a name that is the first operand, and does nothing with it")
        .with_fix("leave `|_` away", Applicability::Certain, vec![edit])
}

fn in_braces(operand: Operand) -> bool {
    matches!(operand, Operand::Vector(run) if run.count == 1)
}
