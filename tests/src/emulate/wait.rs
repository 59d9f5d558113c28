//! Threads that wait for others: collectives of a warp, and barriers of the block.
//!
//! Threads of a warp run independently of each other. One that comes to a collective waits until the lanes of its
//! mask that have not exited wait for the same: same spelling, same mask (PTX ISA manual, `shfl.sync`, `vote.sync`,
//! `bar.warp.sync`). One that comes to a barrier waits for all lanes of its warp that have not exited, and then for
//! the other warps (`barrier`); with `.aligned` the lanes must be at the same instruction. What is wrong shows
//! where nobody can go on, so that no schedule hides it.

use super::block::{Block, State};
use super::fault::{Cause, FaultKind, Observed};
use super::program::{Barrier, BarrierKind, Collective, CollectiveKind, Operation, Reduction, Shuffle, Vote};
use super::value::{Origins, Value, mask, signed};

type Place = (usize, usize);

/// What a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wait {
    /// The other lanes of a mask.
    Collective { place: Place, mask: u32, values: [Value; 3] },
    /// All other lanes of its warp.
    Together { place: Place },
    /// The other lanes of its warp, before the warp arrives.
    Barrier { place: Place, aligned: bool, kind: BarrierKind, id: u32, count: Option<u32>, predicate: bool },
    /// The other warps.
    Arrived { place: Place, id: u32 },
}

#[derive(Clone, Debug, Default)]
struct Resource {
    /// The warps that have come.
    warps: u64,
    count: Option<u32>,
    reduces: Option<BarrierKind>,
    /// How many threads came with a predicate that holds, and how many there are.
    holds: u32,
    threads: u32,
}

/// The sixteen barriers of a block.
#[derive(Clone, Debug, Default)]
pub(super) struct Barriers([Resource; 16]);

impl Block<'_, '_> {
    pub(super) fn arrive_at_collective(&mut self, thread: usize, collective: &Collective) {
        let place = self.place(thread);
        let mask = self.needed(thread, collective.mask, 32, Observed::Collective) as u32;
        let mut values = [Value::known(0); 3];
        for (index, source) in collective.sources.iter().enumerate() {
            // A shuffle only moves its first operand; who observes it is seen later.
            values[index] = match (collective.kind, index) {
                (CollectiveKind::Shuffle(_), 0) => self.read(thread, *source).cut(32),
                (CollectiveKind::Shuffle(_), _) => {
                    Value::known(self.needed(thread, *source, 13, Observed::Collective))
                }
                (CollectiveKind::Vote(_), _) => {
                    Value::known(self.needed(thread, *source, 1, Observed::Collective))
                }
                _ => Value::known(self.needed(thread, *source, collective.ty.width, Observed::Collective)),
            };
        }
        if mask >> (thread & 31) & 1 == 0 {
            return self.stop(FaultKind::NotInMask, place);
        }
        self.threads[thread].state = State::Waiting(Wait::Collective { place, mask, values });
        self.settle(thread / 32);
    }

    pub(super) fn arrive_together(&mut self, thread: usize) {
        self.threads[thread].state = State::Waiting(Wait::Together { place: self.place(thread) });
        self.settle(thread / 32);
    }

    pub(super) fn arrive_at_barrier(&mut self, thread: usize, barrier: &Barrier) {
        let place = self.place(thread);
        let id = self.needed(thread, barrier.id, 32, Observed::Collective) as u32;
        let count = barrier.count.map(|count| self.needed(thread, count, 32, Observed::Collective) as u32);
        let predicate = barrier
            .predicate
            .is_some_and(|predicate| self.needed(thread, predicate, 1, Observed::Collective) == 1);
        let wrong_count = count.is_some_and(|count| count == 0 || count % 32 != 0);
        if id > 15 || wrong_count {
            return self.stop(FaultKind::OperandsDiffer, place);
        }
        let (aligned, kind) = (barrier.aligned, barrier.kind);
        let wait = Wait::Barrier { place, aligned, kind, id, count, predicate };
        self.threads[thread].state = State::Waiting(wait);
        self.settle(thread / 32);
    }

