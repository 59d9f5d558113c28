//! `ptx.toml`.
#![no_main]

use ptx_tests::properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::configuration(&String::from_utf8_lossy(bytes)));
