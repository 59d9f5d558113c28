//! Lexer, grammar, syntax tree and diagnostics for NVIDIA's PTX ISA.

pub mod ast;
mod builder;
pub mod cuda;
pub mod diagnostic;
pub mod edits;
mod explanation;
pub mod lexer;
mod messages;
pub mod names;
mod nesting;
mod outline;
mod parser;
mod prototype;
mod recovery;
#[cfg(feature = "serde")]
mod serial;
mod span;
mod statement;

pub use diagnostic::{Applicability, Class, Diagnostic, Edit, Fix, Label, Severity};
pub use explanation::{Explanation, Located, SyntaxError};
pub use outline::{BodyParser, ParsedBody, outline, outline_around, outline_by};
pub use parser::{Parse, parse};
pub use span::{LineColumn, LineIndex, Span};
