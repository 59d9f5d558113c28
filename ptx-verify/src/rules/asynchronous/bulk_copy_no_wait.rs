use ptx_facts::asynchronous::model::FaultKind;
use ptx_facts::asynchronous::{counts_of_done, left_open, may_be_global, next_step, reads_of_shared};
use ptx_facts::reach::{Ends, Reach};
use ptx_ir::ir::FunctionKind;
use ptx_ir::isa::{Access, AsyncAction, AsyncGroup, Instance, Mode};
use ptx_ir::space::StateSpace;
use ptx_syntax::Diagnostic;

use super::unordered_flag::tells_of_copy;
use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;
use crate::subject::objects::waits_for_threads;
use crate::subject::protocol;

declare_rule! {
    /// ## What it does
    /// Reports a bulk copy out of shared memory in a kernel that no `cp.async.bulk.wait_group` can follow, or no
    /// `cp.async.bulk.commit_group` before the wait; and a read of the variable that a bulk copy into shared memory
    /// writes, on a path from the copy without a test of an `mbarrier`; and a release in global memory after a bulk copy out of
    /// shared memory for which only `cp.async.bulk.wait_group.read` waits.
    ///
    /// ## Why is this bad
    /// The copy runs on its own and reads the shared memory of the block, which is gone when the block has ended. PTX
    /// ISA manual, section "cp.async.bulk".
    ///
    /// ## Example
    /// ```ptx
    /// cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 128;
    /// cp.async.bulk.commit_group;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// cp.async.bulk.global.shared::cta.bulk_group [%rd1], [%r1], 128;
    /// cp.async.bulk.commit_group;
    /// cp.async.bulk.wait_group.read 0;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// Kernels often copy and wait in one elected thread, under two equal conditions. Only a copy that no wait can
    /// follow on any path is reported, and none where a function is called after it. Behind a barrier another thread may
    /// have waited for a copy into shared memory; which `mbarrier` is tested is not looked at. Releases of threads that have
    /// acquired something on every way to the copy may give back what they have read.
    name: "bulk-copy-no-wait",
    code: "P0902",
    former: ["H0368"],
    class: Hazard,
    level: Warn,
    summary: "a bulk copy that nothing waits for",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.module.features().has(Features::ASYNCHRONOUS) && !context.follows_calls() {
        return;
    }
    told_too_early(context, diagnostics);
    let groups = &[AsyncGroup::Bulk, AsyncGroup::Mbarrier];
    let shown = protocol::unawaited(context, groups);
    if shown.is_empty() && context.protocol().is_conclusive() {
        return;
    }
    // Where nothing waits at all, the copy itself tells more than the end of the kernel.
    let before = diagnostics.len();
    if shown.iter().all(|fault| fault.kind == FaultKind::LeftRunning) {
        by_paths(context, diagnostics);
    }
    if diagnostics.len() == before {
        for fault in shown {
            let (span, explanation) = protocol::explained_fault(context, fault);
            diagnostics.push(RULE.explained(span, &explanation));
        }
    }
}

/// A flag in global memory that tells others of a bulk store which may still be writing: the threads have waited until it has read
/// its source, and never wait for more. Who has acquired something before may give back what it has read, unless those who wait for
/// the flag read what the copy has written.
fn told_too_early(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let starts = context.acting(AsyncGroup::Bulk, &[AsyncAction::Start]);
    let Some(facts) = context.facts().filter(|_| !starts.is_empty()) else { return };
    let of_global = |wanted: &dyn Fn(&Instance) -> bool| {
        let is_such = |&each: &u32| {
            facts.instance(each).is_some_and(|instance| !instance.is(Mode::BlockScope) && wanted(instance))
                && may_be_global(facts, each)
        };
        let mut found: Vec<u32> = facts.reaching_out().filter(is_such).collect();
        found.sort_unstable();
        found
    };
    let mut releases = of_global(&|each| each.is(Mode::Release) && each.effects.writes_memory);
    // Who counts those who are done releases by a fence before.
    releases.extend(counts_of_done(facts));
    releases.sort_unstable();
    releases.dedup();
    if releases.is_empty() {
        return;
    }
    let acquires = of_global(&|each| each.is(Mode::Acquire) && each.effects.reads_memory);
    let waits = context.acting(AsyncGroup::Bulk, &[AsyncAction::Wait, AsyncAction::WaitAll]);
    let reads_only = |wait: &u32| facts.instance(*wait).is_some_and(|each| each.is(Mode::Reads));
    let (of_sources, whole): (Vec<u32>, Vec<u32>) = waits.iter().partition(|wait| reads_only(wait));
    let begins = Reach::from(facts, Ends::Function, &acquires);
    let told = Reach::to(facts, Ends::Instructions(&releases), &whole);
    let to_whole = Reach::to(facts, Ends::Instructions(&whole), &[]);
    for start in starts {
        let stores = facts.instance(start).is_some_and(reads_shared);
        let Some(release) = told.at(start).filter(|_| stores) else { continue };
        // Who waits later for all of it tells of something else, as who gives back what he has taken, unless it is read then.
        let is_of_other = begins.at(start).is_none() || to_whole.at(start).is_some();
        let tells = tells_of_copy(context, facts, release, start);
        if is_of_other && !tells {
            continue;
        }
        let after = Reach::from(facts, Ends::Instructions(&[start]), &whole);
        let is_between = |wait: &u32| after.at(*wait).is_some() && *wait < release;
        let wait = of_sources.iter().copied().filter(is_between).max();
        if wait.is_none() && !tells {
            continue;
        }
        if !context.walk(|walker| walker.may_come(start, release, &whole)).unwrap_or(false) {
            continue;
        }
        let message = "this tells others of what a bulk copy may still be writing to global memory";
        let found = RULE
            .at(context.instruction_span(release), message)
            .with_secondary(context.instruction_span(start), "the copy starts here");
        let found = match wait {
            Some(wait) => {
                found.with_secondary(context.instruction_span(wait), "this waits until its source is read")
            }
            None => found,
        };
        diagnostics.push(found.with_help("wait with `cp.async.bulk.wait_group` before, without `.read`"));
        return;
    }
}

