//! Limits on what a kernel may cost.

use super::baseline::{Figure, UnknownFigure};
use super::report::{FunctionKind, FunctionUsage, Report};

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
    /// The target.
    pub target: String,
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
    /// Those that the back end did not tell are in [`Budget::unjudged`].
    #[must_use]
    pub fn excesses(&self, report: &Report) -> Vec<Excess> {
        let excess = |(function, figure, limit): (&FunctionUsage, Figure, u64)| {
            let value = figure.of(function).filter(|&value| value > limit)?;
            let (file, target) = (report.file.clone(), report.target.clone());
            Some(Excess { file, target, function: function.name.clone(), figure, value, limit })
        };
        self.limited(report).filter_map(excess).collect()
    }

    /// The figures of the kernels in `report` that have a limit and that the back end did not tell:
    /// nobody knows whether the limit is kept.
    #[must_use]
    pub fn unjudged(&self, report: &Report) -> Vec<UnknownFigure> {
        self.limited(report)
            .filter(|(function, figure, _)| figure.of(function).is_none())
            .map(|(function, figure, _)| UnknownFigure::new(report, function, figure))
            .collect()
    }

    /// Every kernel with every figure that has a limit.
    fn limited<'a>(&self, report: &'a Report) -> impl Iterator<Item = (&'a FunctionUsage, Figure, u64)> {
        let kernels = report.functions.iter().filter(|function| function.kind == FunctionKind::Entry);
        kernels.flat_map(move |function| {
            Figure::ALL.into_iter().filter_map(move |figure| Some((function, figure, self.limit(figure)?)))
        })
    }

    /// The highest value of a figure, where there is one.
    #[must_use]
    pub const fn limit(&self, figure: Figure) -> Option<u64> {
        match figure {
            Figure::Registers => self.registers,
            Figure::SpillStores | Figure::SpillLoads => self.spill_bytes,
            Figure::Stack => self.stack_bytes,
            Figure::Shared => self.shared_bytes,
        }
    }
}
