use ptx_syntax::{Applicability, Diagnostic, Span};

use crate::rule::declare_rule;
use crate::subject::fragment::scope::{braces, is_unique, is_used_elsewhere, outside_braces};
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports a register that a template declares outside braces.
    ///
    /// ## Why is this bad
    /// The declaration lands in the function around it: where the statement is inlined twice, or is in a loop that
    /// is unrolled, the assembler refuses the second declaration. A name with `%=` is another one in each copy, with
    /// nvcc and with clang, and is not reported.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int square(int x) { int y; asm(".reg .u32 t; mov.u32 t, %1; mul.lo.u32 %0, t, t;" : "=r"(y) : "r"(x)); return y; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int square(int x) { int y; asm("{ .reg .u32 t; mov.u32 t, %1; mul.lo.u32 %0, t, t; }" : "=r"(y) : "r"(x)); return y; }
    /// ```
    ///
    /// ## What it may miss
    /// A register that another statement of the file uses is taken to be declared for it, and is not reported.
    name: "asm-register-outside-scope",
    code: "P1016",
    former: ["H0620"],
    class: Hazard,
    level: Warn,
    summary: "a register that is declared outside braces",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    if unit.statement.function.is_none() && !unit.statement.is_of_macro() {
        return;
    }
    let Some(group) = top_level(unit).into_iter().next() else { return };
    let Some((name, span)) = group else { return };
    let place = unit.place(span).unwrap_or(unit.statement.template.span);
    let mut found = RULE
        .at(place, format!("register `{name}` is declared outside braces"))
        .with_label("a second copy of this statement declares it again")
        .with_help("put the template into `{ }`");
    if let Some(edits) = braces(unit) {
        found = found.with_fix("put the template into `{ }`", Applicability::Certain, edits);
    }
    out.push(found);
}

/// The registers declared outside braces that no other statement uses.
fn top_level(unit: &Unit<'_>) -> Vec<Option<(String, Span)>> {
    if unit.broken || unit.open_braces != 0 {
        return Vec::new();
    }
    let registers = outside_braces(unit).into_iter().filter(|(_, _, label)| !label);
    registers
        .filter(|(name, span, _)| !is_unique(unit, *span) && !is_used_elsewhere(unit, name))
        .map(|(name, span, _)| Some((name, span)))
        .collect()
}
