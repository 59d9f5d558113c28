//! The assembler back ends: against the real `ptxas` where there is one, against programs that
//! misbehave, and without any.

mod baseline;
mod choice;
#[cfg(unix)]
mod fake;
mod real;
