//! What helps to begin with a project that has findings already: counting them, a file of those that are known, and
//! comments that suppress them.

pub mod baseline;
pub mod statistics;
pub mod suppressions;
