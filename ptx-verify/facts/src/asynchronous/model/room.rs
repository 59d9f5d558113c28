//! Whether shared memory has room for what a launch asks a kernel to put there.

use super::clock::Row;
use super::machine::Machine;
use super::program::Action;
use super::shadow::Range;
use super::value::lanes;

impl Machine<'_> {
    /// Whether a store leaves the variable that it began in, or all of them: then the launch is none that the kernel is made
    /// for. Where no launch fits it is a fault of the protocol.
    pub(super) fn exceeds(&mut self, instruction: u32, ranges: &[Range]) -> bool {
        self.scenario.fits && self.leaves_variable(instruction, ranges)
    }

    /// The same of copies of a few bytes by each thread: how many there are is what the launch says.
    pub(super) fn copies_exceed(
        &mut self,
        warp: usize,
        mask: u32,
        instruction: u32,
        action: &Action,
    ) -> bool {
        let Action::Start { group: Row::CpAsync, writes: Some(address), bytes, .. } = action else {
            return false;
        };
        if !self.scenario.fits {
            return false;
        }
        let (places, sizes) = (self.certain_address(warp, *address), self.certain(warp, *bytes));
        let range = |lane: u32| {
            let (block, place) = self.resolve(warp, places.lane(lane)?)?;
            Some((block, place, sizes.lane(lane)?))
        };
        let ranges: Vec<Range> = lanes(mask).filter_map(range).collect();
        self.leaves_variable(instruction, &ranges)
    }

    fn leaves_variable(&mut self, instruction: u32, ranges: &[Range]) -> bool {
        let program = self.program;
        ranges.iter().any(|&(_, place, bytes)| {
            if program.shared_end.is_some_and(|end| place + bytes > end) {
                return true;
            }
            let after = program.variables.partition_point(|(start, _)| *start <= place);
            let variable = program.variables[..after].last().map_or(0, |(start, _)| *start);
            *self.stored_to.entry(instruction).or_insert(variable) != variable
        })
    }
}
