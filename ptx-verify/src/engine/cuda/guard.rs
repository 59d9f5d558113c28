//! Conditions that let a statement be compiled for targets that do not have its instructions.
//!
//! `__CUDA_ARCH__ >= 1000` is true for sm_120, too, which lacks what sm_100a has.

use ptx_ir::target::Target;
use ptx_syntax::cuda::Truth;
use ptx_syntax::{Diagnostic, Severity};

use super::{Subject, default_targets};
use crate::rules::asm::asm_target_feature::RULE;
use crate::subject::fragment::targets;
use crate::subject::fragment::unit::Unit;

/// The finding for a statement whose conditions tell targets apart, and admit one that lacks its instructions.
pub(super) fn finding(subject: &Subject<'_>, unit: &Unit<'_>) -> Option<Diagnostic> {
    let statement = unit.statement;
    if unit.aim.older_toolkit.is_some()
        || unit.aim.compiled != Truth::True
        || !statement.host.is_cuda()
        || statement.used_at.is_some()
    {
        return None;
    }
    let truth = |target: Target| subject.truths(target, subject.release()).of(statement.condition);
    let mut admitted = Vec::new();
    let mut is_guarded = false;
    for target in default_targets() {
        match truth(target) {
            Truth::True => admitted.push(target),
            Truth::False => is_guarded = true,
            Truth::Unknown => return None,
        }
    }
    if !is_guarded {
        return None;
    }
    let supported = targets::supported(unit);
    if !supported.contains(unit.aim.target) {
        return None;
    }
    // An `#else` is for older ones.
    let lowest = supported.lowest()?.number();
    let lacking =
        admitted.into_iter().find(|target| target.number() > lowest && !supported.contains(*target))?;
    let condition = subject.file.conditions[statement.condition.index()].expression;
    let mut found = RULE
        .at(
            statement.template.span,
            format!("the conditions let this be compiled for `{lacking}`, which lacks it"),
        )
        .with_label(format!("needs {supported}"));
    found.severity = Severity::Info;
    if !condition.is_empty() {
        found = found.with_secondary(condition, "the condition");
    }
    Some(match targets::condition(supported) {
        Some(guard) => found.with_help(format!("the right condition is `{guard}`")),
        None => found,
    })
}
