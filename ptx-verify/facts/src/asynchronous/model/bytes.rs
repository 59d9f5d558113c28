//! The bytes of shared memory whose numbers are known.

use rustc_hash::FxHashMap;

use super::table::Table;

/// Bytes of a page.
const PAGE: u64 = 256;
/// Bytes that one word has a bit each for.
const WORD: u64 = 64;
const WORDS: usize = (PAGE / WORD) as usize;
/// Bytes of the longest number.
const LONGEST: u64 = 8;

/// Some bytes of memory that follow each other.
#[derive(Clone, Copy, Debug)]
struct Page {
    bytes: [u8; PAGE as usize],
    /// A bit for each byte that is known.
    known: [u64; WORDS],
    /// A bit for each that is assumed.
    assumed: [u64; WORDS],
}

impl Default for Page {
    fn default() -> Self {
        Self { bytes: [0; PAGE as usize], known: [0; WORDS], assumed: [0; WORDS] }
    }
}

impl Page {
    /// Forgets what is in a range, of which it has a part.
    fn erase(&mut self, page: u64, (start, end): (u64, u64)) {
        for (known, word) in self.known.iter_mut().zip(page * (PAGE / WORD)..) {
            *known &= !bits(word, start, end);
        }
    }
}

/// Bytes in the shared memory of each block, and whether they are assumed.
#[derive(Debug, Default)]
pub(super) struct Memory {
    blocks: FxHashMap<usize, Table<Page>>,
}

/// The bits of the bytes of a word that are in a range.
fn bits(word: u64, start: u64, end: u64) -> u64 {
    let below = |place: u64| match place.saturating_sub(word * WORD) {
        WORD.. => u64::MAX,
        count => (1 << count) - 1,
    };
    below(end) & !below(start)
}

/// Which page has a byte, which of its bytes it is, and the bit of which word.
const fn place_of(place: u64) -> (u64, usize, usize, u64) {
    let byte = place % PAGE;
    (place / PAGE, byte as usize, (byte / WORD) as usize, 1 << (byte % WORD))
}

impl Memory {
    /// Forgets all numbers.
    pub(super) fn forget(&mut self) {
        self.blocks.clear();
    }

    /// Forgets what is in a range.
    pub(super) fn erase(&mut self, block: usize, (place, bytes): (u64, u64)) {
        let Some(pages) = self.blocks.get_mut(&block) else { return };
        let range = (place, place.saturating_add(bytes));
        let (first, after) = (range.0 / PAGE, range.1.div_ceil(PAGE));
        if after - first > pages.len() as u64 {
            pages
                .iter_mut()
                .filter(|(page, _)| (first..after).contains(page))
                .for_each(|(number, page)| page.erase(number, range));
            return;
        }
        for number in first..after {
            if let Some(page) = pages.get_mut(number) {
                page.erase(number, range);
            }
        }
    }

    /// The number at a place, and whether it is assumed; none where nothing is known of one of its bytes.
    pub(super) fn load(&self, block: usize, place: u64, bytes: u64) -> Option<(u64, bool)> {
        let pages = self.blocks.get(&block)?;
        let mut found = (0, false);
        for place in (place..place.checked_add(bytes)?).rev() {
            let (page, byte, word, bit) = place_of(place);
            let page = pages.get(page).filter(|page| page.known[word] & bit != 0)?;
            found = (found.0 << 8 | u64::from(page.bytes[byte]), found.1 || page.assumed[word] & bit != 0);
        }
        Some(found)
    }

    pub(super) fn store(&mut self, block: usize, place: u64, (number, bytes): (u64, u64), assumed: bool) {
        let pages = self.blocks.entry(block).or_default();
        let own = number.to_le_bytes().into_iter().take(bytes.min(LONGEST) as usize);
        for (number, index) in own.zip(0..) {
            let (page, byte, word, bit) = place_of(place.wrapping_add(index));
            let page = pages.entry(page);
            page.bytes[byte] = number;
            page.known[word] |= bit;
            page.assumed[word] = page.assumed[word] & !bit | if assumed { bit } else { 0 };
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

    #[test]
    fn numbers_lie_across_pages() {
        let mut memory = Memory::default();
        memory.store(2, PAGE - 3, (0x0807_0605_0403_0201, 8), false);
        assert_eq!(memory.load(2, PAGE - 3, 8), Some((0x0807_0605_0403_0201, false)));
        memory.erase(2, (PAGE + 1, 1));
        assert_eq!(
            (memory.load(2, PAGE - 3, 5), memory.load(2, PAGE - 3, 4)),
            (None, Some((0x0403_0201, false)))
        );
        memory.erase(2, (0, PAGE));
        assert_eq!((memory.load(2, PAGE - 1, 1), memory.load(2, PAGE, 1)), (None, Some((4, false))));
    }
}
