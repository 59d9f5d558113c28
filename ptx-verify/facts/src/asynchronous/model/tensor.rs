//! Tensor memory: where it is allocated, what matrix operations write there, and what threads load and store.
//!
//! It is looked at as memory of the block beyond shared memory, of which each column has four bytes: lanes are not told
//! apart, for all of them are filled by the same operations.

use super::fault::{Fault, FaultKind};
use super::machine::Machine;
use super::program::{Address, Source};
use super::shadow::Clash;

/// Where tensor memory begins among the places of a block.
const FIRST_COLUMN: u64 = 1 << 32;
/// Bytes of a column.
const COLUMN: u64 = 4;
/// Columns of an operation that are looked at, from its first one.
const COLUMNS: u64 = 4;
/// An address has the lane above its column.
const COLUMN_BITS: u64 = 0xffff;

impl Machine<'_> {
    /// Hands out columns and stores the first of them, which threads load from shared memory later.
    pub(super) fn allocate(&mut self, warp: usize, mask: u32, address: Address, columns: Source) {
        let block = self.warps[warp].block;
        let count = self.certain(warp, columns).all(mask).unwrap_or(0);
        let first = self.blocks[block].columns;
        self.blocks[block].columns = first.saturating_add(u32::try_from(count).unwrap_or(0));
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

    /// A matrix operation writes its accumulators.
    pub(super) fn accumulate(&mut self, warp: usize, mask: u32, address: Source, flight: u32) {
        if let Some(columns) = self.columns(warp, mask, address) {
            self.start_write(warp, self.warps[warp].block, columns, flight);
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
        let Some(columns) = self.columns(warp, mask, address) else { return };
        let event = self.next_event(warp);
        let block = self.warps[warp].block;
        let mut shadow = std::mem::take(&mut self.blocks[block].shadow);
        let found = shadow.access(self.who(warp), columns, writes, (event, instruction), &self.flights);
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
