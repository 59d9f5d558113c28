use ptx_syntax::{Diagnostic, Severity};

use crate::rule::declare_rule;
use crate::subject::fragment::targets;
use crate::subject::fragment::unit::Unit;

declare_rule! {
    /// ## What it does
    /// Reports an instruction of a template that the target, or the PTX version, does not have, where the conditions
    /// around the statement let it be compiled for that target.
    ///
    /// ## Why is this bad
    /// The source does not compile for the target.
    ///
    /// ## Example
    /// ```cuda
    /// // verified with --target sm_80
    /// __device__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;"); }
    /// ```
    ///
    /// ## Use instead
    /// ```cuda
    /// #if __CUDA_ARCH__ >= 900
    /// __device__ void arrive() { asm volatile("barrier.cluster.arrive.aligned;"); }
    /// #endif
    /// ```
    ///
    /// ## What it may miss
    /// In functions that are compiled only where they are called (templates, inline and static functions, macros that
    /// stand for them), it is information, once a file: their callers may choose by the target.
    /// Statements under conditions that depend on macros of other files are not reported. Without `--target`, a statement is verified
    /// for a target that has its instructions; where its conditions tell targets apart and admit one that has not, that is
    /// information, with the right condition: `__CUDA_ARCH__ >= 1000` is true for sm_120, too.
    name: "asm-target-feature",
    code: "P1025",
    former: ["E0629"],
    class: Invalid,
    level: Error,
    summary: "an instruction that the target does not have, under conditions that allow it",
    check: Elsewhere,
}

/// What a rule for PTX says of target and version, said of the statement.
pub(crate) fn from(unit: &Unit<'_>, found: Diagnostic) -> Diagnostic {
    let note = format!("the conditions around this statement let it be compiled for `{}`", unit.aim.target);
    let guard =
        (found.rule == "target-too-low").then(|| targets::condition(targets::supported(unit))).flatten();
    let help = guard.map(|guard| format!("guard it with `#if {guard}`"));
    let severity = if is_always_compiled(unit) { found.severity } else { Severity::Info };
    Diagnostic { severity, code: RULE.info.code, rule: RULE.info.name, fix: None, help, ..found }
        .with_note(note)
}

/// Of the findings of a rule that are only information, the first alone remains, with the number of the others, which are
/// about a `noun` each.
pub(crate) fn once_a_file(diagnostics: &mut Vec<Diagnostic>, rule: &str, noun: &str) {
    let is_information = |found: &Diagnostic| found.rule == rule && found.severity == Severity::Info;
    let others = diagnostics.iter().filter(|found| is_information(found)).count().saturating_sub(1);
    if others == 0 {
        return;
    }
    let mut first = true;
    diagnostics.retain_mut(|found| {
        if !is_information(found) {
            return true;
        }
        if first {
            let them =
                if others == 1 { format!("1 other {noun}") } else { format!("{others} other {noun}s") };
            found.notes.push(format!("the same holds for {them} of this file"));
        }
        std::mem::replace(&mut first, false)
    });
}

/// Whether the assembler sees the statement even if nothing calls its function.
fn is_always_compiled(unit: &Unit<'_>) -> bool {
    let Some(function) = unit.statement.function.map(|id| unit.file.function(id)) else { return false };
    let known = function.qualifiers;
    let header = function.header.text(unit.source);
    let marked = header.contains("__device__") || header.contains("__global__");
    let on_demand = known.template || known.inline || known.force_inline;
    marked && !on_demand && !header.contains("static") && unit.statement.used_at.is_none()
}
