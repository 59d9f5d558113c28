use ptx_ir::lower::Problem;
use ptx_syntax::{Diagnostic, Located, Span};

use crate::rule::declare_rule;
use crate::rules::declaration::alignment;
use crate::rules::text::module_header;

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
    check: Lowering(check),
    also: [alignment::RULE, module_header::RULE],
}

fn check(problem: &Located<Problem>) -> Option<Diagnostic> {
    match &problem.what {
        Problem::BadDeclaration(explanation) => Some(RULE.explained(problem.span, explanation)),
        Problem::BadAlignment(align) => {
            Some(alignment::RULE.at(problem.span, format!("`.align {align}` is no power of two")))
        }
        Problem::RepeatedDirective { directive, first } => {
            let finding = module_header::RULE.at(problem.span, format!("a second `{directive}`"));
            let finding = finding.with_secondary(*first, "the first one");
            Some(finding.with_help("a module has one: remove this one"))
        }
        Problem::TooMany => {
            Some(RULE.at(problem.span, "too many errors in names and declarations, the others are not shown"))
        }
        _ => None,
    }
}

/// A finding about what no rule knows.
pub(crate) fn unknown(span: Span) -> Diagnostic {
    RULE.at(span, "this is not understood")
}
