//! What is known of a function: the graph of its values, what they are, how they vary between threads, and which paths
//! control can take.
//!
//! Facts are computed and never reported; rules read them and never iterate.

pub mod carry;
pub mod initialization;
pub mod memory;
pub(crate) mod mentions;
pub mod paths;
pub mod uniformity;
pub mod values;
