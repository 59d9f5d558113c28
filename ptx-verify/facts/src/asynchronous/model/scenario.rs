//! A launch that is executed, and how.

use super::LAST_PARAMETER;

/// How a kernel is launched, and in which order its warps are looked at.
#[derive(Clone, Copy, Debug)]
pub(super) struct Scenario {
    /// The threads of a block.
    pub(super) threads: [u32; 3],
    /// The blocks of a cluster, and how many of them are in a row.
    pub(super) blocks: u32,
    pub(super) row: u32,
    /// The cluster of the grid that it is, or the block where blocks are alone.
    pub(super) place: u32,
    /// The value of all parameters.
    pub(super) parameter: u64,
    /// What loads bring of memory of which nothing is known.
    pub(super) memory: u64,
    /// Whether the last warp comes first.
    pub(super) reversed: bool,
    /// Whether loops that only read are left after some turns.
    pub(super) skims: bool,
    /// Whether it ends where threads begin with stores that shared memory has no room for.
    pub(super) fits: bool,
    /// Steps of warps that are executed.
    pub(super) budget: u32,
}

/// Blocks of a grid, at most, and how many rounds each has of what parameters count.
const MAX_GRID: u64 = 128;
const ROUNDS: u64 = 8;

impl Scenario {
    /// How many blocks the grid has: so few that those which share work have several rounds of it.
    pub(super) fn grid(&self) -> u64 {
        let row = u64::from(self.row.max(1));
        // Where no number is small enough blocks share what is the product of two.
        let blocks = if self.parameter == LAST_PARAMETER { ROUNDS / 2 } else { self.parameter / ROUNDS };
        blocks.clamp(1, MAX_GRID).next_multiple_of(row)
    }
}
