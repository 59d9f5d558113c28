//! Finds the line that a message without a line is about.

use super::outline::Outline;
use super::report::LogLine;

/// The line of `text`, from 1, that `message` is about: its own where the assembler told one, else
/// that of the function it names, else that of `.target` for a message about the target. `None`
/// where nothing of that fits, as for a text of the wrong word size.
#[must_use]
pub fn line_of(text: &[u8], message: &LogLine) -> Option<u32> {
    if message.line.is_some() {
        return message.line;
    }
    let outline = Outline::of(text);
    let functions = &outline.functions;
    // The quoted words of a message are its odd parts: `Unresolved extern function 'missing'`.
    let quoted = || message.message.split('\'').skip(1).step_by(2);
    let named = quoted().find_map(|name| functions.iter().find(|function| function.name == name));
    if let Some(function) = named {
        return Some(function.line);
    }
    if message.message.contains(".target") { outline.target_line } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assemble::LogSeverity;

    fn line(message: &str) -> Option<u32> {
        let text =
            b".version 8.0\n.target sm_90a\n.extern .func missing();\n.entry k() {\n call missing; }\n";
        line_of(text, &LogLine { severity: LogSeverity::Fatal, line: None, message: message.to_owned() })
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
        assert_eq!(line("32-Bit compilation is no longer supported"), None);
        assert_eq!(line("it's odd"), None);
    }
}
