//! What the tests of the workspace share: data files with expectations, NVIDIA's tools, the corpus.

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
pub mod random_kernel;
pub mod same_code;
pub mod same_ir;
pub mod tools;
pub mod wheels;
pub mod workload;
