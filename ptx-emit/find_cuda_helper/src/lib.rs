//! Stands in for the crates.io crate of the same name, which the build script of `cust` calls.
//!
//! The original panics on a machine without a CUDA toolkit and asks the linker for `libcuda`. We
//! resolve every driver function at run time instead (see `ptx-emit/src/assemble/driver`), so there
//! is nothing to find and nothing to link.

/// Called by the build scripts of `cust` and `cust_raw`; deliberately links nothing.
pub fn include_cuda() {}
