//! The numbers in the memory of a warp's threads.

use std::collections::BTreeMap;

use super::value::{ALL, Value};
use crate::values::number::mask as low_bits;

/// Bytes of the largest number.
pub(super) const LARGEST: u64 = 8;

/// What a warp has at a place.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) bytes: u64,
    pub(super) value: Value,
    pub(super) assumed: bool,
}

/// The numbers of a warp, by their addresses.
#[derive(Clone, Debug, Default)]
pub(super) struct Local(BTreeMap<u64, Kept>);

impl Local {
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }

    /// The number at a place.
    pub(super) fn load(&self, place: u64, bytes: u64) -> (Value, bool) {
        let Some((start, kept)) = self.0.range(..=place).next_back() else { return (Value::Unknown, false) };
        let by = place - start;
        match () {
            () if by == 0 && kept.bytes == bytes => (kept.value.clone(), kept.assumed),
            () if by + bytes <= kept.bytes => (part(&kept.value, by, bytes), kept.assumed),
            () => (Value::Unknown, false),
        }
    }

    pub(super) fn store(&mut self, place: u64, new: Kept, mask: u32, alive: u32) {
        let end = place + new.bytes;
        let mut value = Value::Unknown;
        let mut assumed = new.assumed;
        let near: Vec<u64> =
            self.0.range(place.saturating_sub(LARGEST)..end).map(|(start, _)| *start).collect();
        for start in near {
            let Some(old) = self.0.get(&start).filter(|old| start + old.bytes > place).cloned() else {
                continue;
            };
            self.0.remove(&start);
            if start == place && old.bytes == new.bytes {
                value = old.value;
                assumed |= old.assumed && mask & alive != alive;
                continue;
            }
            for (from, to) in [(start, place), (end, start + old.bytes)] {
                if from < to {
                    let value = part(&old.value, from - start, to - from);
                    self.0.insert(from, Kept { bytes: to - from, value, ..old });
                }
            }
        }
        value.set(new.value, mask, alive);
        self.0.insert(place, Kept { value, assumed, ..new });
    }
}

/// Some bytes of a number.
fn part(value: &Value, by: u64, bytes: u64) -> Value {
    let (by, bits) = (8 * by as u32, 8 * bytes.min(LARGEST) as u32);
    Value::of([value], ALL, |[number]| Some(number.checked_shr(by).unwrap_or(0) & low_bits(bits)))
}
