//! What is said of a wrong command line.

use std::io::{self, Write};

use crate::foreign::{line, text};
use crate::terminal::{ColorChoice, Terminal};

/// Prints what clap found wrong with the command line, in which the user's own words occur.
pub fn print(mut error: clap::Error) {
    use clap::error::ContextValue;
    let safe = |value: &ContextValue| match value {
        ContextValue::String(text) => Some(ContextValue::String(line(text).into_owned())),
        ContextValue::Strings(texts) => {
            Some(ContextValue::Strings(texts.iter().map(|text| line(text).into_owned()).collect()))
        }
        _ => None,
    };
    let changed: Vec<_> = error.context().filter_map(|(kind, value)| Some((kind, safe(value)?))).collect();
    for (kind, value) in changed {
        error.insert(kind, value);
    }
    let rendered = error.render();
    let plain = rendered.to_string();
    let shown = text(&plain);
    let terminal = Terminal::new(ColorChoice::Auto);
    let color = if error.use_stderr() { terminal.stderr.color } else { terminal.stdout.color };
    let shown = if shown == plain && color { rendered.ansi().to_string().into() } else { shown };
    // A pipe closed by the reader of a help text is no failure.
    let _ = if error.use_stderr() {
        io::stderr().write_all(shown.as_bytes())
    } else {
        io::stdout().write_all(shown.as_bytes())
    };
}
