use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports a register in a template that is neither declared there nor an operand, and is named as the compiler
    /// names its own: `%r1`, `%rd4`, `%f2`, `%p1`.
    ///
    /// ## Why is this bad
    /// Which value such a register holds, and whether it exists, changes with every compilation.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ void f(int &x) { asm("mov.b64 {%0, _}, %rd1;" : "=r"(x)); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ void f(int &x, long long y) { asm("mov.b64 {%0, _}, %1;" : "=r"(x) : "l"(y)); }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "asm-uses-compiler-register",
    code: "P1019",
    former: ["H0623"],
    class: Hazard,
    level: Error,
    summary: "a register of the compiler's own",
    check: Elsewhere,
}

/// Whether a name is one of those that nvcc and clang give to registers.
pub(crate) fn is_such(name: &str) -> bool {
    let prefixes = ["%rd", "%rs", "%rq", "%fd", "%r", "%f", "%p", "%h"];
    prefixes.iter().any(|prefix| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|b| b.is_ascii_digit()))
    })
}

/// What lowering says of an undeclared name, said of the compiler's register.
pub(crate) fn from(unit: &Unit<'_>, found: Diagnostic) -> Diagnostic {
    let name = found.span.text(&unit.text);
    RULE.at(found.span, format!("`{name}` is a register of the compiler's own"))
        .with_label("not declared in this template")
        .with_help("pass the value as an operand, or declare a register in the template")
}
