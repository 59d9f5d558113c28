use ptx_ir::isa::{Instance, Mismatch};
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};
use crate::subject::wanted::{count_of, list_of};

declare_rule! {
    /// ## What it does
    /// Reports an instruction with too many or too few operands.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// mad.lo.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mad.lo.u32 %r1, %r2, %r3, %r4;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "operand-count",
    code: "P0209",
    former: ["E0208"],
    class: Invalid,
    level: Error,
    summary: "an instruction with too many or too few operands",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Mismatch(Mismatch::Count { given, expected, instance }) = occurrence.problem else {
        return None;
    };
    let wanted: Vec<String> = expected.iter().map(usize::to_string).collect();
    let plural = if expected.last() == Some(&1) { "operand" } else { "operands" };
    let wanted =
        if expected == &[0] { "no operands".into() } else { format!("{} {plural}", list_of(&wanted, "or")) };
    let given_words = match given {
        0 => "none is given".into(),
        1 => "1 is given".into(),
        _ => format!("{given} are given"),
    };
    let message = format!("`{}` takes {wanted}, {given_words}", occurrence.name());
    let most = expected.last().copied().unwrap_or_default();
    let mut finding = RULE.at(place(occurrence, *given, most), message);
    if *given > most {
        let extra = given - most;
        finding = finding.with_label(if extra == 1 {
            "one too many".into()
        } else {
            format!("{} too many", count_of(extra, "operand"))
        });
    }
    Some(match occurrence.instance(*instance) {
        Some(instance) => finding.with_help(format!("the form is `{}`", form(instance))),
        None => finding,
    })
}

/// The operands that are too many, or the spelling where some are missing.
fn place(occurrence: &Occurrence<'_>, given: usize, most: usize) -> Span {
    if given > most {
        occurrence.operand_span(most).to(occurrence.operand_span(given - 1))
    } else {
        occurrence.spelling_span()
    }
}

/// The instruction as the manual's syntax line has it: `add.u32 d, a, b`.
pub(super) fn form(instance: &Instance) -> String {
    let operands: Vec<String> = instance
        .operands
        .iter()
        .map(|spec| if spec.optional { format!("{{{}}}", spec.name) } else { spec.name.to_owned() })
        .collect();
    if operands.is_empty() {
        return instance.canonical.to_string();
    }
    format!("{} {}", instance.canonical, operands.join(", "))
}
