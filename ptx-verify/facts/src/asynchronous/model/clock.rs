//! What a warp knows to have happened: vector clocks.
//!
//! Besides the events of each warp there is a component for everything that completes on its own: the groups of each
//! warp, in the order of their starts, and the phases of each `mbarrier` object. So what one warp has waited for is
//! known to those that it meets at a barrier.

use std::collections::VecDeque;

/// A row of counters with one for each warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Row {
    /// Events of the warp.
    Events,
    /// Its events before which it has fenced the asynchronous proxy.
    Fenced,
    /// The same, where the threads that have written did it.
    FencedByWriter,
    /// Its `cp.async` that are complete.
    CpAsync,
    /// Its bulk copies that are complete.
    Bulk,
    /// Its bulk copies that have read their source.
    BulkRead,
    /// Its `wgmma` that are complete.
    Wgmma,
    /// Its `tcgen05` operations that are complete.
    Tcgen05,
}

pub(super) const ROWS: usize = 8;

/// How many of each are known to have happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Clock {
    counters: Vec<u32>,
    /// Whether a loop that waits for a flag is among that: what others did before they set it may be in order.
    pub(super) has_asked: bool,
}

impl Clock {
    /// The clock of a warp that has seen nothing, among so many.
    pub(super) fn new(warps: usize) -> Self {
        Self { counters: vec![0; warps * ROWS], has_asked: false }
    }

    /// A counter of a row.
    pub(super) fn get(&self, warps: usize, row: Row, warp: usize) -> u32 {
        self.counters.get(row as usize * warps + warp).copied().unwrap_or(0)
    }

    /// Raises a counter of a row.
    pub(super) fn raise(&mut self, warps: usize, row: Row, warp: usize, to: u32) {
        if let Some(counter) = self.counters.get_mut(row as usize * warps + warp) {
            *counter = to.max(*counter);
        }
    }

    /// How many phases of an object are known to be complete.
    pub(super) fn phases(&self, warps: usize, object: usize) -> u32 {
        self.counters.get(ROWS * warps + object).copied().unwrap_or(0)
    }

    /// Raises the number of phases of an object.
    pub(super) fn raise_phases(&mut self, warps: usize, object: usize, to: u32) {
        let index = ROWS * warps + object;
        if self.counters.len() <= index {
            self.counters.resize(index + 1, 0);
        }
        self.counters[index] = to.max(self.counters[index]);
    }

    /// What is known to either.
    pub(super) fn join(&mut self, other: &Self) {
        if self.counters.len() < other.counters.len() {
            self.counters.resize(other.counters.len(), 0);
        }
        self.has_asked |= other.has_asked;
        for (own, other) in self.counters.iter_mut().zip(&other.counters) {
            *own = (*own).max(*other);
        }
    }

    /// The events of each warp that are known.
    pub(super) fn events(&self, warps: usize) -> &[u32] {
        let first = Row::Events as usize * warps;
        self.counters.get(first..first + warps).unwrap_or_default()
    }

    /// All events that are known are fenced.
    pub(super) fn fence_all(&mut self, warps: usize) {
        for warp in 0..warps {
            let events = self.get(warps, Row::Events, warp);
            self.raise(warps, Row::Fenced, warp, events);
        }
    }
}

/// The part of a warp in a barrier of the cluster.
#[derive(Debug, Default)]
pub(super) struct AtCluster {
    /// The phase that it arrived in last.
    pub(super) phase: u32,
    /// Lanes that have arrived and not waited, and where.
    open: (u32, u32),
}

impl AtCluster {
    /// Lanes arrive in a phase. Gives where some of them have arrived before, and have not waited since.
    pub(super) fn arrive(&mut self, mask: u32, instruction: u32, phase: u32) -> Option<u32> {
        let (lanes, before) = self.open;
        self.open = (lanes | mask, instruction);
        self.phase = phase;
        (lanes & mask != 0).then_some(before)
    }

    /// Lanes wait.
    pub(super) const fn wait(&mut self, mask: u32) {
        self.open.0 &= !mask;
    }
}

/// The groups of operations of a warp.
#[derive(Clone, Debug, Default)]
pub(super) struct Groups {
    pub(super) started: u32,
    /// How many were started at each commit.
    pub(super) commits: Vec<u32>,
    /// The last commit.
    pub(super) last_commit: Option<u32>,
    /// The last wait: instruction, how many groups it left, and which event of the warp it is.
    pub(super) wait: Option<(u32, u32, u32)>,
    /// Those before, the last one at the end.
    pub(super) waits_before: VecDeque<(u32, u32, u32)>,
}
