//! Where threads meet: who is waited for, and the barrier of the cluster.

use super::fault::{Fault, Part};
use super::machine::{Machine, State, Warp};

impl Machine<'_> {
    pub(super) fn release_cluster(&mut self) {
        if self.cluster_arrived == 0 || self.cluster_arrived < self.living(None) {
            return;
        }
        self.cluster_arrived = 0;
        self.cluster_phase += 1;
        self.cluster_done.join(&self.cluster_clock);
        self.cluster_over.join(&self.cluster_passed);
        self.progress += 1;
        for warp in &mut self.warps {
            let mut waited = false;
            for fragment in &mut warp.fragments {
                if matches!(fragment.state, State::Cluster(phase) if self.cluster_phase > phase) {
                    fragment.state = State::Ready;
                    waited = true;
                }
            }
            if waited {
                warp.clock.join(&self.cluster_done);
                self.blocks[warp.block].lifetime.join(&self.cluster_over);
            }
        }
    }

    /// What others have done before they came to the barrier of the cluster is over for those who wait there, though it need
    /// not be visible to them.
    pub(super) fn cluster_waited(&mut self, warp: usize) {
        let block = self.warps[warp].block;
        self.blocks[block].lifetime.join(&self.cluster_over);
    }

    /// Takes note of where a warp meets others, or waits.
    pub(super) fn meets(&mut self, warp: usize, instruction: u32) {
        let own = &mut self.warps[warp];
        own.first_use = None;
        own.meetings.push(own.event);
        let met = &mut own.met;
        if met[0] != Some(instruction) {
            *met = [Some(instruction), met[0]];
        }
    }

    /// A fault of a warp, with where it met others before.
    pub(super) fn tell_of(&mut self, warp: usize, fault: Fault) {
        let lacks_order = fault.kind.lacks_order();
        let met = self.warps[warp].met.into_iter().flatten().filter(|_| lacks_order);
        let fault = met.fold(fault, |fault, at| fault.with(at, Part::Met));
        self.tell(fault);
    }

    /// How many threads a fragment stands for at a barrier: threads that have ended are not waited for.
    pub(super) fn threads_of(&self, warp: usize, mask: u32) -> u32 {
        let own = &self.warps[warp];
        if own.alive == mask { 32 } else { mask.count_ones() }
    }

    /// The threads that a barrier of all has to wait for, by whole warps.
    pub(super) fn living(&self, block: Option<usize>) -> u32 {
        let living = |warp: &&Warp| warp.alive != 0 && block.is_none_or(|block| warp.block == block);
        32 * self.warps.iter().filter(living).count() as u32
    }
}
