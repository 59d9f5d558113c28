//! What the tests of the workspace share: data files with expectations, NVIDIA's tools, the corpus.

// The library guide of the book, whose examples are examples of this crate.
#[cfg(doctest)]
#[doc = include_str!("../../docs/pages/rust.md")]
pub struct Guide;

pub mod case;
pub mod emulate;
pub mod every_form;
pub mod expect;
pub mod faults;
pub mod judge;
pub mod machine_code;
pub mod modules;
pub mod oracle;
pub mod planted;
pub mod properties;
pub mod protocol;
pub mod random_kernel;
pub mod same_code;
pub mod same_ir;
pub mod tools;
pub mod wheels;
pub mod workload;
