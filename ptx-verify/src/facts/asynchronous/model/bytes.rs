//! The bytes of shared memory whose numbers are known.

use std::collections::BTreeMap;

/// Bytes in the shared memory of each block, and whether they are assumed.
#[derive(Debug, Default)]
pub(super) struct Memory {
    bytes: BTreeMap<(usize, u64), (u8, bool)>,
}

impl Memory {
    /// Forgets all numbers.
    pub(super) fn forget(&mut self) {
        self.bytes.clear();
    }

    /// Forgets what is in a range.
    pub(super) fn erase(&mut self, block: usize, (place, bytes): (u64, u64)) {
        let gone: Vec<(usize, u64)> = self
            .bytes
            .range((block, place)..(block, place.saturating_add(bytes)))
            .map(|(key, _)| *key)
            .collect();
        for key in gone {
            self.bytes.remove(&key);
        }
    }

    /// The number at a place, and whether it is assumed; none where nothing is known of one of its bytes.
    pub(super) fn load(&self, block: usize, place: u64, bytes: u64) -> Option<(u64, bool)> {
        let mut found = (0, false);
        for index in (0..bytes).rev() {
            let (byte, assumed) = self.bytes.get(&(block, place + index))?;
            found = (found.0 << 8 | u64::from(*byte), found.1 | assumed);
        }
        Some(found)
    }

    pub(super) fn store(&mut self, block: usize, place: u64, (number, bytes): (u64, u64), assumed: bool) {
        for (byte, index) in number.to_le_bytes().into_iter().zip(0..bytes) {
            self.bytes.insert((block, place + index), (byte, assumed));
        }
    }
}
