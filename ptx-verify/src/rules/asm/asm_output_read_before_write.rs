use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::subject::fragment::fixes::{constraint_fix, with_certain};
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports an output `=` of an asm statement that the template reads before it writes it.
    ///
    /// ## Why is this bad
    /// `=` says that the old value is not needed, so the compiler does not put it there: what is read is whatever
    /// the register held.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void increment(int &i) { asm("add.s32 %0, %0, 1;" : "=r"(i)); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void increment(int &i) { asm("add.s32 %0, %0, 1;" : "+r"(i)); }
    /// ```
    ///
    /// ## What it may miss
    /// Reads by instructions that are not known, or whose operands do not fit.
    name: "asm-output-read-before-write",
    code: "P1002",
    former: ["H0602"],
    class: Hazard,
    level: Error,
    summary: "an output `=` that is read before it is written",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if unit.broken || !unit.statement.complete {
        return;
    }
    let host = unit.statement.host;
    for unset in unit.unset() {
        let Some(operand) = unit.operand_of(unset.register) else { continue };
        if !unit.is_of_template(unset.instruction) {
            continue;
        }
        let place = unit.instruction_place(unset.instruction).unwrap_or(unit.statement.template.span);
        let output = unit.statement.outputs.get(operand);
        // One without `=` is refused, and what it is meant to be is not known.
        if output.is_some_and(|output| !output.constraint.text.contains('=')) {
            continue;
        }
        let constraint = output.map_or(place, |found| found.constraint.span);
        let name = unit.operand_name(operand);
        let when =
            if unset.certain { "before it is written" } else { "and is not written before on every path" };
        let fix = constraint_fix(unit, operand, |text| text.replacen('=', "+", 1));
        let mut found = RULE
            .at(place, format!("`{name} is an output and is read here {when}"))
            .with_label("reads what was in the register")
            .with_secondary(constraint, format!("{}: the old value is not passed in", host.write_only()))
            .with_help(format!("{}: the operand is read and written", host.read_write()));
        if !unset.certain {
            found.severity = Severity::Warning;
        }
        out.push(with_certain(found, fix));
    }
}
