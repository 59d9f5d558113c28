//! What the graph of values does not tell yet about a function.
//!
//! * [`FunctionFacts`] holds the control-flow graph and where registers are written.
//! * [`ways`] finds which instructions control can come to, or from, without passing others.
//! * [`asynchronous`] finds ways that miss a wait, and uses of what is not there yet.

pub mod asynchronous;
mod facts;
mod registers;
mod roles;
mod uses;
pub mod ways;

pub use facts::FunctionFacts;
pub use registers::RegisterTable;
pub use roles::{Access, aligned, for_each_register, for_each_register_with_operand};
pub use uses::{Touched, Use, Uses};
