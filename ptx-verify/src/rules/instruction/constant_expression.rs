use ptx_ir::lower::{ConstantError, Problem};
use ptx_syntax::{Diagnostic, Located};

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
    /// Expressions of thousands of levels, of which the assembler's parser reads a few less behind a guard, in an address
    /// and in a list.
    name: "constant-expression",
    code: "P0201",
    former: ["E0104"],
    class: Invalid,
    level: Error,
    summary: "a constant expression without a value",
    check: Lowering(check),
}

fn check(problem: &Located<Problem>) -> Option<Diagnostic> {
    let Problem::BadConstant(error) = problem.what else { return None };
    let finding = RULE.at(
        problem.span,
        match error {
            ConstantError::NotConstant => "expected a constant expression",
            ConstantError::DivisionByZero => "this constant expression divides by zero",
            ConstantError::NotInteger => "expected an integer constant expression",
            ConstantError::TooDeep => "this expression nests too deeply",
            ConstantError::Cast => "a constant can be cast to `.s64` and `.u64` only",
            ConstantError::ExactFloat => "`0f` numbers take no operators",
            ConstantError::Overflow => "no constant of 64 bits holds this number",
        },
    );
    Some(match error {
        ConstantError::ExactFloat => finding.with_help("set the sign bit of the number instead"),
        ConstantError::Overflow => finding.with_help(
            "integers reach to 0xffffffffffffffff, decimal fractions from 2.2251e-308 to 1.7976e308: infinity is \
             `0d7ff0000000000000` or `0f7f800000`",
        ),
        _ => finding,
    })
}
