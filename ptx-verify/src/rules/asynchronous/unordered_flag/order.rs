//! What is done on the wrong side of a flag, and flags in a scope or with an access that those who wait for them do not see.

use petgraph::graph::NodeIndex;
use ptx_facts::FunctionFacts;
use ptx_facts::ahead::{self, Ahead};
use ptx_facts::asynchronous::{
    FewThreads, Poll, Round, address_root, counts_blocks, counts_of_done, distance_from_root, is_weak,
    may_be_global, meetings, orders_blocks, parts_before,
};
use ptx_facts::reach::{Ends, Reach};
use ptx_ir::ir::{Handle, Register};
use ptx_ir::isa::{Control, Event, Instance, Mode, Update};
use ptx_syntax::Diagnostic;
use rustc_hash::{FxHashMap, FxHashSet};

use super::waits::{Waits, is_narrow, stores_nought};
use super::{RULE, ascending, comes_to, first_reached};
use crate::subject::function::FlowContext;

/// Flags of one function that are looked at, and accesses for each.
const MAX_FLAGS: usize = 16;
const MAX_ACCESSES: usize = 64;

/// Where an access is: the register that its address comes of, and how far from there.
type Place = (Register, Option<i64>);

/// An access of global memory by a plain instruction.
#[derive(Clone, Copy)]
struct Plain {
    at: u32,
    place: Place,
}

/// The first thing that is wrong with the order of a flag and what it tells of.
pub(super) fn finding(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    few: &mut FewThreads<'_, '_>,
    waits: &Waits<'_>,
    locks: &[Poll],
) -> Option<Diagnostic> {
    let setters = setters(facts, few, waits);
    if setters.is_empty() {
        return None;
    }
    if let Some(found) = unseen_by_those_who_wait(context, facts, waits) {
        return Some(found);
    }
    let loads = plain(facts, false);
    let stores = plain(facts, true);
    let order = Order { facts, waits, setters, loads, stores, asked: asked(waits.polls, locks) };
    if let Some((poll, load)) = order.unacquired(context, few, locks) {
        let (message, help) = match locks.iter().any(|lock| lock.load == poll) {
            true => (
                "this takes what others have given back and acquires nothing: what is loaded after it may be older",
                "take it with `.acquire`, or write `__threadfence()`, which is `fence.acq_rel.gpu`, after the loop",
            ),
            false => (
                "this loop sees the flag and acquires nothing: what is loaded after it may be older",
                "load the flag with `ld.acquire`, or write `__threadfence()`, which is `fence.acq_rel.gpu`, after the loop",
            ),
        };
        return Some(
            RULE.at(context.instruction_span(poll), message)
                .with_secondary(context.instruction_span(load), "loaded here")
                .with_help(help),
        );
    }
    if let Some((lock, used, end)) = order.never_given_back(context, locks) {
        let message = "this takes a lock, and control goes on from here without giving it back";
        let finding = RULE
            .at(context.instruction_span(lock), message)
            .with_secondary(context.instruction_span(end), "control comes here with the lock")
            .with_help("give it back on each way that goes on");
        return Some(match used {
            Some(used) => finding.with_secondary(context.instruction_span(used), "last used here"),
            None => finding,
        });
    }
    let words = waits.polls.iter().filter(|poll| waits.has_data(facts, poll)).map(|poll| poll.load);
    let word = |at: u32| Some(Plain { at, place: (address_root(facts, at)?, distance_from_root(facts, at)) });
    let read: Vec<Plain> = order.loads.iter().copied().chain(words.filter_map(word)).collect();
    if let Some((flag, load)) = order.given_back_unread(few, &read) {
        let message = "this gives back what more threads have read, which it has not met since";
        let finding = RULE
            .at(context.instruction_span(flag), message)
            .with_secondary(context.instruction_span(load), "read here")
            .with_help("let the threads meet before: `__syncthreads()`, which is `bar.sync 0`");
        return Some(match parts_before(facts, flag) {
            Some(branch) => finding.with_secondary(
                context.instruction_span(branch),
                "few threads go on from here to give it back",
            ),
            None => finding,
        });
    }
    if let Some((set, asked, is_set_wide)) = waits.in_other_scopes(facts) {
        let (at, label) = if is_set_wide { (asked, set) } else { (set, asked) };
        let message = match is_set_wide {
            true => {
                "this loop waits in the scope of the device for what others tell this one as it tells them, for the whole system"
            }
            false => {
                "this tells others in the scope of the device what they tell this one for the whole system"
            }
        };
        return Some(
            RULE.at(context.instruction_span(at), message)
                .with_secondary(context.instruction_span(label), "the other side")
                .with_help("both need the scope `.sys`"),
        );
    }
    order
        .stored_after_flag(few)
        .map(|(flag, store)| {
            let message = "this is stored after the flag that tells others of it";
            RULE.at(context.instruction_span(store), message)
                .with_secondary(context.instruction_span(flag), "the flag is set here")
                .with_help("store what the flag tells of before it")
        })
        .or_else(|| {
            let (flag, load) = order.read_after_given_back()?;
            let message = "this is read after others have been told that its place is free";
            Some(
                RULE.at(context.instruction_span(load), message)
                    .with_secondary(context.instruction_span(flag), "the place is given back here")
                    .with_help("read before the flag is set"),
            )
        })
}

