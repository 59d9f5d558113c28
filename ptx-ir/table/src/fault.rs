//! Mistakes in table files, which are collected so that one build shows all of them.

use std::fmt;

/// A mistake in a table file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Fault {
    file: String,
    line: usize,
    message: String,
}

impl Fault {
    /// A mistake at a line of a file; line 0 means the file as a whole.
    #[must_use]
    pub fn new(file: &str, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, message: message.into() }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}: {}", self.file, self.line, self.message)
    }
}

impl std::error::Error for Fault {}

/// The mistakes found so far.
#[derive(Debug, Default)]
pub struct Faults(Vec<Fault>);

impl Faults {
    /// Adds a mistake.
    pub fn push(&mut self, fault: Fault) {
        self.0.push(fault);
    }

    /// The value, or `None` and one mistake more.
    pub fn keep<T>(&mut self, result: Result<T, Fault>) -> Option<T> {
        result.map_err(|fault| self.push(fault)).ok()
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.0.len()
    }

    /// The mistakes by file and line, each once: a clause of several syntax lines is checked for each of them.
    pub fn sorted(mut self) -> Vec<Fault> {
        self.0.sort();
        self.0.dedup();
        self.0
    }
}
