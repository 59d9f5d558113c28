//! The values of a function: where each comes from, and what is known of it.

mod address;
mod assume;
mod compare;
mod compute;
mod condition;
mod either;
mod float;
mod frontier;
mod graph;
mod lanes;
mod launch;
pub mod linear;
mod multiple;
mod narrowed;
pub mod number;
mod placement;
pub mod pointer;
mod propagate;
mod rows;
mod settle;
mod shared;
mod slice;
mod unrolled;

pub(crate) use address::space_of;
pub use assume::Assumption;
pub use compare::{Order, Relation};
pub use compute::is_signed;
pub(crate) use condition::{Edge, Literal, Literals, Memo, Stated};
pub use either::Either;
pub use graph::{Graph, Kind, ValueId, Variable};
pub(crate) use launch::Launch;
pub use number::width;
pub use propagate::Engine;
pub(crate) use propagate::MAX_STEPS;
pub use propagate::{Fact, Values};
pub use slice::{FLAG, Growing, Slice};
