//! What the model of a kernel's protocol shows, in words.

use ptx_facts::asynchronous::model::{Fault, FaultKind, ONE_OF_PAIR, Part, TOO_MANY_AT_ONCE};
use ptx_facts::registers::Access;
use ptx_facts::values::Kind;
use ptx_ir::isa::AsyncGroup;
use ptx_syntax::{Explanation, Label, Span};

use super::fragment::kernel::ANYTHING;
use super::function::FlowContext;
use super::inlined::Place;

/// What is said of a fence that orders something else.
pub(crate) const OTHER_FENCE: &str = "this fence does not order shared memory for the asynchronous proxy";

/// What is said of a fence that orders something else than tensor maps.
pub(crate) const OTHER_MAP_FENCE: &str = "this fence does not order tensor maps";

/// What is said of an arrival or a wait that orders nothing.
pub(crate) const RELAXED: &str = "this is relaxed, and orders nothing";

/// What is said where it is chosen which place of a ring is meant.
pub(crate) const SLOT: &str = "it is chosen here which place is meant";

/// What is said of what comes after the rounds of a wait that leaves a group.
pub(crate) const AFTER_ROUNDS: &str = "the rounds end before this";

/// What is said where an object is made, and where it is computed how many arrive at it.
pub(crate) const MADE: &str = "made here";
/// What is said of where the bytes of a phase are expected.
pub(crate) const EXPECTED: &str = "bytes are expected here";
/// And where their number is computed.
pub(crate) const SUM_OF_BYTES: &str = "the number of bytes is computed here";
/// What is said where tensor memory is allocated.
pub(crate) const ALLOCATED: &str = "allocated here";
pub(crate) const COUNTED: &str = "the number of arrivals is computed here";

/// What is said of an instruction of a function, where its call is told, and of a call on the way there.
const BY_THIS: &str = "by this instruction";
const CALLED: &str = "called here";

/// The faults of some kinds, in words, with their places.
pub(crate) fn explained(
    context: &FlowContext<'_>,
    wanted: impl Fn(&Fault) -> bool,
) -> Vec<(Span, Explanation)> {
    let faults = context.protocol().faults.iter().filter(|fault| wanted(fault));
    faults.map(|fault| explained_fault(context, fault)).collect()
}

/// The faults that nobody waits for an operation of these groups, or that others do.
pub(crate) fn unawaited<'c>(context: &'c FlowContext<'_>, groups: &[AsyncGroup]) -> Vec<&'c Fault> {
    let is_unawaited = |fault: &&Fault| {
        let kinds = matches!(
            fault.kind,
            FaultKind::EarlyAccess
                | FaultKind::GroupPending
                | FaultKind::MissingBarrier
                | FaultKind::LeftRunning
        );
        kinds && is_of(context, fault, groups)
    };
    context.protocol().faults.iter().filter(is_unawaited).collect()
}

/// A fault in words, with its place.
pub(crate) fn explained_fault(context: &FlowContext<'_>, fault: &Fault) -> (Span, Explanation) {
    (shown_at(context, fault.instruction), explanation(context, fault))
}

/// Whether the operation that a fault is about is of one of these groups.
fn is_of(context: &FlowContext<'_>, fault: &Fault, groups: &[AsyncGroup]) -> bool {
    let operation = fault.others.iter().find(|(_, part)| *part == Part::Operation);
    let operation = operation.map_or(fault.instruction, |(instruction, _)| *instruction);
    context.place(operation).group.is_some_and(|group| groups.contains(&group))
}

/// Where an instruction is shown: at the call, where a function has it.
pub(crate) fn shown_at(context: &FlowContext<'_>, instruction: u32) -> Span {
    context.instruction_span(context.place(instruction).own)
}

