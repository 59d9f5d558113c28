//! What can go wrong besides what is found.

use std::fmt;
use std::io;
use std::ops::Range;
use std::path::PathBuf;

use ptx_emit::format::Options as Layout;
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_verify::UnknownRule;

use crate::foreign::{self, Name};
use crate::source::plain;

/// Why a source could not be worked on, or what was asked for does not exist.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// A file cannot be read.
    Read {
        /// The file.
        name: Name,
        /// Why.
        error: io::Error,
    },
    /// A configuration file is not right.
    Config(ConfigError),
    /// There is no such target.
    Target(String),
    /// There is no such PTX version.
    Version(String),
    /// There is no such rule.
    Rule(UnknownRule),
    /// No level of indentation has so many columns.
    Indent(u8),
    /// No line has so many columns.
    Width(u16),
    /// The fixed text cannot be written: a byte that is no UTF-8 would be lost.
    Lost(Name),
}

/// What is wrong with a configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ConfigError {
    /// It cannot be read.
    Unreadable {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: String,
    },
    /// It is no TOML, or a value has the wrong type.
    Syntax {
        /// The file.
        file: PathBuf,
        /// Where in its text, in bytes.
        span: Option<Range<usize>>,
        /// What is wrong there.
        message: String,
        /// The same with the lines of the file.
        excerpt: String,
    },
    /// An entry means nothing.
    Entry {
        /// The file that it is in.
        file: PathBuf,
        /// Its line, from 1.
        line: Option<u32>,
        /// What is wrong with it.
        message: String,
    },
    /// The folder in which the program runs is gone, and with it those above, in which a file is looked for.
    NoFolder {
        /// What the system says.
        reason: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (indents, widths) = (Layout::INDENTS, Layout::WIDTHS);
        match self {
            Self::Read { name, error } => write!(f, "cannot read `{name}`: {}", plain(error)),
            Self::Config(error) => error.fmt(f),
            Self::Target(name) => no_target(name, f),
            Self::Version(text) => {
                write!(f, "there is no PTX version `{text}`; the newest that is known is {}", Version::LATEST)
            }
            Self::Rule(error) if error.nearest.is_some() => error.fmt(f),
            Self::Rule(error) => write!(f, "{error}; `ptx-cli rules` lists them"),
            Self::Indent(indent) => {
                write!(
                    f,
                    "the indentation has {} to {} columns, not {indent}",
                    indents.start(),
                    indents.end()
                )
            }
            Self::Width(width) => {
                write!(f, "the width is {} to {} columns, not {width}", widths.start(), widths.end())
            }
            Self::Lost(name) => write!(f, "cannot fix `{name}`: a byte that is no UTF-8 would be lost"),
        }
    }
}

/// Names the targets that have the number of this one, or all.
fn no_target(name: &str, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let near = |target: &Target| digits.parse() == Ok(target.number());
    let alike: Vec<String> = Target::all().filter(near).map(|target| format!("`{target}`")).collect();
    if alike.is_empty() {
        let all: Vec<&str> = Target::all().map(Target::as_str).collect();
        return write!(f, "there is no target `{name}`; there are {}", all.join(", "));
    }
    write!(f, "there is no target `{name}`; there is {}", alike.join(", "))
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable { file, reason } => write!(f, "cannot read `{}`: {reason}", foreign::path(file)),
            Self::Syntax { file, excerpt, .. } => {
                write!(f, "the configuration file `{}` is not right: {excerpt}", foreign::path(file))
            }
            Self::Entry { file, line, message } => {
                let line = line.map_or_else(String::new, |line| format!(" in line {line}"));
                write!(f, "the configuration file `{}` is not right{line}: {message}", foreign::path(file))
            }
            Self::NoFolder { reason } => write!(f, "the current directory is gone: {reason}"),
        }
    }
}

/// Why the formatter left a source alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Unformatted {
    /// It is no text; the sentence says what it is.
    NotText(String),
    /// It has syntax errors.
    Syntax {
        /// How many.
        count: usize,
        /// The line of the first, from 1.
        line: u32,
        /// Its column in bytes, from 1.
        column: u32,
        /// What it is.
        message: String,
    },
    /// The formatter's own reason.
    Other(String),
}

impl fmt::Display for Unformatted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotText(reason) | Self::Other(reason) => f.write_str(reason),
            Self::Syntax { count, line, column, message } => {
                match count {
                    1 => f.write_str("it has a syntax error")?,
                    count => write!(f, "it has {count} syntax errors, the first")?,
                }
                write!(f, " in line {line}, column {column}: {message}")
            }
        }
    }
}

impl std::error::Error for Error {}

impl std::error::Error for ConfigError {}

impl std::error::Error for Unformatted {}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::Config(error)
    }
}
