use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a constant expression that has no value: a division by zero, a name that is no constant, an operator on a
    /// number given by its bits.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// mov.u32 %r1, 7 / 0;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.u32 %r1, 7 / 2;
    /// ```
    ///
    /// ## What it may miss
    /// Expressions that nest deeper than 200 levels are reported although the assembler may take them.
    name: "constant-expression",
    code: "P0201",
    former: ["E0104"],
    class: Invalid,
    level: Error,
    summary: "a constant expression without a value",
    check: Elsewhere,
}
