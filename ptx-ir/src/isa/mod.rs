//! The instruction table: every form of every instruction, with operands, versions, targets and effects.
//!
//! The table is written in `ptx-ir/isa/manual/`, and in `ptx-ir/isa/assembler/` what NVIDIA's assembler makes of that;
//! `build.rs` turns those files into static data and fails with file and line on a mistake. Nothing outside the table knows a mnemonic: whatever is asked of an
//! instruction is a field of its [`Instance`].
//!
//! The way of an instruction:
//! 1. [`resolve`] reads the whole dotted spelling, once per distinct spelling of a module, and gives the
//!    [`Instance`]s that the spelling can mean, with operand types filled in.
//! 2. For each statement the caller describes every operand as a [`Shape`], and [`Resolved::select`] picks the
//!    instance, or says in a [`Mismatch`] what does not fit. That costs a few nanoseconds an operand.
//! 3. The instance tells roles, types, effects, and what the instruction needs of version and target.

mod align;
mod class;
mod diagnose;
mod dump;
mod effects;
mod expand;
mod follow;
mod form;
mod instance;
mod kinds;
mod manual;
mod mismatch;
mod problem;
mod resolve;
mod select;
mod shape;
mod spare;
mod table;
pub mod words;

pub use class::{Class, ClassSet};
pub use diagnose::alike;
pub use dump::dump;
pub use effects::{
    AsyncAction, AsyncGroup, Carry, Chain, Comparison, Computation, Control, Convergence, Effects, Event,
    Mode, Modes, Update,
};
pub use follow::{Follower, followers};
pub use form::{SlotInfo, forms, opcodes};
pub(crate) use instance::Roles;
pub use instance::{
    Access, FormId, Gate, ImmediateRange, Instance, OpcodeId, OperandSpec, Pattern, Purpose, Role, Selectors,
};
pub use kinds::limits;
pub use manual::Beyond;
pub use mismatch::{Mismatch, Wanted};
pub use problem::{Leniency, LeniencyReason, SpellingProblem};
pub use resolve::{Resolved, name, resolve, resolve_exactly};
pub use shape::{Selector, Shape, ShapeFlags, ShapeKind};
