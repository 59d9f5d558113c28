//! What standard output and standard error are connected to, and messages about the work itself.

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;

use crate::foreign;

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// The two output streams and whether each takes colour.
#[derive(Clone, Copy, Debug)]
pub struct Terminal {
    /// Whether standard output takes colour.
    pub stdout_color: bool,
    /// Whether standard error takes colour.
    pub stderr_color: bool,
    /// Whether standard output is a terminal, which shows documents and does not only carry them.
    pub stdout_is_terminal: bool,
    /// Whether standard error is a terminal, and a progress bar thus welcome.
    pub stderr_is_terminal: bool,
}

impl Terminal {
    /// Looks at the streams and the environment.
    pub fn new(choice: ColorChoice) -> Self {
        let no_color = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        let color = |is_terminal: bool| match choice {
            ColorChoice::Auto => is_terminal && !no_color && !dumb,
            ColorChoice::Always => true,
            ColorChoice::Never => false,
        };
        let stdout_is_terminal = io::stdout().is_terminal();
        let stderr_is_terminal = io::stderr().is_terminal();
        Self {
            stdout_color: color(stdout_is_terminal),
            stderr_color: color(stderr_is_terminal),
            stdout_is_terminal,
            stderr_is_terminal,
        }
    }

    /// A document as standard output takes it: byte for byte where a program or a file reads it, and
    /// safe to show on a terminal.
    pub fn document<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.stdout_is_terminal {
            return Cow::Borrowed(bytes);
        }
        Cow::Owned(foreign::text(&String::from_utf8_lossy(bytes)).into_owned().into_bytes())
    }

    /// Tells on standard error that something could not be done.
    pub fn error(&self, message: &str) {
        let (on, off) = if self.stderr_color { ("\x1b[1m\x1b[91m", "\x1b[0m") } else { ("", "") };
        // Standard error is the last resort: where it is closed there is nobody left to tell.
        let _ = writeln!(io::stderr(), "{on}error{off}: {}", foreign::text(message));
    }

    /// Tells something on standard error.
    pub fn note(&self, message: &str) {
        let _ = writeln!(io::stderr(), "{}", foreign::text(message));
    }
}

/// The columns that the terminal shows, for wrapped output; 140 where it is unknown.
pub fn width() -> usize {
    std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| (40..=1000).contains(columns))
        .unwrap_or(140)
}
