//! Programs of this repository with a few tokens out of place.
#![no_main]

use arbtest::arbitrary::Unstructured;
use ptx_tests::case::files;
use ptx_tests::properties::{self, generate};
use ptx_tests::tools::root;
use std::sync::LazyLock;

static PROGRAMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let files = files(&root().join("tests"), "ptx");
    files.iter().filter_map(|path| std::fs::read_to_string(path).ok()).collect()
});

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut u = Unstructured::new(bytes);
    let text = u.choose(&PROGRAMS).and_then(|program| generate::damaged(program, &mut u));
    if let Ok(text) = text {
        properties::text(&text);
    }
});
