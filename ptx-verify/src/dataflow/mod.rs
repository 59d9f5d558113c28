//! What is known about the values of a function: which instruction may have produced what another reads,
//! under which conditions.
//!
//! Analyses compute facts and never report; rules read the facts and never iterate.
//!
//! * [`FunctionFacts`] holds the control-flow graph and where registers and the carry flag are written.
//! * [`initialization`] finds reads of registers that nothing may have set. Most reads are settled by
//!   dominance, the rest of them by a bit-vector analysis, and only what is left by paths.
//! * [`carry`] finds for each reader of `CC.CF` the instructions that may have produced it.
//! * [`ways`] finds which instructions control can come to, or from, without passing others.
//! * [`asynchronous`] finds ways that miss a wait, and uses of what is not there yet.
//! * [`paths`] walks backwards from a read along all ways control can come, and knows what the guards and
//!   branches on the way say about each other (`conditions`). Its work is bounded; where the bound is hit
//!   the answer is "not known", and nothing is reported.

mod arithmetic;
pub mod asynchronous;
pub mod carry;
mod conditions;
mod consequence;
mod facts;
mod formulas;
pub mod initialization;
mod masks;
pub mod paths;
mod registers;
mod relevance;
mod roles;
mod uses;
mod visited;
mod walk;
pub mod ways;

pub use facts::FunctionFacts;
pub use registers::RegisterTable;
pub use roles::{Access, aligned, for_each_register, for_each_register_with_operand};
pub use uses::{Touched, Use, Uses};
