//! Fixes of constraints.

use ptx_syntax::{Applicability, Diagnostic, Edit};

use super::unit::Unit;

/// A fix that replaces a constraint string, where it stands in the statement itself.
pub(crate) fn constraint_fix(
    unit: &Unit<'_>,
    operand: usize,
    change: impl Fn(&str) -> String,
) -> Option<(String, Vec<Edit>)> {
    let span = unit.can_edit_constraint(operand)?;
    let replacement = change(span.text(unit.source));
    if replacement == span.text(unit.source) {
        return None;
    }
    Some((format!("write `{replacement}`"), vec![Edit { span, replacement }]))
}

/// Puts a certain fix on a finding, if there is one.
pub(crate) fn with_certain(found: Diagnostic, fix: Option<(String, Vec<Edit>)>) -> Diagnostic {
    match fix {
        Some((message, edits)) => found.with_fix(message, Applicability::Certain, edits),
        None => found,
    }
}
