//! Canonical printer, formatter and assembler back ends for NVIDIA PTX.

pub mod assemble;
mod canonical;

pub use canonical::canonical;
