//! How many blocks of a kernel a multiprocessor has room for.
//!
//! CUDA programming guide, "Technical Specifications per Compute Capability"; the occupancy calculator of the toolkit. What
//! a multiprocessor has is in `isa/manual/targets.isa`.

use crate::target::{Multiprocessor, Target};

/// Threads of a warp.
const WARP: u32 = 32;
/// Registers of a multiprocessor, which its four partitions share alike.
const REGISTERS: u32 = 65_536;
const PARTITIONS: u32 = 4;
/// A warp gets registers in multiples of so many.
const REGISTER_UNIT: u32 = 256;
/// No thread has more registers, and no block more threads.
const MAX_REGISTERS: u32 = 255;
const MAX_THREADS: u32 = 1024;

/// The most registers that a thread may have if `blocks` blocks of `threads` threads are to run on a multiprocessor at a
/// time, as `ptxas` reads `.minnctapersm`: a multiple of eight. None for no threads, and for no blocks.
#[must_use]
pub fn registers_left(threads: u32, blocks: u32) -> Option<u32> {
    let warps = threads.div_ceil(WARP).checked_mul(blocks)?;
    let each = (REGISTERS / WARP).checked_div(warps)?;
    Some(each.min(MAX_REGISTERS + 1) / 8 * 8)
}

/// What a block of a kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BlockUsage {
    /// Threads.
    pub threads: u32,
    /// Registers of each thread.
    pub registers: u32,
    /// Shared memory, static and dynamic, in bytes.
    pub shared_memory: u32,
}

/// What there is not more of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Limit {
    /// Places for warps.
    Warps,
    /// Places for blocks.
    Blocks,
    /// Registers.
    Registers,
    /// Shared memory.
    SharedMemory,
}

impl Limit {
    /// The word in reports.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Warps => "warps",
            Self::Blocks => "blocks",
            Self::Registers => "registers",
            Self::SharedMemory => "shared",
        }
    }
}

/// How many blocks a multiprocessor has room for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occupancy {
    /// Blocks at a time; 0 where not even one fits.
    pub blocks: u32,
    /// Their warps.
    pub warps: u32,
    /// What there is not more of; the first of several in the order of [`Limit`].
    pub limit: Limit,
}

/// How many blocks a multiprocessor of a target has room for; none where the target's limits are not known, or the block
/// has no thread.
#[must_use]
pub fn occupancy(target: Target, block: BlockUsage) -> Option<Occupancy> {
    let room = target.multiprocessor()?;
    if block.threads == 0 {
        return None;
    }
    let warps = block.threads.div_ceil(WARP);
    let limits = [
        (u32::from(room.warps) / warps, Limit::Warps),
        (room.blocks.into(), Limit::Blocks),
        (by_registers(block.registers, warps), Limit::Registers),
        (by_shared_memory(room, block.shared_memory), Limit::SharedMemory),
    ];
    let (blocks, limit) = limits.into_iter().min_by_key(|(blocks, _)| *blocks)?;
    let blocks = if block.threads > MAX_THREADS { 0 } else { blocks };
    Some(Occupancy { blocks, warps: blocks * warps, limit })
}

/// A warp has its registers in one partition.
fn by_registers(registers: u32, warps: u32) -> u32 {
    if registers == 0 {
        return u32::MAX;
    }
    if registers > MAX_REGISTERS {
        return 0;
    }
    let of_warp = (WARP * registers).next_multiple_of(REGISTER_UNIT);
    if of_warp * warps.next_multiple_of(PARTITIONS) > REGISTERS {
        return 0;
    }
    PARTITIONS * (REGISTERS / PARTITIONS / of_warp) / warps
}

fn by_shared_memory(room: Multiprocessor, bytes: u32) -> u32 {
    let taken = bytes.saturating_add(room.reserved_shared_memory);
    let taken = taken.checked_next_multiple_of(room.shared_memory_granularity).unwrap_or(u32::MAX);
    room.shared_memory.checked_div(taken).unwrap_or(u32::MAX)
}

/// How much less of what limits a kernel would let one more block in: registers of each thread, or bytes of shared memory
/// of each block.
#[must_use]
pub fn saving(target: Target, block: BlockUsage) -> Option<(Limit, u32)> {
    let now = occupancy(target, block)?;
    let blocks = |block: BlockUsage| occupancy(target, block).map_or(0, |found| found.blocks);
    match now.limit {
        Limit::Registers => (1..block.registers).find_map(|fewer| {
            let less = BlockUsage { registers: block.registers - fewer, ..block };
            (blocks(less) > now.blocks).then_some((Limit::Registers, fewer))
        }),
        Limit::SharedMemory => {
            let room = target.multiprocessor()?;
            let share = room.shared_memory / (now.blocks + 1);
            let granularity = room.shared_memory_granularity;
            let most = (share / granularity * granularity).checked_sub(room.reserved_shared_memory)?;
            let less = BlockUsage { shared_memory: most, ..block };
            let fewer = block.shared_memory.checked_sub(most)?;
            (blocks(less) > now.blocks).then_some((Limit::SharedMemory, fewer))
        }
        Limit::Warps | Limit::Blocks => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{BlockUsage, Limit, Occupancy, occupancy, saving};
    use crate::target::Target;

    fn target(name: &str) -> Target {
        Target::parse(name).unwrap()
    }

    #[test]
    fn the_driver_gives_the_same_answers() {
        let rows = include_str!("occupancy-h200.tsv").lines().filter(|line| !line.starts_with('#'));
        let mut count = 0;
        for row in rows {
            let numbers: Vec<u32> = row.split('\t').map(|number| number.parse().unwrap()).collect();
            let [registers, threads, fixed, dynamic, blocks] = numbers[..] else { panic!("{row}") };
            let block = BlockUsage { threads, registers, shared_memory: fixed + dynamic };
            assert_eq!(occupancy(target("sm_90"), block).unwrap().blocks, blocks, "{row}");
            count += 1;
        }
        assert!(count >= 200, "{count}");
    }

    #[test]
    fn limits_are_named_and_savings_are_the_smallest() {
        let block = BlockUsage { threads: 256, registers: 66, shared_memory: 0 };
        let found = Occupancy { blocks: 3, warps: 24, limit: Limit::Registers };
        assert_eq!(occupancy(target("sm_90a"), block), Some(found));
        assert_eq!(saving(target("sm_90a"), block), Some((Limit::Registers, 2)));
        let shared = BlockUsage { threads: 128, registers: 32, shared_memory: 120_000 };
        assert_eq!(occupancy(target("sm_90a"), shared).unwrap().limit, Limit::SharedMemory);
        let (_, fewer) = saving(target("sm_90a"), shared).unwrap();
        let of = |bytes: u32| {
            occupancy(target("sm_90a"), BlockUsage { shared_memory: bytes, ..shared }).unwrap().blocks
        };
        assert_eq!((of(120_000), of(120_000 - fewer), of(120_000 - fewer + 1)), (1, 2, 1));
        let large = BlockUsage { threads: 1024, registers: 128, shared_memory: 0 };
        assert_eq!(occupancy(target("sm_90"), large).unwrap().blocks, 0);
        assert_eq!(occupancy(target("sm_60"), block), None);
        let turing = BlockUsage { threads: 1024, registers: 32, shared_memory: 65_536 };
        assert_eq!(occupancy(target("sm_75"), turing).unwrap().blocks, 1);
    }
}
