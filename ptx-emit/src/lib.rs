//! Canonical printer, formatter and assembler back ends for NVIDIA PTX.

pub mod assemble;
mod canonical;
pub mod format;

pub use canonical::{Shown, Thing, canonical, show};
pub use format::format;
