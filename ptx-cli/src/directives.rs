//! The directives of PTX: how they are written, and what they are for.

use std::sync::LazyLock;

/// A directive.
pub struct Directive {
    /// The word with its dot.
    pub word: &'static str,
    /// How it is written.
    pub syntax: &'static str,
    /// What it is for, in half a sentence.
    pub purpose: &'static str,
    /// Where it stands.
    pub stands: Stands,
}

/// Where a directive stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stands {
    /// At module level.
    Module,
    /// Between the header of a function and its body.
    Header,
    /// In a body.
    Body,
    /// At module level and in bodies.
    Both,
}

impl Stands {
    /// In words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Module => "at module level",
            Self::Header => "between the header of a function and its body",
            Self::Body => "in a function",
            Self::Both => "at module level and in functions",
        }
    }
}

/// The directives, as `directives.txt` lists them.
pub static DIRECTIVES: LazyLock<Vec<Directive>> =
    LazyLock::new(|| include_str!("directives.txt").lines().filter_map(row).collect());

/// The directive of a line; `None` for a comment.
fn row(line: &'static str) -> Option<Directive> {
    let mut columns = line.split(" | ");
    let stands = match columns.next()? {
        "module" => Stands::Module,
        "header" => Stands::Header,
        "body" => Stands::Body,
        "both" => Stands::Both,
        _ => return None,
    };
    Some(Directive { stands, word: columns.next()?, syntax: columns.next()?, purpose: columns.next()? })
}

/// The directive of this word.
pub fn find(word: &str) -> Option<&'static Directive> {
    DIRECTIVES.iter().find(|each| each.word == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_is_a_comment_or_a_directive() {
        for line in include_str!("directives.txt").lines().filter(|line| !line.starts_with('#')) {
            assert!(row(line).is_some_and(|found| found.word.starts_with('.')), "{line}");
            assert_eq!(line.matches(" | ").count(), 3, "{line}");
        }
        assert!(DIRECTIVES.len() > 40);
    }
}
