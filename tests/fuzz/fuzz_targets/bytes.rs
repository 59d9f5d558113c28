//! Any bytes.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ptx_tests::properties::bytes(bytes));
