use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::fragment::expand::ProblemKind;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports references to operands that the compiler refuses: `%7` with fewer operands, a modifier as in `%n1`,
    /// a name as in `%[sum]`, and a `%` at the end of the template.
    ///
    /// ## Why is this bad
    /// nvcc refuses the source, some of these with an internal error that names no line.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int negative(int i) { int r; asm("mov.u32 %0, %n1;" : "=r"(r) : "r"(i)); return r; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int negative(int i) { int r; asm("neg.s32 %0, %1;" : "=r"(r) : "r"(i)); return r; }
    /// ```
    ///
    /// ## What it may miss
    /// Statements whose operands a macro of another file gives.
    name: "asm-operand-reference",
    code: "P1012",
    former: ["E0613"],
    class: Invalid,
    level: Error,
    summary: "a `%` that names no operand",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    let count = unit.operands.len();
    for problem in &unit.expanded.problems {
        let span = unit.statement.template.map.span(problem.decoded);
        let found = match &problem.kind {
            ProblemKind::OutOfRange(index) if unit.statement.complete => {
                let there = match count {
                    0 => "there is no operand".to_owned(),
                    1 => "there is only `%0`".to_owned(),
                    _ => format!("there are only `%0` to `%{}`", count - 1),
                };
                RULE.at(span, format!("`%{index}` names no operand: {there}"))
            }
            ProblemKind::Modifier(letter) => RULE
                .at(span, format!("`%{letter}` before a number is an operand modifier, and PTX has none"))
                .with_help(format!("for a register of that name write `%%{letter}…`")),
            ProblemKind::Named(name) if unit.compiler.is_nvcc() => RULE
                .at(span, format!("nvcc has no references by name: `%[{name}]`"))
                .with_help("refer to the operand by its number"),
            ProblemKind::AtEnd => {
                RULE.at(span, "the template ends with a single `%`").with_help("write `%%`")
            }
            ProblemKind::OutOfRange(_)
            | ProblemKind::Named(_)
            | ProblemKind::Vanishes(_)
            | ProblemKind::DoubledWithoutOperands
            | ProblemKind::NotDoubled => continue,
        };
        out.push(found);
    }
}
