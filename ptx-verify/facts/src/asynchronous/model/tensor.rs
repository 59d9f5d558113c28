//! Tensor memory: where it is allocated, what matrix operations write there, and what threads load and store.
//!
//! It is looked at as memory of the block beyond shared memory, of which each column has four bytes: lanes are not told
//! apart, for all of them are filled by the same operations.

use super::clock::{Clock, Row};
use super::fault::{Fault, FaultKind, Part};
use super::machine::{Block, Machine};
use super::program::{Address, Source};
use super::shadow::{Clash, Who, cells};

/// Where tensor memory begins among the places of a block.
const FIRST_COLUMN: u64 = 1 << 32;
/// Bytes of a column.
const COLUMN: u64 = 4;
/// Columns of an operation that are looked at, from its first one.
const COLUMNS: u64 = 4;
/// A block has no more columns.
const MAX_COLUMNS: u64 = 512;
/// Loads of a warp without a wait for them that are looked at.
const MAX_LOADS: usize = 64;
/// Releases of a block that are remembered.
const MAX_FREED: usize = 8;
/// An address has the lane above its column.
const COLUMN_BITS: u64 = 0xffff;

impl Machine<'_> {
    /// Hands out columns and stores the first of them, which threads load from shared memory later.
    pub(super) fn allocate(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        (address, columns): (Address, Source),
    ) {
        self.access(warp, (mask, 0), instruction, address, (false, true), true);
        let block = self.warps[warp].block;
        let count = self.certain(warp, columns).all(mask).unwrap_or(0);
        let first = self.blocks[block].columns;
        self.blocks[block].columns = first.saturating_add(u32::try_from(count).unwrap_or(0));
        let allocator = if count > 0 { Some(instruction) } else { None };
        // Where one of several is of unknown size, nobody knows how many columns there are.
        let is_sized = first == 0 || self.blocks[block].allocator.is_some();
        self.blocks[block].allocator = allocator.filter(|_| is_sized);
        let place =
            self.certain_address(warp, address).all(mask).and_then(|number| self.resolve(warp, number));
        match place {
            Some((block, place)) => {
                self.memory.erase(block, (place, u64::from(address.bytes)));
                let number = (u64::from(first), u64::from(address.bytes));
                self.memory.store(block, place, number, false);
            }
            None => self.memory.forget(),
        }
        self.progress += 1;
    }

    /// The columns that an operation begins with; none where they are not known.
    fn columns(&self, warp: usize, mask: u32, address: Source) -> Option<(u64, u64)> {
        let value = self.certain(warp, address);
        let first = value.lane(mask.trailing_zeros())?;
        Some((FIRST_COLUMN + (first & COLUMN_BITS) * COLUMN, COLUMNS * COLUMN))
    }

    /// An operation has to begin with a column of its block.
    fn is_allocated(&mut self, warp: usize, instruction: u32, (first, _): (u64, u64)) {
        let block = &self.blocks[self.warps[warp].block];
        let (own, column) = (u64::from(block.columns), (first - FIRST_COLUMN) / COLUMN);
        let Some(allocator) = block.allocator.filter(|_| column >= own) else { return };
        let fault = Fault::new(FaultKind::BeyondAllocation, instruction).with(allocator, Part::Made);
        self.tell(fault.counted(own as i64, column as i64));
    }

    /// A matrix operation writes its accumulators.
    pub(super) fn accumulate(&mut self, warp: usize, mask: u32, address: Source, flight: u32) {
        let instruction = self.flights[flight as usize].instruction;
        self.uses_tensor(warp, instruction, None);
        if let Some(columns) = self.columns(warp, mask, address) {
            self.is_allocated(warp, instruction, columns);
            self.is_freed(warp, instruction, columns);
            self.start_write(warp, self.warps[warp].block, columns, flight);
        }
    }

    /// Loads read until the wait for them.
    pub(super) fn loads_waited(&mut self, warp: usize) {
        let loads = std::mem::take(&mut self.warps[warp].tensor_loads);
        let event = self.next_event(warp);
        let block = self.warps[warp].block;
        let mut shadow = std::mem::take(&mut self.blocks[block].shadow);
        for (first, instruction) in loads {
            let columns = cells(first, COLUMNS * COLUMN);
            shadow.access(self.who(warp), columns, false, (event, instruction), &self.flights);
        }
        self.blocks[block].shadow = shadow;
    }

    /// Some columns of a block are given back, maybe.
    pub(super) fn gives_columns_back(&mut self, warp: usize) {
        self.blocks[self.warps[warp].block].gives_columns_back = true;
    }

    /// A block ends with columns of which none was given back.
    pub(super) fn tell_of_columns(&mut self) {
        let is_kept = |block: &Block| block.columns > 0 && !block.gives_columns_back;
        let Some(index) = self.blocks.iter().position(is_kept) else { return };
        let block = &self.blocks[index];
        let Some(allocator) = block.allocator else { return };
        // Mostly the first warp allocates.
        let met = self.warps.iter().filter(|warp| warp.block == index).find_map(|warp| warp.met[0]);
        let fault = Fault::new(FaultKind::NeverFreed, allocator).with_some(met, Part::Met);
        self.tell(fault.with_some(block.ended, Part::End));
    }

    /// Columns are given back that others may still load from.
    pub(super) fn deallocate(&mut self, warp: usize, mask: u32, instruction: u32, given: (Source, Source)) {
        self.gives_columns_back(warp);
        let first = self.certain(warp, given.0).all(mask);
        let count = self.certain(warp, given.1).all(mask);
        let (Some(first), Some(count)) = (first, count) else { return };
        let columns = (FIRST_COLUMN + (first & COLUMN_BITS) * COLUMN, count.min(MAX_COLUMNS) * COLUMN);
        let block = self.warps[warp].block;
        // What was loaded before a barrier of the cluster is over after it, though its arrival need not make anything visible.
        let mut clock = self.warps[warp].clock.clone();
        clock.join(&self.blocks[block].lifetime);
        let who = Who { warp: warp as u32, lanes: 0, clock: &clock, warps: self.warps.len() };
        let other = self.blocks[block].shadow.race(
            who,
            cells(columns.0, columns.1),
            true,
            instruction,
            &self.program.alike,
        );
        if let Some((other, _)) = other {
            let fault = Fault::new(FaultKind::EarlyRelinquish, instruction);
            self.tell_of(warp, fault.with(other.instruction, Part::Access));
        }
        let event = self.next_event(warp);
        let freed = &mut self.blocks[block].freed;
        if freed.len() < MAX_FREED {
            freed.push((warp as u32, event, instruction, columns));
        }
    }

    /// Columns that another warp has given back before, and nothing tells this one so: it might as well have come first.
    fn is_freed(&mut self, warp: usize, instruction: u32, (first, bytes): (u64, u64)) {
        let (warps, block) = (self.warps.len(), self.warps[warp].block);
        let knows =
            |clock: &Clock, other: u32, event: u32| clock.get(warps, Row::Events, other as usize) >= event;
        let (own, over) = (&self.warps[warp].clock, &self.blocks[block].lifetime);
        let apart = self.blocks[block].freed.iter().find(|(other, event, _, (start, length))| {
            let overlaps = *start < first + bytes && first < start + length;
            *other as usize != warp && overlaps && !knows(own, *other, *event) && !knows(over, *other, *event)
        });
        if let Some(&(_, _, freed, _)) = apart {
            let fault = Fault::new(FaultKind::EarlyRelinquish, freed).with(instruction, Part::Access);
            self.tell_of(warp, fault);
        }
    }

    /// Threads load from tensor memory, or store there.
    pub(super) fn access_tensor(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        address: Source,
        writes: bool,
    ) {
        self.warps[warp].last_use = Some(instruction);
        self.uses_tensor(warp, instruction, Some(writes));
        let Some(columns) = self.columns(warp, mask, address) else { return };
        self.is_allocated(warp, instruction, columns);
        self.is_freed(warp, instruction, columns);
        let event = self.next_event(warp);
        let block = self.warps[warp].block;
        if !writes && self.warps[warp].tensor_loads.len() < MAX_LOADS {
            self.warps[warp].tensor_loads.push((columns.0, instruction));
        }
        let mut shadow = std::mem::take(&mut self.blocks[block].shadow);
        let found = shadow.access(
            self.who(warp),
            cells(columns.0, columns.1),
            writes,
            (event, instruction),
            &self.flights,
        );
        self.blocks[block].shadow = shadow;
        match found {
            Some(Clash::Copied(flight)) => {
                let fault = self.too_early(warp, instruction, flight);
                let kind = match fault.kind {
                    FaultKind::EarlyAccess => FaultKind::EarlyTensor,
                    other => other,
                };
                self.tell_of(warp, Fault { kind, ..fault });
            }
            Some(clash) => self.tell_access(warp, instruction, clash),
            None => {}
        }
    }
}
