//! An `mbarrier` object: its phase, and what is missing in it.

use std::collections::VecDeque;

use super::clock::Clock;
use super::rooms::Unsized;
use super::tensor_order::TellsTensor;

/// Phases of an object whose ends are remembered.
pub(super) const REMEMBERED: usize = 4;
/// Copies of one object that are looked at together.
const MAX_LANDED: usize = 32;

/// What a test asks of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Want {
    /// That a phase of this parity is complete.
    Parity(u32),
    /// That this phase is complete.
    Phase(u32),
}

/// An `mbarrier` object.
#[derive(Debug, Default)]
pub(super) struct Object {
    /// Who made it: warp, event, instruction. None where nobody has made it yet.
    pub(super) made: Option<(u32, u32, u32)>,
    /// The block in whose memory it is.
    pub(super) block: usize,
    /// Arrivals of a phase.
    pub(super) count: u32,
    /// Whether all who are counted have left.
    pub(super) is_left: bool,
    /// Arrivals that are missing in this one.
    pub(super) pending: u32,
    /// Bytes that are expected and have not come.
    pub(super) bytes: i64,
    /// Bytes that were expected in this phase, and where.
    pub(super) expected: i64,
    pub(super) expectations: Vec<u32>,
    /// Where bytes were expected last, in any phase.
    pub(super) last_expectation: Option<u32>,
    /// The copies that were started in this phase, and how many of them run.
    pub(super) copies: Vec<u32>,
    pub(super) running: u32,
    /// Whether copies of unknown size come from other blocks.
    pub(super) is_of_others: bool,
    /// Whether any copy was ever to complete here.
    pub(super) is_of_copies: bool,
    /// How many were started in this phase.
    pub(super) running_in_phase: u32,
    /// Whether one of them is of a size that is not known.
    pub(super) has_unsized: bool,
    /// Those copies.
    pub(super) unsized_copies: Vec<Unsized>,
    /// The first copy of the phase before, if there were such in it.
    pub(super) last_unsized: Option<u32>,
    /// Those of any phase, each with the warp that starts it and how many of these were started.
    pub(super) landed: Vec<(Unsized, usize, u32)>,
    /// How often bytes were expected, how many each time, and whether these differ or other copies come as well.
    pub(super) expects: u32,
    pub(super) each: Option<u64>,
    pub(super) is_mixed: bool,
    /// The bytes of the others in this phase.
    pub(super) sized_copies: Vec<u64>,
    /// The last arrival from another block, and the last test, that name a scope: where, and whether that is the cluster.
    pub(super) scopes: [Option<(u32, bool)>; 2],
    /// What it tells of tensor operations.
    pub(super) tensor: TellsTensor,
    /// How many phases are complete.
    pub(super) phase: u32,
    /// Arrivals ever.
    pub(super) total: u64,
    pub(super) last_arrival: Option<u32>,
    /// The warps that ever arrived here, as bits.
    pub(super) arrivers: u128,
    /// Those of this phase and of the last one, and whether two phases had others.
    pub(super) arrivers_in_phase: u128,
    pub(super) arrivers_before: Option<u128>,
    pub(super) has_parts: bool,
    pub(super) arrived: Clock,
    /// What was known at the end of each of the last phases.
    pub(super) completed: VecDeque<Clock>,
    /// Who has used it last: warps, events, instructions.
    pub(super) users: Vec<(u32, u32, u32)>,
    /// Who has used it before it was made.
    pub(super) used_early: Option<(usize, u32)>,
}

impl Object {
    /// A warp uses the object.
    pub(super) fn note_user(&mut self, warp: usize, event: u32, instruction: u32) {
        match self.users.iter_mut().find(|user| user.0 as usize == warp) {
            Some(user) => *user = (warp as u32, event, instruction),
            None => self.users.push((warp as u32, event, instruction)),
        }
    }

    /// Takes note of bytes that are expected.
    pub(super) fn note_expected(&mut self, bytes: u64) {
        self.expects += 1;
        self.is_mixed |= self.each.replace(bytes).is_some_and(|before| before != bytes);
    }

    /// Takes note of a copy of unknown size that completes here.
    pub(super) fn note_landing(&mut self, copy: Unsized, warp: usize) {
        match self.landed.iter_mut().find(|(other, by, _)| *other == copy && *by == warp) {
            Some((.., count)) => *count += 1,
            None => self.landed.push((copy, warp, 1)),
        }
        self.is_mixed |= self.landed.len() > MAX_LANDED;
    }

    /// Takes note of a warp that arrives.
    pub(super) fn note_arriver(&mut self, warp: usize) {
        let bit = 1_u128.checked_shl(warp as u32).unwrap_or(0);
        self.arrivers |= bit;
        self.arrivers_in_phase |= bit;
    }

    /// Takes note of the end of a phase: where some arrive in one and others in the next, it counts a part of them.
    pub(super) fn note_arrivers_of_phase(&mut self) {
        let arrivers = std::mem::take(&mut self.arrivers_in_phase);
        self.has_parts |= self.arrivers_before.is_some_and(|before| before != arrivers);
        self.arrivers_before = Some(arrivers);
    }

    /// Whether what a test asks is so.
    pub(super) const fn has(&self, want: Want) -> bool {
        match want {
            Want::Parity(parity) => self.made.is_some() && self.phase & 1 != parity & 1,
            Want::Phase(phase) => self.made.is_some() && self.phase > phase,
        }
    }

    /// What was known at the end of a phase.
    pub(super) fn at_end_of(&self, phase: u32) -> Option<&Clock> {
        let ago = self.phase.checked_sub(phase.checked_add(1)?)? as usize;
        self.completed.get(self.completed.len().checked_sub(1 + ago)?)
    }

    pub(super) fn is_complete(&self) -> bool {
        let bytes = match self.has_unsized && self.expected > 0 {
            true => self.running == 0,
            false => self.bytes == 0,
        };
        self.made.is_some() && self.pending == 0 && bytes
    }
}
