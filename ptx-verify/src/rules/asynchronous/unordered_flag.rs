use ptx_facts::FunctionFacts;
use ptx_facts::ahead::Ahead;
use ptx_facts::asynchronous::{
    Accessed, FewThreads, Lack, OwnMemory, Poll, Readers, address_root, copied_root, counted,
    counts_in_multicast, counts_of_done, fences_global, handed_on_without_meeting, hands_on,
    has_same_distance, is_fenced_as_needed, is_flag, is_kept_by_readers, is_weak, joins_after, locks,
    may_be_global, names_global, narrow_in_other_blocks, only_acquires, orders_blocks, part_of_table,
    parts_before, polled_root, polls_taken_out, stores_in_bulk, table_of_pointers, takes_a_number,
    tells_devices_narrowly, told_by_few, used_and_never_met, used_without_meeting,
};
use ptx_facts::reach::{Ends, Reach};
use ptx_facts::uniformity::Uniformity;
use ptx_facts::values::Values;
use ptx_ir::ir::{Handle, Register};
use ptx_ir::isa::{AsyncAction, AsyncGroup, Event, Instance, Mode, Update};
use ptx_syntax::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;

mod blocks;
mod copies;
mod order;
mod waits;

pub(super) use copies::tells_of_copy;
use waits::{Waits, is_narrow, keeps_number_of};

declare_rule! {
    /// ## What it does
    /// Reports a loop that waits for another thread by looking at global memory with a plain load, which need not see the
    /// store, or with one of scope `.cta`, which sees the stores of its own block; a bulk copy after such a loop without
    /// `fence.proxy.async`, or with one of shared memory only; plain loads or bulk copies after a loop that looks with `.relaxed`,
    /// without a fence between; and a store of a flag with `.relaxed` after plain stores without a fence between, with a fence of the
    /// block alone, or of the device alone where the flag is set for the whole system, or in the scope of the block.
    /// A flag from a table of pointers that is set for the whole system and waited for on the device, or the other way round.
    /// A flag of a multicast object that is set without a release, or with one in a narrower scope than `.sys`.
    /// Threads that read what is told of by a flag which another thread has waited for, without a meeting between.
    /// Of a barrier of all blocks, what is read in the next round counts as read after it, and pointers that are exchanged are one.
    /// What each block stores at a place of its own and one reads at the places of all, or what one block stores and all read, without
    /// anything between that orders blocks, in a kernel that has such elsewhere.
    /// A thread that counts its block as done without having met those whose stores the last block reads.
    /// What is stored right after the flag that tells of it, and what is read after its place was given back, or by threads whom the one
    /// that gives it back has not met; a word with a flag and data that is stored by a plain store where others wait for it.
    /// A lock that is taken by an operation which acquires nothing, before plain loads of what is stored under it, and one that control
    /// leaves without giving it back. Two who tell each other the same number, one of them in the scope of the device only.
    /// Pointers that are loaded from one place of a parameter, or of a table, are one.
    /// An atomic operation sets a flag where a loop of the same kernel looks at its place. Where the last block reads what all have
    /// stored, an atomic operation that counts them without a fence between the stores and it, one that releases and does not
    /// acquire, without a fence after it, and one in the scope of the block that counts blocks.
    /// An atomic operation on shared memory of another block of the cluster in the scope of the own block.
    /// Where blocks tell each other something, four of them are executed together, or those of one cluster: plain accesses and copies of
    /// one place that nothing orders, copies through the asynchronous proxy of what another block has stored, without a fence of the
    /// proxy, and loops that wait for a number which nobody stores, are told.
    ///
    /// ## Why is this bad
    /// A flag tells that data is there if it is released after the data and acquired before it. Copies through the
    /// asynchronous proxy are ordered by a fence of the proxy besides. PTX ISA manual, sections "Memory Consistency Model"
    /// and "Proxies".
    ///
    /// ## Example
    /// ```ptx
    /// WAIT: ld.global.u32 %r1, [%rd1];
    /// setp.eq.u32 %p1, %r1, 0;
    /// @%p1 bra WAIT;
    /// ld.global.u32 %r2, [%rd2];
    /// st.global.u32 [%rd2], %r2;
    /// ret;
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// WAIT: ld.acquire.gpu.global.u32 %r1, [%rd1];
    /// setp.eq.u32 %p1, %r1, 0;
    /// @%p1 bra WAIT;
    /// ld.global.u32 %r2, [%rd2];
    /// st.global.u32 [%rd2], %r2;
    /// ret;
    /// ```
    ///
    /// ## What it may miss
    /// A loop that looks with `.cg` or `.cv` and has a fence, which sees the store though the memory model does not promise
    /// that. A flag that is stored with `.relaxed` after others' data was taken, which may give room back, unless the same
    /// kernel reads what is stored before it. What threads load when they have met after a loop that looks with `.volatile`, as libraries
    /// have done since before there were scopes, or after one whose flag has data in it that is more than compared with constants,
    /// or where control comes to without the loop. A fence that is left out under
    /// a condition computed of the same numbers as those of the stores. A store in a launch whose parameters never lead to the
    /// flag. What is stored before a vector that has data beside its
    /// flag, and before a number is counted up, unless the same kernel reads it. A counter that a loop which does more than wait
    /// looks at as well, and one beside a flag that gives numbers out. What other blocks store in a kernel that compares the number of
    /// blocks with a constant. What only an execution of several blocks shows, in modules with more than eight kernels and in kernels with more
    /// than 3,000 instructions. Loops that do more than wait, and flags that are counted with
    /// atomic operations where no loop looks at them.
    name: "unordered-flag",
    code: "P0924",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "a flag in global memory that orders nothing",
    check: Flow(check),
    scope: Whole,
}

