use ptx_syntax::{Diagnostic, SyntaxError};

use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports text that does not follow the grammar of PTX.
    ///
    /// ## Why is this bad
    /// NVIDIA's assembler stops at the first such place and says nothing about the rest of the file. Here every
    /// statement is read on its own, so that all of them are reported in one run.
    ///
    /// ## Example
    /// ```ptx
    /// add.u32 %r1, %r2 %r3;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known. Text that the assembler takes although the manual's grammar has it differently is
    /// taken here too.
    name: "syntax",
    code: "P0102",
    former: ["E0001"],
    class: Invalid,
    level: Error,
    summary: "text that does not follow the grammar of PTX",
    check: Syntax(finding),
}

fn finding(error: &SyntaxError) -> Diagnostic {
    RULE.explained(error.span, &error.what)
}
