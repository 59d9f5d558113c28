//! Asks the rules: of a module, of its functions, of asm statements; applies levels, suppressions and fixes.

pub(crate) mod check;
pub(crate) mod cuda;
pub mod fix;
mod gates;
mod instruction;
pub(crate) mod levels;
pub(crate) mod requirements;
pub(crate) mod suppress;
