//! How much of a kernel is executed. Compilers write long texts with many kernels that are alike, where executions would take longer
//! than all else; what people write and look at is short, and may be executed as long as it takes.

use ptx_ir::ir::{Body, FunctionKind};

use crate::FunctionFacts;

/// A kernel takes a share of the steps, in parts of this one: the whole in a module of up to [`KERNELS`] kernels, and less in a
/// larger one, which takes no longer so.
pub(super) const SHARE: u32 = 4;
const KERNELS: u32 = 16;
/// In a module of one or two kernels, which people write and look at, each takes several shares.
const FEW_KERNELS: u32 = 2;
const MAX_SHARES: u32 = 4;
/// Bytes of the kernels of a short text: no limit holds there. Triton's kernels are so long.
const SHORT_TEXT: u64 = 128 << 10;
/// Bytes of a longer one for each step, and the steps that all of its kernels have at the least.
const BYTES_PER_STEP: u64 = 16;
const MIN_OF_TEXT: u64 = 12_000;
/// The steps that a kernel has at the least.
const MIN_OF_KERNEL: u64 = 400;
/// The parts of them that the first execution, and any other one, may take.
const FIRST_PART: u32 = 4;
const PART: u32 = 3;
/// Leading bits of a limit that are kept: kernels of nearly the same length have the same one.
const BITS: u32 = 3;
/// Places of shared memory whose access counts as one step.
const PLACES: usize = 8;
/// Lanes whose access of global memory counts as one step.
const LANES: usize = 4;

/// What the executions of a kernel may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Effort {
    /// Its share of the steps, as [`SHARE`] tells.
    pub(super) share: u32,
    /// The steps of all executions after which none is tried any more, in a long text.
    limit: Option<u32>,
}

impl Effort {
    pub(super) fn of(facts: &FunctionFacts<'_>, is_unlimited: bool) -> Self {
        let functions = facts.module.functions.iter().map(|(_, function)| function);
        let kernels = functions.filter(|function| function.kind == FunctionKind::Entry);
        let length = |body: &Body| u64::from(body.span.end - body.span.start);
        let (mut count, mut all) = (0, 0);
        for kernel in kernels {
            count += 1;
            all += kernel.body.as_ref().map_or(0, length);
        }
        let share = match count {
            ..=FEW_KERNELS => MAX_SHARES * SHARE,
            _ => (KERNELS * SHARE / count).clamp(1, SHARE),
        };
        let own = facts.function.body.as_ref().map_or(0, length);
        let limit = if is_unlimited { None } else { limit(own, all) };
        Self { share, limit }
    }

    /// Whether another execution may be tried when these steps are spent.
    pub(super) fn goes_on(self, spent: u32) -> bool {
        self.limit.is_none_or(|limit| spent < limit)
    }

    /// The steps of one execution, where it may take so many. Others come after the first one.
    pub(super) fn budget(self, steps: u32, is_first: bool) -> u32 {
        let part = if is_first { FIRST_PART } else { PART };
        self.limit.map_or(steps, |limit| steps.min(limit / part))
    }

    /// Whether steps count by what they do.
    pub(super) const fn weighs(self) -> bool {
        self.limit.is_some()
    }
}

/// The steps of a kernel, where it has so many bytes of those of all kernels.
fn limit(own: u64, all: u64) -> Option<u32> {
    if all <= SHORT_TEXT {
        return None;
    }
    let steps = (all / BYTES_PER_STEP).max(MIN_OF_TEXT) * own / all;
    let steps = u32::try_from(steps.max(MIN_OF_KERNEL)).unwrap_or(u32::MAX);
    Some(steps >> rounded(steps) << rounded(steps))
}

/// How many low bits of a number are left out.
const fn rounded(number: u32) -> u32 {
    (u32::BITS - number.leading_zeros()).saturating_sub(BITS)
}

/// The steps that an access of shared memory at so many places counts for, beside its own.
pub(super) const fn weight(places: usize) -> u32 {
    (places / PLACES) as u32
}

/// The same of global memory, where every lane looks for what others do.
pub(super) const fn weight_of_global(lanes: usize) -> u32 {
    (lanes / LANES) as u32
}

#[cfg(test)]
mod tests {
    use super::limit;

    #[test]
    fn kernels_of_a_long_text_share_what_it_is_worth() {
        assert_eq!(limit(20_000, 20_000), None, "a short one");
        assert_eq!(limit(200_000, 200_000), Some(12_288), "a kernel alone");
        assert_eq!(limit(100_000, 200_000), Some(6_144), "one of two");
        assert_eq!(limit(100_100, 200_000), Some(6_144), "one that is hardly longer");
        assert_eq!(limit(100_000, 4_000_000), Some(6_144), "one of many");
        assert_eq!(limit(1_000, 4_000_000), Some(384), "a small one of many");
    }
}
