use petgraph::graph::NodeIndex;
use ptx_facts::FunctionFacts;
use ptx_facts::asynchronous::{
    Poll, address_root, counts_of_done, has_same_distance, is_weak, may_be_global, polled_root,
    stores_in_bulk,
};
use ptx_facts::memory::Access;
use ptx_facts::reach::{Ends, Reach};
use ptx_facts::values::ValueId;
use ptx_ir::ir::{Handle, Register};
use ptx_ir::isa::{Event, Mode};
use ptx_syntax::Diagnostic;
use rustc_hash::FxHashMap;
use std::cell::OnceCell;

use crate::rule::declare_rule;
use crate::subject::function::FlowContext;
use crate::subject::module::Features;

declare_rule! {
    /// ## What it does
    /// Reports `ld.global.nc` of what the same thread has written before, behind the same register, and of what the threads of
    /// the block have written before they met at a barrier, by the same parameter, or before a loop that waits for other blocks. Also
    /// of what the kernel tells others of with a flag, after a loop that waits for the flag.
    ///
    /// ## Why is this bad
    /// With `.nc`, the load may take what lies in the cache for data that nobody writes while the kernel runs. It may give
    /// what was there before the store. PTX ISA manual, section "ld.global.nc".
    ///
    /// ## Example
    /// ```ptx
    /// st.global.u32 [%rd1], %r1;
    /// ld.global.nc.u32 %r2, [%rd1];
    /// ```
    ///
    /// ## Use instead
    /// ```ptx
    /// st.global.u32 [%rd1], %r1;
    /// ld.global.u32 %r2, [%rd1];
    /// ```
    ///
    /// ## What it may miss
    /// Addresses that are computed in other instructions, and stores under guards or on some paths only, where no barrier is
    /// between the two; what other blocks write and tell nobody of.
    name: "read-only-load-of-written",
    code: "P0707",
    former: [],
    class: Hazard,
    level: Warn,
    summary: "`ld.global.nc` of what the thread has written",
    check: Flow(check),
}

fn check(context: &FlowContext<'_>, diagnostics: &mut Vec<Diagnostic>) {
    let Some(facts) = context.facts() else { return };
    if !context.module.features().has(Features::READ_ONLY_LOADS) {
        return;
    }
    let is_read_only = |access: &&Access| {
        facts
            .instance(access.instruction)
            .is_some_and(|instance| access.reads && instance.is_read_only_load())
    };
    // The first store behind each register; the others are behind it or on other paths.
    let mut stores: FxHashMap<ValueId, Vec<&Access>> = FxHashMap::default();
    for store in context.accesses().iter().filter(|access| access.writes) {
        if let Some(base) = store.base.filter(|_| !facts.is_guarded(store.instruction)) {
            stores.entry(base).or_default().push(store);
        }
    }
    let mut met = None;
    for load in context.accesses().iter().filter(is_read_only) {
        let behind = load.base.and_then(|base| stores.get(&base)).map_or(&[][..], Vec::as_slice);
        let before = behind
            .iter()
            .take(MAX_STORES)
            .find(|store| overlap(store, load) && comes_before(facts, store.instruction, load.instruction));
        let before = match before {
            Some(before) => Some(before.span),
            None => {
                let met = met.get_or_insert_with(|| Met::new(facts, context.polls()));
                let before = met.written_before(load.instruction);
                before
                    .or_else(|| met.written_by_others(load.instruction))
                    .map(|store| context.instruction_span(store))
            }
        };
        let Some(before) = before.filter(|_| context.can_come(load.instruction)) else { continue };
        let finding =
            RULE.at(load.span, "this takes what lies here for read-only, but it was written before");
        diagnostics.push(finding.with_secondary(before, "written here").with_help("load it without `.nc`"));
    }
}

