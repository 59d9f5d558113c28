//! Limits on what a kernel may cost.

use super::baseline::Figure;
use super::report::{FunctionKind, Report};

/// The highest figures that kernels may have; `None` is no limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Budget {
    /// Registers per thread.
    pub registers: Option<u64>,
    /// Bytes of spill stores and, separately, of spill loads.
    pub spill_bytes: Option<u64>,
    /// Bytes of stack.
    pub stack_bytes: Option<u64>,
    /// Bytes of static shared memory.
    pub shared_bytes: Option<u64>,
}

/// One figure above its limit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Excess {
    /// The file as in the report.
    pub file: String,
    /// The kernel.
    pub function: String,
    /// What there is too much of.
    pub figure: Figure,
    /// How much there is.
    pub value: u64,
    /// How much there may be.
    pub limit: u64,
}

impl Budget {
    /// Whether any limit is set.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The figures of the kernels in `report` that are above their limits, in the report's order.
    /// A figure that the back end did not tell is within every limit.
    #[must_use]
    pub fn excesses(&self, report: &Report) -> Vec<Excess> {
        let mut excesses = Vec::new();
        for function in report.functions.iter().filter(|function| function.kind == FunctionKind::Entry) {
            for figure in Figure::ALL {
                if let (Some(value), Some(limit)) = (figure.of(function), self.limit(figure))
                    && value > limit
                {
                    let (file, function) = (report.file.clone(), function.name.clone());
                    excesses.push(Excess { file, function, figure, value, limit });
                }
            }
        }
        excesses
    }

    const fn limit(&self, figure: Figure) -> Option<u64> {
        match figure {
            Figure::Registers => self.registers,
            Figure::SpillStores | Figure::SpillLoads => self.spill_bytes,
            Figure::Stack => self.stack_bytes,
            Figure::Shared => self.shared_bytes,
        }
    }
}