/// A flag that is set in the scope of the block, or a word with a flag and data that is stored by a plain store, where loops of other
/// blocks wait for it.
fn unseen_by_those_who_wait(
    context: &FlowContext<'_>,
    facts: &FunctionFacts<'_>,
    waits: &Waits<'_>,
) -> Option<Diagnostic> {
    let is_wide = |load: u32| {
        facts.instance(load).is_some_and(|instance| {
            let modes = [Mode::Relaxed, Mode::Acquire, Mode::Volatile];
            modes.into_iter().any(|mode| instance.is(mode)) && !instance.is(Mode::BlockScope)
        })
    };
    facts.reaching_out().find_map(|each| {
        let instance = facts.instance(each)?;
        let is_set = instance.effects.writes_memory && instance.effects.asynchronous.is_none();
        if !is_set || !may_be_global(facts, each) {
            return None;
        }
        let is_of_block = is_narrow(instance) || instance.effects.atomic && instance.is(Mode::BlockScope);
        let is_plain = is_weak(facts, each, true) && !stores_nought(facts, each);
        if !is_of_block && !is_plain {
            return None;
        }
        // What is set in the scope of the block may be waited for by a volatile load; data is stored beside that by plain stores.
        let asks = |load: u32| {
            is_wide(load)
                && (is_of_block || facts.instance(load).is_some_and(|poll| !poll.is(Mode::Volatile)))
        };
        if is_of_block && instance.effects.atomic && counts_blocks(facts, each) {
            let message = "this counts the blocks that are done, in the scope of the own block only";
            return Some(
                RULE.at(context.instruction_span(each), message).with_help("count with the scope `.gpu`"),
            );
        }
        let asked: Vec<u32> = waits.at(facts, each).into_iter().filter(|load| asks(*load)).collect();
        let load = *asked.first()?;
        if is_of_block {
            let message = "this flag in global memory is set for the own block alone, and waited for in a wider scope";
            return Some(
                RULE.at(context.instruction_span(each), message)
                    .with_secondary(context.instruction_span(load), "waited for here")
                    .with_help("a flag that another block looks at needs the scope `.gpu`, one of another device or the host `.sys`"),
            );
        }
        // What is asked for is all that comes with the flag.
        if !waits.polls.iter().any(|poll| poll.load == load && waits.has_data(facts, poll)) {
            return None;
        }
        let message = "others wait for this word with its data, and a plain store need not be seen, nor as a whole";
        Some(
            RULE.at(context.instruction_span(each), message)
                .with_secondary(context.instruction_span(load), "waited for here")
                .with_help("store it with `st.relaxed` in the scope of both threads"),
        )
    })
}