/// A copy that is farther from a loop, and that others come to as well, need not be of what the flag is about.
const NEAR: u32 = 200;
/// Relaxed polls of one function that are looked at.
const MAX_RELAXED: usize = 64;
/// Stores before a flag of which it is asked whether their conditions let control come from there to the flag.
const MAX_TRIED: usize = 4;
/// Loops, and flags for each, whose pointers are looked for in tables.
const MAX_TABLES: usize = 32;
/// What is said of a loop with a plain load.
pub(crate) const PLAIN_POLL: &str =
    "this loop waits for another thread with a plain load, which need not see what that stores";

/// What is said of polls and of locks whose scope is too narrow.
pub(crate) const NARROW_POLL: &str =
    "this loop waits for a flag in global memory in the scope of the block only";
pub(crate) const NARROW_LOCK: &str = "this loop takes a lock in global memory in the scope of the block only";

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    let polls = context.polls();
    for poll in polls {
        let Some(instance) = facts.instance(poll.load) else { continue };
        // Behind a fence in each turn, what does not come from the multiprocessor's own cache is what was stored: libraries
        // for targets without `ld.relaxed` wait so.
        let sees = instance.is(Mode::Coherent) && poll.is_fenced;
        let (message, help) = match () {
            () if is_weak(facts, poll.load, false) && !sees => {
                (PLAIN_POLL, "load with `ld.acquire` in the scope of both threads")
            }
            () if instance.is(Mode::BlockScope) && may_be_global(facts, poll.load) => (
                NARROW_POLL,
                "a flag that another block sets needs the scope `.gpu`, one of another device or the host `.sys`",
            ),
            () => continue,
        };
        diagnostics.push(RULE.at(context.instruction_span(poll.load), message).with_help(help));
    }
    for (load, branch) in polls_taken_out(facts) {
        let help = "load with `ld.acquire` in each turn; the compiler has taken a plain load out of the loop";
        diagnostics.push(
            RULE.at(context.instruction_span(load), PLAIN_POLL)
                .with_secondary(context.instruction_span(branch), "the loop that is left never ends")
                .with_help(help),
        );
    }
    let has_atomics = context.module.features().has(Features::ATOMICS);
    let locks = if has_atomics { locks(facts) } else { Vec::new() };
    let is_narrow_lock = |lock: &&Poll| {
        facts
            .instance(lock.load)
            .is_some_and(|instance| instance.is(Mode::BlockScope) && may_be_global(facts, lock.load))
    };
    for lock in locks.iter().filter(is_narrow_lock) {
        diagnostics.push(
            RULE.at(context.instruction_span(lock.load), NARROW_LOCK)
                .with_help("a lock that other blocks take needs the scope `.gpu`"),
        );
    }
    let narrow = has_atomics.then(|| narrow_in_other_blocks(facts).min()).flatten();
    if let Some(narrow) = narrow {
        let message =
            "this is atomic for threads of the own block only, and the memory is that of another block";
        diagnostics.push(
            RULE.at(context.instruction_span(narrow), message)
                .with_help("memory of other blocks of the cluster needs the scope `.cluster`"),
        );
    }
    if diagnostics.iter().any(|each| each.rule == RULE.info.name) {
        return;
    }
    let mut few = FewThreads::new(facts);
    after_polls(context, facts, &mut few, polls, diagnostics);
    if has_atomics || !polls.is_empty() {
        let place = |access: u32| Accessed {
            variable: context.read_from(access),
            address: facts.address_in_register(access),
        };
        let counts = facts.reaching_out().filter(|&each| {
            let is_atomic = facts.instance(each).is_some_and(|instance| instance.effects.atomic);
            is_atomic && hands_on(facts, each) && may_be_global(facts, each)
        });
        let asked = polls.iter().map(|poll| poll.end).chain(counts.filter(|_| has_atomics));
        if let Some((store, load)) = handed_on_without_meeting(facts, &mut few, asked, place) {
            let message = "the thread that has asked other blocks stores this for its own, who need not have met it when they load it";
            let finding = RULE
                .at(context.instruction_span(store), message)
                .with_secondary(context.instruction_span(load), "loaded here")
                .with_help("let the threads meet between: `__syncthreads()`, which is `bar.sync 0`");
            diagnostics.push(at_meeting(context, finding, joins_after(facts, store)));
            return;
        }
    }
    if context.module.features().has(Features::ATOMICS)
        && let Some(counted) = counted(facts, &mut |each| few.is_one(each))
    {
        let (message, help) = match counted.lack {
            Lack::Release => (
                "this counts who is done, and nothing orders what was stored before with what the last one reads",
                "write `__threadfence()`, which is `fence.acq_rel.gpu`, between the store and this",
            ),
            Lack::Acquire => (
                "this counts who is done and acquires nothing: what the last one reads after it may be older",
                "count with `.acq_rel`, or write `__threadfence()`, which is `fence.acq_rel.gpu`, after this",
            ),
            Lack::Scope => (
                "this counts the blocks that are done, in the scope of the own block only",
                "count with the scope `.gpu`",
            ),
        };
        diagnostics.push(
            RULE.at(context.instruction_span(counted.count), message)
                .with_secondary(context.instruction_span(counted.store), "stored here")
                .with_secondary(context.instruction_span(counted.read), "read here by the last one")
                .with_help(help),
        );
        return;
    }
    if has_atomics && let Some((count, store)) = counted_by_few(facts, &mut few) {
        let message =
            "this counts who is done, and has not met the threads of its block that have stored before";
        diagnostics.push(unmet(
            context,
            facts,
            (count, store),
            message,
            "few threads go on from here to count",
        ));
        return;
    }
    let loads = || {
        ascending(
            facts.reaching_out().filter(|&each| is_weak(facts, each, false) && may_be_global(facts, each)),
        )
    };
    if !polls.is_empty()
        && let Some((poll, load)) = used_and_never_met(facts, &mut few, polls, loads)
    {
        let message =
            "more threads read here than have waited for the flag, and nothing keeps them until it is seen";
        let finding = RULE
            .at(context.instruction_span(load), message)
            .with_secondary(context.instruction_span(poll), "one thread waits for the flag here")
            .with_help("let the threads meet between: `__syncthreads()`, which is `bar.sync 0`");
        diagnostics.push(at_meeting(context, finding, joins_after(facts, poll)));
        return;
    }
    let goes_on = |store: u32, load: u32, stops: &[u32]| comes_to(context, facts, store, load, stops);
    if let Some((store, load)) = ptx_facts::asynchronous::read_of_other_blocks(facts, goes_on) {
        let message = "this reads what another block stores, and nothing orders the two";
        diagnostics.push(
            RULE.at(context.instruction_span(load), message)
                .with_secondary(context.instruction_span(store), "stored here")
                .with_help("let the blocks wait for each other between, as `grid.sync()` does"),
        );
        return;
    }
    if has_atomics || context.module.features().has(Features::FLAGS) || !polls.is_empty() {
        let waits = Waits::new(facts, polls, &locks);
        before_flags(context, facts, &mut few, &waits, diagnostics);
        if !diagnostics.iter().any(|each| each.rule == RULE.info.name) {
            diagnostics.extend(order::finding(context, facts, &mut few, &waits, &locks));
        }
        if !diagnostics.iter().any(|each| each.rule == RULE.info.name) {
            let waits = !polls.is_empty() || !locks.is_empty();
            if waits || facts.reaching_out().any(|each| blocks::orders(facts, each)) {
                diagnostics.extend(blocks::finding(context, facts));
            }
        }
    }
}

