//! Programs of this repository with a few tokens out of place.
#![no_main]

use arbtest::arbitrary::Unstructured;
use ptx_tests::properties::{self, generate};

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut u = Unstructured::new(bytes);
    let text = u.choose(&PROGRAMS).and_then(|program| generate::damaged(program, &mut u));
    if let Ok(text) = text {
        properties::text(&text);
    }
});
