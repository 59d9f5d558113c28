//! What standard output and standard error are connected to, and messages about the work itself.

use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};

use clap::ValueEnum;

use crate::foreign;
use crate::render::{Format, Selection, Style, WIDTH};

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

/// What an output stream is connected to.
#[derive(Clone, Copy, Debug, Default)]
pub struct Stream {
    /// Whether it takes colour.
    pub color: bool,
    /// Whether it makes a link of the address behind a word. It takes colour then, too.
    pub links: bool,
    /// Whether it is a terminal, which shows documents and does not only carry them.
    pub is_terminal: bool,
}

impl Stream {
    /// All findings, as a terminal shows them.
    pub fn style(self) -> Style {
        let Self { color, links, .. } = self;
        Style { format: Format::Full, color, links, width: width(), selection: Selection::ALL }
    }
}

/// The two output streams.
#[derive(Clone, Copy, Debug, Default)]
pub struct Terminal {
    /// Standard output.
    pub stdout: Stream,
    /// Standard error.
    pub stderr: Stream,
}

impl Terminal {
    /// Looks at the streams and the environment.
    pub fn new(choice: ColorChoice) -> Self {
        let variable = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
        let asked = asked_for(variable);
        let links = takes_links(variable);
        let stream = |is_terminal: bool| {
            let color = match choice {
                ColorChoice::Auto => asked.unwrap_or(is_terminal),
                ColorChoice::Always => true,
                ColorChoice::Never => false,
            };
            Stream { color, links: color && links.unwrap_or(is_terminal), is_terminal }
        };
        Self { stdout: stream(io::stdout().is_terminal()), stderr: stream(io::stderr().is_terminal()) }
    }

    /// A document as standard output takes it: byte for byte where a program or a file reads it, and
    /// safe to show on a terminal.
    pub fn document<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        if !self.stdout.is_terminal {
            return Cow::Borrowed(bytes);
        }
        Cow::Owned(foreign::text(&String::from_utf8_lossy(bytes)).into_owned().into_bytes())
    }

    /// Tells on standard error that something could not be done.
    pub fn error(&self, message: &str) {
        let (on, off) = if self.stderr.color { ("\x1b[1m\x1b[91m", "\x1b[0m") } else { ("", "") };
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

/// Whether links are shown whatever the stream is; `None` where they are on a terminal only. A terminal that does not know
/// them may print their addresses, so they are for terminals that are known to take them. `FORCE_HYPERLINK` is the
/// convention of npm's and cargo's families.
fn takes_links(variable: impl Fn(&str) -> Option<OsString>) -> Option<bool> {
    if let Some(forced) = variable("FORCE_HYPERLINK") {
        return Some(forced != "0");
    }
    let text = |name: &str| variable(name).and_then(|value| value.into_string().ok()).unwrap_or_default();
    let term = text("TERM");
    // A multiplexer hands the variables of the terminal on, and not always its links.
    if term == "dumb" || term.starts_with("screen") || term.starts_with("tmux") {
        return Some(false);
    }
    let by_program =
        ["ghostty", "Hyper", "iTerm.app", "rio", "Tabby", "terminology", "vscode", "WezTerm", "zed"]
            .contains(&text("TERM_PROGRAM").as_str());
    let by_term = ["alacritty", "contour", "foot", "xterm-ghostty", "xterm-kitty"]
        .iter()
        .any(|each| term.starts_with(each));
    // VTE, the widget of GNOME's terminals, crashed on links in 0.50.0 and takes them since.
    let by_widget = text("VTE_VERSION").parse::<u32>().is_ok_and(|version| version > 5000);
    let by_name = ["DOMTERM", "KONSOLE_VERSION", "WT_SESSION"].iter().any(|name| variable(name).is_some());
    (!(by_program || by_term || by_widget || by_name)).then_some(false)
}

/// The columns that the terminal shows, for wrapped output; [`WIDTH`] where it is unknown.
pub fn width() -> usize {
    std::env::var("COLUMNS")
        .ok()
        .and_then(|columns| columns.parse().ok())
        .filter(|columns| (40..=1000).contains(columns))
        .unwrap_or(WIDTH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_for_terminals_that_are_known_to_take_them() {
        let takes = |set: &[(&str, &str)]| {
            let value =
                |name: &str| set.iter().find(|(each, _)| *each == name).map(|(_, value)| value.into());
            takes_links(value)
        };
        assert_eq!(takes(&[]), Some(false));
        assert_eq!(takes(&[("TERM", "xterm-256color")]), Some(false));
        assert_eq!(takes(&[("TERM", "xterm-kitty")]), None);
        assert_eq!(takes(&[("TERM", "xterm-256color"), ("VTE_VERSION", "7600")]), None);
        assert_eq!(takes(&[("TERM", "xterm-256color"), ("VTE_VERSION", "5000")]), Some(false));
        assert_eq!(takes(&[("TERM", "tmux-256color"), ("VTE_VERSION", "7600")]), Some(false));
        assert_eq!(takes(&[("TERM_PROGRAM", "vscode")]), None);
        assert_eq!(takes(&[("WT_SESSION", "x"), ("FORCE_HYPERLINK", "0")]), Some(false));
        assert_eq!(takes(&[("TERM", "dumb"), ("FORCE_HYPERLINK", "1")]), Some(true));
    }

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
