//! Executes PTX text: a block of threads, in any order that the manual allows, and says what goes wrong.
//!
//! It judges what the toolkit says of a kernel, so it shares nothing with it: no lexer, no table, no analysis. It has
//! integers, predicates, the carry flag, memory, control flow, calls, and what threads do together. An instruction
//! that it does not know ends the execution with [`End::Unknown`].
//!
//! * Each bit knows whether it is defined. An undefined one does no harm until something observes it: a store, an
//!   address, a guard, a branch, a collective ([`Observed`]). A fault names the reads that the bit came from.
//! * Threads run independently of each other ([`Schedule`]), and wait where the manual has them wait (`wait.rs`).
//! * Several executions show more than one: of other parameters, other memory, other numbers of threads, another order.
//!
//! [`execute`] is for kernels of several threads. [`run`] executes one thread of a kernel that nvcc made.

mod arithmetic;
mod block;
mod decode;
mod fault;
mod memory;
mod program;
mod schedule;
mod single;
#[cfg(test)]
mod tests;
mod text;
mod value;
mod wait;

pub use block::{End, Launch, Observer, Outcome, RAN, SKIPPED, Write, execute};
pub use fault::{Cause, Fault, FaultKind, Observed, Source};
pub use memory::Buffer;
pub use program::{Function, Program, Space};
pub use schedule::Schedule;
pub use single::{Kernel, Memory, Trouble, kernels, run};
