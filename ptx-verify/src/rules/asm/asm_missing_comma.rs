use ptx_syntax::cuda::OddityKind;
use ptx_syntax::{Applicability, Diagnostic, Edit, Severity, Span};

use crate::rule::declare_rule;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports two operands of an asm statement without a comma between them.
    ///
    /// ## Why is this bad
    /// nvcc takes it; gcc and clang refuse it. The finding is a warning for nvcc, and an error with `--compiler clang`
    /// or `both`.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a) "r"(b)); return r; }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int sum(int a, int b) { int r; asm("add.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b)); return r; }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "asm-missing-comma",
    code: "P1014",
    former: ["E0615"],
    class: Invalid,
    level: Warn,
    summary: "two operands without a comma between them",
    check: Asm(check),
}

fn check(unit: &Unit<'_>, out: &mut Vec<Diagnostic>) {
    for oddity in unit.statement.oddities.iter().filter(|oddity| oddity.kind == OddityKind::MissingComma) {
        let edit = Edit { span: Span::at(oddity.span.start), replacement: ",".into() };
        let mut found = RULE
            .at(oddity.span, "a comma is missing between two operands")
            .with_note("nvcc takes it; gcc and clang do not")
            .with_help("write `,`")
            .with_fix("write `,`", Applicability::Certain, vec![edit]);
        if unit.compiler.is_clang() {
            found.severity = Severity::Error;
        }
        out.push(found);
    }
}
