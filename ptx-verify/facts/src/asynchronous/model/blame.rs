//! Why an access and an operation that runs on its own are not ordered.

use ptx_ir::isa::Event;

use super::clock::Row;
use super::fault::{Fault, FaultKind, Part};
use super::machine::{Machine, Warp};
use super::program::Action;
use super::shadow::{Clash, Completion, Flight, Touch};

/// Places of other barriers that are told.
const MAX_PLACES: usize = 6;

impl Machine<'_> {
    /// An access through the generic proxy, or the start of an operation that reads, meets something.
    pub(super) fn tell_access(&mut self, warp: usize, access: u32, clash: Clash) {
        let fault = match clash {
            Clash::Copied(flight) => self.too_early(warp, access, flight),
            Clash::ReadBy(flight) => self.reused(warp, access, flight),
            Clash::Unfenced { instruction, warp: writer } => {
                let met = self.warps[writer as usize].met.into_iter().flatten();
                let fault = Fault::new(FaultKind::MissingFence, instruction);
                met.fold(fault.with(access, Part::Operation), |fault, at| fault.with(at, Part::Met))
            }
            Clash::Written { instruction, warp: writer } => Fault::new(FaultKind::Unordered, access)
                .with(instruction, Part::Access)
                .with_some(self.last_test(warp), Part::OtherWait)
                .with_some(self.last_test(writer as usize), Part::WaitOfReader)
                .with_some(self.wait_after(access), Part::Wait),
            Clash::Read { instruction, .. } => {
                Fault::new(FaultKind::Overwrite, access).with(instruction, Part::Access)
            }
        };
        self.tell_of(warp, fault);
    }

    /// The wait for groups that follows an operation: others may not have met those who wait there.
    fn wait_after(&self, operation: u32) -> Option<u32> {
        let mut steps = self.program.steps.iter().skip_while(|step| step.instruction != operation);
        steps
            .find(|step| matches!(step.action, Action::Wait { .. } | Action::WaitAll(_)))
            .map(|step| step.instruction)
    }

    /// The barrier of the block that follows an access.
    fn meeting_after(&self, access: u32) -> Option<u32> {
        let mut steps = self.program.steps.iter().skip_while(|step| step.instruction != access);
        steps.find(|step| matches!(step.action, Action::Barrier { .. })).map(|step| step.instruction)
    }

    /// Why accesses of two warps are not ordered.
    pub(super) fn raced(&self, warp: usize, access: u32, other: &Touch, is_write: bool) -> Fault {
        let own = &self.warps[warp];
        if !is_write {
            let fault = self.overwritten(warp, access, (other.warp, other.event, other.instruction));
            if fault.kind != FaultKind::Overwrite {
                return fault;
            }
        }
        let writer = &self.warps[other.warp as usize];
        let tested = own.tested.filter(|_| is_write);
        let arrival = tested.and_then(|object| writer.arrivals.get(&object));
        let made = tested.and_then(|object| self.objects[object].made);
        let count = tested.map_or(0, |object| i64::from(self.objects[object].count));
        let relaxed = arrival.filter(|arrival| arrival.1 >= other.event && self.is_relaxed(arrival.0));
        let fault = match (arrival, made) {
            (Some(_), _) if relaxed.is_some() => Fault::new(FaultKind::Race, access)
                .with_some(relaxed.map(|arrival| arrival.0), Part::Relaxed)
                .with(other.instruction, Part::Access),
            (Some(&(arrival, at)), _) if at < other.event => Fault::new(FaultKind::Race, arrival)
                .with(access, Part::Access)
                .with(other.instruction, Part::Access),
            (Some(_), Some((_, _, made))) => {
                // Either of the two may have waited for another phase of what the other one completes.
                let first = other.warp as usize;
                let waits =
                    [(first, warp), (warp, first)].map(|(one, other)| self.wait_for_other(one, other));
                let fault = Fault::new(FaultKind::TooFewArrivals, made)
                    .counted(count, -1)
                    .with(access, Part::Access)
                    .with(other.instruction, Part::Access);
                waits.into_iter().fold(fault, |fault, wait| fault.with_some(wait, Part::OtherWait))
            }
            _ => {
                // Another one may have spoken for the writer.
                let own_first = |each: &&Warp| each.block != writer.block;
                let mut others: Vec<_> = self.warps.iter().collect();
                others.sort_by_key(own_first);
                let spoke = tested
                    .and_then(|object| others.iter().find_map(|each| Some(each.arrivals.get(&object)?.0)));
                let part = |at: u32| if self.is_relaxed(at) { Part::Relaxed } else { Part::Arrival };
                let fault = Fault::new(FaultKind::Race, access).with(other.instruction, Part::Access);
                spoke.map_or(fault.clone(), |at| fault.with(at, part(at)))
            }
        };
        let test = self.last_test(warp).filter(|&test| self.is_relaxed(test));
        let fault = fault.with_some(test, Part::Relaxed);
        let met = own.met[0].into_iter().chain(writer.met[0]);
        met.fold(fault, |fault, at| fault.with(at, Part::Met))
    }

    /// Whether an arrival, or a wait, says that it orders nothing.
    fn is_relaxed(&self, instruction: u32) -> bool {
        let mut steps = self.program.steps.iter().filter(|step| step.instruction == instruction);
        steps.any(|step| {
            matches!(step.action, Action::Signal { relaxed: true, .. } | Action::Test { relaxed: true, .. })
        })
    }

    /// The last wait of a warp for a phase.
    pub(super) fn last_test(&self, warp: usize) -> Option<u32> {
        let own = &self.warps[warp];
        own.tests.get(&own.tested?).map(|test| test.0)
    }

    /// The last wait of a warp for copies of its own.
    fn last_wait(&self, warp: usize) -> Option<u32> {
        self.warps[warp].groups[Row::CpAsync as usize].wait.map(|wait| wait.0)
    }

    /// The object that a warp has tested last of those at which another one arrives, else the last of all.
    fn guard(&self, warp: usize, other: usize) -> Option<usize> {
        let (own, other) = (&self.warps[warp], &self.warps[other]);
        let shared = own.tests.iter().filter(|(object, _)| other.arrivals.contains_key(object));
        shared.max_by_key(|(_, test)| test.1).map(|(object, _)| *object).or(own.tested)
    }

    /// The last wait of a warp for what another one completes.
    fn wait_for_other(&self, warp: usize, other: usize) -> Option<u32> {
        self.warps[warp].tests.get(&self.guard(warp, other)?).map(|test| test.0)
    }

    /// Where warps of a block come to other barriers than this one: all, or those whose number of threads has changed.
    pub(super) fn other_places(&self, block: usize, number: u32, is_changed: bool) -> Vec<u32> {
        let others = self.blocks[block].barriers.iter().filter(|(other, _)| **other != number);
        let mut places: Vec<u32> = others
            .filter(|(_, barrier)| barrier.opened.len() > 1 || !is_changed)
            .flat_map(|(_, barrier)| barrier.places.iter().copied())
            .collect();
        places.sort_unstable();
        places.dedup();
        places.truncate(MAX_PLACES);
        places
    }

    /// Where those have waited last who arrive at an object: they may have come too early.
    pub(super) fn wait_of_arrivers(&self, object: usize) -> Option<u32> {
        let arriver = self.warps.iter().find(|warp| {
            warp.arrivals.contains_key(&object) && warp.tested.is_some_and(|tested| tested != object)
        })?;
        arriver.tests.get(&arriver.tested?).map(|test| test.0)
    }

    /// Why something is accessed while a copy may write there.
    pub(super) fn too_early(&self, warp: usize, access: u32, flight: u32) -> Fault {
        let Flight { instruction: copy, warp: owner, event, completion, .. } = self.flights[flight as usize];
        let warps = self.warps.len();
        let early = Fault::new(FaultKind::EarlyAccess, access).with(copy, Part::Operation);
        match completion {
            Completion::Group { row, count } => {
                let other = &self.warps[owner as usize];
                let Some((wait, _, _)) = other.groups[row as usize].wait.filter(|wait| wait.2 > event) else {
                    // An object is told when the copies are complete.
                    let object = self.warps[warp].tested.filter(|object| other.arrivals.contains_key(object));
                    let made = object.and_then(|object| self.objects[object].made);
                    return match made {
                        Some((_, _, made)) => Fault::new(FaultKind::TooFewArrivals, made)
                            .counted(object.map_or(0, |object| i64::from(self.objects[object].count)), -1)
                            .with(access, Part::Access)
                            .with(copy, Part::Operation)
                            .with_some(
                                object.and_then(|object| self.objects[object].last_arrival),
                                Part::Arrival,
                            )
                            .with_some(self.last_test(warp), Part::Wait)
                            // Who has started the operation may have waited for another phase.
                            .with_some(self.wait_for_other(owner as usize, warp), Part::OtherWait),
                        // Who has waited may have waited for another phase.
                        None if row == Row::Tcgen05 => early.with_some(self.last_test(warp), Part::Wait),
                        None => early.with_some(other.groups[row as usize].last_commit, Part::Committed),
                    };
                };
                let is_done = other.clock.get(warps, row, owner as usize) >= count;
                let kind = if is_done { FaultKind::MissingBarrier } else { FaultKind::GroupPending };
                let fault = Fault::new(kind, wait).with(access, Part::Access).with(copy, Part::Operation);
                let fault = fault.with_some(self.uncommitted(owner, row), Part::Uncommitted);
                // Others have come to the next wait already.
                let own = self.warps[warp].groups[row as usize].wait.map(|wait| wait.0);
                let fault = fault.with_some(own.filter(|_| warp != owner as usize), Part::Wait);
                // The object that tells of it counts too few.
                let object = self.warps[warp].tested.filter(|object| other.arrivals.contains_key(object));
                let made = object.and_then(|object| self.objects[object].made).map(|made| made.2);
                fault.with_some(made, Part::Made)
            }
            Completion::Phase { object, phase } => {
                let index = object as usize;
                let own = &self.warps[warp];
                if own.tested == Some(index)
                    && let Some(&(test, _)) = own.tests.get(&index)
                {
                    let fault = Fault::new(FaultKind::WrongPhase, test)
                        .with(access, Part::Access)
                        .with(copy, Part::Operation);
                    // Who arrives without the bytes of the copy lets others go on.
                    let last = self.objects[index].last_arrival;
                    let expects = self.objects[index].last_expectation;
                    // Who fills again may wait for an object that counts too few.
                    let guard = self.guard(owner as usize, warp).filter(|guard| *guard != index);
                    let made = guard.and_then(|guard| self.objects[guard].made).map(|made| made.2);
                    let fault = fault.with_some(made, Part::Made);
                    return fault.with_some(last.filter(|_| last != expects), Part::Arrival);
                }
                let waited = phase.and_then(|phase| {
                    self.warps.iter().find(|other| other.clock.phases(warps, index) > phase)
                });
                match waited.and_then(|other| other.tests.get(&index)) {
                    Some(&(test, _)) => Fault::new(FaultKind::MissingBarrier, test)
                        .with(access, Part::Access)
                        .with(copy, Part::Operation),
                    None => early,
                }
            }
        }
    }

    /// The last operation of a warp that no commit follows.
    fn uncommitted(&self, owner: u32, row: Row) -> Option<u32> {
        let groups = &self.warps[owner as usize].groups[row as usize];
        let committed = groups.commits.last().copied().unwrap_or(0);
        let is_open = |flight: &&Flight| {
            flight.warp == owner
                && matches!(flight.completion, Completion::Group { row: own, count } if own == row && count > committed)
        };
        self.flights.iter().rev().find(is_open).map(|flight| flight.instruction)
    }

    /// Why something is written while an operation may read there.
    pub(super) fn reused(&self, warp: usize, write: u32, flight: u32) -> Fault {
        let Flight { instruction: operation, warp: owner, event, completion, .. } =
            self.flights[flight as usize];
        let warps = self.warps.len();
        let other = &self.warps[owner as usize];
        if let Completion::Group { row, count } = completion {
            let group = if row == Row::BulkRead { Row::Bulk } else { row };
            if let Some((wait, _, _)) = other.groups[group as usize].wait.filter(|wait| wait.2 > event) {
                let is_done = other.clock.get(warps, row, owner as usize) >= count;
                let kind = if is_done { FaultKind::MissingBarrier } else { FaultKind::GroupPending };
                let fault = Fault::new(kind, wait).with(write, Part::Access).with(operation, Part::Operation);
                // The wait may be the right one, and another one be missing before the last release.
                let released = other.arrivals.values().filter(|arrival| arrival.1 > event);
                let last = released.max_by_key(|arrival| arrival.1).map(|arrival| arrival.0);
                let fault = fault.with_some(last.filter(|_| !is_done), Part::Arrival);
                // Or the object that the writer has waited for counts too few.
                let object = self.guard(warp, owner as usize);
                return fault
                    .with_some(object.and_then(|at| self.objects[at].made).map(|made| made.2), Part::Made);
            }
        }
        // Who tells how many bytes come fills, and says nothing about what it has used.
        let fills = |arrival: u32| {
            let mut steps = self.program.steps.iter().filter(|step| step.instruction == arrival);
            // A commit arrives when its operations are complete.
            steps.any(|step| {
                matches!(
                    step.action,
                    Action::Signal { event: Event::ArriveExpect, .. } | Action::CommitTo { .. }
                )
            })
        };
        let object = self.guard(warp, owner as usize);
        let committed = match completion {
            Completion::Group { row, .. } => {
                let group = if row == Row::BulkRead { Row::Bulk } else { row };
                other.groups[group as usize].last_commit
            }
            Completion::Phase { .. } => None,
        };
        let released = object
            .and_then(|object| other.arrivals.get(&object))
            .filter(|arrival| arrival.1 > event && !fills(arrival.0));
        match released {
            Some(&(arrival, _)) => Fault::new(FaultKind::EarlyRelease, arrival)
                .with(operation, Part::Operation)
                .with(write, Part::Access),
            // Who started the operation may have waited for another phase.
            None => Fault::new(FaultKind::SourceReused, write)
                .with(operation, Part::Operation)
                .with_some(committed, Part::Committed)
                .with_some(self.last_test(owner as usize), Part::OtherWait)
                // Others complete the phase that was waited for if it counts too few.
                .with_some(object.and_then(|at| self.objects[at].made).map(|made| made.2), Part::Made),
        }
    }

    /// The wait of a warp for its own part of a copy that all warps make, where it has read since what others have not even
    /// begun to copy: it should have met them.
    fn goes_ahead(&self, warp: usize, copy: u32, (reader, event): (u32, u32)) -> Option<u32> {
        let flights = |of: u32| {
            self.flights.iter().filter(move |flight| flight.instruction == copy && flight.warp == of)
        };
        let last = flights(warp as u32).next_back()?;
        let Completion::Group { row: row @ Row::CpAsync, .. } = last.completion else { return None };
        let before = flights(reader).filter(|flight| flight.event < event);
        let (count, start) = before.fold((0, 0), |(count, _), flight| (count + 1, flight.event));
        // One warp may copy several times where another copies once.
        let is_ahead = count > 0 && count >= flights(warp as u32).count();
        let groups = &self.warps[reader as usize].groups[row as usize];
        let mut waits = groups.wait.iter().chain(groups.waits_before.iter().rev());
        let wait = waits.find(|(_, _, at)| is_ahead && start < *at && *at < event)?;
        Some(wait.0)
    }

    /// Why a copy writes what another warp may still read.
    pub(super) fn overwritten(
        &self,
        warp: usize,
        copy: u32,
        (reader, event, read): (u32, u32, u32),
    ) -> Fault {
        if let Some(wait) = self.goes_ahead(warp, copy, (reader, event)) {
            return Fault::new(FaultKind::MissingBarrier, wait)
                .with(read, Part::Access)
                .with(copy, Part::Operation);
        }
        let own = &self.warps[warp];
        // Another block has to be told, and not its own one alone.
        let met = self.meeting_after(read).filter(|_| self.warps[reader as usize].block != own.block);
        let plain =
            Fault::new(FaultKind::Overwrite, copy).with(read, Part::Access).with_some(met, Part::OwnBlock);
        let Some(index) = self.guard(warp, reader as usize) else {
            // Who reads may have waited for another phase, or for too few.
            let tested = self.warps[reader as usize].tested;
            let made = tested.and_then(|object| self.objects[object].made).map(|made| made.2);
            let test = self.last_test(reader as usize).or_else(|| self.last_wait(reader as usize));
            let plain = plain.with_some(test, Part::WaitOfReader);
            return plain.with_some(made, Part::Made);
        };
        let (object, other) = (&self.objects[index], &self.warps[reader as usize]);
        let test = own.tests.get(&index).map(|test| test.0);
        let last_wait = other.tests.values().filter(|test| test.1 <= event).map(|test| test.1).max();
        match other.arrivals.get(&index) {
            Some(&(arrival, at)) if at < event && last_wait.is_none_or(|wait| wait < at) => {
                Fault::new(FaultKind::EarlyRelease, arrival)
                    .with(read, Part::Access)
                    .with(copy, Part::Operation)
            }
            _ if test.is_some() && object.phase == 0 => {
                let fault = Fault::new(FaultKind::WrongPhase, test.unwrap_or(copy));
                fault.with(read, Part::Access).with(copy, Part::Operation)
            }
            Some(_) => {
                let made = object.made.map_or(copy, |made| made.2);
                let fault = Fault::new(FaultKind::TooFewArrivals, made).counted(i64::from(object.count), -1);
                let fault = fault.with(read, Part::Access).with(copy, Part::Operation);
                let fault = fault.with_some(object.last_arrival, Part::Arrival);
                // Who reads may have waited for another phase.
                fault.with_some(self.last_test(reader as usize), Part::WaitOfReader)
            }
            // Others complete the phase if it counts too few.
            None => {
                let of_reader = self.last_test(reader as usize);
                let plain = plain.with_some(test, Part::Wait).with_some(of_reader, Part::WaitOfReader);
                let plain = plain.with_some(object.made.map(|made| made.2), Part::Made);
                // Others of its block may have spoken for it before it has read.
                let arrivals = self.warps.iter().filter(|each| each.block == other.block);
                let spoke =
                    arrivals.filter_map(|each| each.arrivals.get(&index)).map(|arrival| arrival.0).min();
                plain.with_some(spoke, Part::Arrival)
            }
        }
    }
}