fn explanation(context: &FlowContext<'_>, fault: &Fault) -> Explanation {
    let (message, help) = words(fault);
    let mut labels: Vec<Label> = Vec::new();
    let mut add = |span: Span, message: &str| {
        if !labels.iter().any(|label| label.span == span && label.message == message) {
            labels.push(Label { span, message: message.to_owned() });
        }
    };
    // What a function does is told at the call, and where it does that.
    let within = context.place(fault.instruction).within;
    for (index, span) in within.iter().enumerate() {
        add(context.told(*span), if index == 0 { BY_THIS } else { CALLED });
    }
    let parts: Vec<(Place, &str)> =
        shown(fault).into_iter().map(|(at, part)| (context.place(at), label(fault.kind, part))).collect();
    for (place, message) in &parts {
        let own = || context.instruction_span(place.own);
        add(place.within.first().map_or_else(own, |span| context.told(*span)), message);
    }
    // The calls of functions come after what these do.
    for (place, message) in parts.iter().filter(|(place, _)| !place.within.is_empty()) {
        add(context.instruction_span(place.own), message);
    }
    let at: Vec<u32> = std::iter::once(fault.instruction)
        .chain(fault.others.iter().map(|(at, _)| *at))
        .map(|at| context.place(at).own)
        .collect();
    let unused = unused(context, &at);
    labels.truncate(MAX_LABELS_OF_PHASES - unused.len());
    labels.extend(
        unused
            .into_iter()
            .map(|number| Label { span: context.instruction_span(number), message: UNUSED.to_owned() }),
    );
    Explanation {
        message,
        labels,
        notes: vec![launched(context.protocol().launch)],
        help: (!help.is_empty()).then(|| help.to_owned()),
        ..Explanation::default()
    }
}

/// What is said of a number that is computed for nothing, and how many of them are told.
const UNUSED: &str = "nothing uses what is computed here";
const MAX_UNUSED: usize = 2;
/// Labels of a finding.
const MAX_LABELS: usize = 10;
/// Labels where threads wait for ever: any of those who take part may be wrong.
const MAX_LABELS_OF_PHASES: usize = 12;

/// Numbers that are computed for nothing, those nearest to some instructions: what should use one may be what is missing.
fn unused(context: &FlowContext<'_>, near: &[u32]) -> Vec<u32> {
    let Some(facts) = context.facts() else { return Vec::new() };
    // The translation of C++ computes what nobody asks for.
    if context.module.source.contains(ANYTHING) {
        return Vec::new();
    }
    // Who does not know what an instruction reads does not know what nothing reads.
    if facts.uses().all().iter().any(|each| each.access() == Access::Unknown) {
        return Vec::new();
    }
    let graph = context.graph();
    let read = graph.read_values();
    let is_number = |instruction: u32| {
        facts.instance(instruction).is_some_and(|instance| {
            let effects = &instance.effects;
            effects.is_pure() && !effects.reads_memory
        }) && facts
            .uses()
            .range(instruction)
            .all(|at| graph.written(at).is_none_or(|value| !read[value.index()]))
    };
    let mut found: Vec<u32> = graph
        .values()
        .filter(|value| !read[value.index()])
        .filter_map(|value| match graph.kind(value) {
            Kind::Computed { instruction, at: Some(_) } if is_number(instruction) => Some(instruction),
            _ => None,
        })
        .collect();
    found.sort_by_key(|&number| near.iter().map(|at| at.abs_diff(number)).min());
    found.dedup();
    found.truncate(MAX_UNUSED);
    found
}

/// The places that are shown with a fault: those that tell most of it, and few of each part.
fn shown(fault: &Fault) -> Vec<(u32, Part)> {
    let mut by_rank = fault.others.clone();
    by_rank.sort_by_key(|(_, part)| rank(fault, *part));
    let mut kept: Vec<(u32, Part)> = Vec::new();
    for (instruction, part) in by_rank {
        let text = label(fault.kind, part);
        let alike = kept.iter().filter(|(_, other)| label(fault.kind, *other) == text).count();
        if alike < most(part) {
            kept.push((instruction, part));
        }
    }
    let most = if fault.kind == FaultKind::Phase { MAX_LABELS_OF_PHASES } else { MAX_LABELS };
    kept.truncate(most);
    kept
}