/// The loads of all loops that wait, ascending.
fn asked(polls: &[Poll], locks: &[Poll]) -> Vec<u32> {
    ascending(polls.iter().chain(locks).map(|each| each.load))
}

/// The instructions that set what loops of the function wait for, and those that count who is done.
fn setters(facts: &FunctionFacts<'_>, few: &mut FewThreads<'_, '_>, waits: &Waits<'_>) -> Vec<u32> {
    let sets = |each: &u32| {
        let writes =
            |instance: &Instance| instance.effects.writes_memory && instance.effects.asynchronous.is_none();
        facts.instance(*each).is_some_and(writes)
            && may_be_global(facts, *each)
            && (!waits.at(facts, *each).is_empty() || waits.exchanged_with(*each).is_some())
    };
    let found: Vec<u32> = facts.reaching_out().filter(sets).collect();
    let plain_by_all = |each: u32, few: &mut FewThreads<'_, '_>| {
        is_weak(facts, each, true) && (stores_nought(facts, each) || !few.come_to(each))
    };
    let mut found: Vec<u32> = found.into_iter().filter(|&each| !plain_by_all(each, few)).collect();
    found.extend(counts_of_done(facts).iter().copied().filter(|&count| few.is_one(count)));
    let mut found = ascending(found.into_iter());
    found.dedup();
    found.truncate(MAX_FLAGS);
    found
}

fn plain(facts: &FunctionFacts<'_>, stores: bool) -> Vec<Plain> {
    let is_such = |each: &u32| is_weak(facts, *each, stores) && may_be_global(facts, *each);
    let place = |each: u32| Some((address_root(facts, each)?, distance_from_root(facts, each)));
    let all = ascending(facts.reaching_out().filter(is_such));
    all.into_iter().filter_map(|at| Some(Plain { at, place: place(at)? })).collect()
}

/// The accesses around the flags of a function.
struct Order<'a, 'm> {
    facts: &'a FunctionFacts<'m>,
    waits: &'a Waits<'a>,
    setters: Vec<u32>,
    loads: Vec<Plain>,
    stores: Vec<Plain>,
    /// The loads of loops that wait, ascending.
    asked: Vec<u32>,
}

