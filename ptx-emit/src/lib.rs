//! Canonical printer, formatter and assembler back ends for NVIDIA PTX.

pub mod assemble;
mod canonical;
pub mod format;

pub use canonical::canonical;
pub use format::format;
