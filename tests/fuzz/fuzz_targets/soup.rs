//! Tokens in any order.
#![no_main]

use arbtest::arbitrary::Unstructured;
use ptx_tests::properties::{self, generate};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    if let Ok(text) = generate::soup(&mut Unstructured::new(bytes)) {
        properties::text(&text);
    }
});
