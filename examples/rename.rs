//! Gives a kernel, function or variable another name in the text, and changes nothing else:
//! `cargo run --example rename FILE OLD NEW`.
//!
//! Comments, white space and the spelling of numbers stay as they are, byte for byte. What has the same name in a body and
//! means something else keeps it.

use ptx_toolkit::syntax::edits::{EditError, Edits};

/// The text with the new name.
pub fn rename(source: &str, old: &str, new: &str) -> Result<String, EditError> {
    let mut edits = Edits::new(source);
    edits.rename(old, new)?;
    Ok(edits.apply())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [file, old, new] = arguments.as_slice() else { return Err("FILE OLD NEW".into()) };
    print!("{}", rename(&std::fs::read_to_string(file)?, old, new)?);
    Ok(())
}
