//! Fat binaries, ELF files, archives, and what is compressed.
#![no_main]

use ptx_tests::properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::container(bytes));
