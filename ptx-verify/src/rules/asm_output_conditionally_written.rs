use ptx_syntax::Diagnostic;

use crate::asm::translate::{constraint_fix, with_certain};
use crate::asm::unit::Unit;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports an output `=` of an asm statement that is written under a guard or on some paths only.
    ///
    /// ## Why is this bad
    /// Where it is not written, the variable gets whatever its register held: the compiler does not put the old
    /// value there, for `=` says that it is not needed.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void is_34(int &y, int x) {
    ///   asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; @p mov.s32 %0, 1; }" : "=r"(y) : "r"(x));
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void is_34(int &y, int x) {
    ///   asm("{ .reg .pred p; setp.eq.s32 p, %1, 34; @p mov.s32 %0, 1; }" : "+r"(y) : "r"(x));
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Pairs of guards `@p` and `@!p`, guards of the same comparison, and branches are understood. A set of
    /// comparisons that together always hold is understood only for two opposite ones.
    name: "asm-output-conditionally-written",
    code: "H0603",
    class: Hazard,
    level: Error,
    summary: "an output `=` that is not written on every path",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if unit.broken || !unit.statement.complete {
        return;
    }
    for unset in unit.unset() {
        let Some(operand) = unit.operand_of(unset.register) else { continue };
        if unit.is_of_template(unset.instruction) || unset.certain {
            continue;
        }
        let Some(output) = unit.statement.outputs.get(operand) else { continue };
        let name = unit.operand_name(operand);
        let mut found = RULE
            .at(output.constraint.span, format!("`{name} is an output and is not written on every path"))
            .with_label("`=`: the old value is not passed in")
            .with_help("write `+` instead of `=`: the operand keeps its value where it is not written");
        for &write in unset.reaching.writers.iter().take(3) {
            if let Some(place) = unit.instruction_place(write) {
                found = found.with_secondary(place, "written only under a condition");
            }
        }
        out.push(with_certain(found, constraint_fix(unit, operand, |text| text.replacen('=', "+", 1))));
    }
}
