use ptx_ir::lower::Problem;
use ptx_syntax::{Diagnostic, Located};

use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a branch to a label that is in a block which does not enclose the branch.
    ///
    /// ## Why is this bad
    /// The module does not assemble: labels belong to the block in braces that declares them.
    ///
    /// ## Example
    /// ```ptx
    /// bra L;
    /// {
    /// L:
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// {
    ///     bra L;
    /// L:
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "undeclared-label",
    code: "P0303",
    former: ["E0103"],
    class: Invalid,
    level: Error,
    summary: "a label that is not visible here",
    check: Lowering(check),
}

fn check(problem: &Located<Problem>) -> Option<Diagnostic> {
    let Problem::InvisibleLabel { name, declaration } = &problem.what else { return None };
    let finding = RULE.at(problem.span, format!("label `{name}` is not visible here"));
    Some(finding.with_secondary(*declaration, "declared in a block that does not enclose this").with_help(
        "a label can be reached only from within the block that declares it: move it out of the braces",
    ))
}
