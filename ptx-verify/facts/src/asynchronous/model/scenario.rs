//! A launch that is executed, and how.

use super::program::Program;
use super::{LAST_PARAMETER, PARAMETER_OF_LONG};

/// How a kernel is launched, and in which order its warps are looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scenario {
    /// The threads of a block.
    pub(super) threads: [u32; 3],
    /// The blocks of a cluster, and how many of them are in a row.
    pub(super) blocks: u32,
    pub(super) row: u32,
    /// The cluster of the grid that it is, or the block where blocks are alone.
    pub(super) place: u32,
    /// Whether the blocks are those of a grid, each a cluster of its own.
    pub(super) of_grid: bool,
    /// The value of all parameters.
    pub(super) parameter: u64,
    /// What loads bring of memory of which nothing is known.
    pub(super) memory: u64,
    /// How fast the numbers of global memory rise with their places; 0 where all are one.
    pub(super) run: u64,
    /// Whether the last warp comes first.
    pub(super) reversed: bool,
    /// Whether the first block is slower than all others after all have told or asked something once.
    pub(super) holds: bool,
    /// Whether it comes first until it has told or asked something, and is slower than all others then.
    pub(super) leads: bool,
    /// Whether loops that only read are left after some turns.
    pub(super) skims: bool,
    /// Whether it ends where threads begin with stores that shared memory has no room for.
    pub(super) fits: bool,
    /// Whether the grid has few blocks.
    pub(super) few: bool,
    /// Whether steps count by what they do.
    pub(super) weighs: bool,
    /// Steps of warps that are executed.
    pub(super) budget: u32,
}

/// Blocks of a grid, at most, and how many rounds each has of what parameters count.
const MAX_GRID: u64 = 128;
const ROUNDS: u64 = 8;
/// The clusters of a small one.
const FEW: u64 = 2;

impl Scenario {
    /// How many blocks the grid has: so few that those which share work have several rounds of it.
    pub(super) fn grid(&self) -> u64 {
        let row = u64::from(self.row.max(1));
        if self.few {
            // One alone has most rounds, where each is long.
            return if self.parameter == PARAMETER_OF_LONG { row } else { FEW * row };
        }
        // Where no number is small enough blocks share what is the product of two.
        let blocks = if self.parameter == LAST_PARAMETER { ROUNDS / 2 } else { self.parameter / ROUNDS };
        blocks.clamp(1, MAX_GRID).next_multiple_of(row)
    }
}

/// Numbers that memory is assumed to have where each element of a list is larger than the one before it.
pub(super) const RISING: [u64; 2] = [768, 640];
/// The same by so little that those who take one after the other come to the end: by no multiple of the
/// stages that rings have.
pub(super) const RISING_SLOWLY: [u64; 2] = [7, 5];

impl Scenario {
    /// Whether each element of a list is larger than the one before it.
    pub(super) fn rises(&self) -> bool {
        RISING.contains(&self.memory) || RISING_SLOWLY.contains(&self.memory)
    }

    /// The number that a load of memory gives, of the next element of a list or of any other.
    pub(super) fn loaded(&self, is_next: bool) -> u64 {
        if is_next && self.rises() { 2 * self.memory } else { self.memory }
    }
}

/// Warps of a block in which nobody waits for a part of the others: all do the same with data of their own.
const MAX_ALIKE: u32 = 8;
/// The same where a part of the kernel is left out.
const MAX_ALIKE_THINNED: u32 = 4;

/// The warps of a block that are executed.
pub(super) fn chosen_warps(count: u32, program: &Program) -> Vec<u32> {
    let alike = if program.is_thinned { MAX_ALIKE_THINNED } else { MAX_ALIKE };
    match program.has_order || count <= alike {
        true => (0..count).collect(),
        // Who reads what another warp has written may be next to it, or far away.
        false => vec![0, 1, count / 2, count - 1],
    }
}
