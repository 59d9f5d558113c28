//! Prints a dictionary for libFuzzer: the words of PTX as the instruction table has them (opcodes, modifiers),
//! the special registers, the types, and the directives of the programs in this repository.
//!
//! ```text
//! cargo run -p ptx-tests --bin fuzz_dictionary > ptx.dict
//! ```

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;

use ptx_ir::isa;
use ptx_ir::special::SpecialRegister;
use ptx_syntax::lexer::tokenize;
use ptx_tests::case::files;
use ptx_tests::properties::generate;
use ptx_tests::tools::root;

fn main() {
    let words = words();
    let mut text = String::new();
    for word in &words {
        let quoted: String = word.bytes().map(escaped).collect();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "\"{quoted}\"");
    }
    print!("{text}");
}

/// The words, each once and in order.
fn words() -> BTreeSet<String> {
    let mut words: BTreeSet<String> = isa::opcodes().map(|opcode| opcode.name().to_owned()).collect();
    for form in isa::forms() {
        words.extend(form.slots().flat_map(|slot| slot.values.into_iter().map(str::to_owned)));
    }
    words.extend(SpecialRegister::all().map(|register| register.name().to_owned()));
    words.extend(generate::pieces().map(str::to_owned));
    for path in files(&root().join("tests"), "ptx") {
        let text = fs::read_to_string(path).unwrap_or_default();
        let tokens = tokenize(&text).into_iter().map(|token| token.text(&text));
        words.extend(tokens.filter(|word| is_directive(word)).map(str::to_owned));
    }
    words.retain(|word| !word.is_empty() && word.len() <= 64);
    words
}

fn is_directive(word: &str) -> bool {
    word.strip_prefix('.').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_alphabetic()))
}

/// A byte as libFuzzer reads it.
fn escaped(byte: u8) -> String {
    match byte {
        b'"' | b'\\' => format!("\\{}", char::from(byte)),
        b' '..=b'~' => char::from(byte).to_string(),
        _ => format!("\\x{byte:02X}"),
    }
}
