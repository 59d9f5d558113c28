//! Global memory as the blocks of a grid see it: who has stored what, and what orders that for whom.
//!
//! PTX ISA manual, section "Memory Consistency Model". A release tells of all that its thread knows, a fence makes the next
//! strong store such a release and turns what was seen before into an acquire. Threads that meet at a barrier share both.

use rustc_hash::{FxHashMap, FxHashSet};

use super::clock::Clock;
use super::pointer::{FIRST_GLOBAL, PLACE_BITS, place};
use super::shadow::Shadow;

/// Bytes that are told of together.
pub(super) const WORD: u64 = 4;

/// What those know who see a word.
#[derive(Clone, Debug, Default)]
pub(super) struct Released {
    /// In all blocks.
    pub(super) wide: Clock,
    /// In one block.
    pub(super) narrow: Option<(usize, Clock)>,
}

/// What a warp knows beside its clock.
#[derive(Debug, Default)]
pub(super) struct Knowledge {
    /// What it has fenced, for all blocks and for its own.
    pub(super) fenced: Clock,
    pub(super) fenced_in_block: Clock,
    /// What it has seen, and acquires at a fence; what it has seen with volatile loads at a barrier as well.
    pub(super) seen: Clock,
    pub(super) seen_volatile: Clock,
    /// Its strong stores: event and instruction.
    pub(super) told: Vec<(u32, u32)>,
    /// The last instruction with which it looked for what others store.
    pub(super) looked: Option<u32>,
}

/// A look at memory: by whom, at what, and which change of memory was the last before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Look {
    pub(super) mask: u32,
    pub(super) first: u64,
    pub(super) sum: u64,
    pub(super) version: u64,
}

/// Who accesses a word strongly: a block, and whether others do as well.
#[derive(Clone, Copy, Debug)]
pub(super) struct Teller {
    pub(super) block: usize,
    pub(super) is_shared: bool,
}

/// The global memory of a grid.
#[derive(Debug, Default)]
pub(super) struct Device {
    pub(super) shadow: Shadow,
    pub(super) released: FxHashMap<u64, Released>,
    /// The blocks that access words strongly.
    pub(super) tellers: FxHashMap<u64, Teller>,
    /// Goes up with each change.
    pub(super) version: u64,
    pub(super) looks: FxHashMap<(usize, u32), Look>,
    pub(super) warps: Vec<Knowledge>,
    /// What threads of a block bring to its barriers: what they have fenced and seen.
    pub(super) at_barriers: Vec<[Clock; 3]>,
    pointers: FxHashMap<u64, u64>,
    /// Places of pointers that strong accesses come to, with those that write.
    pub(super) strong: FxHashMap<u64, Vec<u32>>,
    /// Plain accesses whose address something in memory decides about.
    pub(super) led: FxHashSet<u32>,
    /// Words that several blocks write without an order.
    pub(super) contested: FxHashSet<u64>,
    /// Words that nobody had set, and threads waited for; whether somebody of the kernel has set one later.
    pub(super) passed: FxHashSet<u64>,
    pub(super) is_misled: bool,
    /// What threads knew of when they fenced the asynchronous proxy for global memory.
    pub(super) proxy_fenced: Clock,
    /// Where an assumption about memory decides.
    pub(super) guesses: FxHashSet<u32>,
    /// The first place of which plain data is asked.
    pub(super) leading: Option<u64>,
    /// Whether a thread has just told others something, or asked for it.
    pub(super) has_told: bool,
    /// The last plain store where others look with strong loads.
    pub(super) told_weakly: Option<u32>,
    /// The words of the race that was found.
    pub(super) raced: Option<u64>,
    /// Blocks that have come to the barrier of the grid, and what they know.
    pub(super) arrived: u32,
    pub(super) phase: u32,
    pub(super) clock: Clock,
}

/// The first place of a pointer that memory has.
const FIRST_LOADED: u64 = 1 << 13;

/// Where the blocks of a grid meet, as the driver says.
pub(super) const WORKSPACE: u64 = place(FIRST_LOADED - 1);

impl Device {
    pub(super) fn new(warps: usize, blocks: usize) -> Self {
        Self {
            warps: (0..warps).map(|_| Knowledge::default()).collect(),
            at_barriers: (0..blocks).map(|_| Default::default()).collect(),
            version: 1,
            ..Self::default()
        }
    }

    /// Whether an address is one that comes of a pointer.
    pub(super) fn has(&self, address: u64) -> bool {
        (FIRST_GLOBAL..place(FIRST_LOADED + self.pointers.len() as u64)).contains(&address)
    }

    /// A pointer that memory has at an address.
    pub(super) fn pointer_at(&mut self, address: u64) -> u64 {
        let next = FIRST_LOADED + self.pointers.len() as u64;
        place(*self.pointers.entry(address).or_insert(next))
    }

    /// Whether blocks may have come to one place, of which one has written there or accessed it strongly. Where none have, no block can
    /// tell in which order they run.
    pub(super) fn is_shared(&self, block_of: impl Fn(u32) -> usize) -> bool {
        let tells = |(&word, teller): (&u64, &Teller)| {
            teller.is_shared
                || self.shadow.is_touched((word * WORD, WORD), |warp| block_of(warp) != teller.block)
        };
        self.phase > 0
            || !self.passed.is_empty()
            || self.tellers.iter().any(tells)
            || self.shadow.is_written_apart(&block_of)
    }

    /// The instructions that store strongly to the place of a pointer.
    pub(super) fn setters(&self, address: u64) -> &[u32] {
        self.strong.get(&(address >> PLACE_BITS)).map_or(&[], Vec::as_slice)
    }
}
