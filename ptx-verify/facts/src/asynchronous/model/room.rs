//! Whether shared memory has room for what a launch asks a kernel to put there.

use super::machine::Machine;
use super::shadow::Range;

impl Machine<'_> {
    /// Whether a store leaves the variable that it began in, or all of them, before the protocol begins: then the launch is
    /// none that the kernel is made for. Later that is a fault of its protocol.
    pub(super) fn exceeds(&mut self, instruction: u32, ranges: &[Range]) -> bool {
        if !self.scenario.fits || !self.objects.is_empty() || !self.flights.is_empty() {
            return false;
        }
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
