use ptx_syntax::cuda::host::HostProblemKind;
use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports an `asm_dialect` of `llvm.inline_asm`, which is for the two ways to write the assembler of x86: Intel's is
    /// an error, and AT&T's is information where the template has braces.
    ///
    /// ## Why is this bad
    /// With Intel's dialect LLVM writes `.intel_syntax` before the template, which the assembler refuses. AT&T's is
    /// what LLVM takes anyway; some toolchains read the braces of such a template as alternatives, and the assembler
    /// then finds registers outside their scope.
    ///
    /// ## Example
    /// ```python
    /// llvm.inline_asm(T.i32(), [a], "{ .reg .b32 t; not.b32 t, $1; mov.b32 $0, t; }", "=r,r", asm_dialect=llvm.AsmDialect.AD_Intel)
    /// ```
    ///
    /// ## Use instead
    /// ```python
    /// llvm.inline_asm(T.i32(), [a], "{ .reg .b32 t; not.b32 t, $1; mov.b32 $0, t; }", "=r,r")
    /// ```
    ///
    /// ## What it may miss
    /// A dialect that is no literal.
    name: "asm-dialect",
    code: "P1031",
    former: [],
    class: Invalid,
    level: Error,
    summary: "a dialect of another assembler",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    for problem in &unit.statement.host_problems {
        let found = match problem.kind {
            HostProblemKind::IntelDialect => RULE.at(
                problem.span,
                "PTX has no dialect of Intel: LLVM writes `.intel_syntax` before the template",
            ),
            HostProblemKind::DialectWithBraces => Diagnostic {
                severity: Severity::Info,
                ..RULE.at(problem.span, "a dialect is named, and the template has braces")
            }
            .with_note("some toolchains take the braces for alternatives of the dialect"),
            _ => continue,
        };
        out.push(found.with_help("leave `asm_dialect` out"));
    }
}
