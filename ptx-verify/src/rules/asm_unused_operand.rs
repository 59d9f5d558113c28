use ptx_syntax::Diagnostic;

use crate::asm::unit::Unit;
use crate::registry::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports an operand of an asm statement that the template does not name.
    ///
    /// ## Why is this bad
    /// Usually the numbers of the operands are wrong: each operand in front counts. Where the operand is there for a
    /// dependence only, say so with an empty template.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %1;" : "=r"(r) : "r"(a), "r"(b)); return r; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
    /// ```
    ///
    /// ## What it may miss
    /// Templates without instructions, and those with parts that only the preprocessor knows, are passed over.
    name: "asm-unused-operand",
    code: "H0626",
    class: Hazard,
    level: Warn,
    summary: "an operand that the template does not name",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let unclear = unit.expanded.has_wildcards || !unit.statement.complete;
    if unclear || unit.instructions().next().is_none() {
        return;
    }
    for (index, operand) in unit.statement.operands().enumerate() {
        let never_written =
            unit.statement.outputs.get(index).is_some_and(|output| !output.constraint.is_read_write());
        // An output that is not named is never written, which says more.
        if never_written || unit.expanded.uses.iter().any(|used| used.operand == index) {
            continue;
        }
        let name = unit.operand_name(index);
        out.push(RULE.at(operand.span, format!("the template does not name `{name}")));
    }
}
