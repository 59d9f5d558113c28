//! What numbers are in memory: those that threads store to shared memory, and those that are assumed of all other memory.
//!
//! An assumption may decide which way control goes, and for which phase a thread waits; it never tells where data is,
//! how many arrive or which barrier is meant.

use ptx_ir::isa::{Computation, Update};

use super::assumed::{Assumed, Lists};
use super::clock::Row;
use super::fault::Fault;
use super::machine::{Fragment, Machine, Warp};
use super::pointer::updated;
use super::program::{Action, Address, GENERIC, Source};
use super::value::{Value, lanes};
use crate::values::number::mask as low_bits;

/// Bytes of the largest number.
const LARGEST: u64 = 8;

impl Action {
    /// Whether it only sets registers.
    pub(super) const fn is_computation(&self) -> bool {
        matches!(
            self,
            Self::Compute { .. }
                | Self::Pack { .. }
                | Self::Unpack { .. }
                | Self::Convert { .. }
                | Self::MapRank { .. }
                | Self::Forget { .. }
                | Self::Load { .. }
                | Self::Pointers { .. }
                | Self::Draw { .. }
                | Self::Local { .. }
        )
    }

    /// Whether it only computes, each lane by itself, or jumps.
    pub(super) const fn computes_alone(&self) -> bool {
        match self {
            Self::Compute { shape, .. } => !matches!(
                shape.computation,
                Computation::Elect
                    | Computation::ActiveMask
                    | Computation::Vote
                    | Computation::Match
                    | Computation::Exchange
            ),
            Self::Jump(_) => true,
            _ => self.is_computation(),
        }
    }
}