impl Order<'_, '_> {
    /// A loop that waits for a lock with an atomic operation that acquires nothing, or for a flag with a volatile load where who sets it
    /// writes a fence, and a plain load after it of what others store.
    fn unacquired(
        &self,
        context: &FlowContext<'_>,
        few: &mut FewThreads<'_, '_>,
        locks: &[Poll],
    ) -> Option<(u32, u32)> {
        let facts = self.facts;
        let polls = self.waits.polls.iter().chain(locks).filter(|poll| {
            let is_weaker = |instance: &Instance| {
                instance.is(Mode::Volatile) || instance.effects.atomic && !instance.is(Mode::Acquire)
            };
            !poll.is_fenced && facts.instance(poll.load).is_some_and(is_weaker)
        });
        let polls: Vec<&Poll> = polls.take(MAX_FLAGS).collect();
        if polls.is_empty() {
            return None;
        }
        let ordering = ascending(facts.reaching_out().filter(|&each| orders_blocks(facts, each)));
        let meeting = ascending(ordering.iter().copied().chain(meetings(facts)));
        let is_fence = |each: &&u32| {
            facts.instance(**each).is_some_and(|instance| instance.effects.event == Some(Event::Fence))
        };
        let fences: Vec<Round<'_, '_>> = ordering
            .iter()
            .filter(is_fence)
            .take(MAX_FLAGS)
            .map(|&fence| Round::from(facts, fence, &self.asked))
            .collect();
        let is_cached = |load: u32| {
            facts
                .instance(load)
                .is_some_and(|instance| !instance.is(Mode::Coherent) && !instance.is_read_only_load())
        };
        // Few stores are to places that are loaded as well, and several loops ask about the same ones.
        let loaded: FxHashSet<Place> =
            self.loads.iter().filter(|load| is_cached(load.at)).map(|load| load.place).collect();
        // Of a block it counts only whether the threads meet in the rest of it.
        let meets_after = |store: u32| {
            let mut rest = store + 1..facts.cfg.instructions(facts.cfg.block_of(Handle::new(store))).end;
            rest.any(|each| ahead::meets(facts, each))
        };
        let mut known: FxHashMap<(NodeIndex, bool, u32), bool> = FxHashMap::default();
        polls.into_iter().find_map(|poll| {
            let sets = |&&each: &&u32| {
                self.waits.at(facts, each).contains(&poll.load)
                    || self.waits.exchanged_with(each).is_some_and(|asked| asked == poll.load)
            };
            let is_lock = facts.instance(poll.load).is_some_and(|instance| instance.effects.atomic);
            let is_release = |set: &&u32| is_lock || fences.iter().any(|fence| fence.reaches(**set));
            let set: Vec<u32> = self.setters.iter().filter(sets).filter(is_release).copied().collect();
            if set.is_empty() {
                return None;
            }
            let block = |each: u32| facts.cfg.block_of(Handle::new(each));
            let is_one = few.is_for_all(poll.load);
            let mut is_after = |load: u32| {
                facts.cfg.dominates(block(poll.load), block(load)) || is_one && !few.come_to(load)
            };
            let told = Reach::to(facts, Ends::Instructions(&set), &[]);
            let mut tells = |store: u32, set: u32| {
                let block = facts.cfg.block_of(Handle::new(store));
                let asked = || comes_to(context, facts, store, set, &[]);
                match facts.cfg.block_of(Handle::new(set)) == block {
                    true => asked(),
                    false => *known.entry((block, meets_after(store), set)).or_insert_with(asked),
                }
            };
            let is_told = |store: &&Plain| {
                loaded.contains(&store.place)
                    && told.at(store.at).is_some()
                    && set.iter().any(|&set| tells(store.at, set))
            };
            let stored: FxHashSet<Place> =
                self.stores.iter().take(MAX_ACCESSES).filter(is_told).map(|store| store.place).collect();
            let loads = self.loads.iter().filter(|load| stored.contains(&load.place) && is_cached(load.at));
            let loads: Vec<u32> = loads.map(|load| load.at).filter(|&load| is_after(load)).collect();
            // A load that the text has before a loop that waits is of the next round.
            // After a barrier libraries load so since before there were scopes.
            let stops = if is_lock { &ordering } else { &meeting };
            let ordering: Vec<u32> = stops.iter().copied().filter(|each| *each != poll.load).collect();
            let reach = Reach::from(facts, Ends::Instructions(&[poll.load]), &ordering);
            let of_next_round = || {
                let mut before = loads.iter().copied();
                before.find(|&load| is_lock && is_one && load < poll.first && reach.at(load).is_some())
            };
            // An atomic operation asks again before the loop goes on.
            let asked = Poll { end: poll.load, ..*poll };
            let load = first_reached(context, &asked, &ordering, &loads).or_else(of_next_round)?;
            Some((poll.load, load))
        })
    }

