use ptx_facts::asynchronous;
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::describe::register_name;
use crate::subject::function::FlowContext;
use ptx_ir::isa::{AsyncAction, AsyncGroup};

declare_rule! {
    /// ## What it does
    /// Reports a `wgmma.mma_async` that some path from the entry of a kernel comes to without `wgmma.fence`, and one
    /// whose accumulator or fragment registers something else writes after the last fence.
    ///
    /// ## Why is this bad
    /// The operation may see its registers and shared memory as they were before. PTX ISA manual, section
    /// "wgmma.fence": it is needed before the first `wgmma.mma_async`, and where registers were changed.
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
    /// A function that is called may set the fence, and what lies many blocks before the operation is not looked
    /// at.
    name: "wgmma-missing-fence",
    code: "P0903",
    former: ["H0361"],
    class: Hazard,
    level: Warn,
    summary: "a `wgmma.mma_async` without `wgmma.fence` before it",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let of = |wanted: &[AsyncAction]| context.acting(AsyncGroup::Wgmma, wanted);
    let starts = of(&[AsyncAction::Start]);
    if starts.is_empty() {
        return;
    }
    const HELP: &str = "put `wgmma.fence.sync.aligned` before this";
    let fences = context.with_calls_on(AsyncGroup::Wgmma, &of(&[AsyncAction::Fence]));
    // Other functions may leave the first fence to their callers.
    let is_kernel = facts.function.kind == ptx_ir::ir::FunctionKind::Entry;
    if is_kernel && let Some(start) = asynchronous::before_any(facts, &starts, &fences) {
        let finding = RULE.at(context.instruction_span(start), "some path comes here without `wgmma.fence`");
        let meets = |&at: &u32| facts.instance(at).is_some_and(|each| each.effects.barrier);
        let first = facts.cfg.instructions(facts.cfg.block_of(ptx_ir::ir::Handle::new(start))).start;
        let finding = match (first..start).rev().find(meets) {
            Some(met) => finding.with_secondary(context.instruction_span(met), "threads meet here before"),
            None => finding,
        };
        let last = asynchronous::step_before(facts, start);
        let finding = match last.filter(|&last| last < first || !meets(&last)) {
            Some(last) => finding.with_secondary(context.instruction_span(last), "no fence comes after this"),
            None => finding,
        };
        diagnostics.push(finding.with_help(HELP));
        return;
    }
    if let Some(found) = asynchronous::unfenced(facts, &starts, &fences) {
        let name = register_name(context.module.module, context.body, found.register);
        let message = format!("`{name}` is written before this without `wgmma.fence` between them");
        let finding = RULE.at(context.instruction_span(found.start), message);
        diagnostics.push(
            finding.with_secondary(context.instruction_span(found.write), "written here").with_help(HELP),
        );
    }
}
