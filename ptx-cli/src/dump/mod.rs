//! What each step makes of a source, as text for reading and for tests.

mod ast;
mod cfg;
mod facts;
mod ir;
mod needs;
mod operand;
mod sum;
mod tokens;

pub use ast::ast;
pub use cfg::{cfg, dot};
pub use facts::{facts, value_text};
pub use ir::ir;
pub use needs::needs;
pub use operand::register;
pub use tokens::tokens;
