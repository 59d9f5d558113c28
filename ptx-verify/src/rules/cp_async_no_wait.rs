use ptx_syntax::Diagnostic;

use crate::context::FlowContext;
use crate::dataflow::asynchronous;
use crate::registry::declare_rule;
use ptx_ir::isa::{AsyncAction, AsyncGroup};

declare_rule! {
    /// ## What it does
    /// Reports a `cp.async` of a kernel from which a way leads out of the kernel without `cp.async.wait_group`,
    /// `cp.async.wait_all` or `cp.async.mbarrier.arrive`; and a load from shared memory that the kernel comes to
    /// with a copy in flight, before it has waited for anything.
    ///
    /// ## Why is this bad
    /// The copy runs on its own. PTX ISA manual, section "cp.async": the data is there only behind the wait.
    ///
    /// ## Example
    /// ```ptx
    /// cp.async.ca.shared.global [%r1], [%rd1], 4;
    /// cp.async.commit_group;
    /// ld.shared.u32 %r2, [%r1];
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// cp.async.ca.shared.global [%r1], [%rd1], 4;
    /// cp.async.commit_group;
    /// cp.async.wait_group 0;
    /// ld.shared.u32 %r2, [%r1];
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// A wait for too few groups, and a read before its wait in a loop that waits elsewhere as well. A function that is
    /// called may wait, and functions other than kernels may leave the wait to their callers.
    name: "cp-async-no-wait",
    code: "H0360",
    class: Hazard,
    level: Warn,
    summary: "an asynchronous copy that nothing waits for",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let of = |wanted: &[AsyncAction]| context.acting(AsyncGroup::CpAsync, wanted);
    let starts = of(&[AsyncAction::Start]);
    if starts.is_empty() || facts.function.kind != ptx_ir::ir::FunctionKind::Entry {
        return;
    }
    let waits = context.with_calls(&of(&[AsyncAction::Wait, AsyncAction::WaitAll, AsyncAction::Arrive]));
    // The first tells all: what follows it runs into the same end.
    if let Some((start, end)) = asynchronous::left_open(facts, &starts, &waits) {
        let finding = RULE.at(context.instruction_span(start), "nothing waits for this copy on some way");
        diagnostics.push(
            finding
                .with_secondary(context.instruction_span(end), "the kernel is left here")
                .with_help("wait with `cp.async.wait_group` before the data is read"),
        );
        return;
    }
    const EARLY: &str = "shared memory is read here before anything waits for a copy";
    const ROUND: &str = "shared memory is read here in a loop that copies and does not wait";
    let early = asynchronous::read_before_wait(facts, &starts, &waits).map(|found| (found, EARLY));
    let found =
        early.or_else(|| Some((asynchronous::read_in_loop_without_wait(facts, &starts, &waits)?, ROUND)));
    if let Some(((read, start), message)) = found {
        diagnostics.push(
            RULE.at(context.instruction_span(read), message)
                .with_secondary(context.instruction_span(start), "the copy starts here")
                .with_help("wait with `cp.async.wait_group` before the data is read"),
        );
    }
}
