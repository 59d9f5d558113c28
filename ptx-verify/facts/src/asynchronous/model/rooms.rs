//! Bytes of several copies that complete in one phase, where tensor maps tell their sizes: each brings as much as there is
//! room for, before the place of another one.
//!
//! A phase that expects more can never end. One that expects exactly the bytes of a part of its copies was made for these: it
//! ends before the others are there.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

/// A copy of unknown size: its instruction, and where it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Unsized {
    pub(super) instruction: u32,
    pub(super) place: u64,
}

/// A phase of several copies.
#[derive(Debug)]
pub(super) struct Shared {
    /// The object whose phase it is.
    pub(super) object: usize,
    /// What it expects, and where.
    pub(super) expected: u64,
    pub(super) expectation: u32,
    /// The copies of unknown size, and the bytes of the others.
    pub(super) copies: Vec<Unsized>,
    pub(super) known: Vec<u64>,
}

/// Copies of one phase of which parts are looked at.
const MAX_PARTS: usize = 8;

/// An expectation that is not that of all copies: its instruction, what it expects, what there is room for, and a copy.
pub(super) fn misfit(phases: &[Shared], variables: &[(u64, u64)]) -> Option<(u32, u64, u64, u32)> {
    let mut by_expectation: FxHashMap<u32, Vec<&Shared>> = FxHashMap::default();
    // Where rounds are unrolled, each stage has its own instructions.
    let mut by_bytes: FxHashMap<(u64, usize, Vec<u64>), Vec<&Shared>> = FxHashMap::default();
    for phase in phases {
        by_expectation.entry(phase.expectation).or_default().push(phase);
        let alike = (phase.expected, phase.copies.len(), phase.known.clone());
        by_bytes.entry(alike).or_default().push(phase);
    }
    let all: BTreeSet<u64> = phases.iter().flat_map(|phase| &phase.copies).map(|copy| copy.place).collect();
    let found = by_expectation.into_values().filter_map(|phases| of_one(&phases, &all, variables));
    let found = found.min_by_key(|found| found.0).or_else(|| of_another(phases));
    found.or_else(|| {
        let found = by_bytes.into_values().filter_map(|phases| of_several(&phases, &all, variables));
        found.min_by_key(|found| found.0)
    })
}

/// An expectation of other bytes than another instruction expects of the same object, for copies to the same places: the one of which
/// fewer instructions expect as much.
fn of_another(phases: &[Shared]) -> Option<(u32, u64, u64, u32)> {
    let places = |phase: &Shared| {
        let mut places: Vec<u64> = phase.copies.iter().map(|copy| copy.place).collect();
        places.sort_unstable();
        places
    };
    let is_alike = |one: &Shared, other: &Shared| {
        one.object == other.object && one.known == other.known && places(one) == places(other)
    };
    let supporters = |expected: u64| {
        let own = phases.iter().filter(|phase| phase.expected == expected);
        own.map(|phase| phase.expectation).collect::<BTreeSet<u32>>().len()
    };
    let differs = |one: &Shared, other: &Shared| {
        one.expectation != other.expectation && one.expected != other.expected && is_alike(one, other)
    };
    let found = phases.iter().filter_map(|phase| {
        let other = phases.iter().find(|other| differs(phase, other))?;
        let is_odd = supporters(phase.expected) < supporters(other.expected);
        let copy = phase.copies.last().filter(|_| is_odd)?.instruction;
        Some((phase.expectation, phase.expected, other.expected, copy))
    });
    found.min_by_key(|found| found.0)
}

/// An expectation of more than there is room for, where several instructions expect the same.
fn of_several(
    phases: &[&Shared],
    all: &BTreeSet<u64>,
    variables: &[(u64, u64)],
) -> Option<(u32, u64, u64, u32)> {
    let first = phases.first()?;
    if phases.iter().all(|phase| phase.expectation == first.expectation) {
        return None;
    }
    let own: BTreeSet<u64> = phases.iter().flat_map(|phase| &phase.copies).map(|copy| copy.place).collect();
    let rooms = (0..first.copies.len()).map(|copy| {
        // Where an execution ends early some stages of a ring are missing, and their rooms are those of others.
        let ends = |places: &BTreeSet<u64>| {
            let mut rooms =
                phases.iter().filter_map(|phase| room(phase.copies[copy].place, places, variables));
            let first = rooms.next()?;
            rooms.all(|room| room == first).then_some(first)
        };
        ends(&own).filter(|room| ends(all) == Some(*room))
    });
    let rooms: Option<Vec<u64>> = rooms.collect();
    let rooms: Vec<u64> = rooms?.into_iter().chain(first.known.iter().copied()).collect();
    let whole = rooms.iter().sum::<u64>();
    let copy = first.copies.last()?.instruction;
    let is_other = first.expected > whole || is_part(first.expected, &rooms);
    is_other.then_some((first.expectation, first.expected, whole, copy))
}

