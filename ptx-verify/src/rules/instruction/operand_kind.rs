use ptx_ir::ir::Operand;
use ptx_ir::isa::{Mismatch, OperandSpec, Pattern, Wanted};
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::rule::declare_rule;
use crate::subject::describe::{form_of, name_of};
use crate::subject::occurrence::{Occurrence, Problem};
use crate::subject::wanted::{count_of, form_wanted};

declare_rule! {
    /// ## What it does
    /// Reports an operand of another form than the instruction takes there: a register where an address in
    /// brackets belongs, a single register where a brace list belongs, a pair where one destination belongs.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// ld.global.u32 %r1, %rd1;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// ld.global.u32 %r1, [%rd1];
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "operand-kind",
    code: "P0210",
    former: ["E0209"],
    class: Invalid,
    level: Error,
    summary: "an operand of another form than the instruction takes",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Mismatch(Mismatch::Operand { operand, part, spec, instance, wanted }) = occurrence.problem
    else {
        return None;
    };
    let (found, span) = occurrence.operand(*operand, *part)?;
    let spec = occurrence.spec(*instance, *spec, *part)?;
    let name = occurrence.name();
    let what = match wanted {
        Wanted::Kind => return Some(another_form(occurrence, found, span, spec)),
        Wanted::Parts { expected } => {
            let parts = count_of(usize::from(*expected), "part");
            // An address without a comma is one part, and the operand itself.
            match occurrence.children(found).len().max(1) {
                1 => format!("`{name}` takes {parts} here, there is 1"),
                given => format!("`{name}` takes {parts} here, there are {given}"),
            }
        }
        Wanted::NoOffset => format!("`{name}` takes no offset here"),
        Wanted::Selector => format!("`{name}` does not take this selector here"),
        Wanted::Neighbours => {
            format!("`{name}` takes a brace list here whose neighbours are of one kind, or plain bits")
        }
        Wanted::Class(_) | Wanted::Length { .. } | Wanted::Range(_) => return None,
    };
    Some(RULE.at(span, what).with_label(format!("operand `{}`", spec.name)))
}

fn another_form(occurrence: &Occurrence<'_>, found: Operand, span: Span, spec: &OperandSpec) -> Diagnostic {
    let module = occurrence.context.module.module;
    let it = match name_of(module, occurrence.context.body, found) {
        Some(name) => format!("`{name}`"),
        None => "this".into(),
    };
    let message =
        format!("`{}` takes {} here, {it} is {}", occurrence.name(), form_wanted(spec), form_of(found));
    let finding = RULE.at(span, message).with_label(format!("operand `{}`", spec.name));
    let bare = matches!(found, Operand::Register { .. } | Operand::Variable { .. });
    if bare && spec.pattern == Pattern::Address && !span.is_empty() {
        let text = occurrence.context.module.text(span);
        let edit = Edit { span, replacement: format!("[{text}]") };
        return finding.with_fix("put the address into brackets", Applicability::Likely, vec![edit]);
    }
    finding
}
