//! What the toolkit knows of an instruction or special register, as text.

use std::fmt::Write;

use ptx_ir::special::SpecialRegister;

/// The text for a spelling or a special register, for a terminal.
pub fn page(word: &str) -> Option<String> {
    special(word)
}

/// The text for a spelling or a special register, for an editor.
pub fn markdown(word: &str) -> Option<String> {
    page(word).map(|text| format!("```ptx\n{text}```\n"))
}

/// A special register, with or without an element: `%tid.x`.
fn special(word: &str) -> Option<String> {
    let register = SpecialRegister::parse(word.split('.').next()?)?;
    let mut text = String::new();
    let vector = match register.elements() {
        1 => String::new(),
        count => format!(".v{count}"),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, ".sreg {vector}{} {}", register.ty(), register.name());
    let _ = writeln!(text, "    since PTX {}, {}", register.min_version(), register.targets());
    Some(text)
}
