//! Things by number, where most numbers are small: they are found without hashing.

use rustc_hash::FxHashMap;

/// Numbers below are found by their index.
const NEAR: u64 = 1 << 12;

/// Things by number, in the order in which they came.
#[derive(Debug)]
pub(super) struct Table<T> {
    /// For each small number how many things came up to its own; 0 where there is none.
    near: Vec<u32>,
    far: FxHashMap<u64, u32>,
    things: Vec<(u64, T)>,
}

impl<T> Default for Table<T> {
    fn default() -> Self {
        Self { near: Vec::new(), far: FxHashMap::default(), things: Vec::new() }
    }
}

impl<T> Table<T> {
    fn slot(&self, number: u64) -> Option<usize> {
        let slot = if number < NEAR { self.near.get(number as usize) } else { self.far.get(&number) };
        slot.and_then(|slot| slot.checked_sub(1)).map(|slot| slot as usize)
    }

    pub(super) fn get(&self, number: u64) -> Option<&T> {
        self.slot(number).map(|slot| &self.things[slot].1)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Option<&mut T> {
        self.slot(number).map(|slot| &mut self.things[slot].1)
    }

    /// That of a number; one is made where there is none.
    pub(super) fn entry(&mut self, number: u64) -> &mut T
    where
        T: Default,
    {
        let next = self.things.len() as u32 + 1;
        let slot = if number < NEAR {
            let number = number as usize;
            if self.near.len() <= number {
                self.near.resize(number + 1, 0);
            }
            &mut self.near[number]
        } else {
            self.far.entry(number).or_default()
        };
        if *slot == 0 {
            *slot = next;
            self.things.push((number, T::default()));
        }
        &mut self.things[*slot as usize - 1].1
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, &T)> {
        self.things.iter().map(|(number, thing)| (*number, thing))
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = (u64, &mut T)> {
        self.things.iter_mut().map(|(number, thing)| (*number, thing))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &T> {
        self.things.iter().map(|(_, thing)| thing)
    }

    pub(super) fn len(&self) -> usize {
        self.things.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn things_are_found_by_small_and_by_large_numbers() {
        let mut table: Table<u8> = Table::default();
        *table.entry(NEAR - 1) = 1;
        *table.entry(NEAR) = 2;
        *table.entry(u64::MAX) = 3;
        *table.entry(NEAR) += 2;
        *table.get_mut(7).unwrap_or(&mut 0) = 9;
        let found = [0, 7, NEAR - 1, NEAR, NEAR + 1, u64::MAX].map(|number| table.get(number).copied());
        assert_eq!(found, [None, None, Some(1), Some(4), None, Some(3)]);
        let all: Vec<(u64, u8)> = table.iter().map(|(number, thing)| (number, *thing)).collect();
        assert_eq!(all, [(NEAR - 1, 1), (NEAR, 4), (u64::MAX, 3)]);
        assert_eq!((table.len(), table.values().count()), (3, 3));
    }
}
