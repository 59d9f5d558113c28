//! The directives: where they may be, what they take, and what they need.
//!
//! Manual: chapter "Directives". What stands here is compiled from `isa/manual/directives.isa`.

use crate::target::TargetSet;
use crate::version::Version;

/// Where a directive may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Places {
    /// Among the declarations of a module.
    pub module: bool,
    /// Between the header of a kernel and its body.
    pub kernel: bool,
    /// Between the header of a function and its body, or at the end of its declaration.
    pub function: bool,
    /// In a body.
    pub body: bool,
    /// In the parentheses of `.attribute`.
    pub attribute: bool,
}

/// What a directive takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arguments {
    /// What the grammar and the rules of the directive say.
    Anything,
    /// Nothing.
    Nothing,
    /// Integers.
    Integers {
        /// So many at least.
        least: u8,
        /// So many at most.
        most: u8,
        /// The smallest.
        low: u32,
        /// The largest.
        high: u32,
    },
    /// Names in quotes, whatever their case, or integers.
    Names {
        /// The smallest integer.
        low: u32,
        /// The largest integer.
        high: u32,
        /// The names.
        names: &'static [&'static str],
    },
}

struct Row {
    kind: DirectiveKind,
    word: &'static str,
    quoted: &'static str,
    places: Places,
    arguments: Arguments,
    excludes: &'static [DirectiveKind],
    needs: &'static [DirectiveKind],
    once: bool,
    first: bool,
    without_results: bool,
    min_version: Version,
    min_target: u16,
    until: Option<(Version, DirectiveKind)>,
    syntax: &'static str,
    purpose: &'static str,
}

/// A pragma: the first word of the string of a `.pragma`.
#[derive(Clone, Copy, Debug)]
pub struct Pragma {
    /// The word.
    pub word: &'static str,
    /// What messages call it.
    pub described: &'static str,
    /// Where it may be.
    pub places: Places,
    /// Whether functions cannot have it.
    pub kernels_only: bool,
    /// Whether a number above 0 follows.
    pub takes_number: bool,
    /// The first PTX version that has it.
    pub min_version: Version,
    min_target: u16,
}

include!(concat!(env!("OUT_DIR"), "/directives.rs"));

impl DirectiveKind {
    /// Every directive, in the order of the table.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        ROWS.iter().map(|row| row.kind)
    }

    /// Looks a directive up by its word with the dot.
    #[must_use]
    pub fn parse(word: &str) -> Option<Self> {
        ROWS.iter().find(|row| row.word == word).map(|row| row.kind)
    }

    fn row(self) -> &'static Row {
        &ROWS[self as usize]
    }

    /// The word with its dot.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// The word between backticks, for messages.
    #[must_use]
    pub fn quoted(self) -> &'static str {
        self.row().quoted
    }

    /// Where it may be.
    #[must_use]
    pub fn places(self) -> Places {
        self.row().places
    }

    /// What it takes.
    #[must_use]
    pub fn arguments(self) -> Arguments {
        self.row().arguments
    }

    /// Those that cannot be beside it.
    #[must_use]
    pub fn excludes(self) -> &'static [Self] {
        self.row().excludes
    }

    /// Those that have to be beside it.
    #[must_use]
    pub fn needs(self) -> &'static [Self] {
        self.row().needs
    }

    /// Whether a function may have it once only.
    #[must_use]
    pub fn is_once(self) -> bool {
        self.row().once
    }

    /// Whether it has to be before all others of its function.
    #[must_use]
    pub fn is_first(self) -> bool {
        self.row().first
    }

    /// Whether a function that returns a value cannot have it.
    #[must_use]
    pub fn is_without_results(self) -> bool {
        self.row().without_results
    }

    /// How many numbers it takes as an attribute; none where it is no attribute.
    #[must_use]
    pub fn attribute_numbers(self) -> Option<usize> {
        match self.arguments() {
            _ if !self.places().attribute => None,
            Arguments::Integers { most, .. } => Some(most.into()),
            Arguments::Nothing | Arguments::Names { .. } | Arguments::Anything => Some(0),
        }
    }

    /// The first PTX version that has it.
    #[must_use]
    pub fn min_version(self) -> Version {
        self.row().min_version
    }

    /// The targets that have it.
    #[must_use]
    pub fn targets(self) -> TargetSet {
        TargetSet::at_least(self.row().min_target)
    }

    /// The last PTX version that has it, and what took its place.
    #[must_use]
    pub fn until(self) -> Option<(Version, Self)> {
        self.row().until
    }

    /// How it is written.
    #[must_use]
    pub fn syntax(self) -> &'static str {
        self.row().syntax
    }

    /// What it is for, in half a sentence.
    #[must_use]
    pub fn purpose(self) -> &'static str {
        self.row().purpose
    }
}

impl Pragma {
    /// Every pragma.
    pub fn all() -> impl ExactSizeIterator<Item = &'static Self> {
        PRAGMAS.iter()
    }

    /// Looks a pragma up by its first word.
    #[must_use]
    pub fn parse(word: &str) -> Option<&'static Self> {
        PRAGMAS.iter().find(|pragma| pragma.word == word)
    }

    /// The targets that have it.
    #[must_use]
    pub fn targets(&self) -> TargetSet {
        TargetSet::at_least(self.min_target)
    }
}

#[cfg(test)]
mod tests {
    use super::{Arguments, DirectiveKind, Pragma, ROWS};

    #[test]
    fn rows_are_in_the_order_of_the_kinds() {
        for (index, row) in ROWS.iter().enumerate() {
            assert_eq!(row.kind as usize, index);
            assert_eq!(DirectiveKind::parse(row.word), Some(row.kind));
            assert!(row.syntax.contains(row.word), "{}", row.syntax);
        }
        assert_eq!(DirectiveKind::parse(".quux"), None);
    }

    #[test]
    fn launch_bounds_exclude_each_other() {
        let (most, exact) = (DirectiveKind::MaxThreads, DirectiveKind::RequiredThreads);
        assert_eq!((most.excludes(), exact.excludes()), (&[exact][..], &[most][..]));
        assert_eq!(most.arguments(), Arguments::Integers { least: 1, most: 3, low: 1, high: u32::MAX });
        assert!(Pragma::parse("frequency").is_some_and(|pragma| pragma.takes_number));
    }
}
