//! How much the copies bring whose size no operand tells, as those by a tensor's map: what a phase expects, its copies bring.

use std::collections::BTreeSet;

use rustc_hash::{FxHashMap, FxHashSet};

use super::extents::Extents;
use super::rooms::{self, Shared, Unsized};

/// The copies of unknown size that complete in a phase, with the bytes that it expects.
#[derive(Debug, Default)]
pub(super) struct Log {
    phases: Vec<(u64, Vec<Unsized>)>,
    /// Phases in which several copies complete, of which some are of unknown size.
    shared: Vec<Shared>,
    /// Where operations without a phase read.
    sources: FxHashMap<u32, Vec<u64>>,
    /// Where operations begin to read or write.
    pub(super) starts: FxHashSet<u64>,
    /// Where each operation has read each of its matrices.
    matrices: FxHashMap<(u32, usize), BTreeSet<u64>>,
    /// The places from which operations read what threads have written in a row, with the bytes of it.
    rows: Vec<(u64, u64)>,
    /// How far matrix operations read.
    pub(super) extents: Extents,
    /// Whether one may read more than its first bytes of what threads have written in a row.
    pub(super) has_rows: bool,
    /// Whether an execution before has told where operations begin.
    pub(super) knows_places: bool,
    /// Copies of unknown size that came to an object after a phase of others, and before anything was expected again; each
    /// with one of those. They may belong to that phase.
    pub(super) late: Vec<(u32, u32)>,
    /// Those that are taken to: a phase with the first is not complete without the second.
    pub(super) joined: Vec<(u32, u32)>,
}

/// Phases that are looked at.
const MAX_PHASES: usize = 64;
/// Copies that may belong to the phase before.
const MAX_LATE: usize = 8;
/// Copies of one phase that are.
pub(super) const MAX_COPIES: usize = 16;
/// Places where operations begin.
const MAX_STARTS: usize = 256;

impl Log {
    /// A copy came late to the phase of another.
    pub(super) fn came_late(&mut self, first: u32, late: u32) {
        if self.late.len() < MAX_LATE && !self.late.contains(&(first, late)) {
            self.late.push((first, late));
        }
    }

    /// Whether copies of a phase lack one that belongs to it.
    pub(super) fn lack_joined(&self, copies: &[u32]) -> bool {
        self.joined.iter().any(|(first, late)| copies.contains(first) && !copies.contains(late))
    }

    /// A phase is complete.
    pub(super) fn phase(&mut self, expected: i64, copies: &[Unsized]) {
        if let Some(expected) = u64::try_from(expected).ok().filter(|expected| *expected > 0)
            && self.phases.len() < MAX_PHASES
            && copies.len() < MAX_COPIES
        {
            self.phases.push((expected, copies.to_vec()));
        }
    }

    /// A phase of several copies is complete.
    pub(super) fn shared_phase(&mut self, phase: Shared) {
        if self.shared.len() < MAX_PHASES && phase.copies.len() < MAX_COPIES {
            self.shared.push(phase);
        }
    }

    /// An expectation that is not that of all copies of its phase.
    pub(super) fn misfit(&self, variables: &[(u64, u64)]) -> Option<(u32, u64, u64, u32)> {
        rooms::misfit(&self.shared, variables)
    }

    /// An expectation of fewer bytes than are read.
    pub(super) fn short(&self, variables: &[(u64, u64)]) -> Option<(u32, u64, u64, u32, u32)> {
        let are_all_known = self.starts.len() < MAX_STARTS;
        let short = || self.extents.short(&self.shared, variables, self.starts.iter().copied());
        are_all_known.then(short).flatten()
    }

    /// An operation that tells no object reads there.
    pub(super) fn source(&mut self, instruction: u32, place: u64) {
        let known = self.sources.entry(instruction).or_default();
        if known.len() < MAX_COPIES && !known.contains(&place) {
            known.push(place);
        }
    }

    /// An operation begins to read or write there.
    pub(super) fn begins(&mut self, place: u64) {
        if self.starts.len() < MAX_STARTS {
            self.starts.insert(place);
        }
    }

