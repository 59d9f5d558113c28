use ptx_ir::ir::FunctionKind;
use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::asynchronous::Escapes;
use crate::registry::declare_rule;
use ptx_ir::isa::{AsyncAction, AsyncGroup};

declare_rule! {
    /// ## What it does
    /// Reports a kernel with `tcgen05.mma`, `tcgen05.cp` or `tcgen05.shift` and without any `tcgen05.commit`.
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
    code: "H0367",
    class: Hazard,
    level: Warn,
    summary: "a `tcgen05.mma` whose completion nothing can see",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if facts.function.kind != FunctionKind::Entry {
        return;
    }
    let of = |wanted: &[AsyncAction]| context.acting(AsyncGroup::Tcgen05, wanted);
    let starts = of(&[AsyncAction::Start]);
    if starts.is_empty() || !of(&[AsyncAction::Commit]).is_empty() {
        return;
    }
    let escapes = Escapes::new(facts, []);
    if let Some(start) = starts.into_iter().find(|&start| escapes.behind(start).is_some()) {
        let finding = RULE.at(context.instruction_span(start), "nothing commits this operation");
        diagnostics.push(finding.with_help("commit it to an `mbarrier` with `tcgen05.commit`"));
    }
}
