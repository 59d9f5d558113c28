use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a suppression comment that suppresses nothing.
    ///
    /// ## Why is this bad
    /// The reason for it is gone, and it may hide the next finding.
    ///
    /// ## Example
    /// ```ptx
    /// add.u32 %r1, %r2, %r3; // ptx-allow: operand-type
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// add.u32 %r1, %r2, %r3;
    /// ```
    ///
    /// ## What it may miss
    /// Suppressions of rules that are switched off in this run: they may be needed in another one.
    name: "unused-suppression",
    code: "P0002",
    former: ["S0002"],
    class: Style,
    level: Warn,
    summary: "a suppression comment that suppresses nothing",
    check: Elsewhere,
    scope: Whole,
}

/// Says that a suppression of `rule` is of no use.
pub(crate) fn finding(rule: &str, span: Span) -> Diagnostic {
    RULE.at(span, format!("`{rule}` is not reported here")).with_help("remove the suppression")
}
