//! What lowering says of operands and declarations.

use super::expression::Trouble;
use super::problem::{ConstantError, Problem};
use ptx_syntax::{Explanation, Located, Span};

/// Something wrong with an operand or a declaration, in words.
pub(super) fn fault(span: Span, message: impl Into<String>) -> Located<Explanation> {
    Located::new(span, message)
}

pub(super) fn trouble(trouble: &Trouble) -> Located<Problem> {
    let (span, error) = match *trouble {
        Trouble::NotConstant(span) => (span, ConstantError::NotConstant),
        Trouble::DivisionByZero(span) => (span, ConstantError::DivisionByZero),
        Trouble::NotInteger(span) => (span, ConstantError::NotInteger),
        Trouble::TooDeep(span) => (span, ConstantError::TooDeep),
        Trouble::Cast(span) => (span, ConstantError::Cast),
        Trouble::ExactFloat(span) => (span, ConstantError::ExactFloat),
        Trouble::Overflow(span) => (span, ConstantError::Overflow),
    };
    Located { span, what: Problem::BadConstant(error) }
}

pub(super) fn duplicate(span: Span, entity: &'static str, name: &str, first: Span) -> Located<Problem> {
    Located { span, what: Problem::DuplicateName { entity, name: name.to_owned(), first } }
}

pub(super) fn second_header(span: Span, directive: &'static str, first: Span) -> Located<Problem> {
    Located { span, what: Problem::RepeatedDirective { directive, first } }
}
