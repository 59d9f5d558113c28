//! Finds the line that a message without a line is about.

use std::cell::OnceCell;
use std::collections::HashMap;

use super::outline::Outline;
use super::report::LogLine;
use ptx_ir::directive::DirectiveKind;

/// Finds lines in one text, which is looked through at most once, and only when a message needs it.
#[derive(Debug)]
pub struct Locator<'a> {
    text: &'a [u8],
    places: OnceCell<Places>,
}

/// What messages name.
#[derive(Debug)]
struct Places {
    target: Option<u32>,
    address_size: Option<u32>,
    /// Where the text first names each function.
    functions: HashMap<String, u32>,
}

impl<'a> Locator<'a> {
    /// Finds lines in `text`.
    #[must_use]
    pub const fn new(text: &'a [u8]) -> Self {
        Self { text, places: OnceCell::new() }
    }

    /// The line, from 1, that `message` is about: its own where the assembler told one, else that of
    /// the function it names, else that of `.target` or `.address_size` for a message about the
    /// target or the word size. `None` where nothing of that fits.
    #[must_use]
    pub fn line_of(&self, message: &LogLine) -> Option<u32> {
        if message.line.is_some() {
            return message.line;
        }
        let places = self.places.get_or_init(|| Places::of(self.text));
        // The quoted words of a message are its odd parts: `Unresolved extern function 'missing'`.
        let mut quoted = message.message.split('\'').skip(1).step_by(2);
        let function = quoted.find_map(|name| places.functions.get(name).copied());
        let directive = || {
            if message.message.contains(DirectiveKind::Target.word()) {
                places.target
            } else if [DirectiveKind::AddressSize.word(), "-Bit "]
                .iter()
                .any(|word| message.message.contains(word))
            {
                places.address_size
            } else {
                None
            }
        };
        function.or_else(directive)
    }
}

impl Places {
    fn of(text: &[u8]) -> Self {
        let outline = Outline::of(text);
        let mut functions = HashMap::new();
        for function in outline.functions {
            functions.entry(function.name).or_insert(function.line);
        }
        Self { target: outline.target_line, address_size: outline.address_size_line, functions }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::LogSeverity;

    fn line(message: &str) -> Option<u32> {
        let text =
            b".version 8.0\n.target sm_90a\n.extern .func missing();\n.entry k() {\n call missing; }\n.address_size 32\n";
        let message = LogLine { severity: LogSeverity::Fatal, line: None, message: message.to_owned() };
        Locator::new(text).line_of(&message)
    }

    #[test]
    fn messages_without_a_line_get_that_of_what_they_name() {
        assert_eq!(line("Unresolved extern function 'missing'"), Some(3));
        assert_eq!(line("Entry function 'k' uses too much shared data (0x61a80 bytes, 0xc000 max)"), Some(4));
        assert_eq!(line("PTX with .target 'sm_90a' cannot be compiled for architecture 'sm_90'"), Some(2));
        assert_eq!(
            line("SM version specified by .target is higher than default SM version assumed"),
            Some(2)
        );
        assert_eq!(line("32-Bit compilation is no longer supported"), Some(6));
        assert_eq!(
            line("64 Bit host architecture being used mismatches with .address_size of 32 bits"),
            Some(6)
        );
        assert_eq!(line("Memory allocation failure"), None);
        assert_eq!(line("it's odd"), None);
    }
}