/// An operation of one thread that counts its block as done, where the others have stored what the last block reads, and it has not
/// met them since: the operation and the store.
fn counted_by_few(facts: &FunctionFacts<'_>, few: &mut FewThreads<'_, '_>) -> Option<(u32, u32)> {
    let counts: Vec<u32> = counts_of_done(facts).iter().copied().filter(|&count| few.is_one(count)).collect();
    if counts.is_empty() {
        return None;
    }
    let weak = |stores: bool| {
        ascending(
            facts.reaching_out().filter(|&each| is_weak(facts, each, stores) && may_be_global(facts, each)),
        )
    };
    let (stores, loads) = (weak(true), weak(false));
    let reads = |count: u32| {
        let after = Reach::from(facts, Ends::Instructions(&[count]), &[]);
        let read = loads.iter().copied().filter(|&load| after.at(load).is_some());
        read.filter_map(|load| polled_root(facts, load)).collect::<FxHashSet<Register>>()
    };
    let read: FxHashMap<u32, FxHashSet<Register>> =
        counts.iter().map(|&count| (count, reads(count))).collect();
    let tells = |count: u32, store: u32| {
        address_root(facts, store)
            .is_some_and(|root| read.get(&count).is_some_and(|read| read.contains(&root)))
    };
    told_by_few(facts, few, &counts, &stores, tells, |_| false)
}

