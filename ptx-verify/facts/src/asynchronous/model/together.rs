//! Instructions that whole warps execute together, or groups of four warps, and that only some of their threads come to.
//!
//! PTX ISA manual, "setmaxnreg", "tcgen05.alloc" and "tcgen05.dealloc": with `.aligned`, all threads of the warp execute the same
//! instruction, and those of `setmaxnreg` all warps of the group.

use super::fault::{Fault, FaultKind, ONE_OF_PAIR};
use super::machine::Machine;
use super::program::Action;

/// Warps of a group.
const GROUP: u32 = 4;

impl Machine<'_> {
    /// Takes note of lanes that come to such an instruction.
    pub(super) fn note_together(&mut self, warp: usize, mask: u32, instruction: u32, action: &Action) {
        if matches!(action, Action::Registers { .. } | Action::Allocate { .. } | Action::Deallocate { .. }) {
            let alive = self.warps[warp].alive;
            self.together.entry((instruction, warp)).or_insert((0, alive)).0 |= mask;
        }
    }

    /// Tells of one that only some have come to, when all threads have ended.
    pub(super) fn tell_of_some(&mut self) {
        let lacks = |lanes: &&(u32, u32)| lanes.0 != lanes.1;
        let apart = self.together.iter().filter(|(_, lanes)| lacks(lanes));
        if let Some((at, some, all)) = apart.map(|(&(at, _), &(some, all))| (at, some, all)).min() {
            let (some, all) = (some.count_ones(), all.count_ones());
            self.tell(Fault::new(FaultKind::Apart, at).counted(i64::from(all), i64::from(some)));
            return;
        }
        // Of a pair of blocks both come to one, or neither.
        let of_pairs = self.together.keys().filter(|(at, _)| self.program.of_pairs.contains(at));
        let (mut blocks, mut first) = (0_u32, None::<u32>);
        for &(at, warp) in of_pairs {
            blocks |= 1 << self.warps[warp].block;
            first = Some(first.map_or(at, |first| first.min(at)));
        }
        let is_one = (0..self.scenario.blocks / 2).any(|pair| matches!(blocks >> (2 * pair) & 3, 1 | 2));
        if let Some(at) = first.filter(|_| is_one) {
            self.tell(Fault::new(FaultKind::Apart, at).counted(ONE_OF_PAIR.0, ONE_OF_PAIR.1));
            return;
        }
        self.tell_of_groups(false);
    }

    /// Tells of a group of which only some warps have come to what all come to. Where an execution is not at its end, the others
    /// have ended.
    pub(super) fn tell_of_groups(&mut self, is_open: bool) {
        if !self.program.knows_threads {
            return;
        }
        let steps = self.program.steps.iter();
        let of_groups: Vec<u32> = steps
            .filter(|step| matches!(step.action, Action::Registers { .. }))
            .map(|step| step.instruction)
            .collect();
        let lanes = &self.together;
        let has_come = |warp: usize| of_groups.iter().any(|&at| lanes.contains_key(&(at, warp)));
        let group_of = |warp: usize| (self.warps[warp].block, self.warps[warp].index / GROUP);
        let alone = lanes.keys().filter(|(at, _)| of_groups.contains(at)).filter(|&&(_, warp)| {
            let all = (0..self.warps.len()).filter(|&other| group_of(other) == group_of(warp));
            let (come, others): (Vec<usize>, Vec<usize>) = all.partition(|&other| has_come(other));
            let have_ended = !is_open || others.iter().all(|&other| self.warps[other].alive == 0);
            come.len() + others.len() == GROUP as usize && !others.is_empty() && have_ended
        });
        if let Some(at) = alone.map(|(at, _)| *at).min() {
            self.tell(Fault::new(FaultKind::Apart, at));
        }
    }
}
