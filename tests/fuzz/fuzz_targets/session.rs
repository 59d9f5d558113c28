//! Sessions of the language server: any bytes, and messages in any order.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| ptx_tests::properties::session(bytes));
