//! Expectations in the comments of a data file, and their comparison with findings.
//!
//! An expectation stands on the line of the fault, or on a line below it with one `^` a line:
//!
//! ```text
//! add.u32 %r1, %r2, %f3;  // error[operand-type]: takes a 32-bit integer
//! add.u32 %r1, %r2, %f3;
//! //~^ error[operand-type]@19: takes a 32-bit integer
//! ```
//!
//! The severity and the rule have to agree, the message has to contain the text, and the column, where
//! one is given, has to be the finding's. A line may have several expectations, each after `//`.
//! Missing and unexpected findings both count. Infos count only in a file that expects one.

use std::fmt;

use ptx_syntax::{Diagnostic, LineIndex, Severity};

/// What a data file says will be found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expectation {
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1, where the file gives one.
    pub column: Option<u32>,
    /// The severity.
    pub severity: Severity,
    /// The rule.
    pub rule: String,
    /// Part of the message.
    pub message: String,
}

/// A finding at its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// The line, from 1.
    pub line: u32,
    /// The column in bytes, from 1.
    pub column: u32,
    /// The severity.
    pub severity: Severity,
    /// The rule.
    pub rule: String,
    /// The message.
    pub message: String,
}

/// How findings and expectations disagree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mismatch {
    /// Expected and not found.
    Missing(Expectation),
    /// Found and not expected.
    Unexpected(Found),
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing(expected) => {
                let (line, severity) = (expected.line, expected.severity.as_str());
                let column = expected.column.map_or_else(String::new, |column| format!(":{column}"));
                write!(f, "{line}{column}: missing: {severity}[{}]: {}", expected.rule, expected.message)
            }
            Self::Unexpected(found) => {
                let (line, column, severity) = (found.line, found.column, found.severity.as_str());
                write!(f, "{line}:{column}: unexpected: {severity}[{}]: {}", found.rule, found.message)
            }
        }
    }
}

impl Expectation {
    fn matches(&self, found: &Found) -> bool {
        self.line == found.line
            && self.severity == found.severity
            && self.rule == found.rule
            && self.column.is_none_or(|column| column == found.column)
            && found.message.contains(&self.message)
    }
}

/// The findings of a text with their places.
#[must_use]
pub fn found(source: &str, diagnostics: &[Diagnostic]) -> Vec<Found> {
    let index = LineIndex::new(source);
    let place = |diagnostic: &Diagnostic| {
        let at = index.position(diagnostic.span.start);
        Found {
            line: at.line,
            column: at.column,
            severity: diagnostic.severity,
            rule: diagnostic.rule.to_owned(),
            message: diagnostic.message.clone(),
        }
    };
    diagnostics.iter().map(place).collect()
}

/// The expectations of a text.
#[must_use]
pub fn expectations(source: &str) -> Vec<Expectation> {
    let lines = source.lines().zip(1u32..);
    let of_line =
        |(text, line)| split(text).1.into_iter().filter_map(move |comment| expectation(comment, line));
    lines.flat_map(of_line).collect()
}

/// A line up to its first expectation, and what follows, divided before each `//`.
fn split(line: &str) -> (&str, Vec<&str>) {
    let is_start = |at: &usize| line[..*at].chars().next_back().is_none_or(char::is_whitespace);
    let starts: Vec<usize> = line.match_indices("//").map(|(at, _)| at).filter(is_start).collect();
    let ends = starts.iter().skip(1).copied().chain([line.len()]);
    let comments: Vec<&str> =
        starts.iter().zip(ends).map(|(start, end)| line[*start..end].trim_end()).collect();
    match comments.iter().position(|comment| expectation(comment, u32::MAX).is_some()) {
        Some(first) => (&line[..starts[first]], comments[first..].to_vec()),
        None => (line, Vec::new()),
    }
}

/// Reads `// error[rule]@column: message` or `//~^^ warning[rule]: message`.
fn expectation(comment: &str, line: u32) -> Option<Expectation> {
    let body = comment.strip_prefix("//")?;
    let (above, body) = match body.strip_prefix('~') {
        Some(rest) => (rest.len() - rest.trim_start_matches('^').len(), rest.trim_start_matches('^')),
        None => (0, body),
    };
    let (severity, rest) = body.trim_start().split_once('[')?;
    let severity = [Severity::Error, Severity::Warning, Severity::Info]
        .into_iter()
        .find(|each| each.as_str() == severity)?;
    let (rule, rest) = rest.split_once(']')?;
    let (column, message) = rest.split_once(':')?;
    let column = match column.strip_prefix('@') {
        Some(number) => Some(number.parse().ok()?),
        None if column.is_empty() => None,
        None => return None,
    };
    Some(Expectation {
        line: line.checked_sub(u32::try_from(above).ok()?).filter(|line| *line > 0)?,
        column,
        severity,
        rule: rule.to_owned(),
        message: message.trim().to_owned(),
    })
}

