//! CUDA C++ with asm statements, and its fixes.
#![no_main]

use ptx_tests::properties;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| properties::cuda(&String::from_utf8_lossy(bytes)));
