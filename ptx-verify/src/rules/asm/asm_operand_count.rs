use ptx_syntax::Diagnostic;
use ptx_syntax::cuda::host::{HostProblem, HostProblemKind};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports a statement of Triton, MLIR or LLVM IR whose constraints are not as many as its operands: for inputs, the
    /// values that are handed in, for outputs, the results. Triton puts elements of less than 32 bits into registers of
    /// 32: four results of 8 bits with `pack=4` are one register.
    ///
    /// ## Why is this bad
    /// LLVM ends with an error that names no line, and Triton's process dies.
    ///
    /// ## Example
    /// ```python
    /// tl.inline_asm_elementwise("and.b32 $0, $1, 0xF;", "=r,=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// tl.inline_asm_elementwise("and.b32 $0, $1, 0xF;", "=r,r", [x], dtype=tl.int32, is_pure=True, pack=1)
    /// ```
    ///
    /// ## What it may miss
    /// Values and results whose number or types are not written in the call. With `pack`, the number of inputs, since
    /// it depends on types.
    name: "asm-operand-count",
    code: "P1030",
    former: [],
    class: Invalid,
    level: Error,
    summary: "constraints that are not as many as the operands",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    out.extend(unit.statement.host_problems.iter().filter_map(finding));
}

fn finding(problem: &HostProblem) -> Option<Diagnostic> {
    let of = |count: usize, what: &str| match count {
        1 => format!("1 {what}"),
        count => format!("{count} {what}s"),
    };
    let message = match &problem.kind {
        HostProblemKind::Inputs { constraints, values } => {
            format!("{} for inputs, and {}", of(*constraints, "constraint"), of(*values, "value"))
        }
        HostProblemKind::Outputs { constraints, results, why } => {
            format!(
                "{} for outputs, and {}{why}",
                of(*constraints, "constraint"),
                of(*results, "result register")
            )
        }
        HostProblemKind::Pack { elements, bits } => {
            format!("{elements} elements of {bits} bits do not fill registers of 32 bits")
        }
        HostProblemKind::IntelDialect
        | HostProblemKind::DialectWithBraces
        | HostProblemKind::Constraint(_) => return None,
    };
    Some(RULE.at(problem.span, message))
}