/// Compares; empty where all agree.
#[must_use]
pub fn compare(expected: &[Expectation], found: &[Found]) -> Vec<Mismatch> {
    let infos = expected.iter().any(|each| each.severity == Severity::Info);
    let mut open: Vec<&Expectation> = expected.iter().collect();
    let mut mismatches = Vec::new();
    for each in found {
        match open.iter().position(|expectation| expectation.matches(each)) {
            Some(index) => drop(open.remove(index)),
            None if each.severity == Severity::Info && !infos => {}
            None => mismatches.push(Mismatch::Unexpected(each.clone())),
        }
    }
    mismatches.extend(open.into_iter().cloned().map(Mismatch::Missing));
    mismatches
}

/// The text with expectations that agree with what was found: right ones stay as they are, wrong ones
/// go, and missing ones are added at the end of their line.
#[must_use]
pub fn bless(source: &str, found: &[Found]) -> String {
    let expected = expectations(source);
    let infos = expected.iter().any(|each| each.severity == Severity::Info);
    let mismatches = compare(&expected, found);
    let wrong = |comment: &str, line: u32| {
        mismatches.iter().any(|mismatch| {
            matches!(mismatch, Mismatch::Missing(each)
                if Some(each) == expectation(comment, line).as_ref())
        })
    };
    let mut out = String::new();
    let last = source.lines().count().max(1) as u32;
    for (text, line) in source.lines().zip(1u32..) {
        let (code, comments) = split(text);
        let kept: Vec<&str> = comments.iter().copied().filter(|comment| !wrong(comment, line)).collect();
        // A line that held nothing but a wrong expectation goes as a whole.
        let mut parts: Vec<String> = std::iter::once(code.trim_end().to_owned())
            .chain(kept.iter().map(|comment| (*comment).to_owned()))
            .collect();
        for mismatch in &mismatches {
            let Mismatch::Unexpected(each) = mismatch else { continue };
            if each.line.min(last) == line && (infos || each.severity != Severity::Info) {
                parts.push(format!("// {}[{}]: {}", each.severity.as_str(), each.rule, each.message));
            }
        }
        if !comments.is_empty() && parts.iter().all(String::is_empty) {
            continue;
        }
        parts.retain(|part| !part.is_empty());
        let indent = if code.trim().is_empty() { code } else { "" };
        out.push_str(if parts.is_empty() { code.trim_end() } else { indent });
        out.push_str(&parts.join("  "));
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(line: u32, rule: &str, message: &str) -> Found {
        Found { line, column: 3, severity: Severity::Error, rule: rule.into(), message: message.into() }
    }

    #[test]
    fn expectations_are_read_from_their_line_and_from_below() {
        let source = "a; // error[x]: one // warning[y]@7: two\n//~^ info[z]: three\nb; // error: no\n";
        let read: Vec<(u32, Option<u32>, String)> =
            expectations(source).into_iter().map(|each| (each.line, each.column, each.message)).collect();
        let expected = [(1, None, "one".to_owned()), (1, Some(7), "two".into()), (1, None, "three".into())];
        assert_eq!(read, expected);
    }

    #[test]
    fn missing_and_unexpected_both_count() {
        let expected = expectations("a; // error[x]: one\nb; // error[x]@3: two\nc; // error[x]@4: six");
        let found = [finding(1, "x", "all of one"), finding(2, "x", "three"), finding(3, "x", "six")];
        let mismatches: Vec<String> = compare(&expected, &found).iter().map(ToString::to_string).collect();
        let expected = [
            "2:3: unexpected: error[x]: three",
            "3:3: unexpected: error[x]: six",
            "2:3: missing: error[x]: two",
            "3:4: missing: error[x]: six",
        ];
        assert_eq!(mismatches, expected);
    }

    #[test]
    fn infos_count_where_one_is_expected() {
        let info = Found { severity: Severity::Info, ..finding(1, "x", "m") };
        assert_eq!(compare(&[], std::slice::from_ref(&info)), []);
        let expected = expectations("a;\nb; // info[x]: m");
        assert_eq!(compare(&expected, &[info]).len(), 2);
    }

    #[test]
    fn blessing_keeps_what_is_right_and_leads_to_agreement() {
        let source = "// a comment\na; // error[x]: one  // why\n  b; // error[x]: gone\n\nc;\n";
        let found =
            [finding(2, "x", "not only one"), finding(5, "y", "`c` is wrong"), finding(9, "z", "late")];
        let blessed = bless(source, &found[..2]);
        let expected = "// a comment\na;  // error[x]: one  // why\n  b;\n\nc;  // error[y]: `c` is wrong\n";
        assert_eq!(blessed, expected);
        assert_eq!(compare(&expectations(&blessed), &found[..2]), []);
        assert!(bless(source, &found).ends_with("// error[z]: late\n"));
        assert_eq!(bless(&blessed, &found[..2]), blessed);
    }
}
