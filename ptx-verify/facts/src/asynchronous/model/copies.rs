//! The start of what runs on its own, and how its completion is told.

use super::clock::Row;
use super::converge::WARPS_OF_GROUP;
use super::extents;
use super::fault::{Fault, FaultKind, Part};
use super::machine::{Delivery, End, Machine};
use super::program::{Action, Address, Rows, Source};
use super::rooms::Unsized;
use super::shadow::{Clash, Completion, Flight, Go, Touch};
use super::sizes::MAX_COPIES;
use super::value::lanes;
use crate::values::number::mask as low_bits;

/// Bytes of a copy of unknown size that are looked at.
const UNSIZED: u64 = 128;
/// Bytes of the largest tile that a store is taken to read.
const LARGEST_TILE: u64 = 16 << 10;
/// Bytes of a matrix that are looked at, from its start.
const MATRIX: u64 = 16;
/// Descriptors of matrices have their address in so many low bits, without the lowest four.
const DESCRIPTOR_BITS: u32 = 14;
const DESCRIPTOR_SHIFT: u32 = 4;

impl Machine<'_> {
    /// Starts a copy.
    pub(super) fn start(&mut self, warp: usize, mask: u32, instruction: u32, action: &Action) -> Option<()> {
        let Action::Start { group, proxy, writes, reads, from, object, bytes, blocks, paired } = action
        else {
            return None;
        };
        if self.copies_exceed(warp, mask, instruction, action) {
            self.stop = Some(End::Unknown(instruction));
            return Some(());
        }
        let proxy = *proxy;
        let event = self.next_event(warp);
        let sizes = self.certain(warp, *bytes);
        let chosen = self.certain(warp, *blocks);
        if let Some(from) = from.as_deref() {
            self.copies_from(warp, mask, (instruction, event), from, &sizes);
            if proxy && from.reads {
                self.copies_unfenced(warp, mask, instruction, from, &sizes);
            }
        }
        let mut flights: Vec<(u32, usize)> = Vec::new();
        let groups = &mut self.warps[warp].groups[*group as usize];
        let count = if object.is_none() {
            groups.started += 1;
            groups.started
        } else {
            0
        };
        let row = if *group == Row::Bulk { Row::BulkRead } else { *group };
        match object {
            Some(place) => {
                let named = self.named_objects(warp, *place, (*blocks, *paired), mask, instruction)?;
                let own = self.warps[warp].block;
                for (lane, index) in named {
                    let learned = self.sizes.get(&instruction).filter(|_| self.scenario.blocks > 1).copied();
                    let size = sizes.lane(lane).or(learned).map(|size| size as i64);
                    let object = &mut self.objects[index];
                    object.is_of_others |= size.is_none() && object.block != own;
                    let is_remote = object.block != own;
                    let begun = is_remote.then(|| self.warps[warp].clock.clone());
                    let flight = self.flights.len() as u32;
                    let completion = Completion::Phase { object: index as u32, phase: None };
                    self.flights.push(Flight { instruction, warp: warp as u32, event, completion, proxy });
                    self.add_copy(index, instruction, size);
                    self.deliveries.push_back(Delivery {
                        object: index,
                        flight: Some((flight, size)),
                        arrival: None,
                        begun,
                    });
                    flights.push((flight, index));
                }
            }
            None => {
                let completion = Completion::Group { row, count };
                self.flights.push(Flight { instruction, warp: warp as u32, event, completion, proxy });
                flights.push((self.flights.len() as u32 - 1, usize::MAX));
            }
        }
        if let Some(address) = writes {
            let values = self.certain_address(warp, *address);
            for (order, lane) in lanes(mask).enumerate() {
                let Some((block, place)) = values.lane(lane).and_then(|number| self.resolve(warp, number))
                else {
                    continue;
                };
                let size = sizes.lane(lane).or(self.sizes.get(&instruction).copied());
                let several: Vec<usize> = match chosen.lane(lane).unwrap_or(0) {
                    0 => Vec::new(),
                    mask => (0..self.blocks.len()).filter(|block| mask >> block & 1 != 0).collect(),
                };
                let one = [block];
                let targets = if chosen.lane(lane).unwrap_or(0) == 0 { &one[..] } else { &several };
                for (place_in, block) in targets.iter().enumerate() {
                    let flight = match object {
                        Some(_) => flights.get(order * targets.len() + place_in)?.0,
                        None => flights[0].0,
                    };
                    self.touch_remote(warp, *block, instruction);
                    self.log.begins(place);
                    let range = (place, size.unwrap_or(UNSIZED));
                    if *group == Row::Bulk {
                        self.started_by_lanes(warp, *block, range, (mask, flight), false);
                    }
                    self.start_write(warp, *block, range, flight);
                    self.lands(*block, place, flight);
                    // Other blocks may bring the rest.
                    if let (Completion::Phase { object, .. }, Some(size)) =
                        (self.flights[flight as usize].completion, size)
                        && sizes.lane(lane).is_none()
                        && self.scenario.blocks == 1
                    {
                        self.tiles.add(instruction, object as usize, *block, (place, size));
                    }
                    let object = flights.get(order * targets.len() + place_in).map(|flight| flight.1);
                    let object = object.and_then(|index| self.objects.get_mut(index));
                    if let Some(object) = object.filter(|_| sizes.lane(lane).is_none()) {
                        object.note_landing(Unsized { instruction, place }, warp);
                        if object.unsized_copies.len() < MAX_COPIES {
                            object.unsized_copies.push(Unsized { instruction, place });
                        }
                    }
                }
            }
        }
        for address in reads {
            let values = self.certain_address(warp, *address);
            for lane in lanes(mask) {
                let Some((block, place)) = values.lane(lane).and_then(|number| self.resolve(warp, number))
                else {
                    continue;
                };
                let known = sizes.lane(lane);
                self.log.begins(place);
                if known.is_none() && object.is_none() {
                    self.log.source(instruction, place);
                }
                let size = known.or(self.sizes.get(&instruction).copied());
                let flight = flights.first()?.0;
                // What threads have written there in one go is what is stored.
                let most = self.log.room_of(place).min(LARGEST_TILE);
                let size = size.unwrap_or_else(|| self.written_row(warp, block, place, (UNSIZED, most)));
                self.started_by_lanes(warp, block, (place, size), (mask, flight), true);
                self.start_read(warp, block, (place, size), flight);
                if known.is_none() {
                    self.reads_beyond(warp, block, place, (size, most), flight);
                }
            }
        }
        self.progress += 1;
        Some(())
    }

    pub(super) fn start_write(&mut self, warp: usize, block: usize, range: (u64, u64), flight: u32) {
        self.memory.erase(block, range);
        let mut shadow = std::mem::take(&mut self.blocks[block].shadow);
        let clash = shadow.start_write(self.who(warp), range, flight, &self.flights);
        self.blocks[block].shadow = shadow;
        let copy = self.flights[flight as usize].instruction;
        let fault = match clash {
            None => return,
            Some(Clash::Read { warp: reader, event, instruction }) => {
                let fault = self.overwritten(warp, copy, (reader, event, instruction));
                // Who reads may have waited for a flag that is set after the copy.
                if self.program.has_polls && fault.kind == FaultKind::Overwrite {
                    return;
                }
                let met = self.warps[reader as usize].met[0].filter(|_| fault.kind.lacks_order());
                fault.with_some(met, Part::Met)
            }
            Some(Clash::ReadBy(other)) => {
                let fault = self.reused(warp, copy, other);
                if fault.kind == FaultKind::SourceReused {
                    Fault { kind: FaultKind::Overwrite, ..fault }
                } else {
                    fault
                }
            }
            Some(Clash::Copied(other)) if self.are_parts_of_one(flight, other) => return,
            Some(Clash::Copied(other)) => {
                let other = self.flights[other as usize].instruction;
                let own = &self.warps[warp];
                let test = own.tested.and_then(|object| own.tests.get(&object)).map(|test| test.0);
                let others = own.tested.and_then(|object| self.wait_of_arrivers(object));
                let made = own.tested.and_then(|object| self.objects[object].made);
                let told = match self.flights[flight as usize].completion {
                    Completion::Phase { object, .. } => self.objects[object as usize].last_expectation,
                    Completion::Group { .. } => None,
                };
                Fault::new(FaultKind::TwoCopies, copy)
                    .with_some(told, Part::Expectation)
                    .with(other, Part::Operation)
                    .with_some(test, Part::Wait)
                    .with_some(made.map(|made| made.2), Part::Made)
                    .with_some(others, Part::OtherWait)
            }
            Some(
                Clash::Written { instruction, warp: writer } | Clash::Unfenced { instruction, warp: writer },
            ) => Fault::new(FaultKind::Unordered, copy)
                .with(instruction, Part::Access)
                .with_some(self.last_test(warp), Part::OtherWait)
                .with_some(self.last_test(writer as usize), Part::WaitOfReader),
        };
        self.tell_of(warp, fault);
    }

    /// Whether there are copies, or waits for them, that no thread has come to.
    pub(super) fn lacks_copies(&self) -> bool {
        let is_of_copies = |action: &Action| {
            matches!(action, Action::Start { .. } | Action::Wait { .. } | Action::WaitAll(_))
        };
        let mut steps = self.program.steps.iter().zip(&self.visited);
        steps.any(|(step, is_visited)| !is_visited && is_of_copies(&step.action))
    }

    /// Whether two copies bring parts of the same, in sizes that parameters decide about: where the second begins goes with the
    /// size of the first, for all numbers that the parameters are ever given.
    fn are_parts_of_one(&self, one: u32, other: u32) -> bool {
        let [one, other] = [one, other].map(|flight| &self.flights[flight as usize]);
        let is_open = |flight: &Flight| match flight.completion {
            Completion::Phase { object, phase: None } => Some(object),
            _ => None,
        };
        let is_given = |flight: &Flight| {
            self.program.steps.iter().any(|step| {
                step.instruction == flight.instruction
                    && matches!(step.action, Action::Start { bytes, .. } if self.program.is_of_parameters(bytes))
            })
        };
        is_open(one).is_some_and(|object| is_open(other) == Some(object))
            && one.warp == other.warp
            && one.instruction != other.instruction
            && [one, other].into_iter().all(is_given)
    }

    fn start_read(&mut self, warp: usize, block: usize, range: (u64, u64), flight: u32) {
        let mut shadow = std::mem::take(&mut self.blocks[block].shadow);
        let clash = shadow.start_read(self.who(warp), range, flight, &self.flights);
        self.blocks[block].shadow = shadow;
        if let Some(clash) = clash {
            let operation = self.flights[flight as usize].instruction;
            self.tell_access(warp, operation, clash);
        }
    }

    /// What an operation of unknown size reads at the least, which a warp starts: what the same instructions have written in a row.
    fn written_row(&mut self, warp: usize, block: usize, place: u64, (least, most): (u64, u64)) -> u64 {
        let who = self.who(warp);
        // What comes after a meeting is the next one of a ring.
        let go = |touch: &Touch| {
            let meetings = &self.warps[touch.warp as usize].meetings;
            let next = meetings.partition_point(|&meeting| meeting < touch.event);
            let before = next.checked_sub(1).map_or(0, |before| meetings[before]);
            let end = meetings.get(next).map_or(u32::MAX, |&meeting| meeting.saturating_add(1));
            let known = who.clock.get(who.warps, Row::Events, touch.warp as usize);
            let since = meetings.partition_point(|&meeting| meeting <= known).saturating_sub(next);
            Go { events: before..end, since }
        };
        let run = self.blocks[block].shadow.written_in_one_go(place, (least, most), go);
        self.log.row(place, run);
        run
    }

    /// An operation of unknown size may read what follows, too, if the same threads have written it without meeting others
    /// between: each store of an unrolled loop is another instruction. What others write there may be a tile of their own.
    fn reads_beyond(&mut self, warp: usize, block: usize, place: u64, (size, most): (u64, u64), flight: u32) {
        let shadow = &self.blocks[block].shadow;
        let interval = |touch: &Touch| {
            let meetings = &self.warps[touch.warp as usize].meetings;
            Some(meetings.partition_point(|&meeting| meeting < touch.event))
        };
        let whole = shadow.written_run(place, (size, most), interval);
        let own = &self.flights[flight as usize];
        if whole <= size {
            return;
        }
        let beyond = (place + size, whole - size);
        let operation = own.instruction;
        if let Some(clash) = shadow.unfenced_write(self.who(warp), beyond, own) {
            self.tell_access(warp, operation, clash);
        }
    }

    /// A copy that some lanes start reads what others of the warp have written since all of them met, or writes what these
    /// have read.
    fn started_by_lanes(
        &mut self,
        warp: usize,
        block: usize,
        range: (u64, u64),
        (lanes, flight): (u32, u32),
        reads: bool,
    ) {
        let since = self.warps[warp].lanes_met;
        let shadow = &self.blocks[block].shadow;
        if let Some(other) = shadow.touched_by_others(reads, warp as u32, range, since, lanes) {
            let copy = self.flights[flight as usize].instruction;
            let kind = if reads { FaultKind::LanesApart } else { FaultKind::LanesRead };
            let fault = Fault::new(kind, copy).with(other, Part::Access);
            self.tell_of(warp, fault.with_some(self.last_test(warp), Part::Wait));
        }
    }

    pub(super) fn multiply(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        action: &Action,
    ) -> Option<u32> {
        let Action::Multiply { group: row, proxy, matrices, rows, .. } = action else { return None };
        let (row, proxy) = (*row, *proxy);
        let event = self.next_event(warp);
        self.warps[warp].last_use = Some(instruction);
        let groups = &mut self.warps[warp].groups[row as usize];
        groups.started += 1;
        let completion = Completion::Group { row, count: groups.started };
        self.flights.push(Flight { instruction, warp: warp as u32, event, completion, proxy });
        let flight = self.flights.len() as u32 - 1;
        let block = self.warps[warp].block;
        // Each warp of a group multiplies rows of its own of the first matrix. Where they begin depends on the layout, but for
        // those of the first warp. Kernels rely on it: warps that write their own rows do not wait for the others.
        let has_rows =
            row == Row::Wgmma && matrices.len() > 1 && !self.warps[warp].index.is_multiple_of(WARPS_OF_GROUP);
        self.note_extents(warp, mask, instruction, matrices, rows);
        for (index, matrix) in matrices.iter().enumerate().skip(usize::from(has_rows)) {
            let Some(descriptor) = self.certain(warp, *matrix).all(mask) else { continue };
            let place = (descriptor & low_bits(DESCRIPTOR_BITS)) << DESCRIPTOR_SHIFT;
            if place != 0 {
                // One thread multiplies what many may have written.
                let bytes = match row {
                    Row::Tcgen05 => {
                        // Threads may have written several stages of a ring next to each other.
                        let own = self.log.room_of_matrix((instruction, index), place);
                        let most = self.log.room_of(place).min(own).min(LARGEST_TILE);
                        let row = self.written_row(warp, block, place, (MATRIX, most));
                        self.log.has_rows |= row > MATRIX;
                        // Where the next stage begins is not known in the first round.
                        if self.log.knows_places { row } else { MATRIX }
                    }
                    _ => MATRIX,
                };
                self.start_read(warp, block, (place, bytes), flight);
            }
        }
        Some(flight)
    }

    /// Takes note of how far the matrices of an operation reach.
    fn note_extents(&mut self, warp: usize, mask: u32, instruction: u32, matrices: &[Source], rows: &Rows) {
        let rows = match rows {
            Rows::Unknown => return,
            Rows::Known(rows) => rows.clone(),
            Rows::Described(descriptor, paired) => {
                let Some(descriptor) = self.certain(warp, *descriptor).all(mask) else { return };
                extents::described(descriptor, *paired, matrices.len())
            }
        };
        for (matrix, rows) in matrices.iter().zip(rows) {
            let descriptor = self.certain(warp, *matrix).all(mask);
            if let (Some(descriptor), Some(rows)) = (descriptor, rows)
                && let Some(extent) = extents::extent(descriptor, rows)
            {
                let place = (descriptor & low_bits(DESCRIPTOR_BITS)) << DESCRIPTOR_SHIFT;
                // What threads store themselves no copy has to bring.
                if !self.blocks[self.warps[warp].block].shadow.is_stored(place) {
                    self.log.extents.add(place, extent, instruction);
                }
            }
        }
    }

    pub(super) fn signal_copies(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        object: Address,
        counted: bool,
    ) -> Option<()> {
        let now = self.next_event(warp);
        let named = self.named_objects(warp, object, (Source::Number(0), false), mask, instruction)?;
        let (warps, started) = (self.warps.len(), self.warps[warp].groups[Row::CpAsync as usize].started);
        let mut clock = self.warps[warp].clock.clone();
        clock.raise(warps, Row::CpAsync, warp, started);
        if !counted {
            self.too_many_at_once(&named, instruction);
        }
        for (_, index) in named {
            self.warps[warp].arrivals.insert(index, (instruction, now));
            self.objects[index].note_arriver(warp);
            if counted {
                self.objects[index].pending += 1;
            }
            let arrival = Some(clock.clone());
            self.deliveries.push_back(Delivery { object: index, flight: None, arrival, begun: None });
            self.objects[index].last_arrival = Some(instruction);
        }
        self.progress += 1;
        Some(())
    }

    pub(super) fn commit_to(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        object: Address,
        blocks: Source,
    ) -> Option<()> {
        let now = self.next_event(warp);
        let named = self.named_objects(warp, object, (blocks, false), mask, instruction)?;
        let (warps, started) = (self.warps.len(), self.warps[warp].groups[Row::Tcgen05 as usize].started);
        let mut clock = self.warps[warp].clock.clone();
        clock.raise(warps, Row::Tcgen05, warp, started);
        for (_, index) in named {
            self.warps[warp].arrivals.insert(index, (instruction, now));
            let arrival = Some(clock.clone());
            self.deliveries.push_back(Delivery { object: index, flight: None, arrival, begun: None });
            self.objects[index].last_arrival = Some(instruction);
            self.objects[index].tensor.comes(warp);
        }
        self.progress += 1;
        Some(())
    }
}
