//! Lists by name.

use std::collections::HashMap;

/// No item.
const NONE: u32 = u32::MAX;

/// For each number the items that it was given, in order.
///
/// The lists are chains through one vector. A file may define a million macros once each, and a list with memory of
/// its own costs more for each of them than all that is done with it.
#[derive(Clone, Debug)]
pub(super) struct Lists<T> {
    /// The first and the last item of each number.
    ends: Vec<(u32, u32)>,
    /// All items, and after each the index of the next one of its number.
    items: Vec<(T, u32)>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self { ends: Vec::new(), items: Vec::new() }
    }
}

impl<T: Copy> Lists<T> {
    /// Appends to the list of a number.
    pub fn push(&mut self, number: u32, item: T) {
        let index = self.items.len() as u32;
        self.items.push((item, NONE));
        if self.ends.len() <= number as usize {
            self.ends.resize(number as usize + 1, (NONE, NONE));
        }
        let (first, last) = &mut self.ends[number as usize];
        match *last {
            NONE => *first = index,
            last => self.items[last as usize].1 = index,
        }
        *last = index;
    }

    /// Takes all items from a number.
    pub fn clear(&mut self, number: u32) {
        if let Some(ends) = self.ends.get_mut(number as usize) {
            *ends = (NONE, NONE);
        }
    }

    /// The items of a number.
    pub fn of(&self, number: u32) -> impl Iterator<Item = T> + use<'_, T> {
        let mut next = self.ends.get(number as usize).map_or(NONE, |(first, _)| *first);
        std::iter::from_fn(move || {
            let (item, after) = self.items.get(next as usize)?;
            next = *after;
            Some(*item)
        })
    }
}

/// For each name the items that it was given, in order, and a number: names are numbered as they come.
///
/// Who looks a name up once and keeps its number reads no text again.
#[derive(Clone, Debug)]
pub(super) struct ByName<'s, T> {
    numbers: HashMap<&'s str, u32>,
    lists: Lists<T>,
}

impl<T> Default for ByName<'_, T> {
    fn default() -> Self {
        Self { numbers: HashMap::new(), lists: Lists::default() }
    }
}

impl<'s, T: Copy> ByName<'s, T> {
    /// Appends to the list of a name, and says its number.
    pub fn push(&mut self, name: &'s str, item: T) -> u32 {
        let next = self.numbers.len() as u32;
        let number = *self.numbers.entry(name).or_insert(next);
        self.lists.push(number, item);
        number
    }

    /// The number of a name that has items.
    pub fn number(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    /// The items of a name; none for a name without.
    pub fn of(&self, name: &str) -> Option<impl Iterator<Item = T> + use<'_, 's, T>> {
        Some(self.lists.of(self.number(name)?))
    }

    /// How many names have items.
    pub fn len(&self) -> usize {
        self.numbers.len()
    }
}

#[cfg(test)]
mod tests {
    use super::{ByName, Lists};

    #[test]
    fn lists_keep_their_order() {
        let mut lists = ByName::default();
        for (name, item) in [("a", 1), ("b", 2), ("a", 3), ("a", 4), ("b", 5)] {
            lists.push(name, item);
        }
        let of = |name| lists.of(name).map(Iterator::collect::<Vec<_>>);
        assert_eq!((of("a"), of("b"), of("c")), (Some(vec![1, 3, 4]), Some(vec![2, 5]), None));
        assert_eq!((lists.number("a"), lists.number("b"), lists.number("c")), (Some(0), Some(1), None));
    }

    #[test]
    fn a_list_that_was_cleared_is_begun_anew() {
        let mut lists = Lists::default();
        for (number, item) in [(3, 'a'), (1, 'b'), (3, 'c')] {
            lists.push(number, item);
        }
        lists.clear(3);
        lists.clear(9);
        let of = |lists: &Lists<char>, number| lists.of(number).collect::<String>();
        assert_eq!((of(&lists, 3), of(&lists, 1), of(&lists, 0)), (String::new(), "b".into(), String::new()));
        lists.push(3, 'd');
        assert_eq!((of(&lists, 3), of(&lists, 1)), ("d".into(), "b".into()));
    }
}
