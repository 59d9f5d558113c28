//! Showing what an assembler said: its messages as findings, its figures as a table, and what
//! changed since a baseline.

mod backend;
mod budget;
mod changes;
mod markdown;
mod messages;
mod names;
mod nvcc;
mod places;
mod table;

pub use backend::{Backend, DRIVER_PROCESS, end_with_us, failure, open, set_program};
pub use budget::Budgets;
pub use changes::{change, excess, unjudged, unused};
pub use markdown::markdown;
pub use messages::{diagnostics, in_source, with_own, with_places};
pub use names::add_names;
pub use nvcc::{of_nvcc, refused, source_log, why_refused};
pub use table::table;
