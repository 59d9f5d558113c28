//! What standard output and standard error are connected to, and messages about the work itself.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;

use crate::foreign;

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColorChoice {
    /// As the environment asks, else on a terminal.
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
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let asked = asked_for(variable);
        let color = |is_terminal: bool| match choice {
            ColorChoice::Auto => asked.unwrap_or(is_terminal),
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

/// What the environment says about colour, as <https://no-color.org>, <https://force-color.org> and
/// <https://bixense.com/clicolors> have it; the first that speaks counts. `None` where none does.
fn asked_for(variable: impl Fn(&str) -> Option<OsString>) -> Option<bool> {
    let is = |name: &str, value: &str| variable(name).map(|found| found == value);
    if variable("NO_COLOR").is_some() {
        return Some(false);
    }
    let forced = is("FORCE_COLOR", "0").map(|off| !off);
    let forced = forced.or_else(|| is("CLICOLOR_FORCE", "0").filter(|off| !off).map(|off| !off));
    let off = is("CLICOLOR", "0") == Some(true) || is("TERM", "dumb") == Some(true);
    forced.or_else(|| off.then_some(false))
}

/// The columns that the terminal shows, for wrapped output; 140 where it is unknown.
pub fn width() -> usize {
    std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| (40..=1000).contains(columns))
        .unwrap_or(140)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_heeded_in_the_order_of_its_conventions() {
        let asked = |set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(each, _)| *each == name).map(|(_, value)| value.into());
            asked_for(value)
        };
        assert_eq!(asked(&[]), None);
        assert_eq!(asked(&[("NO_COLOR", "1"), ("FORCE_COLOR", "1")]), Some(false));
        assert_eq!(asked(&[("FORCE_COLOR", "1"), ("TERM", "dumb")]), Some(true));
        assert_eq!(asked(&[("FORCE_COLOR", "0"), ("CLICOLOR_FORCE", "1")]), Some(false));
        assert_eq!(asked(&[("CLICOLOR_FORCE", "1"), ("CLICOLOR", "0")]), Some(true));
        assert_eq!(asked(&[("CLICOLOR_FORCE", "0")]), None);
        assert_eq!(asked(&[("CLICOLOR", "0")]), Some(false));
        assert_eq!(asked(&[("TERM", "dumb")]), Some(false));
    }
}
