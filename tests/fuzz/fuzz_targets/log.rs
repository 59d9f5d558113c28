//! Logs of `ptxas`.
#![no_main]

use ptx_tests::properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::log(&String::from_utf8_lossy(bytes)));
