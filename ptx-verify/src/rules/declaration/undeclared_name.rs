use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports the use of a name that no declaration in sight has: a register, a variable, a function, a label. A
    /// parametrised declaration `%r<8>` declares `%r0` to `%r7`.
    ///
    /// ## Why is this bad
    /// The module does not assemble. NVIDIA's assembler reports unknown names only in functions without any other error.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .u32 %a<2>;
    /// mov.u32 %a1, %a2;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .u32 %a<3>;
    /// mov.u32 %a1, %a2;
    /// ```
    ///
    /// ## What it may miss
    /// Functions that another module defines must be declared `.extern`; whether the linker finds them is not checked.
    name: "undeclared-name",
    code: "P0301",
    former: ["E0101"],
    class: Invalid,
    level: Error,
    summary: "a name that is not declared here",
    check: Elsewhere,
}
