//! What each step makes of a source, as text for reading and for tests.

mod ast;
mod tokens;

pub use ast::ast;
pub use tokens::tokens;