/// A finding of an instruction of few threads that have not met those who have stored before, with where they part from them.
fn unmet(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    (at, store): (u32, u32),
    message: &'static str,
    parting: &'static str,
) -> Diagnostic {
    let finding = RULE
        .at(context.instruction_span(at), message)
        .with_secondary(context.instruction_span(store), "stored here")
        .with_help("let the threads meet before: `__syncthreads()`, which is `bar.sync 0`");
    match parts_before(facts, at) {
        Some(branch) => finding.with_secondary(context.instruction_span(branch), parting),
        None => finding,
    }
}

/// A finding with the place where all threads go on together, if there is one.
fn at_meeting(context: &FlowContext<'_>, finding: Diagnostic, joins: Option<u32>) -> Diagnostic {
    match joins {
        Some(at) => finding
            .with_secondary(context.instruction_span(at), "all threads go on from here without a barrier"),
        None => finding,
    }
}

/// What the addresses come of where a kernel writes global memory.
fn roots_of_writes(facts: &FunctionFacts<'_>) -> FxHashSet<Register> {
    let writes = |each: &u32| {
        let writes = facts.instance(*each).is_some_and(|instance| instance.effects.writes_memory);
        writes && may_be_global(facts, *each)
    };
    facts.reaching_out().filter(writes).filter_map(|each| address_root(facts, each)).collect()
}

/// What is read after a flag was seen.
fn after_polls(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    few: &mut FewThreads<'_, '_>,
    polls: &[Poll],
    diagnostics: &mut Vec<Diagnostic>,
) {
    if polls.is_empty() {
        return;
    }
    let fences = ascending(
        facts
            .reaching_out()
            .filter(|&each| facts.instance(each).is_none_or(fences_global) || facts.is_call(each)),
    );
    let copies = ascending(facts.reaching_out().filter(|&each| {
        facts.instance(each).is_some_and(|instance| {
            instance.effects.asynchronous == Some((AsyncGroup::Mbarrier, AsyncAction::Start))
                && names_global(instance)
        })
    }));
    let mut written: Option<FxHashSet<Register>> = None;
    for poll in polls {
        if copies.is_empty() {
            break;
        }
        // A flag that the kernel sets itself tells of what it has written, and not of its input.
        let written = written.get_or_insert_with(|| roots_of_writes(facts));
        let is_own = polled_root(facts, poll.load).is_some_and(|flag| written.contains(&flag));
        let is_input = |copy: u32| copied_root(facts, copy).is_some_and(|root| !written.contains(&root));
        let copies: Vec<u32> = copies.iter().copied().filter(|&copy| !is_own || !is_input(copy)).collect();
        let is_near = |copy: u32| {
            let block = |instruction| facts.cfg.block_of(Handle::new(instruction));
            copy - poll.end < NEAR || facts.cfg.dominates(block(poll.load), block(copy))
        };
        if let Some(copy) = first_reached(context, poll, &fences, &copies).filter(|copy| is_near(*copy)) {
            let message = "this copy reads through the asynchronous proxy what the flag was seen for through the generic one";
            diagnostics.push(
                RULE.at(context.instruction_span(copy), message)
                    .with_secondary(context.instruction_span(poll.load), "the flag is seen here")
                    .with_secondary(context.instruction_span(poll.end), "the fence belongs after this")
                    .with_help("write `fence.proxy.async` between the two"),
            );
            return;
        }
    }
    let ordering = ascending(facts.reaching_out().filter(|&each| orders_blocks(facts, each)));
    // Copies bring what the flag tells of as loads do.
    let loads = ascending(facts.reaching_out().filter(|&each| {
        let is_read_only = facts.instance(each).is_some_and(Instance::is_read_only_load);
        let is_load = is_weak(facts, each, false) && !is_read_only && may_be_global(facts, each);
        is_load || copies.binary_search(&each).is_ok()
    }));
    let mut left = MAX_RELAXED;
    let mut readers = None;
    let mut stored: Option<FxHashSet<Register>> = None;
    let asks = |load: u32| {
        let is_relaxed = facts.instance(load).is_some_and(|instance| {
            instance.is(Mode::Relaxed) && instance.effects.reads_memory && names_global(instance)
        });
        is_relaxed.then(|| Some((load, address_root(facts, load)?))).flatten()
    };
    let relaxed: Vec<(u32, Register)> = facts.reaching_out().filter_map(asks).take(2 * MAX_RELAXED).collect();
    for poll in polls {
        let is_relaxed = facts
            .instance(poll.load)
            .is_some_and(|instance| instance.is(Mode::Relaxed) && !instance.is(Mode::BlockScope));
        if !is_relaxed || poll.orders_blocks || left == 0 {
            continue;
        }
        left -= 1;
        if !is_flag(facts, readers.get_or_insert_with(|| Readers::of(facts, polls)), poll) {
            continue;
        }
        // What is loaded where nobody has waited is of something else, unless few have waited for all.
        let block = |instruction| facts.cfg.block_of(Handle::new(instruction));
        let is_asked_before = relaxed
            .iter()
            .any(|&(load, root)| load != poll.load && Some(root) == address_root(facts, poll.load));
        let mut is_after = |load: &u32| {
            is_asked_before
                || facts.cfg.dominates(block(poll.load), block(*load))
                || !few.come_to(*load) && few.is_for_all(poll.load)
        };
        let loads: Vec<u32> = loads.iter().copied().filter(|load| is_after(load)).collect();
        // A load that the text has before a loop that waits is of the next round.
        let of_next_round = || {
            if !few.is_one(poll.load) {
                return None;
            }
            let stored = stored.get_or_insert_with(|| {
                let is_store = |&each: &u32| is_weak(facts, each, true) && may_be_global(facts, each);
                facts.reaching_out().filter(is_store).filter_map(|each| address_root(facts, each)).collect()
            });
            let reach = Reach::from(facts, Ends::Instructions(&[poll.end]), &ordering);
            let is_told = |load: &u32| {
                *load < poll.first
                    && reach.at(*load).is_some()
                    && address_root(facts, *load).is_some_and(|root| stored.contains(&root))
            };
            loads.iter().copied().find(is_told)
        };
        if let Some(load) = first_reached(context, poll, &ordering, &loads).or_else(of_next_round) {
            let message =
                "this loop sees the flag and acquires nothing: what is loaded after it may be older";
            diagnostics.push(
                RULE.at(context.instruction_span(poll.load), message)
                    .with_secondary(context.instruction_span(load), "loaded here")
                    .with_help("load the flag with `ld.acquire`, or write `fence.acq_rel` after the loop"),
            );
            return;
        }
    }
}