    pub(super) fn after_exit(&mut self, warp: usize) {
        self.settle(warp);
        if self.alive(warp) == 0 {
            for id in 0..16 {
                self.complete(id);
            }
        }
    }

    fn waiting(&self, thread: usize) -> Option<Wait> {
        match self.threads[thread].state {
            State::Waiting(wait) => Some(wait),
            State::Ready | State::Exited => None,
        }
    }

    fn collective(&self, place: Place) -> Option<&Collective> {
        match &self.program.functions[place.0].code[place.1].operation {
            Operation::Collective(collective) => Some(collective),
            _ => None,
        }
    }

    /// Lets the lanes of a warp go on whose wait is over.
    fn settle(&mut self, warp: usize) {
        let alive = self.alive(warp);
        for lane in 0..32 {
            let thread = warp * 32 + lane;
            if alive >> lane & 1 == 0 || self.end.is_some() {
                continue;
            }
            match self.waiting(thread) {
                Some(Wait::Collective { place, mask, .. }) => {
                    let members = self.members(warp, place, mask);
                    if alive & mask & !members == 0 {
                        self.meet(warp, place, mask, members);
                    }
                }
                Some(Wait::Together { place }) => {
                    let same = State::Waiting(Wait::Together { place });
                    if self.lanes(warp, |state| state == same) == alive {
                        self.whole_warp(warp, place);
                        self.release(warp, alive);
                    }
                }
                Some(Wait::Barrier { .. }) => self.warp_arrives(warp, alive),
                Some(Wait::Arrived { .. }) | None => {}
            }
        }
    }

    /// The lanes that wait for the same collective.
    fn members(&self, warp: usize, place: Place, mask: u32) -> u32 {
        let spelling = self.collective(place).map(|collective| &collective.spelling);
        self.lanes(warp, |state| match state {
            State::Waiting(Wait::Collective { place: other, mask: theirs, .. }) => {
                let same = other == place
                    || self.collective(other).map(|collective| &collective.spelling) == spelling;
                theirs == mask && same
            }
            _ => false,
        })
    }

    fn release(&mut self, warp: usize, lanes: u32) {
        for lane in (0..32).filter(|lane| lanes >> lane & 1 == 1) {
            let thread = warp * 32 + lane;
            self.threads[thread].state = State::Ready;
            self.advance(thread);
        }
    }

    /// All have come: the collective happens.
    fn meet(&mut self, warp: usize, place: Place, mask: u32, members: u32) {
        let Some(collective) = self.collective(place) else { return };
        let kind = collective.kind;
        let ty = collective.ty;
        let existing = self.lanes(warp, |_| true);
        if mask & existing & !members != 0 {
            self.report(FaultKind::ExitedLane, place, Origins::NONE);
        }
        let mut values = [[Value::known(0); 3]; 32];
        for (lane, values) in values.iter_mut().enumerate() {
            if let Some(State::Waiting(Wait::Collective { values: theirs, .. })) =
                self.threads.get(warp * 32 + lane).map(|thread| thread.state)
            {
                *values = theirs;
            }
        }
        for lane in (0..32_usize).filter(|lane| members >> lane & 1 == 1) {
            let thread = warp * 32 + lane;
            let here = self.place(thread);
            let Some(results) = self.collective(here).map(|collective| collective.results) else { continue };
            let (first, second) = match kind {
                CollectiveKind::Shuffle(mode) => {
                    let (from, inside) = shuffled(mode, lane, values[lane][1].bits, values[lane][2].bits);
                    let value = if members >> from & 1 == 1 {
                        values[from][0]
                    } else {
                        let origins = self.origin(here, Cause::Lane);
                        Value::new(32, values[lane][0].bits.wrapping_mul(0x9e37_79b9), u64::MAX, origins)
                    };
                    (value, Value::flag(inside))
                }
                CollectiveKind::Vote(mode) => {
                    let holds = ballot(members, |lane| values[lane][0].bits == 1);
                    let result = match mode {
                        Vote::All => u64::from(holds == members),
                        Vote::Any => u64::from(holds != 0),
                        Vote::Uniform => u64::from(holds == 0 || holds == members),
                        Vote::Ballot => u64::from(holds),
                    };
                    (Value::known(result), Value::known(0))
                }
                CollectiveKind::Match { all } => {
                    let same = ballot(members, |other| values[other][0].bits == values[lane][0].bits);
                    let lanes = if all && same != members { 0 } else { same };
                    (Value::known(u64::from(lanes)), Value::flag(same == members))
                }
                CollectiveKind::Elect => {
                    let leader = members.trailing_zeros() as usize;
                    (Value::known(leader as u64), Value::flag(lane == leader))
                }
                CollectiveKind::Reduce(operation) => {
                    let lanes = (0..32_usize).filter(|lane| members >> lane & 1 == 1);
                    let all = lanes.map(|lane| values[lane][0].bits);
                    (Value::known(reduced(operation, all, ty.signed)), Value::known(0))
                }
                CollectiveKind::WarpSync => (Value::known(0), Value::known(0)),
            };
            self.write(thread, results[0], first);
            self.write(thread, results[1], second);
        }
        self.release(warp, members);
    }

