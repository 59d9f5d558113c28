use ptx_syntax::{Applicability, Diagnostic, Edit, Span};

use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Reports a suppression comment that names no rule: a misspelled name, `all`, no name, or no colon before it.
    ///
    /// ## Why is this bad
    /// It suppresses nothing.
    ///
    /// ## Example
    /// ```ptx
    /// mov.u32 %r1, %r2; // ptx-allow: dead-stor
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// mov.u32 %r1, %r2;
    /// ```
    ///
    /// ## What it may miss
    /// Comments in which the word `ptx-allow` itself is misspelled.
    name: "unknown-suppression",
    code: "P0001",
    former: ["S0001"],
    class: Style,
    level: Warn,
    summary: "a suppression comment that names no rule",
    check: Elsewhere,
    scope: Whole,
}

/// Says that `name` in a suppression is no rule.
pub(crate) fn finding(name: &str, nearest: Option<&str>, span: Span) -> Diagnostic {
    if name.is_empty() {
        return RULE
            .at(span, "this suppression names no rule")
            .with_help("write `// ptx-allow: RULE`; `ptx-cli rules` lists them");
    }
    if name == "all" {
        return RULE
            .at(span, "`all` is no rule: a suppression names what it hides")
            .with_help("write `// ptx-allow: RULE, RULE`; `--allow all` switches all rules off");
    }
    let finding = RULE.at(span, format!("there is no rule `{name}`"));
    match nearest {
        Some(nearest) => finding.with_fix(
            format!("write `{nearest}`"),
            Applicability::Likely,
            vec![Edit { span, replacement: nearest.into() }],
        ),
        None => finding,
    }
}