/// Which parts are shown before others. Who waits for whom tells most where threads wait for ever, and a round tells where
/// its phase should turn; the place of a wait is near its parity, and where its numbers come from is told last.
fn rank(fault: &Fault, part: Part) -> u32 {
    let is_phase = fault.kind == FaultKind::Phase;
    let is_wrong = fault.kind == FaultKind::WrongPhase;
    match part {
        // Some have arrived: they may have arrived too few times.
        Part::Arrival if is_phase && fault.counts.is_some_and(|(_, found)| found > 0) => 0,
        Part::Stage | Part::Parity if is_phase => 0,
        Part::Parity if is_wrong => 1,
        Part::Expectation if is_phase => 2,
        Part::Rounds | Part::After if is_phase => 2,
        Part::Count if is_phase && fault.counts.is_some_and(|(_, found)| found == 0) => 2,
        // What the fault is about.
        Part::Access | Part::Operation => 0,
        Part::Joins
        | Part::Parts
        | Part::Rounds
        | Part::Count
        | Part::Made
        | Part::NeverWaits
        | Part::WaitOfReader
        | Part::OtherWait => 0,
        Part::Last | Part::After | Part::Begin | Part::Uncommitted | Part::Unheard | Part::Answer => 1,
        Part::Common | Part::OwnBlock | Part::LeftOut => 1,
        Part::Commits | Part::Next | Part::Unexpected | Part::SameWay | Part::Lanes | Part::Relaxed => 1,
        Part::First if fault.kind == FaultKind::Barrier => 0,
        Part::First | Part::Number | Part::Blocks => 1,
        Part::Elsewhere | Part::Round => 2,
        Part::Arrival | Part::Slot => 3,
        Part::Wait => 5,
        Part::Met | Part::Expectation => 6,
        Part::Parity | Part::OtherParity => 7,
        _ => 4,
    }
}

/// How many places of one part are shown: several warps may wait at several places, and a ring may turn in two steps.
const fn most(part: Part) -> usize {
    match part {
        Part::Next | Part::Begin | Part::Slot | Part::Rank | Part::First => 2,
        Part::Elsewhere | Part::Last | Part::Stage | Part::Round | Part::Rounds | Part::OtherWait => 3,
        Part::Met
        | Part::Parity
        | Part::OtherParity
        | Part::NeverWaits
        | Part::After
        | Part::Access
        | Part::LeftOut => 2,
        _ => 1,
    }
}

/// The execution that shows a fault.
fn launched((threads, blocks, parameter): ([u32; 3], u32, u64)) -> String {
    let threads = match threads {
        [x, 1, 1] => x.to_string(),
        [x, y, 1] => format!("{x} × {y}"),
        [x, y, z] => format!("{x} × {y} × {z}"),
    };
    let clusters = if blocks > 1 { format!(", clusters of {blocks} blocks") } else { String::new() };
    format!("an execution with blocks of {threads} threads{clusters} and parameters of {parameter} shows it")
}

