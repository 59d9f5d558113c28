use ptx_ir::lower::{Problem, RegisterGroup};
use ptx_syntax::{Applicability, Diagnostic, Edit, Located};

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
    check: Lowering(check),
}

fn check(problem: &Located<Problem>) -> Option<Diagnostic> {
    let Problem::UndeclaredName { name, group, nearest } = &problem.what else { return None };
    let finding = RULE.at(problem.span, format!("`{name}` is not declared"));
    Some(match (group, nearest) {
        (Some(group), _) => beyond(finding, group),
        (None, Some(near)) => {
            let edit = Edit { span: problem.span, replacement: near.clone() };
            finding.with_help(format!("a name that is spelled alike is visible here: `{near}`")).with_fix(
                format!("write `{near}`"),
                Applicability::Likely,
                vec![edit],
            )
        }
        (None, None) => finding,
    })
}

/// A name that begins like those of a group of registers.
fn beyond(finding: Diagnostic, group: &RegisterGroup) -> Diagnostic {
    let RegisterGroup { prefix, count, declaration } = group;
    if prefix.ends_with(|last: char| last.is_ascii_digit()) {
        return finding
            .with_secondary(*declaration, format!("`{prefix}<{count}>` declares no name that can be written"))
            .with_help("end the name before `<` without a digit: all digits at the end are the number");
    }
    let last = match count {
        0 => format!("`{prefix}<0>` declares nothing"),
        1 => format!("`{prefix}<1>` declares only `{prefix}0`"),
        _ => format!("`{prefix}<{count}>` declares `{prefix}0` to `{prefix}{}`", count - 1),
    };
    finding
        .with_secondary(*declaration, last)
        .with_help(format!("declare more of them: `{prefix}<N>` ends at `{prefix}(N-1)`"))
}