/// What the threads of a block have stored before they met.
struct Met<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    /// The barriers of the block, ascending.
    meetings: Vec<u32>,
    /// Of blocks that were asked about, the last barrier in another block that all paths there lead through.
    above: FxHashMap<NodeIndex, Option<u32>>,
    /// The stores to global memory, by the register that their addresses come of, once anything asks for them.
    stores: OnceCell<FxHashMap<Register, Vec<u32>>>,
    /// The loops that wait for other blocks.
    polls: &'f [Poll],
    /// The atomic operations whose result tells how many have come before, once anything asks for them.
    counts: OnceCell<Vec<u32>>,
    /// From where a path leads to each barrier that was asked about.
    reaches: FxHashMap<u32, Reach<'f, 'm>>,
}

impl<'f, 'm> Met<'f, 'm> {
    fn new(facts: &'f FunctionFacts<'m>, polls: &'f [Poll]) -> Self {
        let is_meeting = |&each: &u32| {
            facts.instance(each).is_some_and(|instance| instance.effects.event == Some(Event::BarrierSync))
        };
        let mut meetings: Vec<u32> = facts.reaching_out().filter(is_meeting).take(MAX_MEETINGS).collect();
        meetings.sort_unstable();
        let (stores, above, reaches) = (OnceCell::new(), FxHashMap::default(), FxHashMap::default());
        Self { facts, meetings, above, stores, polls, counts: OnceCell::new(), reaches }
    }

    /// The last barrier by the order of the text that every path to an instruction leads past.
    fn last_meeting(&mut self, instruction: u32) -> Option<u32> {
        let (cfg, meetings) = (&self.facts.cfg, &self.meetings);
        if meetings.is_empty() {
            return None;
        }
        let block_of = |instruction: u32| cfg.block_of(Handle::new(instruction));
        let block = block_of(instruction);
        let before = &meetings[..meetings.partition_point(|&each| each < instruction)];
        let own = before.last().copied().filter(|&each| block_of(each) == block);
        let above = *self.above.entry(block).or_insert_with(|| {
            let is_above = |other: NodeIndex| other != block && cfg.dominates(other, block);
            meetings.iter().rev().copied().find(|&each| is_above(block_of(each)))
        });
        own.max(above)
    }

    /// The stores by the same parameter as a load.
    fn stores_like(&self, load: u32) -> Option<&[u32]> {
        let facts = self.facts;
        let stores = self.stores.get_or_init(|| {
            let mut stores: FxHashMap<Register, Vec<u32>> = FxHashMap::default();
            let is_sum = |each: u32| {
                facts.instance(each).is_some_and(|instance| instance.effects.atomic)
                    && !facts.is_result_read(each)
            };
            let is_store =
                |each: u32| (is_weak(facts, each, true) || is_sum(each)) && may_be_global(facts, each);
            for store in facts.reaching_out().filter(|&each| is_store(each) || stores_in_bulk(facts, each)) {
                // A loop over what is stored moves on from an address that was computed before it.
                let (near, far) = (address_root(facts, store), polled_root(facts, store));
                for root in near.into_iter().chain(far.filter(|_| far != near)) {
                    stores.entry(root).or_default().push(store);
                }
            }
            stores
        });
        if stores.is_empty() {
            return None;
        }
        let by = |root: Option<Register>| stores.get(&root?).map(Vec::as_slice);
        by(address_root(facts, load)).or_else(|| by(polled_root(facts, load)))
    }

    /// A store by the same parameter as a load, where a barrier of the block is between the two.
    fn written_before(&mut self, load: u32) -> Option<u32> {
        let facts = self.facts;
        // Before the last one lies what lies before the others.
        let meeting = self.last_meeting(load)?;
        let stores: Vec<u32> = self.stores_like(load)?.iter().copied().take(MAX_STORES).collect();
        let reach = self
            .reaches
            .entry(meeting)
            .or_insert_with(|| Reach::to(facts, Ends::Instructions(&[meeting]), &[]));
        stores.into_iter().find(|&store| store < meeting && reach.at(store).is_some())
    }
}

