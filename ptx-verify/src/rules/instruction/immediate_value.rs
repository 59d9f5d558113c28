use ptx_ir::isa::{ImmediateRange, Mismatch, Wanted};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::describe::name_of;
use crate::subject::occurrence::{Occurrence, Problem};
use crate::subject::wanted::list_of;

declare_rule! {
    /// ## What it does
    /// Reports an integer constant whose value the instruction does not take.
    ///
    /// ## Why is this bad
    /// The module does not assemble. Only instructions whose operand is an encoded field are that strict: barrier
    /// numbers, register counts of `setmaxnreg`, copy sizes of `cp.async`.
    ///
    /// ## Example
    /// ```ptx
    /// bar.sync 16;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// bar.sync 15;
    /// ```
    ///
    /// ## What it may miss
    /// Constants that the assembler takes and truncates: those are `immediate-out-of-range`.
    name: "immediate-value",
    code: "P0212",
    former: ["E0211"],
    class: Invalid,
    level: Error,
    summary: "an integer constant that the instruction does not take",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Mismatch(Mismatch::Operand { operand, part, spec, instance, wanted: Wanted::Range(ranges) }) =
        occurrence.problem
    else {
        return None;
    };
    let (found, span) = occurrence.operand(*operand, *part)?;
    let spec = occurrence.spec(*instance, *spec, *part)?;
    let context = occurrence.context;
    let value = name_of(context.module.module, context.body, found).unwrap_or_default();
    let wanted: Vec<String> = ranges.iter().map(range).collect();
    let message = format!("`{}` takes {} here, not {value}", occurrence.name(), list_of(&wanted, "or"));
    Some(RULE.at(span, message).with_label(format!("operand `{}`", spec.name)))
}

/// "4", "0 to 15", "24 to 256 in steps of 8".
fn range(range: &ImmediateRange) -> String {
    let &ImmediateRange { low, high, step } = range;
    match (low == high, step) {
        (true, _) => low.to_string(),
        (false, 1) => format!("{low} to {high}"),
        (false, _) => format!("{low} to {high} in steps of {step}"),
    }
}
