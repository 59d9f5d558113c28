//! Instruction table and typed IR for NVIDIA PTX.

pub mod arena;
pub mod build;
pub mod cfg;
pub mod directive;
pub mod dominators;
pub mod ir;
pub mod isa;
pub mod layered;
pub mod link;
pub mod lower;
pub mod occupancy;
pub mod platform;
#[cfg(feature = "serde")]
mod serial;
pub mod space;
pub mod special;
mod symbols;
pub mod target;
pub mod types;
pub mod version;
pub mod visit;

pub use build::edit;
