//! What the steps of a program do.

use ptx_ir::isa::{Computation, Mode};

use super::assumed::{Dependence, Lists};
use super::clock::Row;
use super::fault::{Fault, FaultKind, Part};
use super::machine::{Arrival, BlockBarrier, MAX_WAITS, Machine, State};
use super::plain::names_pair;
use super::program::{Action, Address, GENERIC, MAPPED, MAX_SHARED, RANK, Source, Step};
use super::shadow::LaneFence;
use super::value::{ALL, Value, lanes};
use crate::values::number::mask as low_bits;

/// Threads of a warp.
const WARP: u32 = 32;

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
        self.address_in(warp, address, ALL)
    }

    /// The same in the lanes of a mask.
    pub(super) fn address_in(&self, warp: usize, address: Address, mask: u32) -> Value {
        let base = self.seen(warp, address.base);
        let index = self.seen(warp, address.index);
        let offset = address.offset;
        let sum = |base: u64, index: u64| {
            // Addresses of 32 bits wrap as such.
            let sum = base.wrapping_add(index).wrapping_add_signed(offset);
            if base >> 32 == 0 { sum & low_bits(32) } else { sum }
        };
        match &*index {
            Value::Uniform(index) => base.mapped(mask, |base| sum(base, *index)),
            index => Value::of([&*base, index], mask, |[base, index]| Some(sum(base, index))),
        }
    }

    pub(super) fn put(&mut self, warp: usize, register: Option<u32>, value: Value, mask: u32, assumed: bool) {
        self.put_as(warp, register, value, mask, Dependence::of(assumed));
    }

    /// What a register depends on that a load sets now to what is assumed.
    pub(super) fn loads(&mut self, list: Option<u8>) -> Dependence {
        self.loaded.0 += 1;
        Dependence::on(self.loaded, Lists::one(list))
    }

    /// Sets a register, and what it depends on.
    pub(super) fn put_as(
        &mut self,
        warp: usize,
        register: Option<u32>,
        value: Value,
        mask: u32,
        dependence: Dependence,
    ) {
        let Some(register) = register.map(|register| register as usize) else { return };
        let own = &mut self.warps[warp];
        let alive = own.alive;
        if let Some(old) = own.registers.get_mut(register) {
            old.set(value, mask, alive);
            own.assumed[register].write(mask, alive, dependence);
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
                let assumed = self.are_assumed(warp, parts);
                for (part, index) in parts.iter().zip(0..) {
                    let value = self.value(warp, *part);
                    let (bits, by) = (*bits, index * *bits);
                    whole = Value::of([&whole, &value], mask, |[whole, part]| {
                        Some(whole | (part & low_bits(bits)).checked_shl(by).unwrap_or(0))
                    });
                }
                self.put(warp, Some(*to), whole, mask, assumed);
                Some(())
            }
            Action::Unpack { to, from, bits } => {
                let whole = self.value(warp, *from);
                let assumed = self.are_assumed(warp, &[*from]);
                for (register, index) in to.iter().zip(0..) {
                    let (bits, by) = (*bits, index * *bits);
                    let part = Value::of([&whole], mask, |[whole]| {
                        Some(whole.checked_shr(by).unwrap_or(0) & low_bits(bits))
                    });
                    self.put(warp, *register, part, mask, assumed);
                }
                Some(())
            }
            Action::Convert { to, from, to_generic } => {
                let to_generic = *to_generic;
                let value = self.value(warp, *from);
                let assumed = self.are_assumed(warp, &[*from]);
                let value = Value::of([&value], mask, |[address]| {
                    Some(if to_generic { address | GENERIC } else { address & !GENERIC })
                });
                self.put(warp, Some(*to), value, mask, assumed);
                Some(())
            }
            Action::MapRank { to, from, rank } => {
                let assumed = self.are_assumed(warp, &[*from, *rank]);
                let (from, rank) = (self.value(warp, *from), self.value(warp, *rank));
                let value = Value::of([&from, &rank], mask, |[address, rank]| {
                    let place = address & low_bits(RANK);
                    Some(address & GENERIC | (MAPPED | rank & 0x7f) << RANK | place)
                });
                self.put(warp, Some(*to), value, mask, assumed);
                Some(())
            }
            Action::Forget { to, from } => {
                let assumed = self.are_assumed(warp, from);
                for (register, bits) in to {
                    let number = Value::Uniform(self.scenario.memory & low_bits(*bits));
                    let value = if assumed { number } else { Value::Unknown };
                    self.put(warp, Some(*register), value, mask, assumed);
                }
                Some(())
            }
            Action::Draw { to, by, bits } => {
                self.draw(warp, mask, instruction, (*to, *by, *bits));
                Some(())
            }
            Action::Load { to, parameters: true, .. } => {
                let chosen = self.chosen.filter(|(loads, _)| loads.contains(&instruction));
                let parameter = chosen.map_or(self.scenario.parameter, |(_, number)| number);
                for (register, bits) in to {
                    let number = Value::Uniform(parameter & low_bits(*bits));
                    self.put_as(warp, Some(*register), number, mask, Dependence::NONE);
                }
                Some(())
            }
            Action::Load { to, is_next, list, from, .. } => {
                let memory = match from {
                    Some(from) if self.scenario.rises() => self.element(warp, mask, **from),
                    _ => Value::Uniform(self.scenario.loaded(*is_next)),
                };
                for (register, bits) in to {
                    let number = memory.mapped(mask, |number| number & low_bits(*bits));
                    // Rows that begin in one place have no length, and yet the first of them begins with the list.
                    let is_row = from.is_some() && !self.scenario.rises();
                    let dependence = self.loads(list.filter(|_| !is_row));
                    self.put_as(warp, Some(*register), number, mask, dependence);
                }
                Some(())
            }
            Action::Pointers { address, to } => {
                self.point(warp, mask, *address, to);
                Some(())
            }
            Action::Global(access) => self.access_global(warp, fragment, mask, instruction, access),
            Action::GlobalFence { in_block } => {
                self.fence_global(warp, instruction, *in_block);
                Some(())
            }
            Action::GridBarrier => {
                self.meet_grid(warp, fragment, mask);
                Some(())
            }
            Action::Access { address, reads, writes, is_plain, lanes, together, .. } => {
                let alone = if *together { 0 } else { mask };
                let is_atomic = *reads && *writes;
                let may_race = (*is_plain || is_atomic) && !self.is_in_doubt(warp, fragment);
                let does = (*reads, *writes);
                self.access(warp, (mask & lanes, alone), instruction, *address, does, may_race);
                self.remember(warp, mask, &step.action);
                Some(())
            }
            Action::Local { .. } => {
                self.keep(warp, mask, &step.action);
                Some(())
            }
            Action::Init { .. } => self.make_object(warp, mask, instruction, &step.action),
            Action::Invalidate { object } => self.remove_object(warp, mask, instruction, *object),
            Action::Signal { .. } => self.signal(warp, mask, instruction, &step.action),
            Action::SignalCopies { object, counted } => {
                self.signal_copies(warp, mask, instruction, *object, *counted)
            }
            Action::Test { .. } => self.test(warp, fragment, mask, instruction, &step.action),
            Action::Start { .. } => self.start(warp, mask, instruction, &step.action),
            Action::Multiply { group, accumulators, .. } => {
                let flight = self.multiply(warp, mask, instruction, &step.action);
                if *group == Row::Wgmma {
                    self.starts_with_group(warp, fragment);
                }
                if let Some((flight, accumulators)) = flight.zip(*accumulators) {
                    self.accumulate(warp, mask, accumulators, flight);
                }
                Some(())
            }
            Action::Allocate { address, columns } => {
                self.allocate(warp, mask, instruction, (*address, *columns));
                Some(())
            }
            Action::Tensor { address, writes } => {
                self.access_tensor(warp, mask, instruction, *address, *writes);
                Some(())
            }
            Action::Deallocate { first, columns } => {
                self.deallocate(warp, mask, instruction, (*first, *columns));
                Some(())
            }
            Action::WaitLoads => {
                self.loads_waited(warp);
                self.warps[warp].last_use = Some(instruction);
                Some(())
            }
            Action::Commit(row) => {
                let groups = &mut self.warps[warp].groups[*row as usize];
                let started = groups.started;
                groups.commits.push(started);
                groups.last_commit = Some(instruction);
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
                self.meets(warp, instruction);
                let own = &mut self.warps[warp];
                let again = own.at_cluster.arrive(mask, instruction, self.cluster_phase);
                // The fence of objects is for the next barrier.
                let has_fenced = std::mem::take(&mut own.has_fenced_objects);
                if !relaxed || has_fenced {
                    self.cluster_clock.join(&own.clock);
                }
                self.cluster_passed.join(&own.clock);
                self.cluster_arrived += threads;
                if let Some(before) = again {
                    let fault = Fault::new(FaultKind::ArrivesTwice, instruction);
                    self.tell(fault.with(before, Part::Arrival));
                }
                self.release_cluster();
                Some(())
            }
            Action::ClusterWait => {
                self.warps[warp].at_cluster.wait(mask);
                if self.cluster_phase > self.warps[warp].at_cluster.phase {
                    self.warps[warp].clock.join(&self.cluster_done);
                    self.cluster_waited(warp);
                } else {
                    let phase = self.warps[warp].at_cluster.phase;
                    self.warps[warp].fragments[fragment].state = State::Cluster(phase);
                }
                Some(())
            }
            Action::Registers { count, takes } => {
                self.registers(warp, fragment, instruction, *count, *takes);
                Some(())
            }
            Action::ProxyFence { shared, global } => {
                if *shared {
                    self.meets(warp, instruction);
                    self.fence(warp, mask);
                }
                if *global && self.scenario.of_grid {
                    self.device.proxy_fenced.join(&self.warps[warp].clock);
                }
                Some(())
            }
            Action::TensorFence { after } => {
                self.fence_tensor(warp, *after);
                Some(())
            }
            Action::ObjectFence => {
                self.meets(warp, instruction);
                self.warps[warp].has_fenced_objects = true;
                Some(())
            }
            // Who comes here has waited.
            Action::WarpBarrier { .. }
            | Action::Jump(_)
            | Action::Table { .. }
            | Action::Exit
            | Action::Opaque => Some(()),
        };
        if matches!(
            step.action,
            Action::Signal { .. }
                | Action::SignalCopies { .. }
                | Action::CommitTo { .. }
                | Action::Start { .. }
                | Action::Multiply { .. }
        ) {
            self.warps[warp].last_act = Some(instruction);
        }
        self.note_together(warp, mask, instruction, &step.action);
        let waits = matches!(step.action, Action::Barrier { waits: true, .. } | Action::ClusterWait);
        if waits || step.action.members().is_some() && mask == self.warps[warp].alive {
            self.warps[warp].lanes_met = self.warps[warp].event;
        }
        if done.is_none() {
            self.freeze(warp, fragment, instruction);
        }
    }

    /// Draws from a counter: as if it had been zero when the kernel began, and nobody else drew from it.
    fn draw(&mut self, warp: usize, mask: u32, instruction: u32, (to, by, bits): (u32, Source, u32)) {
        let assumed = self.are_assumed(warp, &[by]);
        let by = self.value(warp, by);
        let mut next = self.drawn.get(&instruction).copied();
        let numbers: Option<Vec<(u32, u64)>> = lanes(mask)
            .map(|lane| {
                let number = next.unwrap_or(0);
                next = Some(number.wrapping_add(by.lane(lane)?) & low_bits(bits));
                Some((lane, number))
            })
            .collect();
        let value = match (numbers.as_deref(), next) {
            (Some([(_, only)]), Some(next)) => {
                self.drawn.insert(instruction, next);
                Value::Uniform(*only)
            }
            (Some(numbers), Some(next)) => {
                self.drawn.insert(instruction, next);
                let of = |lane: u32| numbers.iter().find(|(other, _)| *other == lane);
                Value::by_lane(|lane| of(lane).map_or(0, |(_, number)| *number))
            }
            _ => Value::Unknown,
        };
        self.put(warp, Some(to), value, mask, assumed);
    }

    fn compute(&mut self, warp: usize, mask: u32, action: &Action) {
        let Action::Compute { shape, to, from } = action else { return };
        let dependence = self.warps[warp].dependence(shape.computation, from, self.warps[warp].acting);
        let [a, b, c, d] = from.map(|source| self.seen(warp, source));
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
                    Mode::LowerLane | Mode::HigherLane => {
                        let (by, limits) = (b.lane(lane)? as u32 & 31, c.lane(lane)? as u32);
                        let segment = limits >> 8 & 31;
                        let last = lane & segment | limits & 31 & !segment;
                        Some(match shape.mode? {
                            Mode::LowerLane => lane.checked_sub(by).filter(|from| *from >= last),
                            _ => Some(lane + by).filter(|from| *from <= last),
                        })
                        .map(|from| from.unwrap_or(lane))
                    }
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
            // Nobody shifts by more than there is: it is the number that a parameter is assumed to be, and what is made of a
            // number that a launch gives for one bit of it is not known.
            Computation::ShiftLeft | Computation::ShiftRight
                if b.all(mask).is_some_and(|by| by >= u64::from(shape.bits)) =>
            {
                (Value::Unknown, Value::Unknown)
            }
            Computation::Match if to[1].is_none() => {
                let peers = |own: u64| {
                    lanes(mask).filter(|&lane| a.lane(lane) == Some(own)).fold(0, |all, lane| all | 1 << lane)
                };
                let is_known = lanes(mask).all(|lane| a.lane(lane).is_some());
                let all = shape.mode == Some(Mode::All);
                let value = Value::of([&*a], mask, |[own]| {
                    let peers = peers(own);
                    Some(if all && peers != u64::from(mask) { 0 } else { peers })
                });
                (if is_known { value } else { Value::Unknown }, Value::Unknown)
            }
            Computation::Select if c.all(mask).is_some() => {
                let chosen = if c.all(mask).is_some_and(|holds| holds & 1 != 0) { &a } else { &b };
                let value = Value::of([&**chosen], mask, |[number]| shape.evaluate([number, number, 1, 0]));
                (value, Value::Unknown)
            }
            Computation::And | Computation::Or
                if matches!((&*a, &*b), (Value::Unknown, _) | (_, Value::Unknown)) =>
            {
                // One operand may decide alone.
                let known = if *a == Value::Unknown { &b } else { &a };
                let value = Value::of([&**known], mask, |[own]| {
                    let [low, high] = [0, u64::MAX].map(|other| shape.evaluate([own, other, 0, 0]));
                    low.filter(|_| low == high)
                });
                (value, Value::Unknown)
            }
            // The own block's address has no rank in it; what clears a bit of the rank names the first of a pair.
            Computation::And if b.all(mask).is_some_and(names_pair) => {
                let first = (MAPPED | self.warps[warp].block as u64 & !1) << RANK;
                let value = Value::of([&*a, &*b], mask, |[own, kept]| {
                    let is_own = own & !GENERIC < MAX_SHARED;
                    if is_own { Some(own & kept | first) } else { shape.evaluate([own, kept, 0, 0]) }
                });
                (value, Value::Unknown)
            }
            Computation::Compare => {
                let value = Value::of([&*a, &*b, &*c, &*d], mask, |sources| shape.evaluate(sources));
                let opposite = Value::of([&value], mask, |[number]| Some(number ^ 1));
                (value, opposite)
            }
            _ => (Value::of([&*a, &*b, &*c, &*d], mask, |sources| shape.evaluate(sources)), Value::Unknown),
        };
        self.put_as(warp, to[1], second, mask, dependence.in_any_way());
        self.put_as(warp, to[0], first, mask, dependence);
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
        self.meets(warp, instruction);
        let own = &mut self.warps[warp];
        let groups = &mut own.groups[row as usize];
        if let Some(before) = groups.wait.replace((instruction, pending, event)) {
            if groups.waits_before.len() == MAX_WAITS {
                groups.waits_before.pop_front();
            }
            groups.waits_before.push_back(before);
        }
        own.last_use = Some(instruction);
        match row {
            Row::Bulk => {
                own.clock.raise(warps, Row::BulkRead, warp, done);
                if !only_reads {
                    own.clock.raise(warps, Row::Bulk, warp, done);
                }
            }
            Row::Wgmma => {
                // The four warps of a group start each operation together, and it is one.
                let group = own.group();
                let others: Vec<usize> =
                    (0..warps).filter(|other| self.warps[*other].group() == group).collect();
                for other in others {
                    self.warps[warp].clock.raise(warps, row, other, done);
                }
            }
            _ => own.clock.raise(warps, row, warp, done),
        }
    }

    /// A warp that fences as a whole speaks for all that it knows, as compilers have it before matrix operations, in which
    /// all of its threads take part. A single thread speaks for its own writes, and for a copy, which one thread starts,
    /// each writer does.
    fn fence(&mut self, warp: usize, mask: u32) {
        let warps = self.warps.len();
        let own = &mut self.warps[warp];
        let event = own.event;
        if mask == own.alive && mask.count_ones() > 1 {
            own.clock.fence_all(warps);
            own.spoken = own.clock.events(warps).to_vec();
        }
        own.unfenced &= !mask;
        if own.unfenced & own.alive == 0 {
            own.clock.raise(warps, Row::Fenced, warp, event);
            own.clock.raise(warps, Row::FencedByWriter, warp, event);
        } else {
            let fence = LaneFence { warp: warp as u32, lanes: mask, event };
            self.blocks[own.block].shadow.fence(fence);
        }
    }

    /// A warp that has fenced as a whole, and meets others after that, has fenced what it knew of when it did: a fence on the way
    /// from a write to an operation is enough, whoever writes it. Who fences after the meeting speaks for nobody else.
    fn speak(&mut self, warp: usize) {
        let warps = self.warps.len();
        let own = &mut self.warps[warp];
        for (other, event) in std::mem::take(&mut own.spoken).into_iter().enumerate() {
            if other != warp {
                own.clock.raise(warps, Row::FencedByWriter, other, event);
            }
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
        let number = self.certain(warp, number).all(mask)? as u32;
        let threads = match threads {
            Some(threads) => Some(self.certain(warp, threads).all(mask)? as u32),
            None => None,
        };
        let (own, block) = (self.threads_of(warp, mask), self.warps[warp].block);
        self.bring(warp);
        self.speak(warp);
        self.next_event(warp);
        let first = self.warps[warp].first_use;
        self.meets(warp, instruction);
        let last = self.warps[warp].last_use;
        let barrier = self.blocks[block].barriers.entry(number).or_default();
        let again = barrier.arrivals.iter().find(|arrival| arrival.warp == warp as u32).copied();
        // Who has arrived and not waited knows of those who waited what they have told it since.
        let warps = self.warps.len();
        let clock = &self.warps[warp].clock;
        let went_on = |arrival: &&Arrival| arrival.warp == warp as u32 && !arrival.waits;
        let ahead = barrier.before.iter().find(went_on).and_then(|own| {
            let is_unknown = |arrival: &&Arrival| {
                arrival.waits && clock.get(warps, Row::Events, arrival.warp as usize) < arrival.event
            };
            barrier.before.iter().find(is_unknown).map(|other| (own.instruction, other.instruction))
        });
        // Who comes first to a round and knows nothing of the last one might have been counted there.
        let is_behind = |arrival: &Arrival| {
            let known = clock.get(warps, Row::Events, arrival.warp as usize);
            arrival.warp == warp as u32 || known > arrival.event || !arrival.waits && known == arrival.event
        };
        let other = barrier.before.iter().find(|arrival| arrival.waits);
        // One warp opens a barrier for 32 threads by itself.
        let counts_several = threads.is_some_and(|threads| threads > WARP);
        let is_apart = waits && counts_several && !barrier.before.iter().any(is_behind);
        let shared = other.filter(|_| is_apart).map(|other| other.instruction);
        barrier.clock.join(clock);
        barrier.arrived += own;
        let event = self.warps[warp].event;
        barrier.arrivals.push(Arrival { warp: warp as u32, event, instruction, waits });
        if !barrier.places.contains(&instruction) {
            barrier.places.push(instruction);
        }
        // Arrivals are counted, whoever makes them: a group may let its own first wait pass, and one warp may arrive with
        // its group and then wait for all of it, each round, where the number of threads says so.
        let is_own_credit = waits
            && threads.is_some_and(|threads| {
                let counted = (warp as u32, threads);
                let is_first = !barrier.opened.contains(&threads);
                if is_first && again.is_some() {
                    barrier.counted_twice.push(counted);
                }
                barrier.arrived <= threads && (is_first || barrier.counted_twice.contains(&counted))
            });
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
            self.meets_tensor(warp, instruction);
        }
        self.progress += 1;
        let is_whole = mask == self.warps[warp].alive && !is_own_credit;
        let changed = match again.is_some() || ahead.is_some() {
            true if is_whole => self.other_places(block, number, true),
            _ => Vec::new(),
        };
        let with_changed =
            |fault: Fault| changed.iter().fold(fault, |fault, at| fault.with(*at, Part::OtherBarrier));
        if let Some(before) = again.filter(|_| is_whole) {
            let fault =
                Fault::new(FaultKind::ArrivesTwice, instruction).with(before.instruction, Part::Arrival);
            self.tell(with_changed(fault.with_some(last, Part::Last).with_some(first, Part::First)));
        } else if let Some((before, other)) = ahead.filter(|_| is_whole) {
            let fault = Fault::new(FaultKind::ArrivesTwice, instruction).with(before, Part::Arrival);
            let fault = fault.with(other, Part::OtherWait).with_some(last, Part::Last);
            self.tell(with_changed(fault.with_some(first, Part::First)));
        }
        if let Some(other) = shared.filter(|_| mask == self.warps[warp].alive) {
            self.tell(Fault::new(FaultKind::BarrierShared, instruction).with(other, Part::OtherWait));
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
        let mut kept = BlockBarrier {
            places: std::mem::take(&mut barrier.places),
            counted_twice: std::mem::take(&mut barrier.counted_twice),
            opened: std::mem::take(&mut barrier.opened),
            before: arrivals.clone(),
            ..BlockBarrier::default()
        };
        if !kept.opened.contains(&expected) {
            kept.opened.push(expected);
        }
        let done: BlockBarrier = std::mem::replace(barrier, kept);
        if arrived > expected && done.expected.is_some() {
            let last = arrivals.last().map_or(0, |arrival| arrival.instruction);
            let fault =
                Fault::new(FaultKind::BarrierCounts, last).counted(i64::from(expected), i64::from(arrived));
            let others = arrivals.iter().map(|arrival| arrival.instruction);
            self.tell(others.fold(fault, |fault, other| fault.with(other, Part::OtherWait)));
        }
        self.progress += 1;
        let mut met = Vec::new();
        for (index, warp) in self.warps.iter_mut().enumerate().filter(|(_, warp)| warp.block == block) {
            let mut waited = false;
            for fragment in &mut warp.fragments {
                if fragment.state == State::Barrier(number) {
                    fragment.state = State::Ready;
                    waited = true;
                }
            }
            if waited {
                warp.clock.join(&done.clock);
                met.push(index);
            }
        }
        met.into_iter().for_each(|warp| self.take(warp));
    }
}
