//! What happens to `mbarrier` objects: arrivals, expected bytes, phases that end, and tests of them.

use super::clock::Clock;
use super::fault::{Fault, FaultKind, Part, TOO_MANY_AT_ONCE};
use super::machine::{Delivery, Machine, RUN_AHEAD, State};
use super::object::{Object, REMEMBERED, Want};
use super::program::{Action, GENERIC, MAPPED, MAX_SHARED, RANK, Source};
use super::rooms::Shared;
use super::shadow::Completion;
use super::sizes::MAX_COPIES;
use super::value::{Value, lanes};
use ptx_ir::isa::{Computation, Event};

/// Moves between where a number is computed and where it is used.
const MAX_MOVES: usize = 4;
/// What the tokens that arrivals return begin with, above the number of their phase.
const TOKEN: u64 = 0x7073_0000_0000_0000;

impl Machine<'_> {
    /// The block and the place in its shared memory that an address of a warp names.
    pub(super) fn resolve(&self, warp: usize, address: u64) -> Option<(usize, u64)> {
        let address = address & !GENERIC;
        let place = address & ((1 << RANK) - 1);
        if place >= MAX_SHARED {
            return None;
        }
        match address >> RANK {
            0 => Some((self.warps[warp].block, place)),
            rank => Some((usize::try_from(rank ^ MAPPED).ok()?, place))
                .filter(|(rank, _)| *rank < self.blocks.len()),
        }
    }

    /// The object at a place.
    pub(super) fn object_at(&mut self, place: (usize, u64)) -> usize {
        if let Some(&known) = self.places.get(&place) {
            return known;
        }
        self.objects.push(Object { block: place.0, ..Object::default() });
        self.places.insert(place, self.objects.len() - 1);
        self.objects.len() - 1
    }

    /// The object at a place, for a warp that uses it.
    fn used_object(&mut self, warp: usize, place: (usize, u64), instruction: u32) -> usize {
        let index = self.object_at(place);
        match self.objects[index].made {
            Some((maker, event, made)) => {
                let knows = maker as usize == warp || {
                    let (clock, warps) = (&self.warps[warp].clock, self.warps.len());
                    clock.get(warps, super::clock::Row::Events, maker as usize) >= event
                };
                if !knows {
                    let same = |object: &&Object| object.made.is_some_and(|(other, ..)| other == maker);
                    let last = self
                        .objects
                        .iter()
                        .filter(same)
                        .filter_map(|object| object.made)
                        .map(|made| made.2)
                        .max();
                    let fault = Fault::new(FaultKind::Unpublished, last.unwrap_or(made));
                    self.tell_of(
                        maker as usize,
                        fault.with(made, Part::Made).with(instruction, Part::Access),
                    );
                }
            }
            None => {
                self.objects[index].used_early.get_or_insert((warp, instruction));
                self.is_partial = true;
            }
        }
        self.objects[index].note_user(warp, self.warps[warp].event, instruction);
        self.touch_remote(warp, place.0, instruction);
        index
    }

    /// Takes note of an access of another block's memory.
    pub(super) fn touch_remote(&mut self, warp: usize, block: usize, instruction: u32) {
        if self.warps[warp].block == block {
            return;
        }
        let warps = self.warps.len();
        let event = self.warps[warp].event;
        let (clock, own) = (&self.warps[warp].clock, self.warps[warp].block);
        // A barrier of the cluster without an order of memory shows nothing of what others have written, and yet that they run.
        let lifetime = &self.blocks[own].lifetime;
        let has_begun = self.warps.iter().enumerate().any(|(other, each)| {
            let knows = |clock: &Clock| clock.get(warps, super::clock::Row::Events, other) > 0;
            each.block == block && (knows(clock) || knows(lifetime))
        });
        if !has_begun {
            self.tell_of(warp, Fault::new(FaultKind::EarlyRemote, instruction));
        }
        let remote = &mut self.blocks[block].remote;
        match remote.iter_mut().find(|(other, _, at)| *other as usize == warp && *at == instruction) {
            Some(known) => known.1 = event,
            None => remote.push((warp as u32, event, instruction)),
        }
    }

    /// The objects that the lanes of a mask name, and in the blocks of a mask; none where that is not known.
    pub(super) fn named_objects(
        &mut self,
        warp: usize,
        address: super::program::Address,
        (blocks, paired): (Source, bool),
        mask: u32,
        instruction: u32,
    ) -> Option<Vec<(u32, usize)>> {
        let addresses = self.address(warp, address);
        let blocks = self.certain(warp, blocks);
        if self.are_assumed(warp, &[address.base, address.index]) {
            self.guess(warp, instruction, self.warps[warp].lists_of(&[address.base, address.index], mask));
        }
        let mut found = Vec::new();
        for lane in lanes(mask) {
            let Some((block, place)) = self.resolve(warp, addresses.lane(lane)?) else {
                self.tell_of_no_block(warp, mask, addresses.lane(lane)?, instruction);
                return None;
            };
            match blocks.lane(lane)? {
                0 => found.push((lane, self.used_object(warp, (block, place), instruction))),
                chosen => {
                    let parity = block & 1;
                    for block in (0..self.blocks.len()).filter(|block| chosen >> block & 1 != 0) {
                        let block = if paired { block & !1 | parity } else { block };
                        found.push((lane, self.used_object(warp, (block, place), instruction)));
                    }
                }
            }
        }
        Some(found)
    }

    /// Tells of an address in the block after the last one of the cluster.
    pub(super) fn tell_of_no_block(&mut self, warp: usize, mask: u32, address: u64, instruction: u32) {
        let blocks = u64::from(self.scenario.blocks);
        let is_after_last = |rank: u64| rank == blocks && rank != self.scenario.parameter;
        let rank = (address & !GENERIC) >> RANK ^ MAPPED;
        if !self.program.knows_cluster || !is_after_last(rank) || self.is_partial {
            return;
        }
        // What computes the rank tells more than who uses the address.
        let ranks = self.program.steps.iter().filter_map(|step| match step.action {
            Action::MapRank { rank: rank @ Source::Register(register, _), .. } => Some((rank, register)),
            _ => None,
        });
        let is_it = |rank: Source| {
            let value = self.certain(warp, rank);
            lanes(mask).any(|lane| value.lane(lane).is_some_and(is_after_last))
        };
        let maker = |register: u32| {
            self.program.steps.iter().find_map(|step| match &step.action {
                Action::Compute { shape, to, from } if to.contains(&Some(register)) => {
                    Some((step.instruction, shape.computation, from[0]))
                }
                _ => None,
            })
        };
        let computed = ranks.filter(|(rank, _)| is_it(*rank)).find_map(|(_, register)| {
            let mut made = maker(register)?;
            for _ in 0..MAX_MOVES {
                let (_, Computation::Move, Source::Register(from, _)) = made else { break };
                made = maker(from)?;
            }
            Some(made.0)
        });
        let fault = Fault::new(FaultKind::NoBlock, instruction).with_some(computed, Part::Rank);
        self.tell_of(warp, fault.counted(blocks as i64, 0));
    }

    pub(super) fn make_object(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        action: &Action,
    ) -> Option<()> {
        let Action::Init { object, count } = *action else { return None };
        let addresses = self.address(warp, object);
        let counts = self.certain(warp, count);
        let event = self.next_event(warp);
        for lane in lanes(mask) {
            let (place, count) = (self.resolve(warp, addresses.lane(lane)?)?, counts.lane(lane)?);
            let index = self.object_at(place);
            if let Some((_, early)) = self.objects[index].used_early.filter(|(other, _)| *other != warp) {
                self.tell(Fault::new(FaultKind::Unpublished, instruction).with(early, Part::Access));
            }
            if count == 0 {
                self.tell(Fault::new(FaultKind::NoArrivals, instruction));
            }
            let count = u32::try_from(count).ok()?;
            self.remade(warp, index, instruction);
            self.made_by_many(warp, index, (event, instruction));
            let phase = self.objects[index].phase;
            self.objects[index] = Object {
                made: Some((warp as u32, event, instruction)),
                block: place.0,
                count,
                pending: count,
                // Phases go on, so that what is known of old ones is nothing about new ones.
                phase: phase.next_multiple_of(2),
                ..Object::default()
            };
        }
        self.progress += 1;
        Some(())
    }

    /// An object is made by one instruction that several threads execute, without anything between that orders them. Where nobody
    /// tells how many threads there are, there may be one.
    fn made_by_many(&mut self, warp: usize, index: usize, (event, instruction): (u32, u32)) {
        let Some((maker, made, at)) = self.objects[index].made.filter(|(.., at)| *at == instruction) else {
            return;
        };
        let warps = self.warps.len();
        let is_known = self.warps[warp].clock.get(warps, super::clock::Row::Events, maker as usize) >= made;
        let is_unordered = maker as usize == warp && made == event || maker as usize != warp && !is_known;
        if is_unordered && self.program.knows_threads {
            self.tell(Fault::new(FaultKind::MadeByMany, at));
        }
    }

    /// An object is made, or taken away, that others may still use.
    fn remade(&mut self, warp: usize, index: usize, instruction: u32) {
        let warps = self.warps.len();
        let clock = &self.warps[warp].clock;
        let user = self.objects[index].users.iter().find(|(user, event, _)| {
            *user as usize != warp && clock.get(warps, super::clock::Row::Events, *user as usize) < *event
        });
        let has_turned = self.objects[index].made.is_some() && self.objects[index].phase > 0;
        // Who counts down in shared memory how many are left may know that all are done.
        let may_know = self.program.has_flags;
        if let Some(&(user, _, used)) = user.filter(|_| has_turned && !may_know) {
            let met = self.warps[user as usize].met[0];
            let fault = Fault::new(FaultKind::Remade, instruction).with(used, Part::Access);
            self.tell_of(warp, fault.with_some(met, Part::Met));
        }
    }

    pub(super) fn remove_object(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        object: super::program::Address,
    ) -> Option<()> {
        let addresses = self.address(warp, object);
        for lane in lanes(mask) {
            let place = self.resolve(warp, addresses.lane(lane)?)?;
            if let Some(&index) = self.places.get(&place) {
                self.remade(warp, index, instruction);
                self.objects[index].made = None;
            }
        }
        Some(())
    }

    /// Arrivals and expectations.
    pub(super) fn signal(&mut self, warp: usize, mask: u32, instruction: u32, action: &Action) -> Option<()> {
        let Action::Signal { object, event, count, bytes, blocks, token, relaxed } = *action else {
            return None;
        };
        let counts = self.certain(warp, count);
        let sizes = self.value(warp, bytes);
        if self.are_assumed(warp, &[bytes]) {
            self.guess(warp, instruction, self.warps[warp].lists_of(&[bytes], mask));
        }
        let now = self.next_event(warp);
        let named = self.named_objects(warp, object, (blocks, false), mask, instruction)?;
        let expects = matches!(event, Event::ArriveExpect | Event::DropExpect | Event::Expect);
        let arrives = !matches!(event, Event::Expect | Event::Complete);
        let clock = (!relaxed).then(|| self.warps[warp].clock.clone());
        if let (Some(token), Some(&(_, index))) = (token, named.first()) {
            let phase = self.objects[index].phase;
            let value = Value::Uniform(TOKEN | u64::from(phase));
            self.put(warp, Some(token), value, mask, false);
        }
        if matches!(event, Event::ArriveExpect | Event::DropExpect) {
            self.expected_by_too_many(&named, &sizes, instruction);
        }
        let mut told = None;
        // The object, and its phase, at which the lane before has arrived.
        let mut before = None;
        for (lane, index) in named {
            let (count, bytes) = (counts.lane(lane)?, sizes.lane(lane)? as u32);
            if expects {
                let object = &mut self.objects[index];
                object.bytes += i64::from(bytes);
                object.expected += i64::from(bytes);
                object.last_expectation = Some(instruction);
                object.note_expected(u64::from(bytes));
                if object.expectations.last() != Some(&instruction) {
                    object.expectations.push(instruction);
                }
            }
            if event == Event::Complete {
                self.objects[index].bytes -= i64::from(bytes);
            }
            // The lanes of a warp know the same: mostly all of them name one object.
            if let Some(clock) = clock.as_ref().filter(|_| told.replace(index) != Some(index)) {
                self.objects[index].arrived.join(clock);
            }
            // Who leaves is not counted in the phases after this one.
            if matches!(event, Event::Drop | Event::DropExpect) {
                let object = &mut self.objects[index];
                object.count = object.count.saturating_sub(count as u32);
                object.is_left = object.count == 0;
            }
            if arrives {
                self.warps[warp].arrivals.insert(index, (instruction, now));
                self.warps[warp].lane_arrives(index, lane, now);
                let is_at_once = before == Some((index, self.objects[index].phase));
                self.arrives_too_many(warp, index, instruction, is_at_once);
                before = Some((index, self.objects[index].phase));
                self.tells_tensor(warp, index, instruction);
                if self.objects[index].block != self.warps[warp].block {
                    self.in_scope(index, instruction, 0);
                }
                self.objects[index].note_arriver(warp);
                self.arrive(index, u32::try_from(count).ok()?, instruction);
            }
            self.complete(index, instruction);
        }
        self.progress += 1;
        Some(())
    }

    /// An arrival from another block, or a test, of which one names the block as its scope and the other one the cluster.
    fn in_scope(&mut self, index: usize, instruction: u32, own: usize) {
        let Some(&is_wide) = self.program.scopes.get(&instruction) else { return };
        let scopes = &mut self.objects[index].scopes;
        scopes[own] = Some((instruction, is_wide));
        if let Some((other, is_other_wide)) = scopes[1 - own]
            && is_wide != is_other_wide
        {
            let (narrow, wide) = if is_wide { (other, instruction) } else { (instruction, other) };
            self.tell(Fault::new(FaultKind::NarrowScope, narrow).with(wide, Part::OtherWait));
        }
    }

    /// More lanes of a warp arrive at once than a phase counts, and each expects bytes that have not come: the phase does not end
    /// between two of them.
    fn expected_by_too_many(&mut self, named: &[(u32, usize)], sizes: &Value, instruction: u32) {
        let Some(&(lane, index)) = named.first() else { return };
        if sizes.lane(lane).is_some_and(|bytes| bytes > 0) && self.objects[index].running == 0 {
            self.too_many_at_once(named, instruction);
        }
    }

    /// Lanes arrive at an object at once, more than it counts: phases end between two of them.
    pub(super) fn too_many_at_once(&mut self, named: &[(u32, usize)], instruction: u32) {
        let Some(&(_, index)) = named.first() else { return };
        let object = &self.objects[index];
        let is_one = named.iter().all(|(_, other)| *other == index);
        let lanes = named.len() as i64;
        // A block whose size nobody tells may have one thread.
        let is_known = self.program.knows_threads && is_one;
        if let Some((_, _, made)) = object.made.filter(|_| is_known)
            && lanes > i64::from(object.count)
        {
            let counts = (i64::from(object.count), TOO_MANY_AT_ONCE);
            let fault = Fault::new(FaultKind::TooFewArrivals, made).counted(counts.0, counts.1);
            self.tell(fault.with(instruction, Part::Arrival));
        }
    }

    /// A warp arrives in a phase that has all arrivals already, while bytes are missing, and none of them was its own, or its lanes arrive
    /// at once.
    fn arrives_too_many(&mut self, warp: usize, index: usize, instruction: u32, is_at_once: bool) {
        let object = &self.objects[index];
        let is_again =
            !is_at_once && object.arrivers_in_phase.checked_shr(warp as u32).is_none_or(|bits| bits & 1 != 0);
        // Of a block whose size is not known, fewer threads may be launched.
        let is_too_many = self.program.knows_threads && object.pending == 0 && !is_again;
        if let Some((_, _, made)) = object.made.filter(|_| is_too_many) {
            let fault = Fault::new(FaultKind::TooFewArrivals, made).counted(i64::from(object.count), -1);
            let last = self.warps[warp].last_use;
            self.tell(fault.with(instruction, Part::Arrival).with_some(last, Part::Last));
        }
    }

    /// Arrives at an object so many times.
    pub(super) fn arrive(&mut self, index: usize, mut count: u32, instruction: u32) {
        self.objects[index].total += u64::from(count);
        self.objects[index].last_arrival = Some(instruction);
        while count > 0 {
            let object = &mut self.objects[index];
            if object.pending == 0 {
                // More arrive than the phase waits for, while bytes are missing.
                return;
            }
            let some = count.min(object.pending);
            object.pending -= some;
            count -= some;
            self.complete(index, instruction);
        }
    }

    /// Ends the phase of an object if nothing is missing.
    pub(super) fn complete(&mut self, index: usize, instruction: u32) {
        let object = &mut self.objects[index];
        if !object.is_complete() || self.log.lack_joined(&object.copies) {
            return;
        }
        object.last_unsized = object.copies.first().copied().filter(|_| object.has_unsized);
        object.phase += 1;
        object.note_arrivers_of_phase();
        // Of those who have all left nobody completes another one.
        object.pending = object.count.max(u32::from(object.is_left));
        object.bytes = 0;
        if object.completed.len() == REMEMBERED {
            object.completed.pop_front();
        }
        object.completed.push_back(object.arrived.clone());
        let (running, expected) = (object.running, object.expected);
        let expectation = object.expectations.last().copied();
        let copy = object.copies.last().copied();
        // What comes from other blocks may come later than the end of a phase whose sizes are not known.
        let is_whole = self.scenario.blocks == 1 || object.phase == 1;
        if is_whole && object.has_unsized && object.unsized_copies.len() == object.running_in_phase as usize {
            self.log.phase(expected, &object.unsized_copies);
        }
        let known = std::mem::take(&mut object.sized_copies);
        let is_all = known.len() + object.unsized_copies.len() == object.running_in_phase as usize;
        if let (true, Some(expectation), Ok(expected @ 1..)) =
            (is_all && self.scenario.blocks == 1, expectation, u64::try_from(expected))
            && object.has_unsized
            && object.expectations.len() == 1
        {
            let copies = object.unsized_copies.clone();
            self.log.shared_phase(Shared { object: index, expected, expectation, copies, known });
        }
        object.unsized_copies.clear();
        object.running_in_phase = 0;
        object.expectations.clear();
        object.copies.clear();
        (object.expected, object.has_unsized) = (0, false);
        self.progress += 1;
        if running > 0 {
            self.tell(
                Fault::new(FaultKind::Bytes, expectation.unwrap_or(instruction))
                    .with_some(copy, Part::Operation)
                    .with(instruction, Part::Arrival)
                    .counted(expected, -1),
            );
        }
    }

    /// A copy is started that an object is told of.
    pub(super) fn add_copy(&mut self, index: usize, instruction: u32, bytes: Option<i64>) {
        let object = &mut self.objects[index];
        let is_alone = bytes.is_none() && object.expected == 0 && object.copies.is_empty();
        if let Some(first) = object.last_unsized.filter(|first| is_alone && *first != instruction) {
            self.log.came_late(first, instruction);
        }
        object.is_of_copies = true;
        object.running += 1;
        object.running_in_phase += 1;
        object.has_unsized |= bytes.is_none();
        object.is_mixed |= bytes.is_some();
        if let Some(bytes) = bytes.and_then(|bytes| u64::try_from(bytes).ok())
            && object.sized_copies.len() < MAX_COPIES
        {
            object.sized_copies.push(bytes);
        }
        if object.copies.len() < 16 {
            object.copies.push(instruction);
        }
    }

    /// Lets what has run longest complete; none where nothing runs.
    pub(super) fn deliver(&mut self) -> bool {
        let Some(Delivery { object: index, flight, arrival, begun }) = self.deliveries.pop_front() else {
            return false;
        };
        let object = &mut self.objects[index];
        let mut instruction = object.last_arrival.unwrap_or(0);
        if let Some((flight, bytes)) = flight {
            instruction = self.flights[flight as usize].instruction;
            object.running = object.running.saturating_sub(1);
            object.bytes -= bytes.unwrap_or(0);
            let phase = Some(object.phase);
            self.flights[flight as usize].completion = Completion::Phase { object: index as u32, phase };
        }
        self.progress += 1;
        if let Some(begun) = begun {
            object.arrived.join(&begun);
        }
        match arrival {
            Some(clock) => {
                object.arrived.join(&clock);
                self.arrive(index, 1, instruction);
            }
            None => self.complete(index, instruction),
        }
        true
    }

    /// Begins to wait for phases.
    pub(super) fn test(
        &mut self,
        warp: usize,
        fragment: usize,
        mask: u32,
        instruction: u32,
        action: &Action,
    ) -> Option<()> {
        let Action::Test { object, parity, phase, .. } = *action else { return None };
        let asked = self.value(warp, parity.unwrap_or(phase));
        if self.are_assumed(warp, &[parity.unwrap_or(phase)]) {
            self.guess(warp, instruction, self.warps[warp].lists_of(&[parity.unwrap_or(phase)], mask));
        }
        let named = self.named_objects(warp, object, (Source::Number(0), false), mask, instruction)?;
        let mut wants: Vec<(usize, Want, u32)> = Vec::new();
        for (lane, index) in named {
            let number = asked.lane(lane)?;
            let want = match parity {
                Some(_) => Want::Parity(number as u32),
                None if number & !0xffff_ffff == TOKEN => Want::Phase(number as u32),
                None => return None,
            };
            // Who has to wait wakes up at the end of this phase, whatever happens before it goes on.
            let phase = self.objects[index].phase;
            let ends = if self.objects[index].has(want) { phase.wrapping_sub(1) } else { phase };
            if !wants.iter().any(|(other, same, _)| *other == index && *same == want) {
                wants.push((index, want, ends));
            }
        }
        // Another part of the fragment, whose guard does not hold, goes on with this one. Who asks once may be told that the phase
        // is not over, and has to ask again before it goes on.
        let open = wants.iter().find(|(object, want, _)| !self.objects[*object].has(*want));
        let refused = open.map(|(object, _, phase)| (warp, instruction, *object, *phase));
        let is_refused =
            self.scenario.reversed && refused.is_some_and(|refused| self.refused.insert(refused));
        self.warps[warp].fragments[fragment].state = State::Test(wants);
        if is_refused {
            self.pass_test(warp, fragment, false);
        }
        Some(())
    }

    /// Gives a test its answer: whether all phases are complete, or which of them.
    pub(super) fn pass_test(&mut self, warp: usize, fragment: usize, all: bool) {
        let (pc, mask) = {
            let fragment = &mut self.warps[warp].fragments[fragment];
            (fragment.pc - 1, fragment.mask)
        };
        let state = std::mem::replace(&mut self.warps[warp].fragments[fragment].state, State::Ready);
        let State::Test(wants) = state else { return };
        let step = &self.program.steps[pc as usize];
        let Action::Test { to, relaxed, .. } = step.action else { return };
        let warps = self.warps.len();
        let event = self.next_event(warp);
        for &(index, want, ends) in &wants {
            self.objects[index].note_user(warp, event, step.instruction);
            if !self.objects[index].has(want) {
                continue;
            }
            let own = &mut self.warps[warp];
            if self.objects[index].phase > own.clock.phases(warps, index) + RUN_AHEAD {
                self.overrun.get_or_insert((step.instruction, index));
            }
            if let Some(clock) = self.objects[index].at_end_of(ends) {
                // What others have done is over then, though it need not be visible.
                let known = if relaxed { &mut self.blocks[own.block].lifetime } else { &mut own.clock };
                known.join(clock);
                own.clock.raise_phases(warps, index, ends + 1);
            }
            own.tests.insert(index, (step.instruction, event));
            own.knows_lanes(index, mask);
            own.tested = Some(index);
            self.passes_tensor(warp, index, step.instruction);
            self.in_scope(index, step.instruction, 1);
        }
        let holds = all || wants.iter().all(|(index, want, _)| self.objects[*index].has(*want));
        let runs = self.runs(warp, step, mask);
        for (register, value) in to.into_iter().zip([holds, !holds]) {
            self.put(warp, register, Value::Uniform(u64::from(value)), runs, false);
        }
    }
}
