//! How an execution ends: what holds when all threads have ended, and why some never do.

use super::clock::{Clock, Row};
use super::fault::{Fault, FaultKind, Part};
use super::machine::{Fragment, Machine, RUN_AHEAD, State, Warp};
use super::program::Action;
use super::rooms::{Shared, Unsized, misfit, room};
use super::shadow::{Completion, Flight, Who};
use ptx_ir::isa::Event;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// What so many warps did last is told where threads wait for each other.
const MAX_LAST: usize = 4;
/// Steps after a wait that are looked at for what it is for.
const MAX_NEXT: usize = 80;
/// Arrivals of those who never wait that are told.
const MAX_UNHEARD: usize = 2;

impl Machine<'_> {
    /// What holds when all threads have ended.
    pub(super) fn at_end(&mut self) {
        if self.faults.iter().any(|fault| fault.kind.may_follow()) {
            return;
        }
        self.tell_of_tiles();
        self.tell_of_phases();
        self.tell_of_parts();
        self.tell_of_some();
        self.tell_of_columns();
        let warps = self.warps.len();
        for block in 0..self.blocks.len() {
            let end = std::mem::take(&mut self.blocks[block].end);
            let who = Who { warp: u32::MAX, lanes: 0, clock: &end, warps };
            let written = self.blocks[block].shadow.still_written(who, &self.flights);
            // Who is told of a copy into another block's memory is that block.
            let is_told_elsewhere = |flight: &Flight| match flight.completion {
                Completion::Phase { object, .. } => self.objects[object as usize].block != block,
                Completion::Group { .. } => false,
            };
            let read = self.blocks[block].shadow.still_read(who, &self.flights, is_told_elsewhere);
            let of_groups = self.flights.iter().position(|flight| {
                let is_group = matches!(flight.completion, Completion::Group { .. });
                is_group
                    && self.warps[flight.warp as usize].block == block
                    && !flight.is_observed(&end, warps)
            });
            for flight in of_groups.map(|flight| flight as u32).into_iter().chain(written).chain(read) {
                let Flight { instruction, completion, .. } = self.flights[flight as usize];
                // Others may have waited for another phase.
                let test = match completion {
                    Completion::Phase { object, .. } => {
                        self.warps.iter().find_map(|warp| warp.tests.get(&(object as usize)))
                    }
                    Completion::Group { .. } => None,
                };
                let fault = Fault::new(FaultKind::LeftRunning, instruction);
                let mut fault = fault.with_some(test.map(|test| test.0), Part::Wait);
                if let Completion::Phase { object, .. } = completion
                    && test.is_none()
                    && self.has_come_to_all_tests()
                {
                    // Nobody ever asks for it, and others have done so where they should.
                    fault = fault.counted(1, 0);
                    let arrivals = self.warps.iter().filter_map(|warp| warp.arrivals.get(&(object as usize)));
                    let mut arrivals: Vec<u32> = arrivals.map(|(at, _)| *at).collect();
                    arrivals.sort_unstable();
                    arrivals.dedup();
                    fault = arrivals
                        .into_iter()
                        .take(MAX_LAST)
                        .fold(fault, |fault, at| fault.with(at, Part::Arrival));
                }
                self.tell(fault.with_some(self.blocks[block].ended, Part::End));
            }
            // Who knows that an operation is complete knows that it uses no memory of the block.
            let on_their_own: Vec<u32> = self
                .program
                .steps
                .iter()
                .filter(|step| {
                    matches!(step.action, Action::Start { object: Some(_), .. } | Action::CommitTo { .. })
                })
                .map(|step| step.instruction)
                .collect();
            if let Some(exit) = self.blocks[block].ended {
                let unknown = self.blocks[block]
                    .remote
                    .iter()
                    .copied()
                    .filter(|(_, _, at)| on_their_own.binary_search(at).is_err())
                    .find(|&(warp, event, _)| {
                        let known = |clock: &Clock| clock.get(warps, Row::Events, warp as usize) >= event;
                        !known(&end) && !known(&self.blocks[block].lifetime)
                    });
                if let Some((_, _, access)) = unknown {
                    let own = self.warps.iter().find(|warp| warp.block == block);
                    let met = own.and_then(|warp| warp.met[0]);
                    let fault = Fault::new(FaultKind::EarlyExit, exit).with(access, Part::Access);
                    self.tell(fault.with_some(met, Part::Met));
                }
            }
            self.blocks[block].end = end;
        }
    }

    /// Whether threads have come to all instructions that ask for phases.
    fn has_come_to_all_tests(&self) -> bool {
        let mut steps = self.program.steps.iter().zip(&self.visited);
        steps.all(|(step, visited)| *visited || !matches!(step.action, Action::Test { .. }))
    }

    /// Tells of an object that some of those who arrive complete without the others: the waits lag by whole phases.
    fn tell_of_parts(&mut self) {
        let Some((at, index)) = self.overrun.filter(|_| self.program.knows_threads) else { return };
        let object = &self.objects[index];
        if object.has_parts && !object.is_of_copies && self.scenario.blocks == 1 {
            let fault = self.of_overrun(at, index);
            fault.into_iter().for_each(|fault| self.tell(fault));
        }
    }

    /// Threads use an object that nobody makes, and nothing was left out that might.
    pub(super) fn explain_unmade(&mut self) {
        let unmade = self.objects.iter().filter(|object| object.made.is_none() && object.phase == 0);
        let used = unmade.filter_map(|object| object.used_early).map(|(_, used)| used).min();
        let made = self.objects.iter().filter_map(|object| object.made).map(|made| made.2).max();
        if let (Some(used), Some(made)) = (used, made) {
            self.tell(Fault::new(FaultKind::NeverMade, used).with(made, Part::Made));
        }
    }

    /// Whether threads wait for a phase that nobody completes, whatever is in memory: no step of the program arrives anywhere.
    pub(super) fn lacks_arrivals(&self) -> bool {
        let arrives = self.program.steps.iter().any(|step| match step.action {
            Action::Signal { event, .. } => !matches!(event, Event::Expect | Event::Complete),
            Action::SignalCopies { .. } | Action::CommitTo { .. } | Action::Opaque => true,
            _ => false,
        });
        let mut states = self.warps.iter().flat_map(|warp| &warp.fragments).map(|fragment| &fragment.state);
        let is_open = |state: &State| match state {
            State::Test(wants) => wants.iter().any(|(object, ..)| {
                let object = &self.objects[*object];
                object.made.is_some() && object.phase == 0
            }),
            _ => false,
        };
        !arrives && !self.scenario.of_grid && states.any(is_open)
    }

    /// Tells those who ask for a phase that it is not complete, unless nothing has happened since they were told so.
    pub(super) fn tell_waiting(&mut self) -> bool {
        let progress = self.progress;
        for index in 0..self.warps.len() {
            let waiting = |fragment: &Fragment| {
                matches!(fragment.state, State::Test(_)) && fragment.told != Some(progress)
            };
            if let Some(found) = self.warps[index].fragments.iter().position(waiting) {
                self.warps[index].fragments[found].told = Some(progress);
                self.pass_test(index, found, false);
                return true;
            }
        }
        false
    }

    /// Why threads wait for each other.
    pub(super) fn explain_deadlock(&mut self) {
        let mut waits: Vec<(u32, usize)> = Vec::new();
        let mut barriers: Vec<(usize, u32, u32)> = Vec::new();
        let (mut cluster, mut registers) = (None, Vec::new());
        // Objects of which more than the next phase was complete before somebody waited for it.
        let mut overrun: Vec<(u32, usize)> = Vec::new();
        for warp in &self.warps {
            for fragment in &warp.fragments {
                let at = self.program.steps[fragment.pc.saturating_sub(1) as usize].instruction;
                match &fragment.state {
                    State::Test(wants) => {
                        let open = wants.iter().find(|(object, want, _)| !self.objects[*object].has(*want));
                        waits.extend(open.map(|(object, ..)| (at, *object)));
                        let known = |object: usize| warp.clock.phases(self.warps.len(), object);
                        let is_over = |object: usize| {
                            let own = &self.objects[object];
                            let most = if own.has_parts { 1 } else { RUN_AHEAD };
                            own.phase > known(object) + most
                        };
                        overrun.extend(open.filter(|open| is_over(open.0)).map(|open| (at, open.0)));
                    }
                    State::Barrier(number) => barriers.push((warp.block, *number, at)),
                    State::Cluster(_) => cluster = cluster.or(Some(at)),
                    State::Registers(_) => registers.push((at, warp.block)),
                    State::Ready
                    | State::Lanes(_)
                    | State::Comes(_)
                    | State::Starts(_)
                    | State::Memory(_)
                    | State::Grid(_)
                    | State::Frozen(_) => {}
                }
            }
        }
        waits.sort_unstable();
        waits.dedup();
        barriers.sort_unstable();
        barriers.dedup();
        let overrun = overrun
            .iter()
            .min()
            .or(self.overrun.as_ref())
            .and_then(|(at, object)| self.of_overrun(*at, *object));
        // Those at barriers could open one by themselves: then it is not for those who wait for a phase that they stay there.
        let own = barriers.iter().copied().find(|&(block, number, _)| {
            let barrier = self.blocks[block].barriers.get(&number);
            let wanted = barrier.and_then(|barrier| barrier.expected).map(|(count, _)| count);
            wanted.is_some_and(|count| count <= self.threads_at_barriers(block))
        });
        let fault = self
            .of_registers(&registers)
            .or(overrun)
            .or_else(|| self.of_barrier(own?, &barriers))
            .or_else(|| self.of_objects(&waits))
            .or_else(|| self.of_barrier(*barriers.first()?, &barriers));
        let fault = fault.or_else(|| Some(Fault::new(FaultKind::Cluster, cluster?)));
        if let Some(fault) = fault {
            let made = fault.others.iter().find(|(_, part)| *part == Part::Made).map(|(at, _)| *at);
            let last = match fault.kind {
                FaultKind::Barrier => self.last_uses_elsewhere(fault.instruction),
                kind => self.last_uses(kind == FaultKind::Phase, made.unwrap_or(fault.instruction)),
            };
            let fault = last.iter().take(MAX_LAST).fold(fault, |fault, at| fault.with(*at, Part::Last));
            let acts = self.last_acts();
            let fault = acts.iter().take(MAX_LAST).fold(fault, |fault, at| fault.with(*at, Part::Last));
            let fault = waits.iter().fold(fault, |fault, (at, _)| fault.with(*at, Part::OtherWait));
            let fault = barriers.iter().fold(fault, |fault, (_, _, at)| fault.with(*at, Part::OtherWait));
            self.tell(fault);
        }
    }

    /// Whether a fault is of a phase that no copy takes part in: how much copies bring decides nothing there.
    pub(super) fn is_of_threads(&self, fault: &Fault) -> bool {
        let mut own = self.objects.iter().filter(|object| {
            let is_own = |at: u32| {
                let mut others = fault.others.iter();
                at == fault.instruction || others.any(|(other, part)| *other == at && *part == Part::Made)
            };
            object.made.is_some_and(|(.., at)| is_own(at))
        });
        fault.kind == FaultKind::Phase && own.all(|object| !object.is_of_copies)
    }

    /// What those have told others or started last who wait for a phase.
    fn last_acts(&self) -> Vec<u32> {
        let is_waiting =
            |warp: &&Warp| warp.fragments.iter().any(|each| matches!(each.state, State::Test(_)));
        let mut acts: Vec<u32> =
            self.warps.iter().filter(is_waiting).filter_map(|warp| warp.last_act).collect();
        acts.sort_unstable_by(|one, other| other.cmp(one));
        acts.dedup();
        acts
    }

    /// What the threads that live have done last. For a phase that nobody completes those tell nothing who wait for it.
    fn last_uses(&self, is_phase: bool, made: u32) -> Vec<u32> {
        let is_of = |object: usize| self.objects[object].made.is_some_and(|(.., at)| at == made);
        let waits = |warp: &&Warp| {
            let mut states = warp.fragments.iter().map(|fragment| &fragment.state);
            states.any(|state| matches!(state, State::Test(wants) if wants.iter().any(|want| is_of(want.0))))
        };
        let alive = || self.warps.iter().filter(|warp| warp.alive != 0);
        let others = alive().filter(|warp| !waits(warp)).filter_map(|warp| warp.last_use);
        let mut last: Vec<u32> = others.filter(|_| is_phase).collect();
        if last.is_empty() {
            last.extend(alive().filter_map(|warp| warp.last_use));
        }
        // Those who have done nothing since the kernel began tell least.
        last.sort_unstable_by(|one, other| other.cmp(one));
        last.dedup();
        last
    }

    /// What the threads have done last, of which some wait at a barrier of the block: first those who do not and live, or have ended
    /// where there are no such.
    fn last_uses_elsewhere(&self, barrier: u32) -> Vec<u32> {
        let is_there = |fragment: &Fragment| {
            let at = self.program.steps[fragment.pc.saturating_sub(1) as usize].instruction;
            matches!(fragment.state, State::Barrier(_)) && at == barrier
        };
        let (there, others): (Vec<&Warp>, Vec<&Warp>) =
            self.warps.iter().partition(|warp| warp.fragments.iter().any(is_there));
        let (alive, ended): (Vec<&Warp>, Vec<&Warp>) = others.into_iter().partition(|warp| warp.alive != 0);
        let of = |warps: &[&Warp]| {
            let mut last: Vec<u32> = warps.iter().filter_map(|warp| warp.last_use).collect();
            last.sort_unstable_by(|one, other| other.cmp(one));
            last.dedup();
            last
        };
        let mut last = of(&alive);
        if last.is_empty() {
            last = of(&ended);
        }
        let there = of(&there).into_iter().filter(|at| !last.contains(at));
        let there: Vec<u32> = there.collect();
        last.extend(there);
        last
    }

    /// How many threads of a block wait at its barriers.
    fn threads_at_barriers(&self, block: usize) -> u32 {
        let warps = self.warps.iter().filter(|warp| warp.block == block);
        let waiting = warps.flat_map(|warp| &warp.fragments);
        let waiting = waiting.filter(|fragment| matches!(fragment.state, State::Barrier(_)));
        waiting.map(|fragment| fragment.mask.count_ones()).sum()
    }

    /// A barrier that keeps threads waiting: its block, its number, and where.
    fn of_barrier(
        &self,
        (block, number, at): (usize, u32, u32),
        barriers: &[(usize, u32, u32)],
    ) -> Option<Fault> {
        let barrier = self.blocks[block].barriers.get(&number)?;
        let wanted = barrier.expected.map_or_else(|| self.living(Some(block)), |(count, _)| count);
        let fault = Fault::new(FaultKind::Barrier, at).counted(i64::from(wanted), i64::from(barrier.arrived));
        let places = barrier.places.iter().take(MAX_LAST);
        let fault = places.fold(fault, |fault, at| fault.with(*at, Part::Arrival));
        let fault = barriers.iter().fold(fault, |fault, (_, _, other)| fault.with(*other, Part::OtherWait));
        let others = self.other_places(block, number, false);
        Some(others.iter().fold(fault, |fault, at| fault.with(*at, Part::OtherBarrier)))
    }

    /// An object whose phases were over before those who wait for one went on: more arrive than it counts.
    fn of_overrun(&self, at: u32, index: usize) -> Option<Fault> {
        let object = &self.objects[index];
        let (_, _, made) = object.made?;
        let arriver = self.warps.iter().enumerate().find(|(index, _)| object.arrivers >> index & 1 != 0);
        let last = arriver.and_then(|(_, warp)| warp.last_use);
        let fault = if object.has_parts {
            let fault = Fault::new(FaultKind::TooFewArrivals, made).counted(i64::from(object.count), -1);
            fault.with_some(object.last_arrival, Part::Arrival)
        } else {
            // All arrive each time, and wait for nobody.
            Fault::new(FaultKind::Phase, object.last_arrival?).with(made, Part::Made)
        };
        let fault = self.never_waiting(fault).with_some(last, Part::Last);
        Some(fault.with(at, Part::Wait).with_some(self.wait_of_arrivers(index), Part::OtherWait))
    }

    /// The object that keeps threads waiting, where it is known which.
    fn of_objects(&self, waits: &[(u32, usize)]) -> Option<Fault> {
        let object = |(_, object): &&(u32, usize)| &self.objects[*object];
        let bytes = waits.iter().find(|wait| object(wait).pending == 0 && object(wait).bytes != 0);
        if let Some((at, object)) = bytes {
            let object = &self.objects[*object];
            let wanted = object.expected;
            let expectation = object.expectations.last().copied();
            return Some(
                Fault::new(FaultKind::Bytes, expectation.unwrap_or(*at))
                    .with(*at, Part::Wait)
                    .with_some(object.copies.last().copied(), Part::Operation)
                    .counted(wanted, wanted - object.bytes),
            );
        }
        let partly = waits.iter().find(|wait| object(wait).pending < object(wait).count);
        let never = waits.iter().find(|wait| object(wait).total == 0);
        // Where nobody has come anywhere, those wait in vain who would fill something next: what they ask for is over at the begin.
        let is_begin = waits.iter().all(|wait| object(&wait).total == 0);
        let fills = waits.iter().filter(|_| is_begin).find(|(at, _)| self.fills_after(*at));
        let (at, of) = partly.or(fills).or(never).or_else(|| waits.first())?;
        let object = &self.objects[*of];
        let primary = if partly.is_some() { object.made.map_or(*at, |made| made.2) } else { *at };
        let found = i64::from(object.count) - i64::from(object.pending);
        // Where nobody arrives ever, somebody may arrive at another object instead.
        let elsewhere = self.warps.iter().flat_map(|warp| warp.arrivals.values()).map(|arrival| arrival.0);
        let mut elsewhere: Vec<u32> = elsewhere.filter(|_| object.total == 0).collect();
        elsewhere.sort_unstable();
        elsewhere.dedup();
        let fault = elsewhere
            .into_iter()
            .take(MAX_LAST)
            .fold(Fault::new(FaultKind::Phase, primary), |fault, at| fault.with(at, Part::Elsewhere));
        let fault = if object.total > 0 { self.never_waiting(fault) } else { fault };
        let is_expected = object.expected > 0 || object.copies.is_empty();
        let unexpected = object.copies.last().copied().filter(|_| !is_expected);
        Some(
            fault
                .with_some(unexpected, Part::Unexpected)
                .with(*at, Part::Wait)
                .with_some(object.made.map(|made| made.2), Part::Made)
                .with_some(object.last_arrival, Part::Arrival)
                .with_some(object.last_expectation, Part::Expectation)
                .with_some(self.wait_of_arrivers(*of), Part::OtherWait)
                .counted(i64::from(object.count), found),
        )
    }

    /// Whether those who have waited at an instruction start copies or tell of some before they wait again.
    fn fills_after(&self, test: u32) -> bool {
        let steps = self.program.steps.iter().skip_while(|step| step.instruction != test).skip(1);
        let until_next = steps.take_while(|step| !matches!(step.action, Action::Test { .. }));
        until_next.take(MAX_NEXT).any(|step| {
            matches!(step.action, Action::Start { object: Some(_), .. } | Action::SignalCopies { .. })
        })
    }

    /// Whether phases expect bytes of copies of unknown size that other blocks start: they may end too early here.
    pub(super) fn has_many_sources(&self) -> bool {
        self.objects.iter().any(|object| object.is_of_others && object.expects > 0)
    }

    /// How much each copy brings that blocks of a cluster start, where all that tell an object have room for exactly what it expects.
    pub(super) fn sizes_in_cluster(&self) -> FxHashMap<u32, u64> {
        let objects = || self.objects.iter().filter(|object| !object.is_mixed && !object.landed.is_empty());
        let copies = || objects().flat_map(|object| &object.landed).map(|(copy, ..)| *copy);
        let places: BTreeSet<u64> = copies().map(|copy| copy.place).collect();
        let mut rooms: FxHashMap<u32, u64> = FxHashMap::default();
        for copy in copies() {
            // Of the last stage nothing may tell where it ends.
            if let Some(room) = room(copy.place, &places, &self.program.variables) {
                let known = rooms.entry(copy.instruction).or_insert(room);
                *known = room.min(*known);
            }
        }
        let mut sizes = FxHashMap::default();
        for object in objects() {
            let own: Option<Vec<(u32, u64)>> = object
                .landed
                .iter()
                .map(|(copy, ..)| Some((copy.instruction, *rooms.get(&copy.instruction)?)))
                .collect();
            let Some(own) = own else { continue };
            // Of an object that more copies come to in the same way some are missing here.
            let has_all = objects().all(|other| {
                let is_shared = other.landed.iter().any(|(copy, ..)| copy.instruction == own[0].0);
                !is_shared || other.landed.len() <= own.len()
            });
            if has_all && object.each == Some(own.iter().map(|(_, room)| room).sum()) {
                sizes.extend(own);
            }
        }
        sizes
    }

    /// An object of which each phase expects the bytes of some of the copies that come from all blocks, or more than these have
    /// room for: as many copies come as are expected, whoever started them.
    pub(super) fn of_cluster(&self) -> Option<Fault> {
        let own = self.objects.iter().filter(|object| object.block == 0 && !object.is_mixed);
        let phases: Vec<Shared> = own
            .filter_map(|object| {
                let expected = object.each.filter(|expected| *expected > 0)?;
                let is_even = object.landed.iter().all(|(.., count)| *count == object.expects);
                let mut copies: Vec<Unsized> = object.landed.iter().map(|(copy, ..)| *copy).collect();
                copies.sort_unstable_by_key(|copy| (copy.instruction, copy.place));
                let expectation = object.last_expectation.filter(|_| is_even && !copies.is_empty())?;
                Some(Shared { object: usize::MAX, expected, expectation, copies, known: Vec::new() })
            })
            .collect();
        let variables = &self.program.variables;
        if let Some((expectation, expected, room, copy)) = misfit(&phases, variables) {
            let fault = Fault::new(FaultKind::OtherBytes, expectation).with(copy, Part::Operation);
            return Some(fault.counted(expected as i64, room as i64));
        }
        let starts = self.log.starts.iter().copied();
        Some(of_extents(self.log.extents.short(&phases, variables, starts)?))
    }

    /// Adds where threads arrive that never wait for anything.
    fn never_waiting(&self, fault: Fault) -> Fault {
        let never_waits = self.warps.iter().filter(|warp| warp.tests.is_empty());
        let mut unheard: Vec<u32> =
            never_waits.flat_map(|warp| warp.arrivals.values()).map(|arrival| arrival.0).collect();
        unheard.sort_unstable();
        unheard.dedup();
        unheard.into_iter().take(MAX_UNHEARD).fold(fault, |fault, at| fault.with(at, Part::NeverWaits))
    }

    /// Tells of a phase of several copies that does not expect the bytes of all of them.
    fn tell_of_shares(&mut self) {
        let Some((expectation, expected, room, copy)) = self.log.misfit(&self.program.variables) else {
            return;
        };
        let fault = Fault::new(FaultKind::OtherBytes, expectation).with(copy, Part::Operation);
        self.tell(fault.counted(expected as i64, room as i64));
    }

    /// Tells of the bytes of the phases that were complete.
    pub(super) fn tell_of_phases(&mut self) {
        self.tell_of_shares();
        self.tell_of_extents();
    }

    /// Tells of a phase that expects fewer bytes than matrix operations read of its copies.
    fn tell_of_extents(&mut self) {
        let is_told = self.faults.iter().any(|fault| fault.kind.is_of_bytes());
        let found = self.log.short(&self.program.variables).filter(|_| !is_told);
        if let Some(short) = found {
            self.tell(of_extents(short));
        }
    }

    /// Tells of a read that goes on after the end of what the phase expects, in memory that nobody writes.
    fn tell_of_tiles(&mut self) {
        let Some((read, tile)) = self.tiles.found() else { return };
        let Some(expectation) = self.objects[tile.object].last_expectation else { return };
        let fault = Fault::new(FaultKind::TooFewBytes, expectation).counted(tile.size as i64, 0);
        self.tell(fault.with(tile.instruction, Part::Operation).with(read, Part::Access));
    }
}

/// A phase that expects fewer bytes than are read: where, how many, how many are read, a copy, and who reads.
fn of_extents((expectation, expected, needed, copy, reader): (u32, u64, u64, u32, u32)) -> Fault {
    let fault = Fault::new(FaultKind::TooFewBytes, expectation).counted(expected as i64, needed as i64);
    fault.with(copy, Part::Operation).with(reader, Part::Access)
}
