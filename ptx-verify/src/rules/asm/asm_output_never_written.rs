use ptx_syntax::Diagnostic;
use ptx_syntax::cuda::Host;

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports an output `=` of an asm statement that the template never writes.
    ///
    /// ## Why is this bad
    /// The variable gets whatever its register held. Either the template has the wrong operand number, or the
    /// operand belongs among the inputs.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int first(int a, int b) {
    ///   int r, unused;
    ///   asm("mov.s32 %0, %2;" : "=r"(r), "=r"(unused) : "r"(a));
    ///   return r;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int first(int a, int b) {
    ///   int r;
    ///   asm("mov.s32 %0, %1;" : "=r"(r) : "r"(a));
    ///   return r;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Templates with parts that only the preprocessor knows are passed over.
    name: "asm-output-never-written",
    code: "P1004",
    former: ["H0604"],
    class: Hazard,
    level: Warn,
    summary: "an output `=` that is never written",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if unit.broken || !unit.statement.complete || unit.expanded.has_wildcards {
        return;
    }
    for unset in unit.unset() {
        let Some(operand) = unit.operand_of(unset.register) else { continue };
        if unit.is_of_template(unset.instruction) || !unset.certain {
            continue;
        }
        let output = unit.statement.outputs.get(operand).filter(|output| !output.unused);
        let Some(output) = output else { continue };
        let name = unit.operand_name(operand);
        let (label, help) = match unit.statement.host {
            Host::Cuda => (
                "the variable gets whatever its register held",
                "write it in the template, or make it an input, or `+` if its value is to be kept",
            ),
            Host::Rust => (
                "the variable gets whatever its register held",
                "write it in the template, or make it `in`, or `inout` if its value is to be kept",
            ),
            _ => ("the result is whatever its register held", "write it in the template, or leave it out"),
        };
        let message = format!("`{name} is an output and is never written");
        out.push(RULE.at(output.constraint.span, message).with_label(label).with_help(help));
    }
}
