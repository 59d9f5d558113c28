use ptx_syntax::cuda::Host;
use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a missing `;` between two instructions of a template, or after the last one.
    ///
    /// ## Why is this bad
    /// The strings of a template are joined without anything between them, and the compiler's own instructions follow:
    /// the assembler reads two instructions as one.
    ///
    /// ## Example
    /// ```cuda
    /// __device__ int twice(int x) {
    ///   int y;
    ///   asm("add.s32 %0, %1, %1" : "=r"(y) : "r"(x));
    ///   return y;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// __device__ int twice(int x) {
    ///   int y;
    ///   asm("add.s32 %0, %1, %1;" : "=r"(y) : "r"(x));
    ///   return y;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Templates with parts that only the preprocessor knows.
    name: "asm-missing-separator",
    code: "P1018",
    former: ["E0622"],
    class: Invalid,
    level: Error,
    summary: "a `;` is missing between instructions",
    check: Elsewhere,
}

/// The finding after the token at `span`, in the template's last instruction or in one before; `insertion` is where the
/// `;` can be put.
pub(crate) fn finding(span: Span, is_last: bool, insertion: Option<Span>, host: Host) -> Diagnostic {
    let note = match (is_last, host) {
        (true, _) => "the compiler puts the template among its own instructions, and adds no `;`",
        (false, Host::Rust) => {
            "rustc joins the strings of a template with line ends, which separate no instructions"
        }
        (false, _) => "the strings of a template are joined as they are, and another instruction follows",
    };
    let found =
        RULE.at(span, "a `;` is missing after this instruction").with_note(note).with_help("write `;`");
    match insertion {
        Some(span) => {
            found.with_fix("write `;`", Applicability::Certain, vec![Edit { span, replacement: ";".into() }])
        }
        None => found,
    }
}
