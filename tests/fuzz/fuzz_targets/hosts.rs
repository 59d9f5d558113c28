//! Python, Rust, LLVM IR and MLIR with inline PTX.
#![no_main]

use ptx_tests::properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::hosts(bytes));
