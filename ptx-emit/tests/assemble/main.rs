//! The assembler back ends: against programs that misbehave, and without any.

mod baseline;
mod choice;
#[cfg(unix)]
mod fake;