/// What was written before a flag is set.
fn before_flags(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    few: &mut FewThreads<'_, '_>,
    waits: &Waits<'_>,
    diagnostics: &mut Vec<Diagnostic>,
) {
    let polls = waits.polls;
    let flags = ascending(facts.reaching_out().filter(|&each| waits.is_set_by(facts, few, each)));
    let releases = ascending(facts.reaching_out().filter(|&each| {
        let releases = |instance: &Instance| {
            instance.is(Mode::Release) && instance.effects.writes_memory && may_be_global(facts, each)
        };
        facts.instance(each).is_some_and(releases)
    }));
    if flags.is_empty() && releases.is_empty() {
        return;
    }
    let orders = |&each: &u32| orders_blocks(facts, each) && !only_acquires(facts, each);
    let ordering = ascending(facts.reaching_out().filter(orders));
    let ordering_or_waiting = ascending(ordering.iter().copied().chain(polls.iter().map(|poll| poll.load)));
    let mut own = OwnMemory::new(facts);
    let stores = ascending(facts.reaching_out().filter(|&each| {
        is_weak(facts, each, true)
            && may_be_global(facts, each)
            && flags.binary_search(&each).is_err()
            && !own.has(each)
    }));
    // Copies of the thread that tells, which has waited for them.
    let told_copies = ascending(facts.reaching_out().filter(|&each| stores_in_bulk(facts, each)));
    // Who takes what others have stored gives room back with a plain flag: what it stores in between is for nobody who waits,
    // unless others read it here as well.
    let acquires = ascending(facts.reaching_out().filter(|&each| {
        let is_acquire = |instance: &Instance| {
            instance.is(Mode::Acquire) && instance.effects.reads_memory && names_global(instance)
        };
        facts.instance(each).is_some_and(is_acquire) || polls.iter().any(|poll| poll.load == each)
    }));
    let after_acquire = Reach::from(facts, Ends::Instructions(&acquires), &[]);
    // Libraries from before there were scopes read what a flag tells of as they ask for the flag.
    let is_volatile = |each: u32| {
        let is_load = |instance: &Instance| {
            instance.is(Mode::Volatile) && instance.effects.reads_memory && !instance.effects.atomic
        };
        facts.instance(each).is_some_and(is_load)
    };
    let read: FxHashSet<Register> = facts
        .reaching_out()
        .filter(|&each| is_weak(facts, each, false) || is_volatile(each))
        .filter(|&each| may_be_global(facts, each) && polls.iter().all(|poll| poll.load != each))
        .filter_map(|each| address_root(facts, each))
        .chain(facts.reaching_out().filter_map(|each| copied_root(facts, each)))
        .collect();
    let is_read = |store: u32| address_root(facts, store).is_some_and(|root| read.contains(&root));
    // Two who tell each other the same number do so of what lies at pointers of one table.
    let is_beside = |flag: u32, store: u32| {
        let table = |each: u32| table_of_pointers(facts, each).map(|(table, _)| table);
        waits.is_exchanged(flag) && table(flag).is_some() && table(flag) == table(store)
    };
    let is_for_others = |store: u32| after_acquire.at(store).is_none() || is_read(store);
    let all_flags = ascending(flags.iter().chain(&releases).copied());
    for flag in flags {
        if facts.instance(flag).is_some_and(is_narrow) {
            let reach = Reach::to(facts, Ends::Instructions(&[flag]), &[]);
            if let Some(&store) =
                stores.iter().rev().find(|store| **store < flag && reach.at(**store).is_some())
            {
                let message =
                    "this flag in global memory tells the own block alone of what was stored before";
                diagnostics.push(
                    RULE.at(context.instruction_span(flag), message)
                        .with_secondary(context.instruction_span(store), "stored here")
                        .with_help("a flag that another block looks at needs the scope `.gpu`, one of another device or the host `.sys`"),
                );
                return;
            }
            continue;
        }
        // Before it, and not only in another round of a loop that it is in.
        // A plain store is known to set a flag by its address alone.
        let is_known = facts
            .instance(flag)
            .is_some_and(|instance| instance.is(Mode::Relaxed) || instance.effects.atomic);
        // What is stored before threads wait for others is mostly what they know of these.
        let ordering = if is_known { &ordering } else { &ordering_or_waiting };
        let reach = Reach::to(facts, Ends::Instructions(&[flag]), ordering);
        // Those who wait for what is counted do so here, and read here what it tells of.
        let is_counted = facts.instance(flag).is_some_and(|instance| instance.effects.atomic);
        let before = |store: &&u32| {
            // Then what it tells of has to be read here by those who wait for it.
            let is_near = is_known || flag.saturating_sub(**store) < NEAR;
            let is_beside = is_beside(flag, **store);
            let is_told_of = is_known && !is_counted || is_read(**store) || is_beside;
            let is_for_others = is_for_others(**store) || is_beside;
            **store < flag
                && is_near
                && is_told_of
                && reach.at(**store).is_some()
                && is_for_others
                && !keeps_number_of(facts, **store, flag)
        };
        let is_told = |copy: &&u32| is_known && copies::tells_of(facts, waits, flag, **copy);
        let copies = told_copies.iter().rev().filter(before).filter(is_told);
        let found = copies.chain(stores.iter().rev().filter(before)).take(MAX_TRIED).copied();
        if let Some(store) = found.into_iter().find(|&store| {
            comes_to(context, facts, store, flag, ordering)
                && !is_fenced_as_needed(facts, ordering, store, flag)
        }) {
            let message = "this store tells others of what was stored before, and orders nothing";
            diagnostics.push(
                RULE.at(context.instruction_span(flag), message)
                    .with_secondary(context.instruction_span(store), "stored here")
                    .with_help("store the flag with `st.release`, or write `fence.acq_rel` before it"),
            );
            return;
        }
        // Who looks at it from another device is ordered by a fence of that scope alone.
        let is_of_system = |instruction: u32, mode: Mode| {
            facts.instance(instruction).is_some_and(|instance| instance.is(mode))
        };
        // Of a multicast object it is not known who waits for what.
        if !is_of_system(flag, Mode::SystemScope) || counts_in_multicast(facts, flag) {
            continue;
        }
        let is_narrower = |each: &u32| {
            is_of_system(*each, Mode::DeviceScope)
                && facts.instance(*each).is_some_and(|instance| instance.effects.event == Some(Event::Fence))
        };
        let narrower: Vec<u32> = ordering.iter().copied().filter(is_narrower).collect();
        if narrower.is_empty() {
            continue;
        }
        let wide: Vec<u32> = ordering.iter().copied().filter(|each| !is_narrower(each)).collect();
        let reach = Reach::to(facts, Ends::Instructions(&[flag]), &wide);
        let before = |store: &&u32| **store < flag && reach.at(**store).is_some() && is_for_others(**store);
        if let Some(&store) = stores.iter().rev().find(before) {
            let fence = narrower.iter().rev().find(|fence| **fence < flag && **fence > store);
            let Some(&fence) = fence else { continue };
            let message = "this flag is set for the whole system, and the fence before it orders stores for the device alone";
            diagnostics.push(
                RULE.at(context.instruction_span(flag), message)
                    .with_secondary(context.instruction_span(fence), "this fence")
                    .with_secondary(context.instruction_span(store), "stored here")
                    .with_help("write `fence.acq_rel.sys`, which is `__threadfence_system()`"),
            );
            return;
        }
    }
    let narrow = releases.iter().find(|&&flag| tells_devices_narrowly(facts, flag));
    let asks_devices =
        |poll: &Poll| facts.instance(poll.load).is_some_and(|instance| instance.is(Mode::SystemScope));
    if let Some(&flag) = narrow.filter(|_| polls.iter().any(asks_devices)) {
        let message =
            "this tells other devices, in a scope that ends with the own one, of what was stored before";
        diagnostics
            .push(RULE.at(context.instruction_span(flag), message).with_help("release it with `.sys`"));
        return;
    }
    if of_other_scopes(context, facts, polls, &all_flags, diagnostics) {
        return;
    }
    let stored: FxHashSet<Register> = stores.iter().filter_map(|&store| address_root(facts, store)).collect();
    let tables: FxHashSet<(Register, i64)> =
        stores.iter().filter_map(|&store| part_of_table(facts, store)).collect();
    let is_told = |load: u32| {
        address_root(facts, load).is_some_and(|root| stored.contains(&root))
            || part_of_table(facts, load).is_some_and(|part| tables.contains(&part))
    };
    let is_copied = |copy: u32| copied_root(facts, copy).is_some_and(|root| stored.contains(&root));
    let is_load = |each: u32| is_weak(facts, each, false) && may_be_global(facts, each) && is_told(each);
    let loads: Vec<u32> = facts.reaching_out().filter(|&each| is_load(each) || is_copied(each)).collect();
    // Who adds nothing only looks; a lock is for who takes it.
    let looks = |lock: &&Poll| {
        facts.instance(lock.load).is_some_and(|instance| instance.effects.updates == Some(Update::Add))
    };
    let asking: Vec<Poll> = polls.iter().chain(waits.locks.iter().filter(looks)).copied().collect();
    if !all_flags.is_empty()
        && let Some((poll, load)) = used_without_meeting(facts, few, &asking, &ascending(loads.into_iter()))
    {
        let message =
            "more threads read here than have waited for the flag, and nothing keeps them until it is seen";
        let finding = RULE
            .at(context.instruction_span(load), message)
            .with_secondary(context.instruction_span(poll), "few threads wait for the flag here")
            .with_help("let the threads meet between: `__syncthreads()`, which is `bar.sync 0`");
        diagnostics.push(at_meeting(context, finding, joins_after(facts, poll)));
        return;
    }
    // Who releases means what was stored before; else it has to be read here by those who wait.
    // Where those who count themselves wait for the others and read nothing of it after that, nothing is told.
    let is_atomic = |flag: u32| facts.instance(flag).is_some_and(|instance| instance.effects.atomic);
    let counts = all_flags.iter().copied().filter(|&flag| is_atomic(flag) && !polls.is_empty());
    // Found where it is asked for: few stores come so far.
    let later: FxHashMap<u32, OnceCell<FxHashSet<Register>>> =
        counts.take(MAX_RELAXED).map(|count| (count, OnceCell::new())).collect();
    // What the thread that tells has stored there itself right before is what others read of the array.
    let by_one: Vec<u32> = stores.iter().copied().filter(|&store| few.is_one(store)).collect();
    let is_of_another = |flag: u32, store: u32| {
        let root = address_root(facts, store);
        let mut between = by_one.iter().filter(|&&own| store < own && own < flag);
        between.any(|&own| address_root(facts, own) == root)
    };
    // Who counts itself without waiting for others tells the last one, which reads what it needs.
    let counts_of_all = || if polls.is_empty() { counts_of_done(facts) } else { &[] };
    let tells = |flag: u32, store: u32| {
        let is_read_later = || {
            later.get(&flag).is_none_or(|read| {
                let read = read.get_or_init(|| read_after_waiting(facts, polls, flag));
                address_root(facts, store).is_some_and(|root| read.contains(&root))
            })
        };
        releases.binary_search(&flag).is_ok() && (is_read(store) || !counts_of_all().contains(&flag))
            || is_beside(flag, store)
            || is_read(store) && is_read_later() && !is_of_another(flag, store)
    };
    let told =
        told_by_few(facts, few, &all_flags, &stores, tells, |store| is_of_one_place(context, facts, store));
    if let Some((flag, store)) = told {
        let message = "this tells others of what more threads have stored, which it has not met since";
        diagnostics.push(unmet(
            context,
            facts,
            (flag, store),
            message,
            "few threads go on from here to tell",
        ));
    }
}

