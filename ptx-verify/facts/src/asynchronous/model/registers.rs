//! The registers of a block, which its warps hand to each other: `setmaxnreg`.

use super::fault::{Fault, FaultKind, Part};
use super::machine::{Machine, State, Warp};

/// Registers are for all lanes of a warp.
const LANES: u32 = 32;

impl Machine<'_> {
    /// A warp gives registers back, or takes some and waits until there are as many.
    pub(super) fn registers(
        &mut self,
        warp: usize,
        fragment: usize,
        instruction: u32,
        count: u32,
        takes: bool,
    ) {
        // How many there are is not always known; that whole groups come here is looked at nevertheless.
        if self.program.first_registers.is_none() {
            return;
        }
        if !takes {
            let givers = &mut self.blocks[self.warps[warp].block].givers;
            if !givers.contains(&instruction) {
                givers.push(instruction);
            }
            self.give_registers(warp, count);
        } else if !self.take_registers(warp, count) {
            self.warps[warp].fragments[fragment].state = State::Registers(count);
        }
    }

    /// Leaves `count` registers to each thread of a warp, and gives the others to the block.
    pub(super) fn give_registers(&mut self, warp: usize, count: u32) {
        let own = &mut self.warps[warp];
        let given = own.registers_held.saturating_sub(count);
        own.registers_held -= given;
        self.blocks[own.block].free_registers += given * LANES;
        self.progress += 1;
    }

    /// Gives `count` registers to each thread of a warp, if the block has them; whether it did.
    pub(super) fn take_registers(&mut self, warp: usize, count: u32) -> bool {
        let own = &mut self.warps[warp];
        let more = count.saturating_sub(own.registers_held);
        let free = &mut self.blocks[own.block].free_registers;
        let Some(rest) = free.checked_sub(more * LANES) else { return false };
        *free = rest;
        own.registers_held += more;
        self.progress += 1;
        true
    }

    /// Warps that wait for registers: instructions, and blocks.
    pub(super) fn of_registers(&self, waits: &[(u32, usize)]) -> Option<Fault> {
        let &(first, block) = waits.iter().min()?;
        let wanted_by = |warp: &Warp| {
            let waits = warp.fragments.iter().find_map(|fragment| match fragment.state {
                State::Registers(count) => Some(count),
                _ => None,
            });
            waits.unwrap_or(warp.registers_held)
        };
        let here = || self.warps.iter().filter(|warp| warp.block == block);
        let wanted: u32 = here().map(|warp| wanted_by(warp) * LANES).sum();
        let held: u32 = here().map(|warp| warp.registers_held * LANES).sum();
        let own = &self.blocks[block];
        let fault = Fault::new(FaultKind::Registers, first)
            .counted(i64::from(wanted), i64::from(held + own.free_registers));
        let fault = own.givers.iter().fold(fault, |fault, at| fault.with(*at, Part::Given));
        Some(waits.iter().fold(fault, |fault, (at, _)| fault.with(*at, Part::OtherWait)))
    }
}