    /// A loop that takes a lock, from which control comes to take it once more, or to the end, without having given it back.
    fn never_given_back(&self, context: &FlowContext<'_>, locks: &[Poll]) -> Option<(u32, Option<u32>, u32)> {
        let facts = self.facts;
        let takes = |poll: &&Poll| {
            facts.instance(poll.load).is_some_and(|instance| {
                instance.effects.atomic && instance.effects.updates != Some(Update::Add)
            })
        };
        let locks: Vec<&Poll> = locks.iter().filter(takes).take(MAX_FLAGS).collect();
        locks.iter().find_map(|lock| {
            let gives = |&each: &u32| self.waits.at(facts, each).contains(&lock.load);
            let given: Vec<u32> = self.setters.iter().copied().filter(gives).collect();
            let same =
                |other: &&&Poll| given.iter().any(|&set| self.waits.at(facts, set).contains(&other.load));
            // Somebody who takes it gives it back.
            let is_given = locks.iter().filter(same).any(|other| {
                let round = Round::from(facts, other.load, &[]);
                given.iter().any(|&set| round.reaches(set))
            });
            if !is_given {
                return None;
            }
            // Whom it meets may give it back.
            let stops = ascending(given.iter().copied().chain(meetings(facts)));
            let mut ends: Vec<u32> = locks.iter().filter(same).map(|other| other.load).collect();
            let exits = (0..facts.body.instructions.len() as u32).filter(|&each| {
                matches!(facts.control(each), Control::Return | Control::Exit) && !facts.is_guarded(each)
            });
            ends.extend(exits);
            ends.retain(|&end| !(lock.first..=lock.end).contains(&end));
            let reach = Reach::from(facts, Ends::Instructions(&[lock.end]), &stops);
            let end = ends.into_iter().find(|&end| {
                reach.at(end).is_some()
                    && context
                        .ask_conditions(|engine| {
                            Ahead::towards(engine, lock.end, &stops, lock.load).reaches(end)
                        })
                        .unwrap_or(true)
            })?;
            // What it keeps apart lies beside it.
            let root = address_root(facts, lock.load);
            let mut used = self.loads.iter().chain(&self.stores).filter(|each| {
                Some(each.place.0) == root && (lock.end..end.max(lock.end)).contains(&each.at)
            });
            let used = used.by_ref().map(|each| each.at).filter(|&each| reach.at(each).is_some()).max();
            Some((lock.load, used, end))
        })
    }

    /// A flag of one thread that gives a place back, and a load by more threads of its block from there before it, which it has not met
    /// since: others wait for the flag before they store there.
    fn given_back_unread(&self, few: &mut FewThreads<'_, '_>, read: &[Plain]) -> Option<(u32, u32)> {
        let facts = self.facts;
        let meetings = meetings(facts);
        self.setters.iter().copied().find_map(|flag| {
            if !few.is_one(flag) {
                return None;
            }
            let ends = self.waits.at(facts, flag);
            let rounds: Vec<Round<'_, '_>> =
                ends.iter().take(MAX_FLAGS).map(|&end| Round::from(facts, end, &[])).collect();
            if rounds.is_empty() {
                return None;
            }
            let before = Reach::to(facts, Ends::Instructions(&[flag]), &meetings);
            let written = self.written();
            let is_stored = |place: Place| {
                let mut stores = written.iter().filter(|store| store.place == place);
                stores.any(|store| rounds.iter().any(|round| round.reaches(store.at)))
            };
            // Who has stored there itself right before tells of that.
            let own: Vec<Plain> = written
                .iter()
                .copied()
                .filter(|store| store.at < flag && before.at(store.at).is_some() && few.is_one(store.at))
                .collect();
            let is_told =
                |load: &Plain| own.iter().any(|store| load.at < store.at && store.place.0 == load.place.0);
            let mut unread =
                read.iter().filter(|load| load.at < flag && before.at(load.at).is_some() && !is_told(load));
            let load = unread.find(|load| !few.come_to(load.at) && is_stored(load.place))?;
            Some((flag, load.at))
        })
    }

    /// What is stored by plain stores, and by others that set no flag.
    fn written(&self) -> Vec<Plain> {
        let facts = self.facts;
        let is_strong = |each: &u32| {
            facts.instance(*each).is_some_and(|instance| {
                let effects = &instance.effects;
                let is_store = effects.writes_memory && !effects.atomic && effects.asynchronous.is_none();
                is_store && [Mode::Relaxed, Mode::Volatile].into_iter().any(|mode| instance.is(mode))
            }) && may_be_global(facts, *each)
        };
        let place =
            |at: u32| Some(Plain { at, place: (address_root(facts, at)?, distance_from_root(facts, at)) });
        let strong = facts.reaching_out().filter(is_strong).filter_map(place);
        self.stores.iter().copied().chain(strong).collect()
    }

