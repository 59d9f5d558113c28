//! What a kernel says of the blocks that it is launched with.

use ptx_ir::special::SpecialRegister;

use super::number::Number;
use crate::FunctionFacts;

/// The threads of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Launch {
    /// There are no more, in all dimensions together.
    most: u64,
    /// How many there are in each dimension, where `.reqntid` tells it.
    exactly: Option<[u64; 3]>,
    /// How many there are taken to be in a row.
    row: Option<u64>,
}

/// The lanes of a warp.
const LANES: u64 = 32;
/// No target has larger blocks.
const MAX_THREADS: u64 = 1024;

impl Launch {
    /// Reads `.maxntid` and `.reqntid`. Functions may be called from any kernel.
    pub(crate) fn of(facts: &FunctionFacts<'_>) -> Self {
        let mut launch = Self { most: MAX_THREADS, exactly: None, row: None };
        let (most, exact) = (facts.function.max_threads(), facts.function.required_threads());
        let wide = |threads: [u32; 3]| threads.map(u64::from);
        // The product is what is promised, and no extent by itself.
        for threads in most.into_iter().chain(exact).map(wide) {
            launch.most = launch.most.min(threads.iter().copied().fold(1, u64::saturating_mul));
        }
        launch.exactly = exact.map(wide);
        launch
    }

    /// The same where rows are assumed to have a number of threads.
    pub(super) fn with_row(self, row: Option<u64>) -> Self {
        Self { row, ..self }
    }

    /// The bits that the numbers of lanes have: fewer where a block has no whole warp.
    pub(super) fn lane_bits(self) -> u64 {
        self.most.clamp(1, LANES).next_power_of_two() - 1
    }

    /// The most threads that a row may have, where that is all that is said of it.
    pub(super) fn longest_row(self) -> Option<u64> {
        self.exactly.is_none().then_some(self.most)
    }

    /// What is known of a special register that tells of threads; none of others.
    pub(crate) fn number(self, register: SpecialRegister) -> Option<Number> {
        let (index, is_place) = match register {
            SpecialRegister::TID_X => (0, true),
            SpecialRegister::TID_Y => (1, true),
            SpecialRegister::TID_Z => (2, true),
            SpecialRegister::NTID_X => (0, false),
            SpecialRegister::NTID_Y => (1, false),
            SpecialRegister::NTID_Z => (2, false),
            _ => return None,
        };
        if let (0, Some(row)) = (index, self.row) {
            return Some(match is_place {
                true => Number::between(u32::BITS, 0, row - 1),
                false => Number::constant(u32::BITS, row),
            });
        }
        let limit = if index == 2 { 64 } else { MAX_THREADS };
        let most = match self.exactly {
            Some(threads) => threads[index],
            None => self.most,
        };
        // A kernel that cannot be launched promises nothing.
        let most = most.clamp(1, limit);
        Some(match is_place {
            true => Number::between(u32::BITS, 0, most - 1),
            false if self.exactly.is_some() => Number::constant(u32::BITS, most),
            false => Number::between(u32::BITS, 1, most),
        })
    }
}
