//! What threads do to global memory, where several blocks of a grid are executed.

use std::borrow::Cow;

use ptx_ir::isa::Update;

use super::assumed::{Dependence, Lists};
use super::clock::Row;
use super::device::{Look, Released, Teller, WORD};
use super::effort::weight_of_global;
use super::fault::{Fault, FaultKind, Part};
use super::machine::{Machine, State};
use super::pointer::{PLACE_BITS, updated};
use super::program::{Action, Address, GlobalAccess, Step};
use super::shadow::{Touch, Who, cells};
use super::value::{Value, lanes};
use crate::values::number::mask as low_bits;

/// The block whose memory the global one counts as.
const GLOBAL: usize = usize::MAX;
/// Bytes of the largest number.
const LARGEST: u64 = 8;
/// Bytes of a copy that are looked at.
const MAX_COPIED: u32 = 1 << 16;
/// Strong stores, and waits, of a warp that are remembered.
const MAX_TOLD: usize = 64;
/// Places that are shown of those who set flags.
const MAX_SETTERS: usize = 4;

impl Machine<'_> {
    /// Accesses global memory; none where it is not known where.
    pub(super) fn access_global(
        &mut self,
        warp: usize,
        fragment: usize,
        mask: u32,
        instruction: u32,
        access: &GlobalAccess,
    ) -> Option<()> {
        let strength = access.strength;
        let addresses = self.address_in(warp, access.address, mask);
        if self.are_assumed(warp, &[access.address.base, access.address.index]) {
            self.guess(warp, instruction, Lists::one(None));
            self.device.led.insert(instruction);
        }
        let numbers: Option<Vec<(u32, u64)>> =
            lanes(mask).map(|lane| Some((lane, addresses.lane(lane)?))).collect();
        let Some(mut numbers) = numbers else {
            // Whoever stores at a place that is not known may tell anybody anything.
            if strength.is_strong {
                self.is_partial = true;
                return None;
            }
            self.forget(warp, access.to.iter().flatten().copied());
            return Some(());
        };
        if numbers.iter().any(|(_, address)| !self.device.has(*address)) {
            self.is_partial |= strength.is_strong;
            self.forget(warp, access.to.iter().flatten().copied());
            return if strength.is_strong { None } else { Some(()) };
        }
        // A loop over data may come to one place again.
        let reads_data = access.reads_data();
        let may_wait = strength.is_strong && !reads_data
            || self.program.exits.iter().any(|(load, ..)| *load == instruction);
        if access.reads && may_wait && self.parks(warp, fragment, mask, instruction, &numbers) {
            return Some(());
        }
        if self.scenario.weighs {
            self.steps = self.steps.saturating_sub(weight_of_global(numbers.len()));
        }
        let event = self.next_event(warp);
        self.device.has_told = strength.is_strong && !reads_data;
        self.warps[warp].last_use = Some(instruction);
        if !strength.is_strong || reads_data || access.writes_data() {
            self.look_for_races(warp, instruction, event, access, &numbers);
        }
        let is_uniform = matches!(addresses, Value::Uniform(_)) && access.update.is_none();
        if is_uniform {
            numbers.truncate(1);
        }
        let part = u64::from(access.part).max(1);
        let sources: Vec<Value> = access.from.iter().map(|source| self.value(warp, *source)).collect();
        let assumed = self.are_assumed(warp, &access.from);
        let mut results: Vec<[u64; 32]> = vec![[0; 32]; access.to.len()];
        let mut are_results_assumed = false;
        let mut changed = false;
        for &(lane, address) in &numbers {
            if strength.is_strong {
                self.order(warp, instruction, event, access, address);
            } else if access.writes {
                self.tell_weakly(warp, instruction, address, u64::from(access.address.bytes));
            }
            let parts = access.to.len().max(if access.writes { access.from.len().max(1) } else { 0 });
            for index in 0..parts as u64 {
                let here = address.wrapping_add(index * part);
                if access.reads {
                    let (number, is_assumed) = self.loaded_from(here, part, access);
                    are_results_assumed |= is_assumed;
                    if let Some(result) = results.get_mut(index as usize) {
                        result[lane as usize % 32] = number;
                    }
                    if !access.writes {
                        continue;
                    }
                    if index > 0 {
                        break;
                    }
                    let given = |index: usize| sources.get(index).and_then(|source| source.lane(lane));
                    let new = access.update.and_then(|update| {
                        updated(update, (access.bits, access.signed), number, given(0)?, given(1))
                    });
                    changed |= new != Some(number);
                    self.put_into(here, part, new, is_assumed || assumed);
                    break;
                }
                let new = sources.get(index as usize).and_then(|source| source.lane(lane));
                let new = new.map(|number| number & low_bits(8 * part.min(LARGEST) as u32));
                let old = self.memory.load(GLOBAL, here, part).map(|(number, _)| number);
                changed |= new.is_none() || old != new;
                self.put_into(here, part, new, assumed);
            }
        }
        if changed {
            self.device.version += 1;
            self.progress += 1;
        }
        for (to, result) in access.to.iter().zip(results) {
            let value = match is_uniform {
                true => Value::Uniform(result[mask.trailing_zeros() as usize % 32]),
                false => Value::by_lane(|lane| result[lane as usize % 32]),
            };
            let dependence = if are_results_assumed { self.loads(None) } else { Dependence::NONE };
            self.put_as(warp, *to, value, mask, dependence);
        }
        Some(())
    }

    /// Sets registers to parameters of which some are pointers.
    pub(super) fn point(
        &mut self,
        warp: usize,
        mask: u32,
        address: Address,
        to: &[Option<(u32, u32, bool)>],
    ) {
        let addresses = self.address_in(warp, address, mask);
        let assumed = self.are_assumed(warp, &[address.base, address.index]);
        let part = u64::from(address.bytes) / to.len().max(1) as u64;
        for (each, index) in to.iter().zip(0..) {
            let Some((register, bits, is_pointer)) = *each else { continue };
            let value = match is_pointer {
                false => Value::Uniform(self.scenario.parameter & low_bits(bits)),
                true => {
                    let mut numbers = [0; 32];
                    let mut is_known = true;
                    for lane in lanes(mask) {
                        match addresses.lane(lane) {
                            Some(address) => {
                                numbers[lane as usize % 32] = self.device.pointer_at(address + index * part);
                            }
                            None => is_known = false,
                        }
                    }
                    match (is_known, &addresses) {
                        (false, _) => Value::Unknown,
                        (true, Value::Uniform(_)) => {
                            Value::Uniform(numbers[mask.trailing_zeros() as usize % 32])
                        }
                        (true, _) => Value::by_lane(|lane| numbers[lane as usize % 32]),
                    }
                }
            };
            self.put(warp, Some(register), value, mask, assumed);
        }
    }

    /// Whether threads look once more at what has not changed: they wait.
    fn parks(
        &mut self,
        warp: usize,
        fragment: usize,
        mask: u32,
        instruction: u32,
        numbers: &[(u32, u64)],
    ) -> bool {
        let version = self.device.version;
        let look = Look {
            mask,
            first: numbers.first().map_or(0, |(_, address)| *address),
            sum: numbers.iter().fold(0, |all, (_, address)| all.wrapping_add(*address)),
            version,
        };
        if self.device.looks.insert((warp, instruction), look) != Some(look) {
            return false;
        }
        let own = &mut self.warps[warp].fragments[fragment];
        own.pc -= 1;
        // The threads that do not look at it stay where they are.
        if own.mask == mask {
            own.state = State::Memory(version);
        } else {
            let rest = own.mask & !mask;
            let mut waiting = own.clone();
            (waiting.mask, waiting.state) = (mask, State::Memory(version));
            own.mask = rest;
            own.pc += 1;
            self.warps[warp].fragments.push(waiting);
        }
        // When memory changes they look again.
        self.device.looks.remove(&(warp, instruction));
        true
    }

    /// A number in memory, and whether it is assumed.
    fn loaded_from(&mut self, address: u64, bytes: u64, access: &GlobalAccess) -> (u64, bool) {
        if bytes > LARGEST {
            return (self.scenario.memory, true);
        }
        if let Some(known) = self.memory.load(GLOBAL, address, bytes) {
            return known;
        }
        if access.points && bytes == LARGEST {
            return (self.device.pointer_at(address), false);
        }
        // Flags begin with nought.
        let is_flag = access.strength.is_strong || self.device.strong.contains_key(&(address >> PLACE_BITS));
        if is_flag {
            return (0, false);
        }
        let number = match self.scenario.run {
            0 => self.scenario.memory,
            // What is asked for first tells where the parts of the others begin, as the rows of a sparse matrix do.
            run => {
                let own = address >> PLACE_BITS;
                let index = (address & low_bits(PLACE_BITS)) / bytes;
                match *self.device.leading.get_or_insert(own) == own {
                    // The first part is empty.
                    true => index.max(1) * run - run,
                    false => index / (2 * run),
                }
            }
        };
        (number & low_bits(8 * bytes as u32), true)
    }

    fn put_into(&mut self, address: u64, bytes: u64, number: Option<u64>, assumed: bool) {
        self.device.is_misled |= self.device.passed.contains(&(address / WORD));
        match number {
            Some(number) if bytes <= LARGEST => self.memory.store(GLOBAL, address, (number, bytes), assumed),
            _ => {
                let number = self.scenario.memory;
                let mut done = 0;
                while done < bytes {
                    self.memory.store(
                        GLOBAL,
                        address.wrapping_add(done),
                        (number, LARGEST.min(bytes - done)),
                        true,
                    );
                    done += LARGEST;
                }
            }
        }
    }

    /// What a strong access tells others, and what it learns from them.
    fn order(&mut self, warp: usize, instruction: u32, event: u32, access: &GlobalAccess, address: u64) {
        let strength = access.strength;
        let block = self.warps[warp].block;
        let words = address / WORD..(address + u64::from(access.address.bytes).max(1)).div_ceil(WORD);
        let Self { device, warps, .. } = self;
        for word in words.clone() {
            let teller = device.tellers.entry(word).or_insert(Teller { block, is_shared: false });
            teller.is_shared |= teller.block != block;
        }
        let own = &mut device.warps[warp];
        let setters = device.strong.entry(address >> PLACE_BITS).or_default();
        if access.writes {
            if !setters.contains(&instruction) {
                setters.push(instruction);
            }
            if own.told.len() < MAX_TOLD {
                own.told.push((event, instruction));
            }
        }
        if access.reads {
            own.looked = if access.reads_data() { own.looked } else { Some(instruction) };
            for word in words.clone() {
                let Some(released) = device.released.get(&word) else { continue };
                let narrow = released.narrow.as_ref().filter(|(of, _)| *of == block).map(|(_, clock)| clock);
                let wide = (!strength.in_block || narrow.is_some()).then_some(&released.wide);
                for clock in wide.into_iter().chain(narrow) {
                    match () {
                        () if strength.acquires => warps[warp].clock.join(clock),
                        // Who counts, and meets the others then, is the last one as people write it.
                        () if strength.is_volatile || access.writes => own.seen_volatile.join(clock),
                        () => own.seen.join(clock),
                    }
                }
            }
        }
        if access.writes {
            let clock = &warps[warp].clock;
            for word in words {
                let released = device.released.entry(word).or_default();
                if !access.reads {
                    *released = Released::default();
                }
                let (wide, narrow) = match (strength.releases, strength.in_block) {
                    (true, true) => (&own.fenced, clock),
                    (true, false) => (clock, clock),
                    (false, true) => (&own.fenced, &own.fenced),
                    (false, false) => (&own.fenced, &own.fenced_in_block),
                };
                // In the scope of the block nobody else is told anything.
                if !strength.in_block {
                    released.wide.join(wide);
                }
                match &mut released.narrow {
                    Some((of, known)) if *of == block => known.join(narrow),
                    other => *other = Some((block, narrow.clone())),
                }
            }
        }
    }

    /// A plain store where others may look: people set flags so, after a fence.
    fn tell_weakly(&mut self, warp: usize, instruction: u32, address: u64, bytes: u64) {
        let Self { device, .. } = self;
        let fenced = &device.warps[warp].fenced;
        if device.strong.contains_key(&(address >> PLACE_BITS)) {
            device.told_weakly = Some(instruction);
        }
        for word in address / WORD..(address + bytes.max(1)).div_ceil(WORD) {
            if let Some(released) = device.released.get_mut(&word) {
                *released = Released { wide: fenced.clone(), narrow: None };
            } else if device.strong.contains_key(&(address >> PLACE_BITS)) {
                device.released.insert(word, Released { wide: fenced.clone(), narrow: None });
            }
        }
    }

    /// A copy reads global memory: not earlier than it begins, and whoever begins it has to know of what was stored there before.
    pub(super) fn copies_from(
        &mut self,
        warp: usize,
        mask: u32,
        (instruction, event): (u32, u32),
        from: &GlobalAccess,
        sizes: &Value,
    ) {
        let addresses = self.address_in(warp, from.address, mask);
        if self.are_assumed(warp, &[from.address.base, from.address.index]) {
            self.device.led.insert(instruction);
        }
        for lane in lanes(mask) {
            let (Some(address), Some(bytes)) = (addresses.lane(lane), sizes.lane(lane)) else { continue };
            if !self.device.has(address) {
                continue;
            }
            let bytes = u32::try_from(bytes).unwrap_or(u32::MAX).min(MAX_COPIED);
            let address_of_it = Address { bytes, ..from.address };
            let access = GlobalAccess { address: address_of_it, ..from.clone() };
            self.look_for_races(warp, instruction, event, &access, &[(lane, address)]);
        }
    }

    /// A copy reads through the asynchronous proxy what a warp of another block has stored, and this one knows of: somebody who knew has
    /// to have fenced the proxy.
    pub(super) fn copies_unfenced(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        from: &GlobalAccess,
        sizes: &Value,
    ) {
        if self.are_assumed(warp, &[from.address.base, from.address.index]) {
            return;
        }
        let addresses = self.address_in(warp, from.address, mask);
        let places = lanes(mask).filter_map(|lane| {
            let address = addresses.lane(lane).filter(|address| self.device.has(*address))?;
            Some((address, sizes.lane(lane)?.min(MAX_COPIED.into())))
        });
        let (device, count) = (&self.device, self.warps.len());
        let (block, clock) = (self.warps[warp].block, &self.warps[warp].clock);
        let is_unfenced = |touch: &Touch| {
            let writer = touch.warp as usize;
            self.warps[writer].block != block
                && clock.get(count, Row::Events, writer) >= touch.event
                && device.proxy_fenced.get(count, Row::Events, writer) < touch.event
        };
        let found = places.flat_map(|(address, bytes)| cells(address, bytes)).find_map(|piece| {
            device.shadow.write_of(piece, is_unfenced).filter(|_| !device.contested.contains(&piece.0))
        });
        let Some(write) = found else { return };
        let fault = Fault::new(FaultKind::GlobalUnfenced, instruction).with(write.instruction, Part::Access);
        let told = device.warps[write.warp as usize].told.iter().find(|(event, _)| *event > write.event);
        let fault = fault.with_some(told.map(|(_, at)| *at), Part::Arrival);
        let fault = fault.with_some(device.warps[warp].looked, Part::Wait);
        let met = self.warps[warp].met.into_iter().flatten();
        self.tell(met.fold(fault, |fault, at| fault.with(at, Part::Met)));
    }

    /// Looks for plain accesses of other warps to the same words that nothing orders with this one.
    fn look_for_races(
        &mut self,
        warp: usize,
        instruction: u32,
        event: u32,
        access: &GlobalAccess,
        numbers: &[(u32, u64)],
    ) {
        let bytes = u64::from(access.address.bytes).max(1);
        let Self { device, warps, program, .. } = self;
        let mut clock = Cow::Borrowed(&warps[warp].clock);
        if access.strength.is_strong {
            // What comes from the second cache is not older than what was seen there before.
            let own = &device.warps[warp];
            let known = clock.to_mut();
            known.join(&own.seen);
            known.join(&own.seen_volatile);
        }
        let who = Who { warp: warp as u32, lanes: 0, clock: &clock, warps: warps.len() };
        let block = warps[warp].block;
        let mut found = None;
        let mut was_none = false;
        // What lanes access next to each other in one cell is one piece.
        let mut pieces: Vec<(u64, u64)> = Vec::with_capacity(numbers.len());
        for (index, bytes) in numbers.iter().flat_map(|(_, address)| cells(*address, bytes)) {
            match pieces.last_mut() {
                Some((known, all)) if *known == index => *all |= bytes,
                _ => pieces.push((index, bytes)),
            }
        }
        for piece in pieces {
            let is_contested = device.contested.contains(&piece.0);
            // Who stores past the caches knows that others may look.
            if !is_contested && found.is_none() && !(access.strength.is_strong && access.writes) {
                let race = device.shadow.race(who, [piece], access.writes, instruction, &program.alike);
                found = race.map(|race| (race, piece.0));
            }
            // Who takes locks does so for what only one may write, and what is computed of what was there is not the same.
            let is_own = program.has_locks || device.shadow.is_read_by(who.warp, piece);
            if access.writes && !is_contested && !is_own {
                // What several blocks store without an order is the same, or there is one block alone.
                let other =
                    device.shadow.written_by_others(who, piece, |other| warps[other as usize].block != block);
                if other {
                    device.contested.insert(piece.0);
                    found = found.filter(|(_, place)| *place != piece.0);
                    was_none |= device.raced == Some(piece.0);
                }
            }
            if !access.strength.is_strong || access.writes {
                // What a copy reads is over when its object tells so, to whomever.
                if !access.is_copied {
                    device.shadow.access(who, [piece], access.writes, (event, instruction), &[]);
                }
            }
        }
        if was_none {
            self.race = None;
        }
        let Some(((other, _), place)) = found.filter(|_| self.race.is_none()) else { return };
        let (first, first_event, at) = (other.warp as usize, other.event, other.instruction);
        // Who has read something, and told others then, has what it read.
        let told = &self.device.warps[first].told;
        let is_over = access.writes && told.iter().any(|(event, _)| *event > first_event);
        if is_over && self.device.warps[warp].looked.is_some() {
            return;
        }
        // What leads both of them may be such that they never come to one place.
        if [instruction, at].iter().all(|each| self.device.led.contains(each)) {
            return;
        }
        self.device.raced = Some(place);
        let fault = Fault::new(FaultKind::GlobalRace, instruction).with(at, Part::Access);
        // What tells of the one, and what the other has looked at.
        let told = self.device.warps[first].told.iter().find(|(event, _)| *event > first_event);
        // Another warp of the block may tell others of what it does not know itself.
        let block = self.warps[first].block;
        let mut mates = self.warps.iter().zip(&self.device.warps).filter(|(warp, _)| warp.block == block);
        let told = told.or_else(|| mates.find_map(|(_, mate)| mate.told.last()));
        let fault = fault.with_some(told.map(|(_, at)| *at), Part::Arrival);
        let fault = fault.with_some(self.device.warps[warp].looked, Part::Wait);
        let met = self.warps[warp].met.into_iter().flatten();
        let fault = met.fold(fault, |fault, at| fault.with(at, Part::Met));
        // Who has come first may have asked before.
        let mates = self.warps.iter().zip(&self.device.warps).filter(|(warp, _)| warp.block == block);
        let asked = mates.filter_map(|(_, mate)| mate.looked).max();
        let fault = fault.with_some(asked, Part::OtherWait);
        let weakly =
            self.device.told_weakly.filter(|_| fault.others.iter().all(|(_, part)| *part != Part::Arrival));
        self.tell_race(fault.with_some(weakly, Part::Relaxed));
    }

    /// Whether blocks may have come to one place in global memory, or have drawn from one counter.
    pub(super) fn has_met_blocks(&self) -> bool {
        !self.drawn.is_empty() || self.device.is_shared(|warp| self.warps[warp as usize].block)
    }

    /// A fence of what threads see of global memory.
    pub(super) fn fence_global(&mut self, warp: usize, instruction: u32, in_block: bool) {
        self.meets(warp, instruction);
        let Self { device, warps, .. } = self;
        let (own, clock) = (&mut device.warps[warp], &mut warps[warp].clock);
        if !in_block {
            clock.join(&own.seen);
            clock.join(&own.seen_volatile);
            own.fenced.join(clock);
        }
        own.fenced_in_block.join(clock);
    }

    /// What a warp brings to a barrier of its block.
    pub(super) fn bring(&mut self, warp: usize) {
        if !self.program.has_global {
            return;
        }
        let Self { device, warps, .. } = self;
        let own = &device.warps[warp];
        let block = warps[warp].block;
        // Libraries from before there were scopes meet after a volatile load, and read what it tells of.
        warps[warp].clock.join(&own.seen_volatile);
        let [fenced, fenced_in_block, seen] = &mut device.at_barriers[block];
        fenced.join(&own.fenced);
        fenced_in_block.join(&own.fenced_in_block);
        seen.join(&own.seen);
    }

    /// What a warp takes from there.
    pub(super) fn take(&mut self, warp: usize) {
        if !self.program.has_global {
            return;
        }
        let Self { device, warps, .. } = self;
        let own = &mut device.warps[warp];
        let [fenced, fenced_in_block, seen] = &device.at_barriers[warps[warp].block];
        own.fenced.join(fenced);
        own.fenced_in_block.join(fenced_in_block);
        own.seen.join(seen);
    }

    /// Threads come to a barrier of the grid.
    pub(super) fn meet_grid(&mut self, warp: usize, fragment: usize, mask: u32) {
        let threads = self.threads_of(warp, mask);
        let Self { device, warps, .. } = self;
        let own = &mut warps[warp];
        device.clock.join(&own.clock);
        device.arrived += threads;
        own.fragments[fragment].state = State::Grid(device.phase);
        self.progress += 1;
        self.release_grid();
    }

    /// Lets those go on who wait for the grid, if all have come.
    pub(super) fn release_grid(&mut self) {
        if self.device.arrived == 0 || self.device.arrived < self.living(None) {
            return;
        }
        self.device.arrived = 0;
        self.device.phase += 1;
        let Self { device, warps, .. } = self;
        for warp in warps.iter_mut() {
            let mut waited = false;
            for each in &mut warp.fragments {
                if matches!(each.state, State::Grid(phase) if phase < device.phase) {
                    each.state = State::Ready;
                    waited = true;
                }
            }
            if waited {
                warp.clock.join(&device.clock);
            }
        }
    }

    /// Lets threads go on that wait for a place where nobody has stored: it was set before, or by somebody else.
    pub(super) fn set_by_others(&mut self) -> bool {
        for index in 0..self.warps.len() {
            for fragment in 0..self.warps[index].fragments.len() {
                let each = &self.warps[index].fragments[fragment];
                if !matches!(each.state, State::Memory(_)) {
                    continue;
                }
                let Some(step) = self.program.steps.get(each.pc as usize) else { continue };
                let Action::Global(access) = &step.action else { continue };
                let exit = self.program.exits.iter().find(|(load, ..)| *load == step.instruction);
                let Some(&(_, exit, _)) = exit else { continue };
                let addresses = self.address(index, access.address);
                let is_unset = |lane: u32| {
                    addresses.lane(lane).is_some_and(|address| {
                        self.memory.load(GLOBAL, address, u64::from(access.part).max(1)).is_none()
                    })
                };
                if !lanes(each.mask).all(is_unset) {
                    continue;
                }
                let words = lanes(each.mask).filter_map(|lane| Some(addresses.lane(lane)? / WORD));
                self.device.passed.extend(words);
                self.forget(index, access.to.iter().flatten().copied());
                let own = &mut self.warps[index].fragments[fragment];
                (own.pc, own.state) = (exit, State::Ready);
                self.progress += 1;
                return true;
            }
        }
        false
    }

    /// Why threads wait for ever for what nobody stores: the first loop, what else is waited for, and who stores near it.
    pub(super) fn explain_waiting(&mut self) {
        let mut waits: Vec<(u32, u64)> = Vec::new();
        for index in 0..self.warps.len() {
            for fragment in 0..self.warps[index].fragments.len() {
                let each = &self.warps[index].fragments[fragment];
                match each.state {
                    State::Memory(_) => {
                        let Some(step) = self.program.steps.get(each.pc as usize) else { return };
                        let Action::Global(access) = &step.action else { return };
                        let lane = each.mask.trailing_zeros();
                        let Some(address) = self.address(index, access.address).lane(lane) else { return };
                        waits.push((step.instruction, address));
                    }
                    // Those wait for the others.
                    State::Barrier(_) | State::Lanes(_) | State::Ready => {}
                    _ => return,
                }
            }
        }
        waits.sort_unstable();
        let Some(&(at, address)) = waits.first() else { return };
        // What memory has may be what is waited for.
        let is_open = |(at, _): &(u32, u64)| {
            let own = self.program.exits.iter().find(|(load, ..)| load == at);
            own.is_none_or(|(_, _, loops)| self.device.guesses.iter().any(|each| loops.contains(each)))
        };
        if waits.iter().any(is_open) {
            return;
        }
        let setters: Vec<u32> =
            self.device.setters(address).iter().copied().filter(|each| *each != at).collect();
        // Who counts blocks and never asks how many there are knows it, and may be launched with more than are executed.
        let adds = |setter: &u32| {
            let mut steps = self.program.steps.iter().filter(|step| step.instruction == *setter);
            steps.any(
                |step| matches!(&step.action, Action::Global(access) if access.update == Some(Update::Add)),
            )
        };
        if setters.is_empty() && waits.iter().all(|(other, _)| *other == at) {
            // Who has taken a lock never gives it back.
            let takes = |step: &Step| {
                step.instruction == at
                    && matches!(&step.action, Action::Global(access) if access.update == Some(Update::CompareExchange))
            };
            let has_taken = |index: &usize| {
                let own = &self.warps[*index];
                own.alive == 0 && self.device.warps[*index].told.iter().any(|(_, told)| *told == at)
            };
            let owner = (0..self.warps.len()).find(has_taken);
            if let Some(owner) = owner.filter(|_| self.program.steps.iter().any(takes)) {
                let last = self.warps[owner].last_use;
                self.faults.push(Fault::new(FaultKind::NeverSet, at).with_some(last, Part::Last));
            }
            return;
        }
        if setters.is_empty() || !self.program.asks_grid && setters.iter().all(adds) {
            return;
        }
        let fault = Fault::new(FaultKind::NeverSet, at);
        let fault = setters.iter().take(MAX_SETTERS).fold(fault, |fault, at| fault.with(*at, Part::Arrival));
        let fault = waits.iter().fold(fault, |fault, (at, _)| fault.with(*at, Part::OtherWait));
        self.faults.push(fault);
    }
}