/// Whether all threads of a block access the same place.
fn is_of_one_place(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, access: u32) -> bool {
    let Some((register, _)) = facts.address_in_register(access) else { return false };
    let graph = context.graph();
    let mut uses = facts.uses().range(access).filter(|&at| facts.uses().all()[at].register == register);
    let Some(address) = uses.find_map(|at| graph.read(at)) else { return false };
    Uniformity::new(facts, graph, Values::of_whole_warps(facts, graph)).is_uniform(address)
}

/// What the addresses of plain loads come of after the loops that wait and that a thread comes to when it has counted itself, or
/// after all loops that wait if it comes to none.
fn read_after_waiting(facts: &FunctionFacts<'_>, polls: &[Poll], count: u32) -> FxHashSet<Register> {
    let counted = Reach::from(facts, Ends::Instructions(&[count]), &[]);
    let comes_to = |poll: &&Poll| counted.at(poll.load).is_some();
    let mut waits = ascending(polls.iter().filter(comes_to).map(|poll| poll.end));
    if waits.is_empty() {
        waits = ascending(polls.iter().map(|poll| poll.end));
    }
    let after = Reach::from(facts, Ends::Instructions(&waits), &[]);
    let is_read = |&each: &u32| is_weak(facts, each, false) && after.at(each).is_some();
    facts.reaching_out().filter(is_read).filter_map(|each| address_root(facts, each)).collect()
}

