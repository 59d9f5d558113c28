use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::{EarlyUse, Reason, early_uses, left_open, next_step};
use ptx_ir::ir::{FunctionKind, Handle, Register};
use ptx_ir::isa::words::waiting_for_all;
use ptx_ir::isa::{self, AsyncAction, AsyncGroup};
use ptx_syntax::Diagnostic;

use crate::rule::{declare_rule, with_others};
use crate::subject::describe::register_name;
use crate::subject::function::FlowContext;

declare_rule! {
    /// ## What it does
    /// Reports a result of `tcgen05.ld`, or something computed of it, that is stored, passed on or decides on a branch
    /// on a path without `tcgen05.wait::ld`; tensor memory that a `tcgen05.st` writes and that is used on a path without
    /// `tcgen05.wait::st`; tensor memory that a `tcgen05.mma`, `tcgen05.cp` or `tcgen05.shift` uses and that is loaded or
    /// stored on a path without a wait for an `mbarrier`; and a `tcgen05.ld` or `tcgen05.st` of a kernel from which a
    /// way leads out of the kernel without its wait.
    ///
    /// ## Why is this bad
    /// These operations run on their own: the registers of a load change, those of a store are read, and tensor memory
    /// is read and written, at some later time. PTX ISA manual, sections "tcgen05.wait" and "tcgen05.commit".
    ///
    /// ## What the machine does
    /// The assembler of CUDA 13.5 makes an empty instruction of `tcgen05.wait::ld` for sm_100a, and has each instruction that
    /// reads a loaded register wait for the load. So what it makes of a program that lacks the wait computes the
    /// same today; the manual promises it to nobody, and tensor memory that another operation writes in the meantime is
    /// not kept apart by it.
    ///
    /// ## Example
    /// ```ptx
    /// tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];
    /// add.u32 %r3, %r1, 1;
    /// red.global.add.u32 [%rd1], %r3;
    /// tcgen05.wait::ld.sync.aligned;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%r2];
    /// tcgen05.wait::ld.sync.aligned;
    /// add.u32 %r3, %r1, 1;
    /// red.global.add.u32 [%rd1], %r3;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// Arithmetic on a result between the load and its wait, and a store of it in the block of the wait: compilers move
    /// them there, and the assembler sees to it that the result is there. Tensor memory is known to be the same where the
    /// addresses come from one register by constant steps. A function that is called may wait, and so may other threads
    /// before a barrier; functions other than kernels may leave the last wait to their callers.
    name: "tcgen05-missing-wait",
    code: "P0912",
    former: ["H0366"],
    class: Hazard,
    level: Warn,
    summary: "an operation on tensor memory that is not waited for before its result is used",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if context.actions().is_empty() {
        return;
    }
    let Some(facts) = context.facts() else { return };
    let early = early_uses(facts, context.actions(), &context.with_calls(&[]));
    diagnostics.extend(omissions(&early).iter().map(|(first, others)| finding(context, first, *others)));
    // Other functions may leave the wait to their callers.
    if facts.function.kind != FunctionKind::Entry {
        return;
    }
    for (group, reason) in
        [(AsyncGroup::Tcgen05Load, Reason::Loaded), (AsyncGroup::Tcgen05Store, Reason::Stored)]
    {
        let mut starts = context.acting(group, &[AsyncAction::Start]);
        // The wait that is missing before a use is also that of everything that starts before the use.
        let told = |start: u32, use_: &EarlyUse| {
            use_.access.start == start || use_.reason == reason && start < use_.access.instruction
        };
        starts.retain(|&start| !early.iter().any(|use_| told(start, use_)));
        let waits = context.with_calls(&context.acting(group, &[AsyncAction::WaitAll]));
        if !starts.is_empty()
            && let Some((start, end)) = left_open(facts, &starts, &waits)
        {
            let spelling = context.body.instructions[Handle::new(start)].spelling;
            let opcode = isa::name(&context.module.module.spellings[spelling].text);
            let finding = RULE
                .at(
                    context.instruction_span(start),
                    format!("nothing waits for this `{opcode}` on some path"),
                )
                .with_secondary(context.instruction_span(end), "the kernel is left here");
            diagnostics.push(match waiting_for_all(group) {
                Some(wait) => finding.with_help(format!("wait with `{}`", wait.canonical)),
                None => finding,
            });
        }
    }
}

/// The first use for each wait that is missing, and how many other operations it would be for: those of the same kind
/// that start before that use.
fn omissions(early: &[EarlyUse]) -> Vec<(EarlyUse, usize)> {
    let mut found: Vec<(EarlyUse, usize)> = Vec::new();
    for &use_ in early {
        let same = |(first, _): &&mut (EarlyUse, usize)| {
            first.reason == use_.reason && use_.access.start < first.access.instruction
        };
        match found.iter_mut().rev().find(same) {
            Some((_, others)) => *others += 1,
            None => found.push((use_, 0)),
        }
    }
    found
}

fn finding(context: &FlowContext<'_>, early: &EarlyUse, others: usize) -> Diagnostic {
    let name = register_name(context.module.module, context.body, early.access.register);
    let (message, help) = match early.reason {
        Reason::Loaded => (
            format!("`{name}` is used here before `tcgen05.wait::ld`"),
            "wait with `tcgen05.wait::ld.sync.aligned` before this",
        ),
        Reason::Stored => (
            format!("tensor memory at `{name}` is used here before `tcgen05.wait::st`"),
            "wait with `tcgen05.wait::st.sync.aligned` before this",
        ),
        Reason::Computed => (
            format!("tensor memory at `{name}` is used here while an operation on it may run"),
            "wait for the `mbarrier` of its `tcgen05.commit` before this",
        ),
    };
    let message = with_others(message, others, "early use");
    let found = RULE
        .at(context.instruction_span(early.access.instruction), message)
        .with_secondary(context.instruction_span(early.access.start), "started here");
    // What is computed of it before need not come to the wait.
    let read =
        context.facts().and_then(|facts| first_read(facts, early.access.start, early.access.instruction));
    let found = match read {
        Some(read) => found.with_secondary(context.instruction_span(read), "its result is read here first"),
        None => found,
    };
    // Stores are waited for where they have been started, and used much later.
    let facts = context.facts().filter(|_| early.reason == Reason::Stored);
    let next = facts.and_then(|facts| next_step(facts, early.access.start));
    let found = match next.filter(|&next| next != early.access.instruction) {
        Some(next) => found.with_secondary(context.instruction_span(next), "no wait comes before this"),
        None => found,
    };
    found.with_help(help)
}

/// The first instruction of the same block, before a later one, that reads what an operation sets.
fn first_read(facts: &FunctionFacts<'_>, start: u32, before: u32) -> Option<u32> {
    let sets: Vec<Register> = facts
        .uses()
        .of(start)
        .iter()
        .filter(|each| each.access().writes())
        .map(|each| each.register)
        .collect();
    let block = facts.cfg.block_of(Handle::new(start));
    let end = facts.cfg.instructions(block).end.min(before);
    (start + 1..end).find(|&at| {
        facts.uses().of(at).iter().any(|each| each.access().reads() && sets.contains(&each.register))
    })
}
