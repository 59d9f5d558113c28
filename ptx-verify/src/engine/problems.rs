//! What the parser and lowering find, as findings of the rules that know it.

use std::sync::LazyLock;

use ptx_ir::lower::{Lowered, Problem};
use ptx_syntax::{Diagnostic, Located, Parse, SyntaxError};

use crate::rule::Check;
use crate::rules;
use crate::rules::declaration::declaration;

/// Asks the rules that speak of what `kind` chooses, and of nothing else.
fn asked<T>(kind: impl Fn(Check) -> Option<T>) -> Vec<T> {
    rules::all().iter().filter_map(|rule| kind(rule.check)).collect()
}

/// The finding of an error of syntax.
pub(crate) fn of_syntax(error: &SyntaxError) -> Diagnostic {
    type Tell = fn(&SyntaxError) -> Diagnostic;
    static RULES: LazyLock<Vec<Tell>> = LazyLock::new(|| {
        asked(|check| match check {
            Check::Syntax(tell) => Some(tell),
            _ => None,
        })
    });
    RULES.first().map_or_else(|| declaration::unknown(error.span), |tell| tell(error))
}

/// The finding of a problem of lowering.
pub(crate) fn of_lowering(problem: &Located<Problem>) -> Diagnostic {
    type Tell = fn(&Located<Problem>) -> Option<Diagnostic>;
    static RULES: LazyLock<Vec<Tell>> = LazyLock::new(|| {
        asked(|check| match check {
            Check::Lowering(tell) => Some(tell),
            _ => None,
        })
    });
    RULES.iter().find_map(|tell| tell(problem)).unwrap_or_else(|| declaration::unknown(problem.span))
}

/// The findings in a text that was parsed: its errors of syntax, in order of their places.
#[must_use]
pub fn syntax_findings(parse: &Parse) -> Vec<Diagnostic> {
    parse.errors.iter().map(of_syntax).collect()
}

/// The findings in a tree that was lowered, in order of their places.
#[must_use]
pub fn lowering_findings(lowered: &Lowered) -> Vec<Diagnostic> {
    lowered.problems.iter().map(of_lowering).collect()
}

#[cfg(test)]
mod tests {
    use super::{declaration, of_lowering};
    use ptx_ir::lower::{ConstantError, Problem};
    use ptx_ir::special::SpecialRegister;
    use ptx_syntax::{Explanation, Located, Span};

    #[test]
    fn a_rule_knows_each_problem() {
        let name = || "n".to_owned();
        let first = Span::default();
        let explanation = Explanation { message: "why".into(), ..Explanation::default() };
        let all = [
            (Problem::UndeclaredName { name: name(), group: None, nearest: None }, "undeclared-name"),
            (Problem::InvisibleLabel { name: name(), declaration: first }, "undeclared-label"),
            (Problem::DuplicateName { entity: "label", name: name(), first }, "duplicate-name"),
            (Problem::BadConstant(ConstantError::Cast), "constant-expression"),
            (Problem::BadOperand(explanation.clone()), "operand-form"),
            (Problem::NoSecondResult { rest: first }, "beyond-manual"),
            (
                Problem::SpecialRegisterBase(SpecialRegister::parse("%laneid").unwrap()),
                "special-register-address",
            ),
            (Problem::BadDeclaration(explanation), "declaration"),
            (Problem::BadAlignment(3), "alignment"),
            (Problem::RepeatedDirective { directive: ".target", first }, "module-header"),
            (Problem::TooMany, "declaration"),
        ];
        for (what, rule) in all {
            let found = of_lowering(&Located { span: Span::new(1, 2), what: what.clone() });
            assert_eq!((found.rule, found.span), (rule, Span::new(1, 2)), "{what:?}");
            assert_ne!(found.message, declaration::unknown(first).message, "{what:?}");
        }
    }
}
