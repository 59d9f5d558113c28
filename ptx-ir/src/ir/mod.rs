//! The typed IR of a module.
//!
//! Invariants, which [`crate::lower`] and [`crate::build`] establish and everything else relies on:
//!
//! * Every [`Handle`] in a module is good in its arena. Spans are those of the source text; IR made by
//!   the builder has empty spans.
//! * Registers are numbered through a function: a [`RegisterGroup`] `%r<100>` is 100 numbers and one
//!   entry. A vector register of `n` elements is `n` consecutive numbers.
//! * The statements of a body are balanced: every [`Statement::Open`] has its [`Statement::Close`].
//! * [`Instruction::instance`] is set exactly where the operands fit a form of the instruction table;
//!   roles, types and effects are then those of the instance. It says nothing about version and target.

mod body;
mod module;
mod operand;
mod shape;

pub use crate::arena::{Arena, Handle, Symbol, Symbols};
pub use crate::layered::{Layered, Shared};
pub use crate::platform::TextureMode;
pub use body::{
    Body, Guard, Instruction, Label, Register, RegisterGroup, Statement, TargetList, TargetListKind,
};
pub use module::{
    AddressSize, Definition, Directive, DirectiveArgument, Function, FunctionKind, Header, Initializer, Item,
    Linkage, Member, Module, Pointer, Section, Spelling, Variable,
};
pub use operand::{Operand, Run};
