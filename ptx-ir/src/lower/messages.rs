//! What lowering says.

use super::expression::Trouble;
use crate::special::SpecialRegister;
use ptx_syntax::{Applicability, Class, Diagnostic, Edit, Severity, Span};

fn error(code: &'static str, rule: &'static str, span: Span, message: String) -> Diagnostic {
    Diagnostic::invalid(code, rule, span, message)
}

pub(super) fn undeclared(
    span: Span,
    name: &str,
    group: Option<(&str, u32, Span)>,
    near: Option<&str>,
) -> Diagnostic {
    let diagnostic = error("P0301", "undeclared-name", span, format!("`{name}` is not declared"));
    if let Some((prefix, count, declaration)) = group {
        if prefix.ends_with(|last: char| last.is_ascii_digit()) {
            return diagnostic
                .with_secondary(
                    declaration,
                    format!("`{prefix}<{count}>` declares no name that can be written"),
                )
                .with_help("end the name before `<` without a digit: all digits at the end are the number");
        }
        let last = match count {
            0 => format!("`{prefix}<0>` declares nothing"),
            1 => format!("`{prefix}<1>` declares only `{prefix}0`"),
            _ => format!("`{prefix}<{count}>` declares `{prefix}0` to `{prefix}{}`", count - 1),
        };
        return diagnostic
            .with_secondary(declaration, last)
            .with_help(format!("declare more of them: `{prefix}<N>` ends at `{prefix}(N-1)`"));
    }
    match near {
        Some(near) => {
            diagnostic.with_help(format!("a name that is spelled alike is visible here: `{near}`")).with_fix(
                format!("write `{near}`"),
                Applicability::Likely,
                vec![Edit { span, replacement: near.into() }],
            )
        }
        None => diagnostic,
    }
}

pub(super) fn label_out_of_scope(span: Span, name: &str, declaration: Span) -> Diagnostic {
    error("P0303", "undeclared-label", span, format!("label `{name}` is not visible here"))
        .with_secondary(declaration, "declared in a block that does not enclose this")
        .with_help(
            "a label can be reached only from within the block that declares it: move it out of the braces",
        )
}

pub(super) fn duplicate(span: Span, what: &str, name: &str, earlier: Span) -> Diagnostic {
    error("P0302", "duplicate-name", span, format!("{what} `{name}` is declared twice in the same block"))
        .with_secondary(earlier, "first declared here")
}

pub(super) fn trouble(trouble: &Trouble) -> Diagnostic {
    let (span, message) = match trouble {
        Trouble::NotConstant(span) => (span, "expected a constant expression"),
        Trouble::DivisionByZero(span) => (span, "this constant expression divides by zero"),
        Trouble::NotInteger(span) => (span, "expected an integer constant expression"),
        Trouble::TooDeep(span) => (span, "this expression nests too deeply"),
        Trouble::Cast(span) => (span, "a constant can be cast to `.s64` and `.u64` only"),
        Trouble::ExactFloat(span) => (span, "`0f` numbers take no operators"),
        Trouble::Overflow(span) => (span, "no constant of 64 bits holds this number"),
    };
    let diagnostic = error("P0201", "constant-expression", *span, message.into());
    match trouble {
        Trouble::ExactFloat(_) => diagnostic.with_help("set the sign bit of the number instead"),
        Trouble::Overflow(_) => diagnostic.with_help(
            "integers reach to 0xffffffffffffffff, decimal fractions from 2.2251e-308 to 1.7976e308: infinity is \
             `0d7ff0000000000000` or `0f7f800000`",
        ),
        _ => diagnostic,
    }
}

pub(super) fn operand(span: Span, message: impl Into<String>) -> Diagnostic {
    error("P0202", "operand-form", span, message.into())
}

/// A special register without a dot as the base of an address.
pub(super) fn special_address(span: Span, special: SpecialRegister) -> Diagnostic {
    let message = format!("`{}` is no base of an address", special.name());
    Diagnostic::new(Class::Hazard, Severity::Error, "P0223", "special-register-address", span, message)
        .with_note(
            "the assembler takes it in a line by itself, and crashes when it makes code of most of them",
        )
        .with_help(read_first(special))
}

pub(super) fn read_first(special: SpecialRegister) -> String {
    let element = if special.elements() == 1 { "" } else { ".x" };
    format!("read it into a register first: `mov{} %r, {}{element};`", special.ty(), special.name())
}

pub(super) fn declaration(span: Span, message: impl Into<String>) -> Diagnostic {
    error("P0304", "declaration", span, message.into())
}

/// The text has more findings than are shown.
pub(super) fn too_many(span: Span) -> Diagnostic {
    declaration(span, "too many errors in names and declarations, the others are not shown")
}

pub(super) fn second_header(span: Span, word: &str, earlier: Span) -> Diagnostic {
    error("P0103", "module-header", span, format!("a second `{word}`"))
        .with_secondary(earlier, "the first one")
        .with_help("a module has one: remove this one")
}

pub(super) fn alignment(span: Span, align: u32) -> Diagnostic {
    error("P0308", "alignment", span, format!("`.align {align}` is no power of two"))
}
