use ptx_facts::asynchronous::left_open;
use ptx_facts::reach::{Ends, Reach};
use ptx_ir::ir::FunctionKind;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use ptx_ir::isa::{AsyncAction, AsyncGroup};

declare_rule! {
    /// ## What it does
    /// Reports a `tcgen05.mma`, `tcgen05.cp` or `tcgen05.shift` of a kernel that no `tcgen05.commit` can follow.
    ///
    /// ## Why is this bad
    /// These operations run on their own, and only the `mbarrier` of a commit tells when they are done. PTX ISA
    /// manual, section "tcgen05.commit".
    ///
    /// ## Example
    /// ```ptx
    /// tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// tcgen05.mma.cta_group::1.kind::f16 [%r1], %rd1, %rd2, %r2, %p1;
    /// tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%r3];
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// A commit under another condition; functions other than kernels, and kernels that call functions.
    name: "tcgen05-missing-commit",
    code: "P0913",
    former: ["H0367"],
    class: Hazard,
    level: Warn,
    summary: "a `tcgen05.mma` whose completion nothing can see",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if facts.function.kind != FunctionKind::Entry {
        return;
    }
    let mut starts = context.acting(AsyncGroup::Tcgen05, &[AsyncAction::Start]);
    if starts.is_empty() {
        return;
    }
    // The commit may have another guard, as long as control can come to it.
    let commits = context.acting(AsyncGroup::Tcgen05, &[AsyncAction::Commit]);
    let committed = Reach::to(facts, Ends::Instructions(&commits), &[]);
    starts.retain(|&start| committed.at(start).is_none());
    if let Some((start, _)) = left_open(facts, &starts, &context.with_calls(&[])) {
        let finding = RULE.at(context.instruction_span(start), "nothing commits this operation");
        diagnostics.push(finding.with_help("commit it to an `mbarrier` with `tcgen05.commit`"));
    }
}
