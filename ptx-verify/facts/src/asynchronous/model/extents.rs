//! How far matrix operations read in shared memory, as the descriptors of their matrices and their shapes tell: a phase has to
//! expect at least as many bytes.
//!
//! PTX ISA manual, sections "Matrix Descriptor Format" of `wgmma` and "Shared memory descriptor", "Instruction descriptor" of
//! `tcgen05`. Of a matrix whose rows lie one after the other along K, groups of eight rows are a stride apart.

use std::collections::BTreeSet;

use ptx_ir::isa::{Instance, Mode};
use rustc_hash::FxHashMap;

use super::program::Rows;
use super::rooms::{Shared, room};

/// Rows of a group, which lie a stride apart.
const GROUP: u64 = 8;
/// Rows of the first matrix of `wgmma`.
const ROWS_OF_WGMMA: u64 = 64;
/// Where the stride between groups is in a matrix descriptor, in units of 16 bytes.
const STRIDE_SHIFT: u32 = 32;
const STRIDE_MASK: u64 = 0x3fff;
const UNIT: u64 = 16;
/// No matrix has more bytes.
const MAX_EXTENT: u64 = 1 << 17;
/// Operands that are read there.
const MAX_READS: usize = 128;

/// Columns of the second matrix of `wgmma`, as its shape says.
fn columns(instance: &Instance) -> Option<u64> {
    let shape = instance.modifiers.iter().find_map(|modifier| modifier.strip_prefix(".m64n"))?;
    shape.split_once('k')?.0.parse().ok()
}

/// The rows of the matrices of `wgmma` that have descriptors, `count` of them; `along_rows` says which lie along the other dimension.
pub(super) fn of_wgmma(instance: &Instance, along_rows: [bool; 2], count: usize) -> Rows {
    let Some(columns) = columns(instance) else { return Rows::Unknown };
    let first = (!along_rows[0]).then_some(ROWS_OF_WGMMA);
    let second = (!along_rows[1]).then_some(columns);
    Rows::Known(if count > 1 { vec![first, second] } else { vec![second] })
}

/// Whether the descriptor of a `tcgen05` operation tells rows, and elements in memory are as large as bytes are counted.
pub(super) fn is_described(instance: &Instance) -> bool {
    instance.is(Mode::PlainElements)
}

/// The bits of a descriptor of an operation that tell of rows.
pub(super) const DESCRIBED: u64 = 0x1f << 24 | 0x3f << 17 | 3 << 15;

/// The rows that a descriptor of a `tcgen05` operation tells, of `count` matrices.
pub(super) fn described(descriptor: u64, paired: bool, count: usize) -> Vec<Option<u64>> {
    let share = if paired { 2 } else { 1 };
    let rows = (descriptor >> 24 & 0x1f) * 16 / share;
    let columns = (descriptor >> 17 & 0x3f) * 8 / share;
    if rows == 0 || columns == 0 {
        return vec![None; count];
    }
    let first = (descriptor >> 15 & 1 == 0).then_some(rows);
    let second = (descriptor >> 16 & 1 == 0).then_some(columns);
    if count > 1 { vec![first, second] } else { vec![second] }
}

/// How far after its start the last group of rows of a matrix begins.
pub(super) fn extent(descriptor: u64, rows: u64) -> Option<u64> {
    let stride = (descriptor >> STRIDE_SHIFT & STRIDE_MASK) * UNIT;
    let groups = rows.checked_sub(GROUP)? / GROUP;
    Some(groups * stride).filter(|extent| *extent > 0 && *extent < MAX_EXTENT)
}

/// Where matrix operations read: from their starts to the start of the last group of rows, with the instruction.
#[derive(Debug, Default)]
pub(super) struct Extents(FxHashMap<u64, (u64, u32)>);

impl Extents {
    pub(super) fn add(&mut self, place: u64, extent: u64, instruction: u32) {
        if self.0.len() < MAX_READS || self.0.contains_key(&place) {
            let known = self.0.entry(place).or_insert((extent, instruction));
            if known.0 < extent {
                *known = (extent, instruction);
            }
        }
    }

    /// A phase that expects fewer bytes than are read of its copies: where, how many, how many are read at least, a copy, and
    /// who reads. A copy ends where any operation begins: `starts` are such places, since not all phases are told.
    pub(super) fn short(
        &self,
        phases: &[Shared],
        variables: &[(u64, u64)],
        starts: impl Iterator<Item = u64>,
    ) -> Option<(u32, u64, u64, u32, u32)> {
        let copies = phases.iter().flat_map(|phase| &phase.copies).map(|copy| copy.place);
        let places: BTreeSet<u64> = copies.chain(starts).collect();
        let found = phases.iter().filter_map(|phase| {
            let mut needed: u64 = phase.known.iter().sum();
            let mut last = None;
            for copy in &phase.copies {
                let end =
                    copy.place.saturating_add(room(copy.place, &places, variables).unwrap_or(MAX_EXTENT));
                let inside = self.0.iter().filter(|(place, _)| (copy.place..end).contains(*place));
                let reach = inside.map(|(place, (extent, reader))| {
                    ((place + extent + UNIT).min(end) - copy.place, *reader)
                });
                if let Some((reach, reader)) = reach.max() {
                    needed += reach;
                    last = Some((copy.instruction, reader));
                }
            }
            let (copy, reader) = last.filter(|_| phase.expected < needed)?;
            Some((phase.expectation, phase.expected, needed, copy, reader))
        });
        found.min_by_key(|found| found.0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::rooms::Unsized;
    use super::*;

    const SWIZZLED: u64 = 64 << STRIDE_SHIFT;

    #[test]
    fn the_last_group_of_rows_is_a_stride_after_the_one_before() {
        assert_eq!(extent(SWIZZLED, 64), Some(7 * 1024));
        assert_eq!(extent(SWIZZLED, 8), None);
        assert_eq!(extent(0, 64), None);
    }

    #[test]
    fn a_descriptor_tells_rows_and_columns() {
        let descriptor = 8 << 24 | 8 << 17;
        assert_eq!(described(descriptor, false, 2), [Some(128), Some(64)]);
        assert_eq!(described(descriptor, true, 1), [Some(32)]);
        assert_eq!(described(descriptor | 1 << 15, false, 2), [None, Some(64)]);
    }

    #[test]
    fn a_phase_expects_what_is_read_of_its_copies() {
        let phase = |expected| Shared {
            object: 0,
            expected,
            expectation: 3,
            copies: vec![Unsized { instruction: 1, place: 1024 }, Unsized { instruction: 2, place: 9216 }],
            known: Vec::new(),
        };
        let mut extents = Extents::default();
        extents.add(1024, 7 * 1024, 5);
        extents.add(9216, 3 * 1024, 6);
        let needed = 7 * 1024 + 16 + 3 * 1024 + 16;
        assert_eq!(extents.short(&[phase(6144)], &[], [].into_iter()), Some((3, 6144, needed, 2, 6)));
        assert_eq!(extents.short(&[phase(12288)], &[], [].into_iter()), None);
        // What is read where another copy begins is no part of these.
        extents.add(65536, 7 * 1024, 5);
        assert!(extents.short(&[phase(12288)], &[], [].into_iter()).is_some());
        assert_eq!(extents.short(&[phase(12288)], &[], [65536].into_iter()), None);
    }
}