    /// All lanes of a warp wait for a barrier, or not yet.
    fn warp_arrives(&mut self, warp: usize, alive: u32) {
        let waits: Vec<(usize, Wait)> = (0..32)
            .filter(|lane| alive >> lane & 1 == 1)
            .filter_map(|lane| Some((warp * 32 + lane, self.waiting(warp * 32 + lane)?)))
            .collect();
        let Some(&(_, Wait::Barrier { place, aligned, kind, id, count, .. })) =
            waits.iter().find(|(_, wait)| matches!(wait, Wait::Barrier { .. }))
        else {
            return;
        };
        if waits.len() != alive.count_ones() as usize {
            return;
        }
        let (mut differ, mut holds) = (false, 0);
        for (_, wait) in &waits {
            let Wait::Barrier { place: there, aligned: too, kind: how, id: other, count: many, predicate } =
                *wait
            else {
                return;
            };
            // Lanes at another instruction wait for others, unless neither is `.aligned`.
            if (aligned || too) && there != place {
                return;
            }
            if !aligned && other != id {
                return;
            }
            differ |= other != id || how != kind || many != count;
            holds += u32::from(predicate);
        }
        let resource = &mut self.barriers.0[id as usize];
        let fresh = resource.warps == 0;
        let reduces =
            matches!(kind, BarrierKind::Count | BarrierKind::All | BarrierKind::Any).then_some(kind);
        let fault = if differ || (!fresh && (resource.count != count || resource.reduces != reduces)) {
            Some(FaultKind::OperandsDiffer)
        } else if resource.warps >> warp & 1 == 1 {
            Some(FaultKind::BarrierReused)
        } else {
            None
        };
        if let Some(fault) = fault {
            return self.stop(fault, place);
        }
        resource.warps |= 1 << warp;
        resource.count = count;
        resource.reduces = reduces;
        resource.holds += holds;
        resource.threads += waits.len() as u32;
        if aligned {
            self.whole_warp(warp, place);
        }
        for (thread, wait) in waits {
            let Wait::Barrier { place, .. } = wait else { continue };
            if kind == BarrierKind::Arrive {
                self.threads[thread].state = State::Ready;
                self.advance(thread);
            } else {
                self.threads[thread].state = State::Waiting(Wait::Arrived { place, id });
            }
        }
        self.complete(id as usize);
    }

    /// What is `.aligned` wants all lanes of the warp, and the manual says nothing of those that have exited.
    fn whole_warp(&mut self, warp: usize, place: Place) {
        if self.alive(warp) != self.lanes(warp, |_| true) {
            self.report(FaultKind::ExitedLane, place, Origins::NONE);
        }
    }

