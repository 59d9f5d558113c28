use ptx_syntax::{Diagnostic, Span};

use crate::rule::declare_rule;

declare_rule! {
    /// ## What it does
    /// Finds sources that are no text: ELF objects (cubins), fat binaries, compressed archives,
    /// UTF-16 text, other binary data.
    ///
    /// ## Why is this bad
    /// NVIDIA's assembler refuses such a file with an error at the first odd byte, which does not tell what
    /// the file is.
    ///
    /// ## Example
    /// A cubin under the name of the PTX file that it was assembled from.
    ///
    /// ## Use instead
    /// The PTX text. `cuobjdump --dump-ptx` prints the PTX that a binary carries.
    ///
    /// ## What it may miss
    /// Binary data whose first 8 KiB look like text; the parser then reports the bytes it does not expect.
    name: "not-text",
    code: "P0101",
    former: ["E0000"],
    class: Invalid,
    level: Error,
    summary: "the file is binary data, not PTX text",
    check: Elsewhere,
    scope: Whole,
}

/// The finding that a file is no text. The message says what it is, and the help how to get at the text.
#[must_use]
pub fn not_text(message: impl Into<String>, help: impl Into<String>) -> Diagnostic {
    RULE.at(Span::at(0), message).with_help(help)
}
