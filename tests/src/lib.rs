//! What the tests of the workspace share.

pub mod machine_code;
pub mod same_ir;
