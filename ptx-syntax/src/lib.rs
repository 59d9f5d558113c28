//! Lexer, grammar, syntax tree and diagnostics for NVIDIA's PTX ISA.

pub mod diagnostic;
mod span;

pub use diagnostic::{Applicability, Class, Diagnostic, Edit, Fix, Label, Severity};
pub use span::{LineColumn, LineIndex, Span};