/// What a place of a fault is called.
pub(crate) const fn label(kind: FaultKind, part: Part) -> &'static str {
    match (kind, part) {
        (FaultKind::MissingFence, Part::Operation) => "read here through the asynchronous proxy",
        (FaultKind::Overwrite | FaultKind::EarlyRelease | FaultKind::TooFewArrivals, Part::Operation) => {
            "the operation that takes part"
        }
        (FaultKind::Unpublished, Part::Access) => "another thread uses it here",
        (FaultKind::EarlyExit | FaultKind::EarlyRemote, Part::Access) => "accessed from another block here",
        (FaultKind::SourceReused, Part::Operation) => "this operation may still read it",
        (_, Part::Operation) => "the operation starts here",
        (FaultKind::Overwrite | FaultKind::EarlyRelease, Part::Access) => "may still be read here",
        (FaultKind::TooFewArrivals, Part::Access) => "others may use it here at the same time",
        (FaultKind::LanesRead, Part::Access) => "may still be read here",
        (FaultKind::Unordered | FaultKind::LanesApart, Part::Access) => "may still be written here",
        (FaultKind::TensorUntold, Part::Access) => "tensor memory is used here before",
        (_, Part::Access) => "accessed here",
        (_, Part::Wait) => "waited for here",
        (FaultKind::LeftRunning, Part::Arrival) => "arrives here, and nobody waits",
        (_, Part::Arrival) => "arrives here",
        (FaultKind::NeverMade, Part::Made) => "others are made here",
        (FaultKind::BeyondAllocation, Part::Made) => ALLOCATED,
        (FaultKind::WrongPhase, Part::Made) => {
            "those who fill it again wait for the object that is made here"
        }
        (_, Part::Made) => MADE,
        (_, Part::Expectation) => EXPECTED,
        (FaultKind::Registers, Part::Elsewhere) => "the other threads go on here, and give no registers back",
        (_, Part::Elsewhere) => "arrives at another object here",
        (FaultKind::ArrivesTwice, Part::OtherBarrier) => {
            "the number of threads of another barrier changes here"
        }
        (_, Part::NeverWaits) => "these threads arrive here and never wait",
        (_, Part::OtherBarrier) => "threads come to another barrier here",
        (_, Part::Given) => "registers are given back here",
        (FaultKind::SourceReused | FaultKind::Overwrite | FaultKind::Unordered, Part::OtherWait) => {
            "the last wait before the operation"
        }
        (FaultKind::NarrowScope, Part::OtherWait) => "the other side has the scope of the cluster",
        (FaultKind::TensorUnfenced, Part::OtherWait) => "a fence follows this wait",
        (FaultKind::Unordered, Part::WaitOfReader) => "the last wait before the write",
        (_, Part::WaitOfReader) => "the last wait before the read",
        (_, Part::OtherWait) => "others wait here",
        (_, Part::Unexpected) => "the bytes of this copy come to it, and nobody expects them",
        (_, Part::Parity | Part::OtherParity) => "the parity is computed here",
        (_, Part::Begin) => "the parity begins here",
        (_, Part::Unheard) => "this only asks: nothing depends on the answer",
        (_, Part::Answer) => "its answer comes here, and nobody asks for it after that",
        (_, Part::Uncommitted) => "no commit follows this operation before the wait",
        (_, Part::Commits) => "no commit comes before this",
        (FaultKind::Phase | FaultKind::Barrier, Part::Next) => {
            "they go on here, and nothing before tells of it"
        }
        (FaultKind::LeftRunning, Part::Next) => "after it these threads go on here",
        (FaultKind::Unpublished, Part::Next) => "the next that the maker does",
        (FaultKind::TensorUnfenced, Part::Next) => "those who have waited go on from here without a fence",
        (_, Part::Next) => "no wait comes before this",
        (FaultKind::MissingFence, Part::Before) => "no fence comes before this",
        (_, Part::OwnBlock) => "only the threads of the block meet here",
        (_, Part::Common) => "all threads come here before the use",
        (FaultKind::SourceReused, Part::Before) => "no wait comes before this meeting",
        (_, Part::Before) => "the last that these threads do before",
        (_, Part::Rank) => "the rank of the block is computed here",
        (_, Part::Sum) => SUM_OF_BYTES,
        (_, Part::Count) => COUNTED,
        (
            FaultKind::ArrivesTwice
            | FaultKind::Barrier
            | FaultKind::Phase
            | FaultKind::TooFewArrivals
            | FaultKind::MissingBarrier
            | FaultKind::GroupPending,
            Part::Rounds,
        ) => "each round begins here",
        (FaultKind::EarlyAccess, Part::Rounds) => "a wait belongs before the rounds that begin here",
        (_, Part::Rounds) => "the rounds of the access begin here",
        (FaultKind::Phase | FaultKind::Barrier, Part::LeftOut) => {
            "who waits, and in which rounds, is decided here"
        }
        (_, Part::LeftOut) => "who waits before, and in which rounds, is decided here",
        (_, Part::Stage) => "the stage turns here",
        (FaultKind::MissingFence, Part::Met) => "those who have written go on from here",
        (FaultKind::Unpublished, Part::Met) => "the maker goes on from here without a barrier",
        (_, Part::Met) => "the last wait or meeting of these threads before",
        (FaultKind::Unpublished | FaultKind::MissingBarrier, Part::Joins) => {
            "all threads go on from here without a barrier"
        }
        (FaultKind::GroupPending, Part::Joins) => "those who have waited go on with the others from here",
        (_, Part::Committed) => "its group ends here",
        (FaultKind::EarlyAccess | FaultKind::SourceReused, Part::Joins) => {
            "those who have started the operation go on with the others from here"
        }
        (_, Part::After) => "after its rounds others come here",
        (FaultKind::Phase, Part::Parts) => "only some threads go on from here to arrive",
        (_, Part::Joins) => "threads go on together from here",
        (_, Part::OtherFence) => OTHER_FENCE,
        (_, Part::Slot) => SLOT,
        (_, Part::SameWay) => "those who start the operation go on by themselves here, too",
        (_, Part::Lanes) => "only the lanes of a warp meet here",
        (_, Part::Relaxed) => RELAXED,
        (_, Part::First) => "memory is used after the barrier first here",
        (_, Part::Blocks) => "the mask of the blocks is computed here",
        (_, Part::Number) => "which barrier it is, is said here",
        (_, Part::Parts) => "only some threads go on from here, without a barrier before",
        (_, Part::Round) => "the next round begins after this",
        (_, Part::End) => "the kernel ends here",
        (FaultKind::TooFewArrivals, Part::Last) => "done before an arrival",
        (FaultKind::ArrivesTwice, Part::Last) => "done before without a wait for the others",
        (_, Part::Last) => "others have done this last, and nothing that ends the wait",
    }
}

