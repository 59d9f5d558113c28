//! Reads after the end of what a copy brings: a tile of which too few bytes are expected.

use rustc_hash::FxHashMap;

/// Copies of a kernel that are looked at.
const MAX_COPIES: usize = 32;

/// A copy whose size is what its phase expects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tile {
    block: usize,
    place: u64,
    pub(super) size: u64,
    pub(super) instruction: u32,
    pub(super) object: usize,
}

/// Copies of which the expected bytes alone tell the size, and who reads there.
#[derive(Debug, Default)]
pub(super) struct Tiles {
    all: Vec<Tile>,
    /// By instruction, whether it reads what a copy brings, and the copy after whose end it reads what nobody writes.
    reads: FxHashMap<u32, (bool, Option<usize>)>,
}

impl Tiles {
    /// Takes note of a copy into the memory of a block, at a place with a size.
    pub(super) fn add(&mut self, instruction: u32, object: usize, block: usize, (place, size): (u64, u64)) {
        let is_known = self.all.iter().any(|tile| (tile.block, tile.place) == (block, place));
        if !is_known && self.all.len() < MAX_COPIES {
            self.all.push(Tile { block, place, size, instruction, object });
        }
    }

    /// Takes note of a read. `is_written` says whether anything has ever been written there.
    pub(super) fn read(
        &mut self,
        instruction: u32,
        block: usize,
        (place, bytes): (u64, u64),
        is_written: impl Fn() -> bool,
    ) {
        for (index, tile) in self.all.iter().enumerate().filter(|(_, tile)| tile.block == block) {
            let end = tile.place + tile.size;
            if place < end && tile.place < place + bytes {
                self.reads.entry(instruction).or_default().0 = true;
            } else if (end..end + tile.size).contains(&place) && !is_written() {
                self.reads.entry(instruction).or_default().1 = Some(index);
            }
        }
    }

    /// The first read that goes on after the end of what a copy brings.
    pub(super) fn found(&self) -> Option<(u32, Tile)> {
        let after = self.reads.iter().filter_map(|(read, &(is_inside, after))| {
            after.filter(|_| is_inside).map(|index| (*read, self.all[index]))
        });
        after.min_by_key(|(read, _)| *read)
    }
}
