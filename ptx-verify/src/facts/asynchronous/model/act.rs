//! What the steps of a program do.

use ptx_ir::isa::{Computation, Mode};

use super::clock::Row;
use super::fault::{Fault, FaultKind, Part};
use super::machine::{BlockBarrier, Delivery, Machine, State};
use super::program::{Action, Address, GENERIC, RANK, Source, Step};
use super::shadow::{Clash, Completion, Flight};
use super::value::{ALL, Value, lanes};
use crate::facts::values::number::mask as low_bits;

/// Bytes of a copy of unknown size that are looked at.
const UNSIZED: u64 = 128;
/// Bytes of a matrix that are looked at, from its start.
const MATRIX: u64 = 16;
/// Descriptors of matrices have their address in so many low bits, without the lowest four.
const DESCRIPTOR_BITS: u32 = 14;
const DESCRIPTOR_SHIFT: u32 = 4;

impl Machine<'_> {
    /// The threads of a mask for which the guard of a step holds.
    pub(super) fn runs(&self, warp: usize, step: &Step, mask: u32) -> u32 {
        let Some((register, wanted)) = step.guard else { return mask };
        let value = self.warps[warp].registers.get(register as usize);
        let holds = value.and_then(|value| value.holds(mask)).unwrap_or(mask);
        if wanted { holds } else { mask & !holds }
    }

    /// An address in all lanes.
    pub(super) fn address(&self, warp: usize, address: Address) -> Value {
        let base = self.value(warp, address.base);
        let index = self.value(warp, address.index);
        let offset = address.offset;
        Value::of([&base, &index], ALL, |[base, index]| {
            // Addresses of 32 bits wrap as such.
            let sum = base.wrapping_add(index).wrapping_add_signed(offset);
            Some(if base >> 32 == 0 { sum & low_bits(32) } else { sum })
        })
    }

    fn put(&mut self, warp: usize, register: Option<u32>, value: Value, mask: u32) {
        let alive = self.warps[warp].alive;
        if let Some(old) = register.and_then(|register| self.warps[warp].registers.get_mut(register as usize))
        {
            old.set(value, mask, alive);
        }
    }

    pub(super) fn act(&mut self, warp: usize, fragment: usize, mask: u32, step: &Step) {
        let instruction = step.instruction;
        let done = match &step.action {
            Action::Compute { .. } => {
                self.compute(warp, mask, &step.action);
                Some(())
            }
            Action::Pack { to, parts, bits } => {
                let mut whole = Value::Uniform(0);
                for (part, index) in parts.iter().zip(0..) {
                    let value = self.value(warp, *part);
                    let (bits, by) = (*bits, index * *bits);
                    whole = Value::of([&whole, &value], mask, |[whole, part]| {
                        Some(whole | (part & low_bits(bits)).checked_shl(by).unwrap_or(0))
                    });
                }
                self.put(warp, Some(*to), whole, mask);
                Some(())
            }
            Action::Unpack { to, from, bits } => {
                let whole = self.value(warp, *from);
                for (register, index) in to.iter().zip(0..) {
                    let (bits, by) = (*bits, index * *bits);
                    let part = Value::of([&whole], mask, |[whole]| {
                        Some(whole.checked_shr(by).unwrap_or(0) & low_bits(bits))
                    });
                    self.put(warp, *register, part, mask);
                }
                Some(())
            }
            Action::Convert { to, from, to_generic } => {
                let to_generic = *to_generic;
                let value = self.value(warp, *from);
                let value = Value::of([&value], mask, |[address]| {
                    Some(if to_generic { address | GENERIC } else { address & !GENERIC })
                });
                self.put(warp, Some(*to), value, mask);
                Some(())
            }
            Action::MapRank { to, from, rank } => {
                let (from, rank) = (self.value(warp, *from), self.value(warp, *rank));
                let value = Value::of([&from, &rank], mask, |[address, rank]| {
                    let place = address & low_bits(RANK);
                    Some(address & GENERIC | (rank & 0xff).wrapping_add(1) << RANK | place)
                });
                self.put(warp, Some(*to), value, mask);
                Some(())
            }
            Action::Forget(registers) => {
                for register in registers {
                    self.put(warp, Some(*register), Value::Unknown, mask);
                }
                Some(())
            }
            Action::Access { address, reads, writes } => {
                self.access(warp, mask, instruction, *address, *reads, *writes);
                Some(())
            }
            Action::Init { .. } => self.make_object(warp, mask, instruction, &step.action),
            Action::Invalidate { object } => self.remove_object(warp, mask, *object),
            Action::Signal { .. } => self.signal(warp, mask, instruction, &step.action),
            Action::SignalCopies { object, counted } => {
                self.signal_copies(warp, mask, instruction, *object, *counted)
            }
            Action::Test { .. } => self.test(warp, fragment, mask, instruction, &step.action),
            Action::Start { .. } => self.start(warp, mask, instruction, &step.action),
            Action::Multiply { group, matrices } => {
                self.multiply(warp, mask, instruction, *group, matrices);
                Some(())
            }
            Action::Commit(row) => {
                let groups = &mut self.warps[warp].groups[*row as usize];
                let started = groups.started;
                groups.commits.push(started);
                Some(())
            }
            Action::Wait { group, pending, only_reads } => {
                let groups = &self.warps[warp].groups[*group as usize];
                let index = groups.commits.len().checked_sub(1 + *pending as usize);
                let done = index.and_then(|index| groups.commits.get(index).copied()).unwrap_or(0);
                self.waited(warp, *group, done, (instruction, *pending), *only_reads);
                Some(())
            }
            Action::WaitAll(row) => {
                let done = self.warps[warp].groups[*row as usize].started;
                self.waited(warp, *row, done, (instruction, 0), false);
                Some(())
            }
            Action::CommitTo { object, blocks } => self.commit_to(warp, mask, instruction, *object, *blocks),
            Action::Barrier { number, threads, waits } => {
                self.barrier(warp, fragment, mask, instruction, (*number, *threads, *waits))
            }
            Action::ClusterArrive { relaxed } => {
                let threads = self.threads_of(warp, mask);
                self.next_event(warp);
                let own = &mut self.warps[warp];
                own.cluster_phase = self.cluster_phase;
                if !relaxed || own.has_fenced_objects {
                    self.cluster_clock.join(&own.clock);
                }
                self.cluster_arrived += threads;
                self.release_cluster();
                Some(())
            }
            Action::ClusterWait => {
                if self.cluster_phase > self.warps[warp].cluster_phase {
                    self.warps[warp].clock.join(&self.cluster_done);
                } else {
                    let phase = self.warps[warp].cluster_phase;
                    self.warps[warp].fragments[fragment].state = State::Cluster(phase);
                }
                Some(())
            }
            Action::ProxyFence => {
                self.fence(warp, mask);
                Some(())
            }
            Action::ObjectFence => {
                self.warps[warp].has_fenced_objects = true;
                Some(())
            }
            Action::Jump(_) | Action::Exit | Action::Opaque => Some(()),
        };
        if done.is_none() {
            self.freeze(warp, fragment, instruction);
        }
    }

    fn compute(&mut self, warp: usize, mask: u32, action: &Action) {
        let Action::Compute { shape, to, from } = action else { return };
        let [a, b, c, d] = from.map(|source| self.value(warp, source));
        let uniform = |value: Option<u64>| value.map_or(Value::Unknown, Value::Uniform);
        let (first, second) = match shape.computation {
            Computation::Elect => {
                let leader = mask.trailing_zeros();
                let elected = Value::by_lane(|lane| u64::from(lane == leader));
                (Value::Uniform(u64::from(leader)), elected)
            }
            Computation::ActiveMask => (Value::Uniform(u64::from(mask)), Value::Unknown),
            Computation::Vote => {
                let holds = a.holds(mask);
                let answer = holds.map(|holds| match shape.mode {
                    Some(Mode::All) => u64::from(holds == mask),
                    Some(Mode::Any) => u64::from(holds != 0),
                    Some(Mode::Uniform) => u64::from(holds == mask || holds == 0),
                    _ => u64::from(holds),
                });
                (uniform(answer), Value::Unknown)
            }
            Computation::Exchange => {
                let other = |lane: u32| match shape.mode? {
                    Mode::Indexed => Some(b.lane(lane)? as u32 & 31),
                    Mode::Butterfly => Some(lane ^ b.lane(lane)? as u32 & 31),
                    _ => None,
                };
                let mut value = Value::Unknown;
                if let Some(from) = lanes(mask).map(other).collect::<Option<Vec<u32>>>() {
                    value = match from.first().filter(|first| from.iter().all(|other| other == *first)) {
                        Some(&first) => uniform(a.lane(first)),
                        None => match lanes(mask)
                            .zip(&from)
                            .map(|(_, from)| a.lane(*from))
                            .collect::<Option<Vec<u64>>>()
                        {
                            Some(numbers) => {
                                let by_lane: Vec<(u32, u64)> = lanes(mask).zip(numbers).collect();
                                Value::by_lane(|lane| {
                                    by_lane
                                        .iter()
                                        .find(|(each, _)| *each == lane)
                                        .map_or(0, |(_, number)| *number)
                                })
                            }
                            None => Value::Unknown,
                        },
                    };
                }
                (value, Value::Unknown)
            }
            Computation::Compare => {
                let value = Value::of([&a, &b, &c, &d], mask, |sources| shape.evaluate(sources));
                let opposite = Value::of([&value], mask, |[number]| Some(number ^ 1));
                (value, opposite)
            }
            _ => (Value::of([&a, &b, &c, &d], mask, |sources| shape.evaluate(sources)), Value::Unknown),
        };
        self.put(warp, to[1], second, mask);
        self.put(warp, to[0], first, mask);
    }

    /// The places that the lanes of a mask access, next to each other where they are; none where one is not known.
    fn ranges(&self, warp: usize, address: Address, bytes: u64, mask: u32) -> Option<Vec<(usize, u64, u64)>> {
        let value = self.address(warp, address);
        if address.space.is_none()
            && value.lane(mask.trailing_zeros()).is_some_and(|first| first & GENERIC == 0)
        {
            return None;
        }
        if let Value::Uniform(number) = value {
            let (block, place) = self.resolve(warp, number)?;
            return Some(vec![(block, place, bytes)]);
        }
        let mut all = Vec::new();
        for lane in lanes(mask) {
            let (block, place) = self.resolve(warp, value.lane(lane)?)?;
            all.push((block, place, bytes));
        }
        all.sort_unstable();
        let mut merged: Vec<(usize, u64, u64)> = Vec::new();
        for (block, place, bytes) in all {
            match merged.last_mut() {
                Some(last) if last.0 == block && last.1 + last.2 >= place => {
                    last.2 = last.2.max(place + bytes - last.1);
                }
                _ => merged.push((block, place, bytes)),
            }
        }
        Some(merged)
    }

    fn access(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        address: Address,
        reads: bool,
        writes: bool,
    ) {
        let bytes = u64::from(address.bytes).max(1);
        self.warps[warp].last_use = Some(instruction);
        if writes {
            self.warps[warp].unfenced |= mask;
        }
        let Some(ranges) = self.ranges(warp, address, bytes, mask) else { return };
        let event = self.next_event(warp);
        for (block, place, bytes) in ranges {
            self.touch_remote(warp, block, instruction);
            let mut clash = None;
            for is_write in [false, true] {
                if !(if is_write { writes } else { reads }) {
                    continue;
                }
                let mut shadow = std::mem::take(&mut self.blocks[block].shadow);
                let who = self.who(warp);
                let found = shadow.access(who, (place, bytes), is_write, (event, instruction), &self.flights);
                self.blocks[block].shadow = shadow;
                clash = clash.or(found);
            }
            if let Some(clash) = clash {
                self.tell_access(warp, instruction, clash);
            }
        }
    }

    /// An access through the generic proxy, or the start of an operation that reads, meets something.
    fn tell_access(&mut self, warp: usize, access: u32, clash: Clash) {
        let fault = match clash {
            Clash::Copied(flight) => self.too_early(warp, access, flight),
            Clash::ReadBy(flight) => self.reused(warp, access, flight),
            Clash::Unfenced { instruction, .. } => {
                Fault::new(FaultKind::MissingFence, instruction).with(access, Part::Operation)
            }
            Clash::Written { instruction } => {
                Fault::new(FaultKind::Unordered, access).with(instruction, Part::Access)
            }
            Clash::Read { instruction, .. } => {
                Fault::new(FaultKind::Overwrite, access).with(instruction, Part::Access)
            }
        };
        self.tell(fault);
    }

    /// Why something is accessed while a copy may write there.
    fn too_early(&self, warp: usize, access: u32, flight: u32) -> Fault {
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
                            .with(copy, Part::Operation),
                        None => early,
                    };
                };
                let is_done = other.clock.get(warps, row, owner as usize) >= count;
                let kind = if is_done { FaultKind::MissingBarrier } else { FaultKind::GroupPending };
                Fault::new(kind, wait).with(access, Part::Access).with(copy, Part::Operation)
            }
            Completion::Phase { object, phase } => {
                let index = object as usize;
                let own = &self.warps[warp];
                if own.tested == Some(index)
                    && let Some(&(test, _)) = own.tests.get(&index)
                {
                    return Fault::new(FaultKind::WrongPhase, test)
                        .with(access, Part::Access)
                        .with(copy, Part::Operation);
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

    /// Why something is written while an operation may read there.
    fn reused(&self, warp: usize, write: u32, flight: u32) -> Fault {
        let Flight { instruction: operation, warp: owner, event, completion, .. } =
            self.flights[flight as usize];
        let warps = self.warps.len();
        let other = &self.warps[owner as usize];
        if let Completion::Group { row, count } = completion {
            let group = if row == Row::BulkRead { Row::Bulk } else { row };
            if let Some((wait, _, _)) = other.groups[group as usize].wait.filter(|wait| wait.2 > event) {
                let is_done = other.clock.get(warps, row, owner as usize) >= count;
                let kind = if is_done { FaultKind::MissingBarrier } else { FaultKind::GroupPending };
                return Fault::new(kind, wait).with(write, Part::Access).with(operation, Part::Operation);
            }
        }
        let object = self.warps[warp].tested;
        let released =
            object.and_then(|object| other.arrivals.get(&object)).filter(|arrival| arrival.1 > event);
        match released {
            Some(&(arrival, _)) => Fault::new(FaultKind::EarlyRelease, arrival)
                .with(operation, Part::Operation)
                .with(write, Part::Access),
            None => Fault::new(FaultKind::SourceReused, write).with(operation, Part::Operation),
        }
    }

    /// Why a copy writes what another warp may still read.
    fn overwritten(&self, warp: usize, copy: u32, (reader, event, read): (u32, u32, u32)) -> Fault {
        let plain = Fault::new(FaultKind::Overwrite, copy).with(read, Part::Access);
        let own = &self.warps[warp];
        let Some(index) = own.tested else { return plain };
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
                fault.with(read, Part::Access).with(copy, Part::Operation)
            }
            None => plain.with_some(test, Part::Wait),
        }
    }

    fn waited(
        &mut self,
        warp: usize,
        row: Row,
        done: u32,
        (instruction, pending): (u32, u32),
        only_reads: bool,
    ) {
        let warps = self.warps.len();
        let event = self.next_event(warp);
        let own = &mut self.warps[warp];
        own.groups[row as usize].wait = Some((instruction, pending, event));
        own.last_use = Some(instruction);
        match row {
            Row::Bulk => {
                own.clock.raise(warps, Row::BulkRead, warp, done);
                if !only_reads {
                    own.clock.raise(warps, Row::Bulk, warp, done);
                }
            }
            _ => own.clock.raise(warps, row, warp, done),
        }
    }

    /// Starts a copy.
    fn start(&mut self, warp: usize, mask: u32, instruction: u32, action: &Action) -> Option<()> {
        let Action::Start { group, writes, reads, object, bytes, blocks } = action else { return None };
        let event = self.next_event(warp);
        let sizes = self.value(warp, *bytes);
        let chosen = self.value(warp, *blocks);
        let mut flights: Vec<(u32, usize)> = Vec::new();
        let groups = &mut self.warps[warp].groups[*group as usize];
        let count = if object.is_none() {
            groups.started += 1;
            groups.started
        } else {
            0
        };
        let row = if *group == Row::Bulk { Row::BulkRead } else { *group };
        let proxy = *group != Row::CpAsync;
        match object {
            Some(place) => {
                let named = self.named_objects(warp, *place, *blocks, mask, instruction)?;
                for (lane, index) in named {
                    let size = sizes.lane(lane).map(|size| size as i64);
                    let flight = self.flights.len() as u32;
                    let completion = Completion::Phase { object: index as u32, phase: None };
                    self.flights.push(Flight { instruction, warp: warp as u32, event, completion, proxy });
                    self.add_copy(index, instruction, size);
                    self.deliveries.push_back(Delivery {
                        object: index,
                        flight: Some((flight, size)),
                        arrival: None,
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
            let values = self.address(warp, *address);
            for (order, lane) in lanes(mask).enumerate() {
                let Some((block, place)) = values.lane(lane).and_then(|number| self.resolve(warp, number))
                else {
                    continue;
                };
                let size = sizes.lane(lane).unwrap_or(UNSIZED);
                let targets: Vec<usize> = match chosen.lane(lane).unwrap_or(0) {
                    0 => vec![block],
                    mask => (0..self.blocks.len()).filter(|block| mask >> block & 1 != 0).collect(),
                };
                for (place_in, block) in targets.iter().enumerate() {
                    let flight = match object {
                        Some(_) => flights.get(order * targets.len() + place_in)?.0,
                        None => flights[0].0,
                    };
                    self.touch_remote(warp, *block, instruction);
                    self.start_write(warp, *block, (place, size), flight);
                }
            }
        }
        for address in reads {
            let values = self.address(warp, *address);
            for lane in lanes(mask) {
                let Some((block, place)) = values.lane(lane).and_then(|number| self.resolve(warp, number))
                else {
                    continue;
                };
                let size = sizes.lane(lane).unwrap_or(UNSIZED);
                self.start_read(warp, block, (place, size), flights.first()?.0);
            }
        }
        self.progress += 1;
        Some(())
    }

    fn start_write(&mut self, warp: usize, block: usize, range: (u64, u64), flight: u32) {
        let mut shadow = std::mem::take(&mut self.blocks[block].shadow);
        let clash = shadow.start_write(self.who(warp), range, flight, &self.flights);
        self.blocks[block].shadow = shadow;
        let copy = self.flights[flight as usize].instruction;
        let fault = match clash {
            None => return,
            Some(Clash::Read { warp: reader, event, instruction }) => {
                self.overwritten(warp, copy, (reader, event, instruction))
            }
            Some(Clash::ReadBy(other)) => {
                let fault = self.reused(warp, copy, other);
                if fault.kind == FaultKind::SourceReused {
                    Fault { kind: FaultKind::Overwrite, ..fault }
                } else {
                    fault
                }
            }
            Some(Clash::Copied(other)) => {
                let other = self.flights[other as usize].instruction;
                let own = &self.warps[warp];
                let test = own.tested.and_then(|object| own.tests.get(&object)).map(|test| test.0);
                Fault::new(FaultKind::TwoCopies, copy)
                    .with(other, Part::Operation)
                    .with_some(test, Part::Wait)
            }
            Some(Clash::Written { instruction } | Clash::Unfenced { instruction, .. }) => {
                Fault::new(FaultKind::Unordered, copy).with(instruction, Part::Access)
            }
        };
        self.tell(fault);
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

    fn multiply(&mut self, warp: usize, mask: u32, instruction: u32, row: Row, matrices: &[Source]) {
        let event = self.next_event(warp);
        let groups = &mut self.warps[warp].groups[row as usize];
        groups.started += 1;
        let completion = Completion::Group { row, count: groups.started };
        self.flights.push(Flight { instruction, warp: warp as u32, event, completion, proxy: true });
        let flight = self.flights.len() as u32 - 1;
        let block = self.warps[warp].block;
        for matrix in matrices {
            let Some(descriptor) = self.value(warp, *matrix).all(mask) else { continue };
            let place = (descriptor & low_bits(DESCRIPTOR_BITS)) << DESCRIPTOR_SHIFT;
            if place != 0 {
                self.start_read(warp, block, (place, MATRIX), flight);
            }
        }
    }

    fn signal_copies(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        object: Address,
        counted: bool,
    ) -> Option<()> {
        let now = self.next_event(warp);
        let named = self.named_objects(warp, object, Source::Number(0), mask, instruction)?;
        let (warps, started) = (self.warps.len(), self.warps[warp].groups[Row::CpAsync as usize].started);
        let mut clock = self.warps[warp].clock.clone();
        clock.raise(warps, Row::CpAsync, warp, started);
        for (_, index) in named {
            self.warps[warp].arrivals.insert(index, (instruction, now));
            self.objects[index].arrivers |= 1_u128.checked_shl(warp as u32).unwrap_or(0);
            if counted {
                self.objects[index].pending += 1;
            }
            let arrival = Some(clock.clone());
            self.deliveries.push_back(Delivery { object: index, flight: None, arrival });
            self.objects[index].last_arrival = Some(instruction);
        }
        self.progress += 1;
        Some(())
    }

    fn commit_to(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        object: Address,
        blocks: Source,
    ) -> Option<()> {
        let now = self.next_event(warp);
        let named = self.named_objects(warp, object, blocks, mask, instruction)?;
        let (warps, started) = (self.warps.len(), self.warps[warp].groups[Row::Tcgen05 as usize].started);
        let mut clock = self.warps[warp].clock.clone();
        clock.raise(warps, Row::Tcgen05, warp, started);
        for (_, index) in named {
            self.warps[warp].arrivals.insert(index, (instruction, now));
            let arrival = Some(clock.clone());
            self.deliveries.push_back(Delivery { object: index, flight: None, arrival });
            self.objects[index].last_arrival = Some(instruction);
        }
        self.progress += 1;
        Some(())
    }

    /// A warp that fences as a whole speaks for all that it knows, a single thread for its own writes.
    fn fence(&mut self, warp: usize, mask: u32) {
        let warps = self.warps.len();
        let own = &mut self.warps[warp];
        let event = own.event;
        if mask == own.alive && mask.count_ones() > 1 {
            own.clock.fence_all(warps);
        }
        own.unfenced &= !mask;
        if own.unfenced & own.alive == 0 {
            own.clock.raise(warps, Row::Fenced, warp, event);
        }
    }

    fn barrier(
        &mut self,
        warp: usize,
        fragment: usize,
        mask: u32,
        instruction: u32,
        (number, threads, waits): (Source, Option<Source>, bool),
    ) -> Option<()> {
        let number = self.value(warp, number).all(mask)? as u32;
        let threads = match threads {
            Some(threads) => Some(self.value(warp, threads).all(mask)? as u32),
            None => None,
        };
        let (own, block) = (self.threads_of(warp, mask), self.warps[warp].block);
        self.next_event(warp);
        let last = self.warps[warp].last_use;
        let barrier = self.blocks[block].barriers.entry(number).or_default();
        let again = barrier.arrivals.iter().find(|(other, _)| *other == warp as u32).copied();
        barrier.clock.join(&self.warps[warp].clock);
        barrier.arrived += own;
        barrier.arrivals.push((warp as u32, instruction));
        if !barrier.places.contains(&instruction) {
            barrier.places.push(instruction);
        }
        let mut disagreement = None;
        if let Some(threads) = threads {
            match barrier.expected {
                Some((other, at)) if other != threads => disagreement = Some((at, other, threads)),
                Some(_) => {}
                None => barrier.expected = Some((threads, instruction)),
            }
        }
        if waits {
            self.warps[warp].fragments[fragment].state = State::Barrier(number);
        }
        self.progress += 1;
        if let Some((_, before)) = again.filter(|_| mask == self.warps[warp].alive) {
            let fault = Fault::new(FaultKind::ArrivesTwice, instruction).with(before, Part::Arrival);
            self.tell(fault.with_some(last, Part::Last));
        }
        if let Some((at, other, threads)) = disagreement {
            let fault = Fault::new(FaultKind::BarrierCounts, instruction).with(at, Part::OtherWait);
            self.tell(fault.counted(i64::from(other), i64::from(threads)));
        }
        self.release(block, number);
        Some(())
    }

    /// Lets those go on who wait at a barrier, if all have come.
    pub(super) fn release(&mut self, block: usize, number: u32) {
        let living = self.living(Some(block));
        let Some(barrier) = self.blocks[block].barriers.get_mut(&number) else { return };
        let expected = barrier.expected.map_or(living, |(count, _)| count);
        if barrier.arrived == 0 || barrier.arrived < expected {
            return;
        }
        let (arrived, arrivals) = (barrier.arrived, barrier.arrivals.clone());
        let places = barrier.places.clone();
        let done: BlockBarrier =
            std::mem::replace(barrier, BlockBarrier { places, ..BlockBarrier::default() });
        if arrived > expected && done.expected.is_some() {
            let last = arrivals.last().map_or(0, |(_, at)| *at);
            let fault =
                Fault::new(FaultKind::BarrierCounts, last).counted(i64::from(expected), i64::from(arrived));
            let fault = arrivals.iter().fold(fault, |fault, (_, other)| fault.with(*other, Part::OtherWait));
            self.tell(fault);
        }
        self.progress += 1;
        for warp in self.warps.iter_mut().filter(|warp| warp.block == block) {
            let mut waited = false;
            for fragment in &mut warp.fragments {
                if fragment.state == State::Barrier(number) {
                    fragment.state = State::Ready;
                    waited = true;
                }
            }
            if waited {
                warp.clock.join(&done.clock);
            }
        }
    }

    pub(super) fn release_cluster(&mut self) {
        if self.cluster_arrived == 0 || self.cluster_arrived < self.living(None) {
            return;
        }
        self.cluster_arrived = 0;
        self.cluster_phase += 1;
        self.cluster_done.join(&self.cluster_clock);
        self.progress += 1;
        for warp in &mut self.warps {
            let mut waited = false;
            for fragment in &mut warp.fragments {
                if matches!(fragment.state, State::Cluster(phase) if self.cluster_phase > phase) {
                    fragment.state = State::Ready;
                    waited = true;
                }
            }
            if waited {
                warp.clock.join(&self.cluster_done);
            }
        }
    }
}