impl Met<'_, '_> {
    /// A store by the same parameter as a load, where other blocks are waited for between the two.
    fn written_by_others(&self, load: u32) -> Option<u32> {
        let facts = self.facts;
        let count = self.last_count(load);
        if self.polls.is_empty() && count.is_none() {
            return None;
        }
        let stores = self.stores_like(load)?;
        let published = self.published(load, stores);
        if published.is_some() {
            return published;
        }
        let stored_before = |at: u32| {
            let before = Reach::to(facts, Ends::Instructions(&[at]), &[]);
            stores.iter().copied().take(MAX_STORES).find(|&store| before.at(store).is_some())
        };
        let waited = self.polls.iter().take(MAX_POLLS).find_map(|poll| {
            let after = Reach::from(facts, Ends::Instructions(&[poll.end]), &[]);
            after.at(load)?;
            stored_before(poll.load)
        });
        // The last one that is done reads what all have stored.
        waited.or_else(|| stored_before(count?))
    }

    /// The last atomic operation by which those who come to a load have been counted, in a kernel with a fence, or by one that orders
    /// itself.
    fn last_count(&self, load: u32) -> Option<u32> {
        let facts = self.facts;
        let event = |each: u32| facts.instance(each).and_then(|instance| instance.effects.event);
        let counts = self.counts.get_or_init(|| {
            let is_count = |&each: &u32| {
                facts.instance(each).is_some_and(|instance| instance.effects.atomic)
                    && may_be_global(facts, each)
                    && facts.is_result_read(each)
            };
            let is_fenced = facts.reaching_out().any(|each| event(each) == Some(Event::Fence));
            let orders = |&each: &u32| {
                let modes = [Mode::Acquire, Mode::Release];
                is_fenced || modes.into_iter().any(|mode| facts.instance(each).is_some_and(|of| of.is(mode)))
            };
            facts.reaching_out().filter(is_count).filter(orders).take(MAX_COUNTS).collect()
        });
        // One thread counts its block, and all of the block go on as it says.
        let goes_on = |count: &u32| Reach::from(facts, Ends::Instructions(&[*count]), &[]).at(load).is_some();
        counts
            .iter()
            .copied()
            .filter(|&count| comes_before(facts, count, load))
            .max()
            .or_else(|| counts_of_done(facts).iter().copied().take(MAX_POLLS).find(goes_on))
    }

    /// Of some stores by the same parameter as a load, one that the kernel sets a flag after which is waited for before the load.
    fn published(&self, load: u32, stores: &[u32]) -> Option<u32> {
        let facts = self.facts;
        self.polls.iter().take(MAX_POLLS).find_map(|poll| {
            Reach::from(facts, Ends::Instructions(&[poll.end]), &[]).at(load)?;
            let root = polled_root(facts, poll.load)?;
            let sets = |&each: &u32| {
                facts.instance(each).is_some_and(|instance| instance.effects.writes_memory)
                    && each != poll.load
                    && !stores.contains(&each)
                    && address_root(facts, each) == Some(root)
            };
            let flags: Vec<u32> = facts.reaching_out().filter(sets).take(MAX_STORES).collect();
            let before = Reach::to(facts, Ends::Instructions(&flags), &[]);
            let is_told = |store: &u32| before.at(*store).is_some() && has_same_distance(facts, *store, load);
            stores.iter().copied().take(MAX_STORES).find(is_told)
        })
    }
}

/// Loops of one function that are looked at.
const MAX_POLLS: usize = 8;
/// Atomic operations of one function that are looked at.
const MAX_COUNTS: usize = 16;
/// Barriers of one function that are looked at.
const MAX_MEETINGS: usize = 64;
/// Stores behind one register that are compared with a load.
const MAX_STORES: usize = 32;

fn overlap(one: &Access, other: &Access) -> bool {
    let end = |access: &Access| access.distance.saturating_add(i64::from(access.bytes));
    one.distance < end(other) && other.distance < end(one)
}

/// Whether every path to an instruction leads past another one.
fn comes_before(facts: &FunctionFacts<'_>, first: u32, then: u32) -> bool {
    let (one, other) = (facts.cfg.block_of(Handle::new(first)), facts.cfg.block_of(Handle::new(then)));
    if one == other { first < then } else { facts.cfg.dominates(one, other) }
}
