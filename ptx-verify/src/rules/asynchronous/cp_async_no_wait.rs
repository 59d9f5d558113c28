use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::model::{Fault, FaultKind};
use ptx_facts::asynchronous::{self, Budget, Row};
use ptx_facts::memory::Access;
use ptx_facts::reach::{Ends, Reach};
use ptx_syntax::Diagnostic;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;
use crate::subject::protocol;
use ptx_ir::ir::{Handle, Variable};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Purpose};
use ptx_ir::space::StateSpace;
use rustc_hash::{FxHashMap, FxHashSet};

declare_rule! {
    /// ## What it does
    /// Reports a `cp.async` of a kernel that no wait is for: no path from it leads to `cp.async.wait_group`,
    /// `cp.async.wait_all` or `cp.async.mbarrier.arrive`, or its group is not closed or is among those that all waits
    /// leave pending; a load from the shared variable of a copy that the kernel comes to
    /// before it has waited for anything; and an access of the very place of a copy before its group was waited for. A
    /// wait that leaves as many groups pending as there can be waits for nothing.
    ///
    /// ## Why is this bad
    /// The copy runs on its own. PTX ISA manual, section "cp.async": the data is there only after the wait.
    ///
    /// ## Example
    /// ```ptx
    /// .shared .align 16 .b8 tile[16];
    /// cp.async.ca.shared.global [tile], [%rd1], 4;
    /// cp.async.commit_group;
    /// ld.shared.u32 %r2, [tile];
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// .shared .align 16 .b8 tile[16];
    /// cp.async.ca.shared.global [tile], [%rd1], 4;
    /// cp.async.commit_group;
    /// cp.async.wait_group 0;
    /// ld.shared.u32 %r2, [tile];
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// A wait for too few groups where the places are not known, and a read before its wait in a loop that waits
    /// elsewhere as well. A wait that is passed by on a condition, where control comes to the read without the copy, too: who
    /// has not copied need not wait. A path that leaves the kernel without a wait, where another path waits: a loop that copies some
    /// rounds ahead only does so while there are rounds left, so that nothing is pending where it ends. A function that is
    /// called may wait, and functions other than kernels may leave the wait to their
    /// callers.
    name: "cp-async-no-wait",
    code: "P0901",
    former: ["H0360"],
    class: Hazard,
    level: Warn,
    summary: "an asynchronous copy that nothing waits for",
    check: Flow(check),
    scope: Whole,
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    if !context.module.features().has(Features::ASYNCHRONOUS) && !context.follows_calls() {
        return;
    }
    let groups = &[AsyncGroup::CpAsync];
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
        // Copies of the last rounds that nobody reads do no harm.
        let is_of_rounds = |fault: &&Fault| fault.kind == FaultKind::LeftRunning && fault.counts.is_none();
        for fault in shown.into_iter().filter(|fault| !is_of_rounds(fault)) {
            let (span, explanation) = protocol::explained_fault(context, fault);
            diagnostics.push(RULE.explained(span, &explanation));
        }
    }
}

/// What paths through the kernel tell by themselves.
fn by_paths(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let of = |wanted: &[AsyncAction]| context.acting(AsyncGroup::CpAsync, wanted);
    let starts = of(&[AsyncAction::Start]);
    if starts.is_empty() || facts.function.kind != ptx_ir::ir::FunctionKind::Entry {
        return;
    }
    let waits = of(&[AsyncAction::Wait]);
    let row = Row {
        starts,
        commits: of(&[AsyncAction::Commit]),
        waits: waits.iter().map(|&wait| (wait, Row::left(facts, wait))).collect(),
        calls: context.with_calls(&of(&[AsyncAction::WaitAll, AsyncAction::Arrive])),
    };
    let waits = asynchronous::effective_waits(facts, &row);
    // The first tells all: what follows it runs into the same end.
    if let Some(start) = asynchronous::never_covered(facts, &row) {
        let span = context.instruction_span(start);
        diagnostics.push(match asynchronous::left_open(facts, &[start], &waits) {
            Some((_, end)) => RULE
                .at(span, "nothing waits for this copy")
                .with_secondary(context.instruction_span(end), "the kernel is left here")
                .with_help("wait with `cp.async.wait_group` before the data is read"),
            None => RULE.at(span, "no wait is for the group of this copy").with_help(
                "close its group with `cp.async.commit_group`, and wait until no more than later groups are pending",
            ),
        });
    } else if let Some((read, start, message)) = early_read(context, &row, &waits) {
        diagnostics.push(
            RULE.at(context.instruction_span(read), message)
                .with_secondary(context.instruction_span(start), "the copy starts here")
                .with_help("wait with `cp.async.wait_group` before the data is read"),
        );
    }
}

