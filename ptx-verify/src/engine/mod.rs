//! Asks the rules: of a module, of its functions, of asm statements; applies levels, suppressions and fixes.

pub(crate) mod check;
pub(crate) mod cuda;
pub mod fix;
mod gates;
mod instruction;
mod judge;
pub(crate) mod levels;
pub(crate) mod loading;
mod parallel;
mod pieces;
pub(crate) mod problems;
pub(crate) mod requirements;
pub(crate) mod session;
pub(crate) mod suppress;
