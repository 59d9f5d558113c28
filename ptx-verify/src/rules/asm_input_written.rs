use ptx_ir::ir::Handle;
use ptx_syntax::Diagnostic;

use crate::asm::unit::{Mode, Unit};
use crate::dataflow::{Access, for_each_register};
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports an input of an asm statement that the template writes.
    ///
    /// ## Why is this bad
    /// The compiler takes an input to be unchanged: it goes on using the register for the variable, and for every
    /// other variable of the same value.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void twice(int *p, int x) { asm volatile("add.s32 %1, %1, %1; st.s32 [%0], %1;" :: "l"(p), "r"(x) : "memory"); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void twice(int *p, int x) { asm volatile("add.s32 %0, %0, %0; st.s32 [%1], %0;" : "+r"(x) : "l"(p) : "memory"); }
    /// ```
    ///
    /// ## What it may miss
    /// Writes by instructions that are not known, or whose operands do not fit.
    name: "asm-input-written",
    code: "H0605",
    class: Hazard,
    level: Error,
    summary: "an input that the template writes",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let Some((_, body)) = unit.function() else { return };
    if unit.broken || !unit.statement.complete {
        return;
    }
    let mut said = vec![false; unit.operands.len()];
    for instruction in unit.instructions() {
        let mut written = Vec::new();
        for_each_register(&unit.lowered().module, body, Handle::new(instruction), |register, access| {
            if matches!(access, Access::Write | Access::ReadWrite) {
                written.push(register);
            }
        });
        for register in written {
            let Some(operand) = unit.operand_of(register) else { continue };
            if unit.operands[operand].mode != Mode::Input || std::mem::replace(&mut said[operand], true) {
                continue;
            }
            let place = unit.instruction_place(instruction).unwrap_or(unit.statement.template.span);
            let mut found = RULE
                .at(place, format!("`{} is an input and is written here", unit.operand_name(operand)))
                .with_label("the compiler goes on using the old value")
                .with_help("pass it as an output with `+`, or work on a register of the template's own");
            if let Some(input) = unit.statement.operands().nth(operand) {
                found = found.with_secondary(input.span, "an input");
            }
            out.push(found);
        }
    }
}