/// Copies that are asked about one by one whether their wait may depend on what the copy depends on.
const MAX_ASKED: usize = 16;

/// A read before anything waits for a copy, and that copy, unless who has copied may wait.
fn surely_early(
    facts: &FunctionFacts<'_>,
    starts: &[u32],
    waits: &[u32],
    reads: &[u32],
) -> Option<(u32, u32)> {
    let mut starts = starts.to_vec();
    for _ in 0..MAX_ASKED {
        let (read, start) = asynchronous::read_before_wait(facts, &starts, waits, reads)?;
        if !may_be_waited_for(facts, start, waits, read) {
            return Some((read, start));
        }
        starts.retain(|&other| other != start);
    }
    None
}

/// Whether a read may come without a copy, and a wait between the two: who passes the wait by on a condition may be who has
/// not copied.
fn may_be_waited_for(facts: &FunctionFacts<'_>, start: u32, waits: &[u32], read: u32) -> bool {
    let block = |instruction| facts.cfg.block_of(Handle::new(instruction));
    if facts.cfg.dominates(block(start), block(read)) {
        return false;
    }
    let after = Reach::from(facts, Ends::Instructions(&[start]), &[read]);
    let before = Reach::to(facts, Ends::Instructions(&[read]), &[start]);
    waits.iter().any(|&wait| after.at(wait).is_some() && before.at(wait).is_some())
}

/// Objects that copies write whose reads are looked at.
const MAX_OBJECTS: usize = 64;

const EARLY: &str = "shared memory is read here before anything waits for a copy";
const ROUND: &str = "shared memory is read here in a loop that copies and does not wait";
const IN_FLIGHT: &str = "shared memory is accessed here while a copy into it may run";

/// A read of shared memory, or an access of a place, with a copy in flight into it, and that copy.
fn early_read(context: &FlowContext<'_>, row: &Row, waits: &[u32]) -> Option<(u32, u32, &'static str)> {
    let facts = context.facts()?;
    let reads = asynchronous::reads_of_shared(facts);
    let is_store = |access: &&Access| {
        access.writes
            && access.space.is_some_and(|space| space.base() == StateSpace::Shared)
            && row.starts.binary_search(&access.instruction).is_err()
    };
    let mut stores: Vec<u32> =
        context.accesses().iter().filter(is_store).map(|access| access.instruction).collect();
    stores.sort_unstable();
    stores.dedup();
    let written = Reach::from(facts, Ends::Instructions(&stores), &[]);
    let mut objects: Vec<_> = row.starts.iter().map(|&start| context.written(start)).collect();
    let all = objects.clone();
    objects.sort_unstable_by_key(|object| object.map(Handle::index));
    objects.dedup();
    let found = objects.iter().take(MAX_OBJECTS).find_map(|&object| {
        let own = row.starts.iter().zip(&all).filter(|(_, other)| **other == object);
        let starts: Vec<u32> = own.map(|(&start, _)| start).collect();
        let may_be_read = |read: &u32| {
            let other = context.read_from(*read);
            // Of memory without a size, which several buffers share, it is not known which one is read. Where nothing else
            // was written there, it is what was copied.
            let unknown = object.is_none() || other.is_none();
            object.is_some() && other == object || unknown && written.at(*read).is_none()
        };
        let reads: Vec<u32> = reads.iter().copied().filter(may_be_read).collect();
        let early = surely_early(facts, &starts, waits, &reads);
        let in_loop = || asynchronous::read_in_loop_without_wait(facts, &starts, waits, &reads);
        early.map(|found| (found, EARLY)).or_else(|| Some((in_loop()?, ROUND)))
    });
    if let Some(((read, start), message)) = found {
        return Some((read, start, message));
    }
    let (places, budget) = (Places::of(context, row), Budget::of(facts));
    let overlapped = |&(_, place): &(u32, Place)| {
        places.others.get(&place.variable).is_some_and(|others| others.overlap(place))
    };
    let written: FxHashSet<Handle<Variable>> =
        places.copies.iter().filter(|copy| overlapped(copy)).map(|(_, place)| place.variable).collect();
    let touching = places.others.iter().filter(|(variable, _)| written.contains(variable));
    let touching =
        touching.flat_map(|(_, others)| others.accesses.iter().map(|(instruction, _)| *instruction));
    let marks = row.marks(touching);
    places.copies.iter().find_map(|&(start, place)| {
        let others = places.others.get(&place.variable).filter(|others| others.overlap(place))?;
        let touches = |instruction| others.at(instruction).any(|other| other.overlaps(place));
        let access = asynchronous::accessed_in_flight(facts, &marks, start, &budget, touches)?;
        Some((access, start, IN_FLIGHT))
    })
}