/// Tells where a flag that is found in a table of pointers, as for each device one, is set for the whole system and waited for in
/// the scope of the device, or the other way round. Says whether anything was told.
fn of_other_scopes(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    polls: &[Poll],
    flags: &[u32],
    diagnostics: &mut Vec<Diagnostic>,
) -> bool {
    let has = |instruction: u32, mode: Mode| facts.instance(instruction).is_some_and(|each| each.is(mode));
    for poll in polls.iter().take(MAX_TABLES) {
        let is_of_device = has(poll.load, Mode::DeviceScope);
        if !is_of_device && !has(poll.load, Mode::SystemScope) {
            continue;
        }
        let Some(table) = table_of_pointers(facts, poll.load) else { continue };
        let is_there = |each: u32| table_of_pointers(facts, each) == Some(table);
        // The pointers are to objects, of which the loop waits for another kind.
        let is_object = |each: u32| {
            let is_atomic = facts.instance(each).is_some_and(|instance| instance.effects.atomic);
            is_atomic
                && is_there(each)
                && (is_kept_by_readers(facts, each, polls) || takes_a_number(facts, each, polls))
        };
        let other = if is_of_device { Mode::SystemScope } else { Mode::DeviceScope };
        let same: Vec<u32> = flags.iter().copied().filter(|&flag| is_there(flag)).take(MAX_TABLES).collect();
        let set = same.iter().copied().find(|&flag| has_same_distance(facts, flag, poll.load));
        let Some(set) = set.filter(|_| same.iter().all(|&flag| has(flag, other))) else { continue };
        if facts.reaching_out().any(is_object) {
            continue;
        }
        let (at, message, help) = if is_of_device {
            let message =
                "this loop waits in the scope of the device for a flag that is set for the whole system";
            (poll.load, message, "load the flag with `.sys`")
        } else {
            let message =
                "this flag is set in the scope of the device, and waited for as one of the whole system";
            (set, message, "store the flag with `.sys`")
        };
        let (label, text) =
            if is_of_device { (set, "the flag is set here") } else { (poll.load, "waited for here") };
        diagnostics.push(
            RULE.at(context.instruction_span(at), message)
                .with_secondary(context.instruction_span(label), text)
                .with_help(help),
        );
        return true;
    }
    false
}

