//! Threads of a warp that wait for each other: `bar.warp.sync`, and what lanes exchange, vote and elect. The warps of a
//! group that do a matrix operation together.
//!
//! Where lanes go different ways, those that come first to such an instruction do not run ahead of the others. Lanes that
//! are not followed, or that meet at another place, are not waited for.

use ptx_ir::isa::Computation;

use super::clock::Row;
use super::machine::{Fragment, Machine, State, Warp};
use super::program::{Action, Source, Step};
use super::value::ALL;

/// How many warps do a matrix operation of Hopper together. On an H100 each waits at `wgmma.mma_async` until all have come.
pub(super) const WARPS_OF_GROUP: u32 = 4;

impl Warp {
    /// Its block, and its group there.
    pub(super) const fn group(&self) -> (usize, u32) {
        (self.block, self.index / WARPS_OF_GROUP)
    }

    /// How many matrix operations it has started.
    const fn multiplied(&self) -> u32 {
        self.groups[Row::Wgmma as usize].started
    }

    /// Whether it waits for the others at this matrix operation, or a later one.
    fn comes_to(&self, next: u32) -> bool {
        let waits = |fragment: &Fragment| matches!(fragment.state, State::Comes(own) if own >= next);
        self.fragments.iter().any(waits)
    }
}

impl Fragment {
    /// Waits for its group no longer.
    fn go_on(&mut self) {
        self.goes_alone = matches!(self.state, State::Comes(_));
        self.state = State::Ready;
    }
}

impl Action {
    /// The lanes that meet at a step; none where it is no meeting.
    pub(super) const fn members(&self) -> Option<u32> {
        let source = match self {
            Self::WarpBarrier { members } => return Some(*members),
            Self::Compute { shape, from: [first, second, _, last], .. } => match shape.computation {
                Computation::Elect => *first,
                Computation::Vote | Computation::Match => *second,
                Computation::Exchange => *last,
                _ => return None,
            },
            _ => return None,
        };
        Some(match source {
            Source::Number(number) => number as u32,
            _ => ALL,
        })
    }
}

impl Warp {
    /// A lane arrives at an object.
    pub(super) fn lane_arrives(&mut self, object: usize, lane: u32, event: u32) {
        let (lanes, last) = self.arrived.entry(object).or_default();
        // Who arrives again arrives in another phase.
        if *lanes >> lane & 1 != 0 {
            *lanes = 0;
        }
        *lanes |= 1 << lane;
        *last = event;
    }

    /// Lanes have waited for a phase of an object: where all others have arrived there before, they have met these.
    pub(super) fn knows_lanes(&mut self, object: usize, waiting: u32) {
        let arrived =
            self.arrived.get(&object).filter(|(lanes, _)| (lanes | waiting) & self.alive == self.alive);
        if let Some(&(_, last)) = arrived {
            self.lanes_met = self.lanes_met.max(last);
        }
    }
}

impl Machine<'_> {
    /// Whether a fragment has to wait here for other lanes of its warp.
    pub(super) fn waits_for_lanes(&mut self, warp: usize, index: usize, step: &Step) -> bool {
        let own = &mut self.warps[warp];
        if own.fragments.len() < 2 {
            return false;
        }
        let Some(members) = step.action.members().filter(|_| step.guard.is_none()) else { return false };
        let fragment = &mut own.fragments[index];
        let is_complete = members & own.alive & !fragment.mask == 0 || fragment.mask & members == 0;
        if is_complete || std::mem::take(&mut fragment.goes_alone) {
            return false;
        }
        fragment.state = State::Lanes(members);
        true
    }

    /// Whether a fragment has to wait here for the other warps of its group. What they have written before is not ordered
    /// by that.
    pub(super) fn waits_for_group(&mut self, warp: usize, index: usize, step: &Step) -> bool {
        if !matches!(step.action, Action::Multiply { group: Row::Wgmma, .. }) {
            return false;
        }
        let next = self.warps[warp].multiplied() + 1;
        let have_come = self.of_group(warp, |other| other.multiplied() >= next || other.comes_to(next));
        let fragment = &mut self.warps[warp].fragments[index];
        if std::mem::take(&mut fragment.goes_alone) || have_come {
            return false;
        }
        fragment.state = State::Comes(next);
        true
    }

    /// Lets no warp run ahead before all of its group have started a matrix operation.
    pub(super) fn starts_with_group(&mut self, warp: usize, fragment: usize) {
        self.warps[warp].fragments[fragment].state = State::Starts(self.warps[warp].multiplied());
    }

    /// Whether something holds for all other warps of a group that have not ended.
    fn of_group(&self, warp: usize, holds: impl Fn(&Warp) -> bool) -> bool {
        let group = self.warps[warp].group();
        let mut all = self.warps.iter().enumerate();
        all.all(|(index, other)| index == warp || other.alive == 0 || other.group() != group || holds(other))
    }

    /// Lets those go on whose group has come.
    fn meet_group(&mut self, warp: usize) {
        for index in 0..self.warps[warp].fragments.len() {
            let is_met = match self.warps[warp].fragments[index].state {
                State::Comes(next) => {
                    self.of_group(warp, |other| other.multiplied() >= next || other.comes_to(next))
                }
                State::Starts(count) => self.of_group(warp, |other| other.multiplied() >= count),
                _ => false,
            };
            if is_met {
                self.warps[warp].fragments[index].go_on();
            }
        }
    }

    /// Lets those go on whose lanes, or whose group, have all come.
    pub(super) fn meet(&mut self, warp: usize) {
        self.meet_group(warp);
        let own = &mut self.warps[warp];
        let alive = own.alive;
        for fragment in &mut own.fragments {
            if matches!(fragment.state, State::Lanes(members) if members & alive & !fragment.mask == 0) {
                fragment.state = State::Ready;
            }
        }
    }

    /// Lets lanes go on without those that are somewhere else for good; whether there were any. Lanes that wait for what
    /// never happens keep the others waiting, as they do on a device. Warps go on without those of their group that do
    /// not come, unless these wait for registers: then nobody of the group ever goes on.
    pub(super) fn go_alone(&mut self) -> bool {
        let lacks_registers = |fragment: &Fragment| matches!(fragment.state, State::Registers(_));
        let is_held: Vec<(usize, u32)> = (self.warps.iter())
            .filter(|warp| warp.fragments.iter().any(lacks_registers))
            .map(Warp::group)
            .collect();
        for warp in &mut self.warps {
            let is_held = is_held.contains(&warp.group());
            let of_group =
                |fragment: &&mut Fragment| matches!(fragment.state, State::Comes(_) | State::Starts(_));
            if let Some(fragment) = warp.fragments.iter_mut().find(of_group).filter(|_| !is_held) {
                fragment.go_on();
                return true;
            }
            let is_lost = |fragment: &Fragment| matches!(fragment.state, State::Lanes(_) | State::Frozen(_));
            let coming = warp.fragments.iter().filter(|fragment| !is_lost(fragment));
            let coming = coming.fold(0, |all, fragment| all | fragment.mask);
            for fragment in &mut warp.fragments {
                if matches!(fragment.state, State::Lanes(members) if members & coming == 0) {
                    (fragment.state, fragment.goes_alone) = (State::Ready, true);
                    return true;
                }
            }
        }
        false
    }
}
