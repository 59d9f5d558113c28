use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a declaration that lacks its type or state space, has two of them, or has a word that is neither.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .u32 .f32 %a;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .u32 %a;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "declaration",
    code: "P0304",
    former: ["E0106"],
    class: Invalid,
    level: Error,
    summary: "a declaration that declares nothing",
    check: Elsewhere,
}
