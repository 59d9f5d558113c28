//! What is known of a function: the graph of its values, what they are, how they vary between threads, which paths
//! control can take, and what becomes of operations that run on their own.
//!
//! Facts are computed and never reported; rules read them and never iterate.

mod access;
pub mod ahead;
pub mod asynchronous;
pub mod carry;
mod components;
mod evaluate;
mod function;
pub mod initialization;
pub mod memory;
pub mod mentions;
pub mod paths;
mod plain;
mod postdominators;
pub mod reach;
pub mod registers;
pub mod uniformity;
pub mod values;
pub mod webs;

pub use function::FunctionFacts;