    /// A flag, and a store in the next steps of what those read who have seen the flag, which is stored nowhere before it.
    fn stored_after_flag(&self, few: &mut FewThreads<'_, '_>) -> Option<(u32, u32)> {
        let facts = self.facts;
        self.setters.iter().copied().find_map(|flag| {
            let told = self.read_when_seen(flag);
            if told.is_empty() {
                return None;
            }
            let is_one = few.is_one(flag);
            let after = Round::from(facts, flag, &self.asked);
            let before = Reach::to(facts, Ends::Instructions(&[flag]), &self.asked);
            let is_late = |store: &&Plain| {
                let is_next = after.is_straight_to(store.at) || !is_one && after.reaches(store.at);
                is_next && told.contains(&store.place)
            };
            let store = self.stores.iter().take(MAX_ACCESSES).find(is_late)?;
            let is_straight = after.is_straight_to(store.at);
            let is_told = |each: &Plain| {
                let is_other = each.at != store.at || !is_straight;
                each.place == store.place && is_other && before.at(each.at).is_some()
            };
            let later = Round::from(facts, store.at, &self.asked);
            let is_told_later = || {
                self.setters.iter().any(|&each| match is_straight {
                    true => later.is_straight_to(each),
                    false => later.reaches(each),
                })
            };
            (!self.stores.iter().any(is_told) && !is_told_later()).then_some((flag, store.at))
        })
    }

    /// The places that are loaded from after a loop that waits for a flag, or after what counts who is done.
    fn read_when_seen(&self, flag: u32) -> FxHashSet<Place> {
        let facts = self.facts;
        let mut ends: Vec<u32> = self.waits.at(facts, flag);
        if ends.is_empty() {
            ends.push(flag);
        }
        let after = Reach::from(facts, Ends::Instructions(&ascending(ends.into_iter())), &[]);
        self.loads.iter().filter(|load| after.at(load.at).is_some()).map(|load| load.place).collect()
    }

    /// A flag that gives a place back, and a load from there after it: others wait for the flag before they store there.
    fn read_after_given_back(&self) -> Option<(u32, u32)> {
        let facts = self.facts;
        self.setters.iter().copied().find_map(|flag| {
            let ends = self.waits.at(facts, flag);
            let rounds: Vec<Round<'_, '_>> =
                ends.iter().take(MAX_FLAGS).map(|&end| Round::from(facts, end, &[])).collect();
            let own: Vec<&Round<'_, '_>> = rounds.iter().filter(|round| round.reaches(flag)).collect();
            if own.is_empty() {
                return None;
            }
            let after = Round::from(facts, flag, &self.asked);
            let before = Reach::to(facts, Ends::Instructions(&[flag]), &self.asked);
            let is_stored_by_others = |place: Place| {
                let is_such = |store: &&Plain| store.place == place;
                let mut stores = self.stores.iter().filter(is_such).peekable();
                stores.peek().is_some()
                    && stores.all(|store| {
                        before.at(store.at).is_none()
                            && !after.reaches(store.at)
                            && rounds.iter().any(|round| round.reaches(store.at))
                    })
            };
            let is_read_before = |place: Place| {
                let is_such = |load: &&Plain| load.place == place;
                self.loads.iter().filter(is_such).any(|load| before.at(load.at).is_some())
            };
            let is_late = |load: &&Plain| {
                after.reaches(load.at) && is_stored_by_others(load.place) && !is_read_before(load.place)
            };
            Some((flag, self.loads.iter().take(MAX_ACCESSES).find(is_late)?.at))
        })
    }
}
