//! Baselines of `report`.
#![no_main]

use ptx_tests::properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::baseline(&String::from_utf8_lossy(bytes)));
