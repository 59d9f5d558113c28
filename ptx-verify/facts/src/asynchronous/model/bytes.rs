//! The bytes of shared memory whose numbers are known.

use rustc_hash::FxHashMap;

/// Bytes of a cell.
const CELL: u64 = 8;

/// Some bytes of memory that follow each other.
#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    bytes: [u8; CELL as usize],
    /// A bit for each byte that is known.
    known: u8,
    /// A bit for each that is assumed.
    assumed: u8,
}

/// Bytes in the shared memory of each block, and whether they are assumed.
#[derive(Debug, Default)]
pub(super) struct Memory {
    cells: FxHashMap<(usize, u64), Cell>,
}

/// The bits of the bytes of a cell that are in a range.
fn bits(cell: u64, start: u64, end: u64) -> u8 {
    let from = start.saturating_sub(cell * CELL);
    let to = end.saturating_sub(cell * CELL);
    let below = |count: u64| -> u8 { if count >= CELL { u8::MAX } else { (1 << count) - 1 } };
    below(to) & !below(from)
}

impl Memory {
    /// Forgets all numbers.
    pub(super) fn forget(&mut self) {
        self.cells.clear();
    }

    /// Forgets what is in a range.
    pub(super) fn erase(&mut self, block: usize, (place, bytes): (u64, u64)) {
        let end = place.saturating_add(bytes);
        let (first, after) = (place / CELL, end.div_ceil(CELL));
        if after - first > self.cells.len() as u64 {
            self.cells.retain(|(of, cell), known| {
                if *of == block && (first..after).contains(cell) {
                    known.known &= !bits(*cell, place, end);
                }
                known.known != 0
            });
            return;
        }
        for cell in first..after {
            if let Some(known) = self.cells.get_mut(&(block, cell)) {
                known.known &= !bits(cell, place, end);
            }
        }
    }

    /// The number at a place, and whether it is assumed; none where nothing is known of one of its bytes.
    pub(super) fn load(&self, block: usize, place: u64, bytes: u64) -> Option<(u64, bool)> {
        let mut found = (0, false);
        let end = place.checked_add(bytes)?;
        for cell in (place / CELL..end.div_ceil(CELL)).rev() {
            let known = self.cells.get(&(block, cell))?;
            let wanted = bits(cell, place, end);
            if known.known & wanted != wanted {
                return None;
            }
            found.1 |= known.assumed & wanted != 0;
            for (index, byte) in known.bytes.iter().enumerate().rev() {
                if wanted >> index & 1 != 0 {
                    found.0 = found.0 << 8 | u64::from(*byte);
                }
            }
        }
        Some(found)
    }

    pub(super) fn store(&mut self, block: usize, place: u64, (number, bytes): (u64, u64), assumed: bool) {
        let number = number.to_le_bytes();
        let mut done = 0;
        while done < bytes.min(CELL) {
            let (index, from) = (place.wrapping_add(done) / CELL, place.wrapping_add(done) % CELL);
            let count = (CELL - from).min(bytes - done);
            let cell = self.cells.entry((block, index)).or_default();
            let own = number[done as usize..][..count as usize].iter();
            cell.bytes[from as usize..].iter_mut().zip(own).for_each(|(byte, own)| *byte = *own);
            let bits = bits(0, from, from + count);
            cell.known |= bits;
            cell.assumed = if assumed { cell.assumed | bits } else { cell.assumed & !bits };
            done += count;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_known_as_long_as_all_of_their_bytes_are() {
        let mut memory = Memory::default();
        memory.store(0, 6, (0x0403_0201, 4), false);
        assert_eq!(memory.load(0, 6, 4), Some((0x0403_0201, false)));
        assert_eq!(memory.load(0, 7, 2), Some((0x0302, false)));
        assert_eq!((memory.load(0, 5, 2), memory.load(1, 6, 4)), (None, None));
        memory.store(0, 8, (9, 1), true);
        assert_eq!(memory.load(0, 6, 4), Some((0x0409_0201, true)));
        memory.erase(0, (9, 1));
        assert_eq!((memory.load(0, 9, 1), memory.load(0, 6, 3)), (None, Some((0x0009_0201, true))));
        memory.erase(0, (0, 1 << 40));
        assert_eq!(memory.load(0, 6, 1), None);
    }
}
