//! Threads of a warp that wait for each other: `bar.warp.sync`, and what lanes exchange, vote and elect.
//!
//! Where lanes go different ways, those that come first to such an instruction do not run ahead of the others. Lanes that
//! are not followed, or that meet at another place, are not waited for.

use ptx_ir::isa::Computation;

use super::machine::{Fragment, Machine, State};
use super::program::{Action, Source, Step};
use super::value::ALL;

impl Action {
    /// The lanes that meet at a step; none where it is no meeting.
    const fn members(&self) -> Option<u32> {
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

    /// Lets those go on whose lanes have all come.
    pub(super) fn meet(&mut self, warp: usize) {
        let own = &mut self.warps[warp];
        let alive = own.alive;
        for fragment in &mut own.fragments {
            if matches!(fragment.state, State::Lanes(members) if members & alive & !fragment.mask == 0) {
                fragment.state = State::Ready;
            }
        }
    }

    /// Lets lanes go on without those that are somewhere else for good; whether there were any. Lanes that wait for what
    /// never happens keep the others waiting, as they do on a device.
    pub(super) fn go_alone(&mut self) -> bool {
        for warp in &mut self.warps {
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