    /// How far it is from a place where an operation reads a matrix to the next stage of a ring: as far as the same operation's
    /// places are apart, from where the first of the operations on that stage reads.
    pub(super) fn room_of_matrix(&mut self, matrix: (u32, usize), place: u64) -> u64 {
        let known = self.matrices.entry(matrix).or_default();
        if known.len() < MAX_COPIES {
            known.insert(place);
        }
        let (first, next) = (known.first().copied(), known.range(place + 1..).next().copied());
        let Some((first, next)) = first.zip(next) else { return u64::MAX };
        let stride = next - place;
        let is_alike = |places: &BTreeSet<u64>| {
            places.iter().zip(places.iter().skip(1)).any(|(one, other)| other - one == stride)
        };
        let others =
            self.matrices.iter().filter(|((_, index), places)| *index == matrix.1 && is_alike(places));
        let starts = others.filter_map(|(_, places)| places.first().copied());
        let start = starts.filter(|start| *start <= first && first - start < stride).min().unwrap_or(first);
        stride - (place - start) % stride
    }

    /// An operation reads this number of bytes from there, since threads have written them in a row.
    pub(super) fn row(&mut self, place: u64, bytes: u64) {
        if self.rows.len() < MAX_STARTS && !self.rows.contains(&(place, bytes)) {
            self.rows.push((place, bytes));
        }
    }

    /// Whether another operation, or the same once more, turned out to begin within what one was taken to read: the rest is of
    /// others.
    pub(super) fn is_divided(&self) -> bool {
        let holds = |&(place, bytes): &(u64, u64)| {
            let within = |start: &u64| (place + 1..place + bytes).contains(start);
            let mut matrices = self.matrices.values().filter(|known| known.contains(&place));
            self.starts.iter().any(within) || matrices.any(|known| known.iter().any(within))
        };
        self.rows.iter().any(holds)
    }

    /// Where operations begin, known from an execution before.
    pub(super) fn knows_places_of(&mut self, before: &Self) {
        self.knows_places = before.knows_places;
        self.starts.clone_from(&before.starts);
        self.matrices.clone_from(&before.matrices);
    }

    /// How far it is from a place to the next one where an operation begins.
    pub(super) fn room_of(&self, place: u64) -> u64 {
        let later = self.starts.iter().filter(|other| **other > place);
        later.min().map_or(u64::MAX, |next| next - place)
    }

    /// The size of each instruction's copies, as far as all phases agree. `variables` are the places of shared variables with
    /// their sizes.
    pub(super) fn sizes(&self, variables: &[(u64, u64)]) -> FxHashMap<u32, u64> {
        let strides = self.strides();
        let places: BTreeSet<u64> =
            self.phases.iter().flat_map(|(_, copies)| copies).map(|copy| copy.place).collect();
        let mut sizes: FxHashMap<u32, Option<u64>> = FxHashMap::default();
        for (expected, copies) in &self.phases {
            for (instruction, size) in shares(*expected, copies, &strides, &places) {
                let known = sizes.entry(instruction).or_insert(Some(size));
                if *known != Some(size) {
                    *known = None;
                }
            }
        }
        // What reads from the start of a variable reads all of it, or as much as is before the next place where some
        // operation begins.
        for (instruction, places) in &self.sources {
            let Some((start, size)) = variables.iter().find(|(start, _)| places.contains(start)) else {
                continue;
            };
            let end = start + size;
            let up_to = |place: &u64| {
                let later = self.starts.iter().filter(|other| (place + 1..end).contains(other));
                later.min().copied().unwrap_or(end).saturating_sub(*place)
            };
            let own = places.iter().map(up_to).min().filter(|size| *size > 0);
            if let Some(size) = own.filter(|_| self.starts.len() < MAX_STARTS) {
                sizes.entry(*instruction).or_insert(Some(size));
            }
        }
        sizes.into_iter().filter_map(|(instruction, size)| Some((instruction, size?))).collect()
    }

    /// How far the places of each instruction lie apart.
    fn strides(&self) -> FxHashMap<u32, u64> {
        let mut strides: FxHashMap<u32, u64> = FxHashMap::default();
        let mut last: FxHashMap<u32, u64> = FxHashMap::default();
        for copy in self.phases.iter().flat_map(|(_, copies)| copies) {
            let before = last.insert(copy.instruction, copy.place);
            let apart = before.map_or(0, |before| before.abs_diff(copy.place));
            if apart > 0 {
                let known = strides.entry(copy.instruction).or_insert(apart);
                *known = apart.min(*known);
            }
        }
        strides
    }
}

