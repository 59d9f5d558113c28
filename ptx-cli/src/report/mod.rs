//! Showing what an assembler said: its messages as findings, its figures as a table, and what
//! changed since a baseline.

mod backend;
mod changes;
mod messages;
mod table;

pub use backend::{Backend, DRIVER_PROCESS, end_with_us, failure, open, set_program};
pub use changes::{change, excess, unjudged, unused};
pub use messages::diagnostics;
pub use table::table;
