use ptx_facts::asynchronous::{self, Row};
use ptx_ir::isa::{AsyncAction, AsyncGroup};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::describe::register_name;
use crate::subject::function::FlowContext;
use crate::subject::protocol::AFTER_ROUNDS;

declare_rule! {
    /// ## What it does
    /// Reports a register that a `wgmma.mma_async` will write and that another instruction reads or writes
    /// before `wgmma.wait_group`; a register of its first matrix that another instruction writes before; and a
    /// `wgmma.mma_async` from which a way leads out of the function without a wait, or that no wait is for, because its
    /// group is not closed or is among those that all waits leave pending.
    ///
    /// ## Why is this bad
    /// The register changes at some later time. PTX ISA manual, section "wgmma.mma_async": accessing it before
    /// the wait is undefined.
    ///
    /// ## Example
    /// ```ptx
    /// wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;
    /// wgmma.commit_group.sync.aligned;
    /// add.f32 %f4, %f0, %f1;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd1, %rd2, 1, 1, 1, 0, 0;
    /// wgmma.commit_group.sync.aligned;
    /// wgmma.wait_group.sync.aligned 0;
    /// add.f32 %f4, %f0, %f1;
    /// ```
    ///
    /// ## What it may miss
    /// A wait for too few groups. What lies far after the operation.
    name: "wgmma-missing-wait",
    code: "P0904",
    former: ["H0362"],
    class: Hazard,
    level: Warn,
    summary: "a result of `wgmma.mma_async` that is used, or left, before it is there",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let of = |wanted: &[AsyncAction]| context.acting(AsyncGroup::Wgmma, wanted);
    let (starts, waits) = (of(&[AsyncAction::Start]), of(&[AsyncAction::Wait]));
    if starts.is_empty() {
        return;
    }
    let row = Row {
        starts,
        commits: of(&[AsyncAction::Commit]),
        calls: context.with_calls_on(AsyncGroup::Wgmma, &[]),
        waits: waits.iter().map(|&wait| (wait, Row::left(facts, wait))).collect(),
    };
    if let Some(touched) = asynchronous::touched_in_flight(facts, &row).first() {
        let name = register_name(context.module.module, context.body, touched.register);
        let message = format!("`{name}` is used here before `wgmma.wait_group`");
        let finding = RULE.at(context.instruction_span(touched.instruction), message);
        let mut finding =
            finding.with_secondary(context.instruction_span(touched.start), "still in flight from here");
        // The wait is missing behind the last of them, or where control goes on to the use.
        let last = row.starts.iter().copied().rfind(|&start| start < touched.instruction);
        if let Some(last) = last.filter(|&last| last > touched.start) {
            finding = finding.with_secondary(context.instruction_span(last), "the last one starts here");
        }
        let between = touched.start..touched.instruction;
        let early = row.waits.iter().rfind(|&&(wait, left)| left > 0 && between.contains(&wait));
        if let Some(&(wait, _)) = early {
            finding =
                finding.with_secondary(context.instruction_span(wait), "this wait leaves its group pending");
        }
        let after = asynchronous::after_rounds(facts, last.unwrap_or(touched.start), touched.instruction);
        if let Some(after) = after.filter(|&after| after < touched.instruction) {
            finding = finding.with_secondary(context.instruction_span(after), AFTER_ROUNDS);
        }
        let block = facts.cfg.block_of(ptx_ir::ir::Handle::new(touched.instruction));
        let first = facts.cfg.instructions(block).start;
        if first != touched.instruction
            && !(first..touched.instruction).any(|each| row.starts.contains(&each))
        {
            finding =
                finding.with_secondary(context.instruction_span(first), "control comes here without a wait");
            let next = asynchronous::next_step(facts, first).filter(|&next| next < touched.instruction);
            if let Some(next) = next {
                finding = finding.with_secondary(context.instruction_span(next), "no wait comes before this");
            }
        }
        diagnostics.push(finding);
        return;
    }
    // Other functions may leave the wait to their callers.
    if facts.function.kind != ptx_ir::ir::FunctionKind::Entry {
        return;
    }
    if let Some((start, end)) =
        asynchronous::left_open(facts, &row.starts, &context.with_calls_on(AsyncGroup::Wgmma, &waits))
    {
        let finding =
            RULE.at(context.instruction_span(start), "nothing waits for this operation on some path");
        diagnostics.push(
            finding
                .with_secondary(context.instruction_span(end), "the function is left here")
                .with_help("put `wgmma.wait_group.sync.aligned 0` before this"),
        );
        return;
    }
    if let Some(start) = asynchronous::never_covered(facts, &row) {
        let finding = RULE.at(context.instruction_span(start), "no wait is for the group of this operation");
        diagnostics.push(
            finding.with_help("close its group with `wgmma.commit_group.sync.aligned` before the wait"),
        );
    }
}
