use ptx_ir::lower::Problem;
use ptx_syntax::{Diagnostic, Located};

use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a second declaration of a name in the same block, or a second definition at module level. A name may hide
    /// one of an outer block.
    ///
    /// ## Why is this bad
    /// The module does not assemble.
    ///
    /// ## Example
    /// ```ptx
    /// .reg .u32 %a;
    /// .reg .f32 %a;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .reg .u32 %a;
    /// .reg .f32 %b;
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "duplicate-name",
    code: "P0302",
    former: ["E0102"],
    class: Invalid,
    level: Error,
    summary: "a name that is declared twice",
    check: Lowering(check),
    scope: Whole,
}

fn check(problem: &Located<Problem>) -> Option<Diagnostic> {
    let Problem::DuplicateName { entity, name, first } = &problem.what else { return None };
    let finding = RULE.at(problem.span, format!("{entity} `{name}` is declared twice in the same block"));
    Some(finding.with_secondary(*first, "first declared here"))
}
