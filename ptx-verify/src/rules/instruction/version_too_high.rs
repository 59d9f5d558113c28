use ptx_ir::version::Version;
use ptx_syntax::Diagnostic;

use super::version_too_low::subject;
use crate::rule::declare_rule;
use crate::subject::occurrence::{Occurrence, Problem};

declare_rule! {
    /// ## What it does
    /// Reports instructions and modifiers that PTX had up to an earlier version than the module's `.version`.
    ///
    /// ## Why is this bad
    /// The assembler refuses the module.
    ///
    /// ## Example
    /// ```ptx
    /// .version 3.2
    /// .target sm_20
    /// .entry k()
    /// {
    ///     .reg .f32 %f<2>;
    ///     mad.f32 %f1, 0f3F800000, 0f3F800000, 0f3F800000;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .version 3.2
    /// .target sm_20
    /// .entry k()
    /// {
    ///     .reg .f32 %f<2>;
    ///     mad.rn.f32 %f1, 0f3F800000, 0f3F800000, 0f3F800000;
    ///     ret;
    /// }
    /// ```
    ///
    /// ## What it may miss
    /// Nothing that is known.
    name: "version-too-high",
    code: "P0214",
    former: ["E0215"],
    class: Invalid,
    level: Error,
    summary: "something that ended with an earlier PTX version",
    check: Instruction(check),
}

fn check(occurrence: &Occurrence<'_>) -> Option<Diagnostic> {
    let Problem::Unavailable(instance) = occurrence.problem else { return None };
    let module = &occurrence.context.module;
    let version = module.version();
    // Of versions that are newer than the table nothing is known.
    if version <= instance.max_version || instance.max_version == Version::LATEST {
        return None;
    }
    let gate = instance.gates.iter().min_by_key(|gate| gate.max_version);
    let (what, span) = subject(occurrence, gate);
    let last = instance.max_version;
    let finding = RULE.at(span, format!("{what} ended with PTX {last}, this module is PTX {version}"));
    Some(match module.module.header.version_span {
        Some(declared) => finding.with_secondary(declared, "declared here"),
        None => finding,
    })
}
