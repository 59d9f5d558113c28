//! Loads of shared memory whose place in a variable only data decides about, as of a table: whatever it is, it comes too early where
//! no copy into the variable is known to be complete.

use super::machine::Machine;
use super::shadow::{Clash, Landing};

/// Copies into a variable that are looked at.
const MAX_LANDINGS: usize = 256;
/// Bytes between the places of a variable that are looked at for stores.
const STEP: usize = 16;

impl Machine<'_> {
    /// Takes note of where a copy writes first, where somebody loads from places that only data tells.
    pub(super) fn lands(&mut self, block: usize, place: u64, flight: u32) {
        let is_known = self.landings.last().is_some_and(|last| (last.block, last.flight) == (block, flight));
        if !self.program.gathers.is_empty() && !is_known && self.landings.len() < MAX_LANDINGS {
            self.landings.push(Landing { block, place, flight });
        }
    }

    /// A load from anywhere in a variable. What threads store there themselves they may load.
    pub(super) fn gathers(&mut self, warp: usize, instruction: u32) {
        let Some(&(start, end)) = self.program.gathers.get(&instruction) else { return };
        if self.landings.is_empty() || self.landings.len() == MAX_LANDINGS {
            return;
        }
        let (own, warps) = (&self.warps[warp], self.warps.len());
        let is_there = |each: &&Landing| each.block == own.block && (start..end).contains(&each.place);
        let mut first = None;
        for landing in self.landings.iter().filter(is_there) {
            if self.flights[landing.flight as usize].is_observed(&own.clock, warps) {
                return;
            }
            first.get_or_insert(landing.flight);
        }
        let Some(flight) = first else { return };
        let last = self.landings.iter().filter(is_there).map(|each| each.place).max().unwrap_or(start);
        let shadow = &self.blocks[own.block].shadow;
        if (start..=last).step_by(STEP).any(|place| shadow.is_stored(place)) {
            return;
        }
        self.tell_access(warp, instruction, Clash::Copied(flight));
    }
}
