//! Atomic accesses of shared memory whose place only data decides about: each may be anywhere in its variable, in any block
//! of the cluster, as in a histogram that the blocks share.

use super::clock::Row;
use super::machine::Machine;
use super::program::{Action, Address, GENERIC, MAX_SHARED, RANK, Source};
use super::shadow::{Anywhere, Piece, Range, Touch, overlaps};
use crate::values::number::mask as low_bits;

/// The largest number of memory that leads to a place in any array.
const MAX_INDEX: u64 = 8;
/// Plain accesses of one cell before atomic ones that are remembered.
const MAX_BEFORE: usize = 32;
/// Such accesses that are remembered.
const MAX_ACCESSES: usize = 64;

impl Machine<'_> {
    /// Takes note of such an access, after a look at the plain ones of others that it is not ordered with.
    pub(super) fn access_anywhere(&mut self, warp: usize, mask: u32, instruction: u32, address: Address) {
        let Some(range) = address.mapped.and_then(|mapped| self.variable_at(warp, mask, mapped)) else {
            return;
        };
        if self.may_tell_of_races() && !self.warps[warp].clock.has_asked {
            let who = self.who(warp);
            let mut shadows = self.blocks.iter().map(|block| &block.shadow);
            let is_plain = |touch: &Touch| self.is_plain(touch);
            let other = shadows.find_map(|shadow| shadow.touch_apart(who, range, is_plain));
            if let Some(other) = other {
                let race = self.raced(warp, instruction, &other, true);
                self.tell_race(race);
            }
        }
        let event = self.warps[warp].event;
        let own = |each: &&mut Anywhere| each.warp as usize == warp && each.instruction == instruction;
        if let Some(known) = self.anywhere.iter_mut().find(own) {
            known.event = event;
        } else if self.anywhere.len() < MAX_ACCESSES {
            self.anywhere.push(Anywhere { warp: warp as u32, event, instruction, range });
        }
    }

    /// Looks for a plain access of another warp that an atomic one is not ordered with.
    pub(super) fn race_of_atomic(&mut self, warp: usize, instruction: u32, pieces: &[Piece]) {
        if !self.may_tell_of_races() || self.warps[warp].clock.has_asked {
            return;
        }
        let who = self.who(warp);
        let mut found = None;
        let mut own = Vec::new();
        for &(block, piece) in pieces {
            let shadow = &self.blocks[block].shadow;
            let before = self.before_atomics.get(&(block, piece.0)).into_iter().flatten();
            let mut before = before.filter(|touch| touch.is_apart(who, piece.1));
            let touch = shadow.touch_of(piece, |touch| touch.is_apart(who, piece.1) && self.is_plain(touch));
            found = found.or(touch).or(before.next().copied());
            // Of a cell the last access of each warp is known.
            let is_own = |touch: &Touch| touch.warp as usize == warp && self.is_plain(touch);
            own.extend(shadow.touch_of(piece, is_own).map(|touch| ((block, piece.0), touch)));
        }
        for (cell, touch) in own {
            let known = self.before_atomics.entry(cell).or_default();
            if known.len() < MAX_BEFORE {
                known.push(touch);
            }
        }
        if let Some(other) = found.filter(|other| !self.was_in_doubt(other.instruction)) {
            let race = self.raced(warp, instruction, &other, true);
            self.tell_race(race);
        }
    }

    /// Whether an instruction that has touched memory is a plain access.
    fn is_plain(&self, touch: &Touch) -> bool {
        let mut steps = self.program.steps.iter().filter(|step| step.instruction == touch.instruction);
        steps.any(|step| matches!(step.action, Action::Access { is_plain: true, .. }))
    }

    /// Where the lanes of a mask do an atomic operation, if memory that decides about it has what it is assumed to have.
    pub(super) fn ranges_of_data(&self, warp: usize, address: Address, mask: u32) -> Option<Vec<Range>> {
        // Where the launch says how large an array is, a large number may lead to another one.
        let is_small = |(_, end): &(u64, u64)| *end < MAX_SHARED || self.scenario.memory <= MAX_INDEX;
        let (start, end) = address.within.filter(is_small)?;
        let ranges = self.ranges_as_assumed(warp, address, mask)?;
        let is_inside = |&(_, place, bytes): &Range| start <= place && place + bytes <= end;
        ranges.iter().all(is_inside).then_some(ranges)
    }

    /// One of them that is not ordered with a plain access of another warp.
    pub(super) fn anywhere_apart(&self, warp: usize, place: (u64, u64)) -> Option<Touch> {
        let who = self.who(warp);
        let meets = |range: (u64, u64)| overlaps(place, range);
        let apart = self.anywhere.iter().find(|each| {
            let is_known = who.clock.get(who.warps, Row::Events, each.warp as usize) >= each.event;
            each.warp as usize != warp && !is_known && meets(each.range)
        });
        apart.map(|each| Touch::whole(each.warp, each.event, each.instruction))
    }

    /// The variable of the own block that an address lies in, from there to its end.
    fn variable_at(&self, warp: usize, mask: u32, mapped: Source) -> Option<(u64, u64)> {
        let start = self.certain(warp, mapped).all(mask)? & !GENERIC & low_bits(RANK);
        let known = self.program.variables.iter().find(|(at, size)| (*at..at + size).contains(&start));
        // What the launch adds comes after all others.
        Some((start, known.map_or(MAX_SHARED, |(at, size)| at + size)))
    }
}