fn of_one(phases: &[&Shared], all: &BTreeSet<u64>, variables: &[(u64, u64)]) -> Option<(u32, u64, u64, u32)> {
    let first = phases.first()?;
    let instructions = |phase: &Shared| phase.copies.iter().map(|copy| copy.instruction).collect::<Vec<_>>();
    let is_alike = |phase: &&&Shared| {
        phase.expected == first.expected
            && phase.known == first.known
            && instructions(phase) == instructions(first)
    };
    let count = first.copies.len() + first.known.len();
    if !phases.iter().all(|phase| is_alike(&phase)) || !(1..=MAX_PARTS).contains(&count) {
        return None;
    }
    let own: BTreeSet<u64> = phases.iter().flat_map(|phase| &phase.copies).map(|copy| copy.place).collect();
    let mut rooms = first.known.clone();
    for copy in 0..first.copies.len() {
        // Of the last stage nothing tells where it ends; the others are as large.
        let ends = |places: &BTreeSet<u64>| {
            let room = phases.iter().filter_map(|phase| room(phase.copies[copy].place, places, variables));
            room.min()
        };
        let room = ends(&own)?;
        // Memory that others use otherwise at another time tells nothing.
        if ends(all) != Some(room) {
            return None;
        }
        rooms.push(room);
    }
    let whole: u64 = rooms.iter().sum();
    let copy = first.copies.last()?.instruction;
    let is_other = first.expected > whole || is_part(first.expected, &rooms);
    is_other.then_some((first.expectation, first.expected, whole, copy))
}

/// Whether some copies, and not all, bring exactly what is expected.
fn is_part(expected: u64, rooms: &[u64]) -> bool {
    let all = 1_u32 << rooms.len().min(MAX_PARTS);
    rooms.len() <= MAX_PARTS
        && (1..all - 1).any(|chosen| {
            let some = rooms.iter().enumerate().filter(|(index, _)| chosen >> index & 1 != 0);
            some.map(|(_, room)| room).sum::<u64>() == expected
        })
}

/// How far it is from a place to the next one, or to the end of the variable.
pub(super) fn room(place: u64, places: &BTreeSet<u64>, variables: &[(u64, u64)]) -> Option<u64> {
    let next = places.range(place + 1..).next().copied();
    let end = variables.iter().map(|(start, size)| (*start, start + size));
    let end = end.filter(|(start, end)| (*start..*end).contains(&place)).map(|(_, end)| end).min();
    [next, end].into_iter().flatten().min().map(|end| end - place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ring(expected: u64, stages: u64) -> Vec<Shared> {
        let copy = |instruction, place| Unsized { instruction, place };
        (0..stages)
            .map(|stage| Shared {
                object: stage as usize,
                expected,
                expectation: 7,
                copies: vec![copy(1, 1024 + stage * 12288), copy(2, 1024 + stage * 12288 + 8192)],
                known: Vec::new(),
            })
            .collect()
    }

    #[test]
    fn the_bytes_of_one_copy_of_two_are_too_few() {
        assert_eq!(misfit(&ring(8192, 3), &[]), Some((7, 8192, 12288, 2)));
        assert_eq!(misfit(&ring(4096, 3), &[]), Some((7, 4096, 12288, 2)));
        assert_eq!(misfit(&ring(12288, 3), &[]), None);
    }

    #[test]
    fn more_than_there_is_room_for_is_too_much() {
        assert_eq!(misfit(&ring(24576, 3), &[]), Some((7, 24576, 12288, 2)));
        // Where nothing tells how large the last tile is, nothing is said.
        assert_eq!(misfit(&ring(24576, 1), &[]), None);
        assert_eq!(misfit(&ring(24576, 1), &[(1024, 12288)]), Some((7, 24576, 12288, 2)));
    }

    #[test]
    fn rooms_that_are_not_alike_tell_nothing() {
        let phase = |object, expectation, places: [u64; 2]| Shared {
            object,
            expected: 16384,
            expectation,
            copies: places.map(|place| Unsized { instruction: expectation + 1, place }).to_vec(),
            known: Vec::new(),
        };
        // Of the second ring one stage of two is there.
        assert_eq!(misfit(&[phase(0, 3, [1024, 9216]), phase(1, 7, [17408, 33792])], &[]), None);
    }

    #[test]
    fn tiles_that_do_not_fill_their_room_are_no_fault() {
        assert_eq!(misfit(&ring(10240, 3), &[]), None);
    }
}