/// What is wrong, and what to do.
pub(crate) fn words(fault: &Fault) -> (String, &'static str) {
    let counts = fault.counts;
    let plain = |message: &str, help| (message.to_owned(), help);
    match fault.kind {
        FaultKind::MissingFence => plain(
            "this write need not be visible to the asynchronous proxy, which reads it without a fence between",
            "write `fence.proxy.async` in the threads that have written, before the barrier that they meet at",
        ),
        FaultKind::EarlyAccess => plain(
            "shared memory is accessed here while an asynchronous operation may still write it",
            "wait for the operation before its data is used",
        ),
        FaultKind::EarlyTensor => plain(
            "tensor memory is accessed here while a matrix operation may still write it",
            "wait for the `mbarrier` of its `tcgen05.commit` before",
        ),
        FaultKind::TensorUnfenced => plain(
            "tensor memory is used here after a wait without `tcgen05.fence::after_thread_sync` between",
            "write the fence after the wait, as other waits of this kernel have it",
        ),
        FaultKind::TensorUntold => plain(
            "this tells of loads or stores of tensor memory without `tcgen05.fence::before_thread_sync` before",
            "write the fence before the arrival, as others of this kernel have it",
        ),
        FaultKind::BeyondAllocation => {
            let (own, column) = counts.unwrap_or_default();
            (
                format!(
                    "this begins with column {column}, and the block has allocated {own} columns of tensor memory"
                ),
                "allocate as many columns as are used: a power of two from 32 to 512",
            )
        }
        FaultKind::EarlyRelinquish => plain(
            "tensor memory is given back here while other warps may still load from it",
            "let those who load wait for their loads, and meet them before",
        ),
        FaultKind::WrongPhase => plain(
            "this wait passes before the phase that it is meant for is complete",
            "the parity of a wait turns each time its ring comes round; a producer's first wait has parity 1",
        ),
        FaultKind::GroupPending => plain(
            "this wait leaves the group pending whose memory is used next",
            "let fewer groups be pending here, or wait before",
        ),
        FaultKind::MissingBarrier => plain(
            "only the threads that wait here know that the operation is complete, and others use its memory",
            "let the threads meet at a barrier after this wait",
        ),
        FaultKind::Overwrite => plain(
            "this operation writes what other threads may still read",
            "wait until those who read have arrived, before the memory is filled again",
        ),
        FaultKind::EarlyRelease => plain(
            "this says that the memory may be filled again, and it is used after that",
            "arrive after the last use",
        ),
        FaultKind::TooFewArrivals => {
            let count = counts.map_or(0, |(count, _)| count);
            let arrivals = if count == 1 { "arrival completes" } else { "arrivals complete" };
            let rest = match counts {
                Some((_, TOO_MANY_AT_ONCE)) => "more threads of one warp arrive at once",
                _ => "others who have not arrived still use the memory",
            };
            let message = format!("{count} {arrivals} a phase of this object, and {rest}");
            (
                message,
                "count all arrivals of a phase: each thread that arrives, or each warp if one of its threads does",
            )
        }
        FaultKind::LanesApart => plain(
            "this copy reads what other lanes of the warp have written, and nothing orders the two",
            "let the lanes meet before the copy starts: `__syncwarp()`, which is `bar.warp.sync`",
        ),
        FaultKind::LanesRead => plain(
            "this copy writes what other lanes of the warp may still read, and nothing orders the two",
            "let the lanes meet before the copy starts: `__syncwarp()`, which is `bar.warp.sync`",
        ),
        FaultKind::Unordered => plain(
            "this operation uses what other threads may still be writing",
            "let the threads meet at a barrier before",
        ),
        FaultKind::SourceReused => plain(
            "this writes what an asynchronous operation may still read",
            "wait for the operation with `.read` before its source is written",
        ),
        FaultKind::TwoCopies => plain(
            "this writes where another asynchronous operation may still be writing",
            "wait for the first one before the place is filled again",
        ),
        FaultKind::Unpublished => plain(
            "another thread may use this object before it is made",
            "let the threads meet at a barrier after `mbarrier.init`, those of a cluster after `fence.mbarrier_init`",
        ),
        FaultKind::MadeByMany => plain(
            "several threads initialise this `mbarrier` object, each while it may be one already",
            "let one thread initialise it, and the others wait at a barrier",
        ),
        FaultKind::Remade => plain(
            "this object ends, or is made again, while another thread may still use it",
            "let the threads meet at a barrier after the last use",
        ),
        FaultKind::Race => plain(
            "nothing orders this access of shared memory with that of another warp",
            "let those who read wait for those who write, and those who write again for those who read",
        ),
        FaultKind::GlobalRace => plain(
            "nothing orders this access of global memory with one of another block",
            "wait for a flag that is set with a release after the one access, and acquired before the other",
        ),
        FaultKind::GlobalUnfenced => plain(
            "this copy reads through the asynchronous proxy what another block has stored through the generic one",
            "write `fence.proxy.async` between the two",
        ),
        FaultKind::NeverSet => plain(
            "this waits for ever: what it asks for is never stored there",
            "see which place is waited for, and for which number, and who stores it",
        ),
        FaultKind::NoArrivals => {
            plain("this object is made for no arrivals", "count the arrivals of a phase")
        }
        FaultKind::Bytes => match counts {
            Some((0, _)) => plain(
                "the phase is complete before the copy that it is to tell of, whose bytes nobody expects",
                "expect the bytes of all copies with `mbarrier.arrive.expect_tx`",
            ),
            Some((wanted, found)) if found < 0 => (
                format!("{wanted} bytes are expected here, fewer than the copies of this phase bring"),
                "expect the bytes of all copies that complete on the object in this phase",
            ),
            Some((wanted, found)) => (
                format!("{wanted} bytes are expected in this phase, and {found} come, so that it never ends"),
                "expect the bytes of all copies that complete on the object in this phase",
            ),
            None => plain("the bytes of this phase are not those that are expected", ""),
        },
        FaultKind::TooFewBytes => {
            let count = counts.map_or(0, |(count, _)| count);
            (
                format!(
                    "{count} bytes are expected here, and more of the tile is read, which nothing else writes"
                ),
                "expect the bytes of all copies that complete on the object in this phase",
            )
        }
        FaultKind::OtherBytes => {
            let (expected, room) = counts.unwrap_or_default();
            let message = match expected > room {
                true => format!(
                    "{expected} bytes are expected here, and the copies of the phase have room for {room}"
                ),
                false => format!(
                    "{expected} bytes are expected here, those of some copies of the phase, which all have room for {room}"
                ),
            };
            (message, "expect the bytes of all copies that complete on the object in this phase")
        }
        FaultKind::Phase => match counts {
            Some((count, 0)) => (
                format!("nobody completes the phase that is waited for: {count} arrivals are missing"),
                "see who has to arrive, and whether the parity of the wait is that of the phase",
            ),
            Some((count, found)) => (
                format!("a phase wants {count} arrivals, and {found} come, so that a wait for it never ends"),
                "count all arrivals of a phase: each thread that arrives, or each warp if one of its threads does",
            ),
            None => plain(
                "these arrivals are phases ahead of those who wait for them",
                "wait before the arrival for what it tells of, and for those who use it",
            ),
        },
        FaultKind::NeverMade => plain(
            "nobody initialises the `mbarrier` object that is used here",
            "initialise all objects of a ring with `mbarrier.init`",
        ),
        FaultKind::Barrier => {
            let (count, found) = counts.unwrap_or_default();
            (
                format!("{found} of {count} threads come to this barrier, and it never opens"),
                "all threads that the barrier counts have to come to it, in the same order as to other barriers",
            )
        }
        FaultKind::Apart => {
            let message = match counts {
                Some(ONE_OF_PAIR) => {
                    "one block of a pair comes to this, which both of them execute".to_owned()
                }
                Some((all, some)) => {
                    format!(
                        "{some} of {all} threads of a warp come to this, which all of them execute together"
                    )
                }
                None => "some warps of a group of four come to this, which all of them execute together"
                    .to_owned(),
            };
            (
                message,
                "let all of them come here: only the numbers of whole warps or groups may decide about it",
            )
        }
        FaultKind::BarrierCounts => {
            let (one, other) = counts.unwrap_or_default();
            (
                format!("this barrier is for {one} threads, and here it is for {other}"),
                "give the same number of threads at each place of a barrier",
            )
        }
        FaultKind::ArrivesTwice => plain(
            "the same threads arrive at this barrier again before it has opened",
            "wait for those who come to the barrier before it is used again",
        ),
        FaultKind::BarrierShared => plain(
            "two groups of threads use this barrier, and nothing keeps one from being counted with the other",
            "give each group a barrier of its own",
        ),
        FaultKind::Cluster => plain(
            "not all threads of the cluster arrive at the barrier that is waited for here",
            "let each thread of each block arrive once",
        ),
        FaultKind::Registers => {
            let (wanted, there) = counts.unwrap_or_default();
            let message = format!(
                "this waits for ever for registers: the warps of the block are to have {wanted}, and the block has {there}"
            );
            (message, "let other warps keep fewer registers, or take fewer here")
        }
        FaultKind::LeftRunning => plain(
            "the kernel ends while this operation may still use its shared memory",
            "wait for it before the kernel ends",
        ),
        FaultKind::NeverFreed => {
            plain("nothing frees this tensor memory on some way", "free it with `tcgen05.dealloc`")
        }
        FaultKind::EarlyExit => plain(
            "the block ends here while another block of the cluster may still access its shared memory",
            "let the blocks meet at `barrier.cluster` before they end",
        ),
        FaultKind::NarrowScope => plain(
            "another block takes part in this phase, and this orders what threads of the own block do only",
            "write the scope `.cluster`, as the other side has it",
        ),
        FaultKind::OwnWindow => plain(
            "this address is one of another block, and the instruction knows the memory of its own block alone",
            "write `.shared::cluster` where memory of other blocks is accessed",
        ),
        FaultKind::NoBlock => {
            let blocks = counts.map_or(0, |(blocks, _)| blocks);
            let message = format!(
                "this goes to the block after the last one: a cluster of this kernel has {blocks} blocks"
            );
            (message, "take ranks of blocks modulo `%cluster_nctarank`")
        }
        FaultKind::EarlyRemote => plain(
            "the shared memory of another block is accessed before that block is known to have begun",
            "let the blocks meet at `barrier.cluster` first",
        ),
    }
}