/// Where an access is, where that is known: bytes of a variable.
#[derive(Clone, Copy)]
struct Place {
    variable: Handle<Variable>,
    start: i64,
    end: i64,
}

impl Place {
    fn of(context: &FlowContext<'_>, access: &Access) -> Option<Self> {
        let start = access.offset().filter(|_| access.bytes > 0)?;
        let end = start.checked_add(i64::from(access.bytes))?;
        Some(Self { variable: context.sized_variable(access)?, start, end })
    }

    fn overlaps(self, other: Self) -> bool {
        self.variable == other.variable && self.start < other.end && other.start < self.end
    }
}

/// The copies to known places, and the other accesses of those variables.
struct Places {
    copies: Vec<(u32, Place)>,
    others: FxHashMap<Handle<Variable>, Others>,
}

impl Places {
    fn of(context: &FlowContext<'_>, row: &Row) -> Self {
        let mut copies = Vec::new();
        let mut others: FxHashMap<_, Others> = FxHashMap::default();
        for access in context.accesses() {
            let Some(place) = Place::of(context, access) else { continue };
            if row.starts.binary_search(&access.instruction).is_err() {
                others.entry(place.variable).or_default().accesses.push((access.instruction, place));
            } else if access.purpose == Some(Purpose::CopyDestination) {
                copies.push((access.instruction, place));
            }
        }
        others.values_mut().for_each(Others::sort);
        Self { copies, others }
    }
}

/// Accesses of one variable.
#[derive(Default)]
struct Others {
    /// By instruction.
    accesses: Vec<(u32, Place)>,
    /// The starts, ascending, each with the highest end of those up to it.
    ends: Vec<(i64, i64)>,
}

impl Others {
    fn sort(&mut self) {
        self.accesses.sort_by_key(|(instruction, _)| *instruction);
        self.ends = self.accesses.iter().map(|(_, place)| (place.start, place.end)).collect();
        self.ends.sort_unstable();
        let mut highest = i64::MIN;
        for (_, end) in &mut self.ends {
            highest = highest.max(*end);
            *end = highest;
        }
    }

    /// Whether any access overlaps a place.
    fn overlap(&self, place: Place) -> bool {
        let before = self.ends.partition_point(|(start, _)| *start < place.end);
        before > 0 && self.ends[before - 1].1 > place.start
    }

    fn at(&self, instruction: u32) -> impl Iterator<Item = Place> {
        let first = self.accesses.partition_point(|(each, _)| *each < instruction);
        self.accesses[first..]
            .iter()
            .take_while(move |(each, _)| *each == instruction)
            .map(|(_, place)| *place)
    }
}
