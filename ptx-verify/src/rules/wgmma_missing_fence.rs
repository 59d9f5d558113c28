use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::asynchronous::{self};
use crate::registry::declare_rule;
use ptx_ir::isa::{AsyncAction, AsyncGroup};

declare_rule! {
    /// ## What it does
    /// Reports a `wgmma.mma_async` that some way from the entry of the function comes to without `wgmma.fence`.
    ///
    /// ## Why is this bad
    /// The operation may see its registers and shared memory as they were before. PTX ISA manual, section
    /// "wgmma.fence": it is needed before the first `wgmma.mma_async`.
    ///
    /// ## Example
    /// ```ptx
    /// wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// wgmma.fence.sync.aligned;
    /// wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;
    /// ```
    ///
    /// ## What it may miss
    /// Registers that are written between a fence and the operation. A function that is called may set the
    /// fence.
    name: "wgmma-missing-fence",
    code: "H0361",
    class: Hazard,
    level: Warn,
    summary: "a `wgmma.mma_async` without `wgmma.fence` before it",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let of = |wanted: &[AsyncAction]| context.acting(AsyncGroup::Wgmma, wanted);
    let starts = of(&[AsyncAction::Start]);
    if starts.is_empty() || facts.function.kind != ptx_ir::ir::FunctionKind::Entry {
        return;
    }
    if let Some(&start) = asynchronous::before_any(facts, &starts, &of(&[AsyncAction::Fence])).first() {
        let finding = RULE.at(context.instruction_span(start), "some way comes here without `wgmma.fence`");
        diagnostics.push(finding.with_help("put `wgmma.fence.sync.aligned` in front"));
    }
}
