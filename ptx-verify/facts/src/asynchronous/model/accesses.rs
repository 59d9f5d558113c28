//! Accesses of shared memory by threads.

use ptx_ir::space::StateSpace;

use super::effort::weight;
use super::fault::{Fault, FaultKind};
use super::machine::{End, Machine};
use super::program::{Address, GENERIC};
use super::shadow::{Piece, Range, Who, pieces};
use super::value::{Value, lanes};

impl Machine<'_> {
    /// The places that the lanes of a mask access, next to each other where they are; none where one is not known.
    fn ranges(&self, warp: usize, address: Address, mask: u32) -> Option<Vec<Range>> {
        if self.are_assumed(warp, &[address.base, address.index]) {
            return None;
        }
        self.ranges_as_assumed(warp, address, mask)
    }

    /// The same where memory has what it is assumed to have.
    pub(super) fn ranges_as_assumed(&self, warp: usize, address: Address, mask: u32) -> Option<Vec<Range>> {
        let bytes = u64::from(address.bytes).max(1);
        let value = self.address_in(warp, address, mask);
        if address.space.is_none()
            && value.lane(mask.trailing_zeros()).is_some_and(|first| first & GENERIC == 0)
        {
            return None;
        }
        if let Value::Uniform(number) = value {
            let (block, place) = self.resolve(warp, number)?;
            return Some(vec![(block, place, bytes)]);
        }
        let mut merged: Vec<Range> = Vec::with_capacity(mask.count_ones() as usize);
        for lane in lanes(mask) {
            let (block, place) = self.resolve(warp, value.lane(lane)?)?;
            match merged.last_mut() {
                Some(last) if last.0 == block && last.1 <= place && last.1 + last.2 >= place => {
                    last.2 = last.2.max(place + bytes - last.1);
                }
                _ => merged.push((block, place, bytes)),
            }
        }
        Some(merged)
    }

    /// Reads or writes shared memory, after a look at who else does where `may_race`.
    pub(super) fn access(
        &mut self,
        warp: usize,
        (mask, alone): (u32, u32),
        instruction: u32,
        address: Address,
        (reads, writes): (bool, bool),
        may_race: bool,
    ) {
        let ranges = self.ranges(warp, address, mask);
        let is_known = ranges.is_some();
        if !is_known && reads && !writes {
            self.gathers(warp, instruction);
        }
        let ranges = ranges.or_else(|| self.ranges_of_data(warp, address, mask));
        let does = (reads, writes, may_race);
        self.access_in(warp, (mask, alone), (instruction, address), does, ranges, is_known);
    }

    /// The same at places that are told, and whether they are those of the address.
    pub(super) fn access_in(
        &mut self,
        warp: usize,
        (mask, alone): (u32, u32),
        (instruction, address): (u32, Address),
        (reads, writes, may_race): (bool, bool, bool),
        ranges: Option<Vec<Range>>,
        is_known: bool,
    ) {
        let pieces = pieces(ranges.as_deref().unwrap_or_default());
        match reads && writes {
            _ if !may_race => {}
            true => self.race_of_atomic(warp, instruction, &pieces),
            false => self.race(warp, instruction, &pieces, writes),
        }
        self.warps[warp].last_use = Some(instruction);
        self.warps[warp].first_use.get_or_insert(instruction);
        if writes {
            self.warps[warp].unfenced |= mask;
        }
        if writes && self.exceeds(instruction, ranges.as_deref().unwrap_or_default()) {
            self.stop = Some(End::Unknown(instruction));
            return;
        }
        if !is_known && address.space == Some(StateSpace::SharedCluster) {
            // Whose memory it is depends on data, and may be anybody's.
            self.next_event(warp);
            for block in 0..self.blocks.len() {
                self.touch_remote(warp, block, instruction);
            }
            if reads && writes {
                self.access_anywhere(warp, mask, instruction, address);
            }
        }
        let Some(ranges) = ranges else {
            let addresses = self.address_in(warp, address, mask);
            if let Some(first) = lanes(mask).find_map(|lane| addresses.lane(lane)) {
                self.tell_of_no_block(warp, mask, first, instruction);
            }
            return;
        };
        if self.scenario.weighs {
            self.steps = self.steps.saturating_sub(weight(pieces.len()));
        }
        let event = self.next_event(warp);
        let is_own = matches!(address.space.map(StateSpace::base), Some(StateSpace::Shared))
            && address.space != Some(StateSpace::SharedCluster);
        for &(block, ..) in &ranges {
            self.touch_remote(warp, block, instruction);
            if is_own && block != self.warps[warp].block {
                self.tell(Fault::new(FaultKind::OwnWindow, instruction));
            }
        }
        let mut clashes = Vec::new();
        let Self { blocks, flights, warps, .. } = self;
        let who = Who { warp: warp as u32, lanes: alone, clock: &warps[warp].clock, warps: warps.len() };
        for (block, piece) in pieces {
            let mut look = |does: bool, is_write: bool| {
                let shadow = &mut blocks[block].shadow;
                does.then(|| shadow.access(who, [piece], is_write, (event, instruction), flights)).flatten()
            };
            let (read, written) = (look(reads, false), look(writes, true));
            clashes.extend(read.or(written));
        }
        clashes.into_iter().for_each(|clash| self.tell_access(warp, instruction, clash));
        if reads && !writes {
            for (block, place, bytes) in ranges {
                let shadow = &self.blocks[block].shadow;
                self.tiles.read(instruction, block, (place, bytes), || shadow.is_written(place));
            }
        }
    }

    /// Looks for an access of another warp that is not ordered with this one. Where threads tell each other something with
    /// atomic accesses they may be in order nevertheless, and those of one warp may be all that there are.
    fn race(&mut self, warp: usize, instruction: u32, pieces: &[Piece], writes: bool) {
        // What a flag tells of is in order for those who have waited for it, and whom they have met since.
        if !self.compares_accesses() || self.warps[warp].clock.has_asked {
            return;
        }
        let who = self.who(warp);
        let found = pieces.iter().find_map(|&(block, piece)| {
            let alike = &self.program.alike;
            self.blocks[block].shadow.race(who, [piece], writes, instruction, alike)
        });
        let apart = || pieces.iter().find_map(|&(_, piece)| self.anywhere_apart(warp, piece));
        let found = found.or_else(|| apart().map(|other| (other, true)));
        if let Some((other, is_write)) = found.filter(|(other, _)| !self.was_in_doubt(other.instruction)) {
            // What memory decides in other warps is of no account for those who know nothing of it.
            let is_free = self.is_free_of_guesses(warp, (other.warp as usize, other.event));
            if !is_free && !self.may_tell_of_races() {
                return;
            }
            let race = self.raced(warp, instruction, &other, is_write);
            self.tell_race(race);
            self.is_race_guessed &= !is_free;
        }
    }

    /// Whether a race would be told.
    pub(super) fn may_tell_of_races(&self) -> bool {
        self.compares_accesses() && (self.guessed.is_none() || self.agree())
    }

    /// The same of one that memory has not decided about.
    fn compares_accesses(&self) -> bool {
        let program = self.program;
        let is_first = self.faults.iter().all(|fault| fault.kind == FaultKind::ArrivesTwice);
        let is_settled = self.race.is_some() || !is_first;
        let is_known = program.has_order || program.knows_threads && !program.is_thinned;
        is_known && !program.has_flags && !is_settled
    }
}