/// What paths through the kernel tell by themselves.
fn by_paths(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    read_too_early(context, diagnostics);
    let Some(facts) = context.facts() else { return };
    let of = |action: AsyncAction| context.acting(AsyncGroup::Bulk, &[action]);
    let starts = of(AsyncAction::Start);
    if starts.is_empty() || facts.function.kind != FunctionKind::Entry {
        return;
    }
    let (commits, waits) = (of(AsyncAction::Commit), of(AsyncAction::Wait));
    let [to_commit, to_wait, to_call] = [&commits, &waits, &context.with_calls(&[])]
        .map(|ends| Reach::to(facts, Ends::Instructions(ends), &[]));
    for start in starts {
        let reads_shared = facts.instance(start).is_some_and(reads_shared);
        if !reads_shared || to_call.at(start).is_some() {
            continue;
        }
        let (message, help) = if to_wait.at(start).is_none() {
            (
                "nothing waits for this copy",
                "wait with `cp.async.bulk.wait_group.read` before the kernel ends",
            )
        } else if to_commit.at(start).is_none() {
            (
                "this copy is in no group, so that nothing waits for it",
                "close the group with `cp.async.bulk.commit_group` before the wait",
            )
        } else {
            continue;
        };
        let found = RULE.at(context.instruction_span(start), message).with_help(help);
        let next = next_step(facts, start).map(|next| context.instruction_span(next));
        let found = match next {
            Some(next) => found.with_secondary(next, "after it these threads go on here"),
            None => found,
        };
        let end = left_open(facts, &[start], &[]).map(|(_, end)| context.instruction_span(end));
        diagnostics.push(match end {
            Some(end) => found.with_secondary(end, "the kernel ends here"),
            None => found,
        });
        // What follows it is in the same case.
        return;
    }
}

/// A read of the variable that a bulk copy into shared memory writes, before anything tests an `mbarrier`.
fn read_too_early(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let copies = context.acting(AsyncGroup::Mbarrier, &[AsyncAction::Start]);
    let Some(facts) = context.facts().filter(|_| !copies.is_empty()) else { return };
    // Another thread may wait, and tell so at a barrier.
    let stops = waits_for_threads(context);
    let reads = reads_of_shared(facts);
    for copy in copies {
        let after = Reach::from(facts, Ends::Instructions(&[copy]), &stops);
        let is_early = |read: &u32| after.at(*read).is_some() && context.may_read(copy, *read);
        // A loop that waits is entered once at least.
        let may_come = |read: u32| context.walk(|walker| walker.may_come(copy, read, &stops)).unwrap_or(true);
        let early = reads.iter().copied().find(|read| is_early(read) && may_come(*read));
        if let Some(read) = early {
            let message = "shared memory is read here before anything waits for a bulk copy into it";
            diagnostics.push(
                RULE.at(context.instruction_span(read), message)
                    .with_secondary(context.instruction_span(copy), "the copy starts here")
                    .with_help("wait for its `mbarrier` with `mbarrier.try_wait`"),
            );
            return;
        }
    }
}

/// Whether an operand is memory shared by the block that is read and not changed: what is copied, not the object that
/// completion is told to.
fn reads_shared(instance: &Instance) -> bool {
    let is_source = |access: &Access| {
        access.reads && !access.writes && access.space.map(StateSpace::base) == Some(StateSpace::Shared)
    };
    instance.operands.iter().any(|spec| spec.access.as_ref().is_some_and(is_source))
}
