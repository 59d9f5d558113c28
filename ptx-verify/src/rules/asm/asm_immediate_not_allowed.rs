use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports an operand with constraint `n` where the instruction takes no constant, or not this one.
    ///
    /// ## Why is this bad
    /// `n` puts the number itself into the template, and the assembler refuses it there.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void reset(int *p) { asm volatile("mov.u32 %0, 0;" :: "n"(0)); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void reset(int *p) { asm volatile("st.u32 [%0], %1;" :: "l"(p), "r"(0) : "memory"); }
    /// ```
    ///
    /// ## What it may miss
    /// Constants whose value the expression does not tell: template parameters, `constexpr` variables, `sizeof`.
    name: "asm-immediate-not-allowed",
    code: "P1024",
    former: ["E0628"],
    class: Invalid,
    level: Error,
    summary: "a constant operand where the instruction takes none",
    check: Elsewhere,
}

/// What a rule for PTX says of the constant, said of the operand.
pub(crate) fn from(unit: &Unit<'_>, found: Diagnostic, index: usize) -> Diagnostic {
    let note =
        format!("the constraint `n` puts the constant itself in place of `{}", unit.operand_name(index));
    Diagnostic { code: RULE.info.code, rule: RULE.info.name, fix: None, ..found }.with_note(note)
}