impl Machine<'_> {
    /// Registers of which nothing is known any more.
    pub(super) fn forget(&mut self, warp: usize, registers: impl IntoIterator<Item = u32>) {
        for register in registers {
            if let Some(value) = self.warps[warp].registers.get_mut(register as usize) {
                *value = Value::Unknown;
                self.warps[warp].assumed[register as usize] = Assumed::default();
            }
        }
    }

    /// Takes note that an assumption decides what happens.
    pub(super) fn guess(&mut self, warp: usize, instruction: u32, lists: Lists) {
        let own = &mut self.warps[warp];
        own.decisive = own.decisive.with(lists);
        own.guessed_after.get_or_insert(own.event);
        let before = self.faults.len();
        if self.scenario.of_grid {
            self.device.guesses.insert(instruction);
        }
        self.guessed.get_or_insert((instruction, before));
    }

    /// Whether the same lists have decided for all threads for which any did: what these have is then one for all.
    pub(super) fn agree(&self) -> bool {
        let mut all = self.warps.iter().map(|warp| warp.decisive).filter(|lists| !lists.are_none());
        let first = all.next();
        first.is_some_and(|first| first.are_known() && all.all(|lists| lists == first))
    }

    /// The faults that do not hang on what is assumed: where memory decides, how many arrive may go with what is there. One list of
    /// which all threads read the same elements may have those that are assumed, so that what it decides can happen.
    pub(super) fn certain_faults(&mut self) -> Vec<Fault> {
        let mut faults = std::mem::take(&mut self.faults);
        // What else goes wrong tells more of the reason.
        if faults.is_empty() {
            faults.extend(self.race.take().filter(|_| !self.is_race_guessed || self.agree()));
        }
        if let Some((_, before)) = self.guessed.filter(|_| !self.lacks_arrivals() && !self.agree()) {
            let mut index = 0;
            faults.retain(|fault| {
                index += 1;
                index <= before || !fault.kind.is_of_counts()
            });
        }
        faults
    }

    /// Two accesses race. What comes before memory decides about anything does not depend on it.
    pub(super) fn tell_race(&mut self, race: Fault) {
        self.race = Some(race);
        self.is_race_guessed = self.guessed.is_some();
    }

    /// Whether memory has decided about nothing that a warp knows of, nor about what another one did up to an event.
    pub(super) fn is_free_of_guesses(&self, warp: usize, (other, event): (usize, u32)) -> bool {
        let clock = &self.warps[warp].clock;
        self.warps.iter().enumerate().all(|(index, each)| {
            each.guessed_after.is_none_or(|after| {
                let is_later = index != other || event <= after;
                is_later && index != warp && clock.get(self.warps.len(), Row::Events, index) <= after
            })
        })
    }

    /// Whether one of the sources depends on what is assumed of memory.
    pub(super) fn are_assumed(&self, warp: usize, sources: &[Source]) -> bool {
        let Warp { assumed, acting, .. } = &self.warps[warp];
        sources.iter().any(|source| match source {
            Source::Register(register, _) | Source::Negated(register) => {
                assumed.get(*register as usize).is_some_and(|assumed| assumed.lanes & acting != 0)
            }
            _ => false,
        })
    }

    /// A source as far as no assumption is in it.
    pub(super) fn certain(&self, warp: usize, source: Source) -> Value {
        if self.are_assumed(warp, &[source]) { Value::Unknown } else { self.value(warp, source) }
    }

    /// An address as far as no assumption is in it.
    pub(super) fn certain_address(&self, warp: usize, address: Address) -> Value {
        match self.are_assumed(warp, &[address.base, address.index]) {
            true => Value::Unknown,
            false => self.address(warp, address),
        }
    }

    /// Loads and stores the numbers of an access.
    pub(super) fn remember(&mut self, warp: usize, mask: u32, action: &Action) {
        let Action::Access { address, writes, to, from, part, extends, update, .. } = action else { return };
        if to.is_empty() && !(self.program.remembers && *writes) {
            return;
        }
        let addresses = self.certain_address(warp, *address);
        let is_shared = |number: u64| address.space.is_some() || number & GENERIC != 0;
        let place = |machine: &Self, lane: u32| {
            let number = addresses.lane(lane).filter(|number| is_shared(*number))?;
            machine.resolve(warp, number)
        };
        let part = u64::from(*part).max(1);
        if let Some(update) = update {
            let given: Vec<Value> = from.iter().map(|source| self.value(warp, *source)).collect();
            let is_given_assumed = self.are_assumed(warp, from);
            let bits = 8 * part.min(LARGEST) as u32;
            let mut numbers = [self.scenario.memory & low_bits(bits); 32];
            let mut assumed = false;
            for lane in lanes(mask) {
                let Some((block, start)) = place(self, lane) else {
                    assumed = true;
                    self.forget_memory(warp, *address);
                    continue;
                };
                let known = self.memory.load(block, start, part);
                assumed |= known.is_none_or(|(_, is_assumed)| is_assumed);
                self.memory.erase(block, (start, part));
                let Some((number, is_assumed)) = known else { continue };
                numbers[lane as usize] = number;
                if let Some(new) = self.updated(*update, number, &given, lane) {
                    self.memory.store(block, start, (new, part), is_assumed || is_given_assumed);
                }
            }
            for register in to {
                self.put(warp, *register, Value::by_lane(|lane| numbers[lane as usize]), mask, assumed);
            }
            return;
        }
        for (register, index) in to.iter().zip(0..) {
            let Some(register) = register else { continue };
            let mut assumed = false;
            let mut load = |lane: u32| {
                let key = place(self, lane).map(|(block, place)| (block, place + index * part));
                let known = key.filter(|_| part <= LARGEST);
                let known = known.and_then(|(block, place)| self.memory.load(block, place, part));
                let bits = 8 * part.min(LARGEST) as u32;
                let (number, is_assumed) = known.unwrap_or((self.scenario.memory & low_bits(bits), true));
                assumed |= is_assumed;
                let sign = number >> (bits - 1) & 1 != 0;
                extends.filter(|_| sign).map_or(number, |whole| number | low_bits(whole) & !low_bits(bits))
            };
            let value = match addresses {
                Value::Lanes(_) => {
                    let mut numbers = [0; 32];
                    lanes(mask).for_each(|lane| numbers[lane as usize] = load(lane));
                    Value::by_lane(|lane| numbers[lane as usize])
                }
                _ => Value::Uniform(load(mask.trailing_zeros())),
            };
            self.put(warp, Some(*register), value, mask, assumed);
        }
        if !*writes {
            return;
        }
        let bytes = u64::from(address.bytes).max(1);
        let assumed: Vec<bool> = from.iter().map(|source| self.are_assumed(warp, &[*source])).collect();
        let values: Vec<Value> = from.iter().map(|source| self.value(warp, *source)).collect();
        let own = if let Value::Uniform(_) = addresses { 1 << (31 - mask.leading_zeros()) } else { mask };
        for lane in lanes(own) {
            let Some((block, start)) = place(self, lane) else {
                self.forget_memory(warp, *address);
                return;
            };
            self.memory.erase(block, (start, bytes));
            for ((value, assumed), index) in values.iter().zip(&assumed).zip(0..) {
                if let Some(number) = value.lane(lane).filter(|_| part <= LARGEST) {
                    self.memory.store(block, start + index * part, (number, part), *assumed);
                }
            }
        }
    }

    /// What an atomic operation of a lane puts in the place of a number.
    fn updated(
        &self,
        (update, bits, signed): (Update, u32, bool),
        number: u64,
        given: &[Value],
        lane: u32,
    ) -> Option<u64> {
        let given = |index: usize| given.get(index).and_then(|value| value.lane(lane));
        updated(update, (bits, signed), number, given(0)?, given(1))
    }

    /// Forgets what is in shared memory where a thread may have written: in the variable that is told, or all that its block has.
    fn forget_in(&mut self, warp: usize, address: Address) -> bool {
        let (start, end) = match (address.within, address.space) {
            (Some(range), _) => range,
            (None, Some(_)) => (0, u64::MAX),
            (None, None) => return false,
        };
        let own = self.warps[warp].block;
        let blocks = if self.program.clustered { 0..self.blocks.len() } else { own..own + 1 };
        blocks.for_each(|block| self.memory.erase(block, (start, end - start)));
        true
    }

    /// The same, of all memory where that is not known to be shared memory.
    pub(super) fn forget_memory(&mut self, warp: usize, address: Address) {
        if !self.forget_in(warp, address) {
            self.memory.forget();
        }
    }

    /// Leads the threads of a mask to the steps that their indices choose; none where one is not known.
    pub(super) fn turn(
        &mut self,
        warp: usize,
        fragment: usize,
        mask: u32,
        (instruction, index): (u32, Source),
        targets: &[u32],
    ) -> Option<()> {
        if self.are_assumed(warp, &[index]) {
            self.guess(warp, instruction, self.warps[warp].lists_of(&[index], mask));
        }
        let chosen = self.value(warp, index);
        let mut turns: Vec<(u32, u32)> = Vec::new();
        for lane in lanes(mask) {
            let target = *targets.get(usize::try_from(chosen.lane(lane)?).ok()?)?;
            match turns.iter_mut().find(|(other, _)| *other == target) {
                Some((_, lanes)) => *lanes |= 1 << lane,
                None => turns.push((target, 1 << lane)),
            }
        }
        let own = &mut self.warps[warp].fragments;
        let told = own[fragment].told;
        let rest = own[fragment].mask & !mask;
        let mut turns = turns.into_iter();
        if rest == 0 {
            let (pc, mask) = turns.next()?;
            (own[fragment].pc, own[fragment].mask) = (pc, mask);
        } else {
            own[fragment].mask = rest;
        }
        own.extend(turns.map(|(pc, mask)| Fragment::new(pc, mask, told)));
        Some(())
    }
}