fn ascending(instructions: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut all: Vec<u32> = instructions.collect();
    all.sort_unstable();
    all
}

/// Whether control comes from one instruction to another one without `stops`, by what the place of the first one tells.
fn comes_to(context: &FlowContext<'_>, facts: &FunctionFacts<'_>, from: u32, to: u32, stops: &[u32]) -> bool {
    let block = |instruction| facts.cfg.block_of(Handle::new(instruction));
    block(from) == block(to)
        || context.ask_conditions(|engine| Ahead::comes_to(engine, from, stops, to)).unwrap_or(true)
}

/// The first of some instructions that control comes to after a poll without one of `stops`, by what the poll's place tells.
fn first_reached(context: &FlowContext<'_>, poll: &Poll, stops: &[u32], wanted: &[u32]) -> Option<u32> {
    if wanted.is_empty() {
        return None;
    }
    let reach = Reach::from(context.facts()?, Ends::Instructions(&[poll.end]), stops);
    let mut paths = wanted.iter().copied().filter(|&each| each > poll.end && reach.at(each).is_some());
    let first = paths.next()?;
    context.ask_conditions(|engine| {
        let ahead = Ahead::new(engine, poll.end, stops);
        std::iter::once(first).chain(paths).find(|&each| ahead.reaches(each))
    })?
}
