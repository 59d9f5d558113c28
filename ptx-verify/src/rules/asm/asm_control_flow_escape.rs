use ptx_ir::ir::Handle;
use ptx_ir::isa::Control;
use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports `ret` and `exit` in a template, and branches to labels of other statements.
    ///
    /// ## Why is this bad
    /// The compiler does not know that control may leave here: it moves code across the statement, keeps results in
    /// registers that are never stored, and takes the code after it to be reached.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void stop() { asm volatile("exit;"); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void stop() { __trap(); }
    /// ```
    ///
    /// ## What it may miss
    /// Branches through tables of labels.
    name: "asm-control-flow-escape",
    code: "P1020",
    former: ["H0624"],
    class: Hazard,
    level: Warn,
    summary: "control leaves the statement unknown to the compiler",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let Some((_, body)) = unit.function() else { return };
    if unit.broken || unit.statement.function.is_none() {
        return;
    }
    let module = &unit.lowered().module;
    for instruction in unit.instructions() {
        let Some(instance) = module.instance(&body.instructions[Handle::new(instruction)]) else { continue };
        if matches!(instance.effects.control, Control::Return | Control::Exit) {
            let place = unit.instruction_place(instruction).unwrap_or(unit.statement.template.span);
            out.push(
                RULE.at(
                    place,
                    format!(
                        "`{}` leaves the function unknown to the compiler",
                        unit.instruction_text(instruction)
                    ),
                )
                .with_help("set a flag here and return from C++"),
            );
        }
    }
}

/// A branch to a label that another statement declares.
pub(crate) fn branch(span: Span, label: &str) -> Diagnostic {
    RULE.at(span, format!("this branches to `{label}`, which is no label of this statement"))
        .with_label("control leaves the statement here")
        .with_note("the compiler takes control to come out at the end of a statement, and orders statements as it likes")
        .with_help("put the branch and its label into one statement")
}