    /// Ends a barrier to which all have come.
    fn complete(&mut self, id: usize) {
        let resource = self.barriers.0[id].clone();
        if resource.warps == 0 || self.end.is_some() {
            return;
        }
        let alive =
            (0..self.warps()).filter(|warp| self.alive(*warp) != 0).fold(0, |all, warp| all | 1_u64 << warp);
        let complete = match resource.count {
            Some(count) => resource.warps.count_ones() * 32 >= count,
            None => alive & !resource.warps == 0,
        };
        if !complete {
            return;
        }
        let everyone = mask(self.warps() as u32);
        self.barriers.0[id] = Resource::default();
        let result = match resource.reduces {
            Some(BarrierKind::Count) => u64::from(resource.holds),
            Some(BarrierKind::All) => u64::from(resource.holds == resource.threads),
            Some(_) => u64::from(resource.holds != 0),
            None => 0,
        };
        for thread in 0..self.threads.len() {
            let Some(Wait::Arrived { place, id: other }) = self.waiting(thread) else { continue };
            if other as usize != id {
                continue;
            }
            if resource.count.is_none() && everyone & !resource.warps != 0 {
                self.report(FaultKind::ExitedWarp, place, Origins::NONE);
            }
            if let Operation::Barrier(Barrier { result: Some(register), .. }) =
                self.program.functions[place.0].code[place.1].operation
            {
                self.write(thread, Some(register), Value::known(result));
            }
            self.threads[thread].state = State::Ready;
            self.advance(thread);
        }
    }

    /// Nobody can go on: says why.
    pub(super) fn deadlock(&mut self) {
        let mut within = false;
        for warp in 0..self.warps() {
            let alive = self.alive(warp);
            for lane in (0..32).filter(|lane| alive >> lane & 1 == 1) {
                let found = match self.waiting(warp * 32 + lane) {
                    Some(Wait::Collective { place, .. }) => (FaultKind::LanesMissing, place),
                    Some(Wait::Together { place } | Wait::Barrier { place, aligned: true, .. }) => {
                        (FaultKind::PartOfWarp, place)
                    }
                    Some(Wait::Barrier { place, .. }) => (FaultKind::Deadlock, place),
                    Some(Wait::Arrived { .. }) | None => continue,
                };
                within = true;
                self.report(found.0, found.1, Origins::NONE);
            }
        }
        if !within {
            for thread in 0..self.threads.len() {
                if let Some(Wait::Arrived { place, .. }) = self.waiting(thread) {
                    self.report(FaultKind::Deadlock, place, Origins::NONE);
                }
            }
        }
        self.end = Some(super::block::End::Stopped);
    }
}

fn ballot(members: u32, holds: impl Fn(usize) -> bool) -> u32 {
    (0..32).filter(|lane| members >> lane & 1 == 1 && holds(*lane)).fold(0, |lanes, lane| lanes | 1 << lane)
}

/// The lane that a value comes from, and whether it is in range.
fn shuffled(mode: Shuffle, lane: usize, b: u64, c: u64) -> (usize, bool) {
    let lane = lane as i64;
    let (b, clamp, segments) = ((b & 31) as i64, (c & 31) as i64, (c >> 8 & 31) as i64);
    let first = lane & segments;
    let last = first | (clamp & !segments);
    let (from, inside) = match mode {
        Shuffle::Up => (lane - b, lane - b >= last),
        Shuffle::Down => (lane + b, lane + b <= last),
        Shuffle::Butterfly => (lane ^ b, lane ^ b <= last),
        Shuffle::Index => (first | (b & !segments), first | (b & !segments) <= last),
    };
    if inside { (from as usize & 31, true) } else { (lane as usize, false) }
}

fn reduced(operation: Reduction, values: impl Iterator<Item = u64>, sign: bool) -> u64 {
    let number = |bits: u64| if sign { signed(bits, 32) } else { i128::from(bits) };
    let both = |a: u64, b: u64| match operation {
        Reduction::Add => a.wrapping_add(b) & 0xffff_ffff,
        Reduction::Minimum => {
            if number(a) <= number(b) {
                a
            } else {
                b
            }
        }
        Reduction::Maximum => {
            if number(a) >= number(b) {
                a
            } else {
                b
            }
        }
        Reduction::And => a & b,
        Reduction::Or => a | b,
        Reduction::Xor => a ^ b,
    };
    values.reduce(both).unwrap_or(0)
}