/// What each copy of a phase brings; nothing where that is not certain.
fn shares(
    expected: u64,
    copies: &[Unsized],
    strides: &FxHashMap<u32, u64>,
    places: &BTreeSet<u64>,
) -> Vec<(u32, u64)> {
    let Some(first) = copies.first() else { return Vec::new() };
    let count = copies.len() as u64;
    if copies.iter().all(|copy| copy.instruction == first.instruction) {
        let is_even = expected.is_multiple_of(count);
        return if is_even { vec![(first.instruction, expected / count)] } else { Vec::new() };
    }
    // Each operand has stages of its own.
    let own: Option<Vec<(u32, u64)>> =
        copies.iter().map(|copy| Some((copy.instruction, *strides.get(&copy.instruction)?))).collect();
    if let Some(own) = own
        && own.iter().map(|(_, size)| size).sum::<u64>() == expected
    {
        return own;
    }
    // Each copy ends where the next one of any phase begins, and the last one has the rest.
    let mut sorted = copies.to_vec();
    sorted.sort_by_key(|copy| copy.place);
    if sorted.windows(2).any(|pair| pair[0].place == pair[1].place) {
        return Vec::new();
    }
    let (last, others) = (sorted[sorted.len() - 1], &sorted[..sorted.len() - 1]);
    let room = |copy: &Unsized| places.range(copy.place + 1..).next().map(|next| next - copy.place);
    let mut left = expected;
    let mut found = Vec::new();
    for copy in others {
        let size = room(copy).filter(|size| *size < left);
        let Some(size) = size else { return Vec::new() };
        left -= size;
        found.push((copy.instruction, size));
    }
    if room(&last).is_some_and(|room| room < left) {
        return Vec::new();
    }
    found.push((last.instruction, left));
    // An instruction whose copies have two sizes tells none.
    let is_clear = |(instruction, size): &(u32, u64)| {
        found.iter().all(|(other, theirs)| other != instruction || theirs == size)
    };
    if found.iter().all(is_clear) { found } else { Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(instruction: u32, place: u64) -> Unsized {
        Unsized { instruction, place }
    }

    #[test]
    fn a_single_copy_brings_what_is_expected() {
        let mut log = Log::default();
        log.phase(4096, &[copy(7, 1024)]);
        log.phase(8192, &[copy(9, 0), copy(9, 4096)]);
        assert_eq!(log.sizes(&[]), [(7, 4096), (9, 4096)].into_iter().collect());
    }

    #[test]
    fn phases_that_disagree_tell_nothing() {
        let mut log = Log::default();
        log.phase(4096, &[copy(7, 1024)]);
        log.phase(2048, &[copy(7, 1024)]);
        assert!(log.sizes(&[]).is_empty());
    }

    #[test]
    fn operands_with_stages_of_their_own_are_told_apart() {
        let mut log = Log::default();
        for stage in 0..3 {
            log.phase(6144, &[copy(1, 1024 + stage * 4096), copy(2, 65536 + stage * 2048)]);
        }
        assert_eq!(log.sizes(&[]), [(1, 4096), (2, 2048)].into_iter().collect());
    }

    #[test]
    fn operands_of_one_stage_lie_one_after_the_other() {
        let mut log = Log::default();
        for stage in 0..3 {
            log.phase(6144, &[copy(1, stage * 8192), copy(2, stage * 8192 + 4096)]);
        }
        assert_eq!(log.sizes(&[]), [(1, 4096), (2, 2048)].into_iter().collect());
    }

    #[test]
    fn stages_of_an_unrolled_ring_end_where_the_next_begins() {
        let mut log = Log::default();
        for stage in 0..4 {
            let (first, second) = (stage as u32, stage as u32 + 4);
            log.phase(40960, &[copy(first, stage * 8192), copy(second, 32768 * (stage + 1))]);
        }
        let sizes = log.sizes(&[]);
        for instruction in 0..4 {
            assert_eq!((sizes[&instruction], sizes[&(instruction + 4)]), (8192, 32768));
        }
    }

    #[test]
    fn a_source_at_a_variable_is_all_of_it() {
        let mut log = Log::default();
        log.source(3, 1024);
        log.source(4, 1024);
        log.source(4, 2048);
        assert_eq!(log.sizes(&[(1024, 512)]), [(3, 512)].into_iter().collect());
    }
}
