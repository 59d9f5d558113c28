//! Comments that switch rules off: `// ptx-allow: RULE` for a line, `// ptx-allow-file: RULE` for a file.
//!
//! A comment at the end of a line speaks of that line; one that has the line to itself speaks of the next line
//! that holds something else than comments. Several rules are separated by commas, and a reason may follow
//! after two dashes: `// ptx-allow: carry-unused, dead-store -- kept for the debugger`. Rules are named by name
//! or code. What names no rule, and what suppresses nothing, is reported in its turn, so that suppressions do
//! not outlive their reason.

use memchr::memmem;
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::{Diagnostic, LineIndex, Span};
use rustc_hash::FxHashMap;
use std::ops::Range;

use crate::engine::levels::Levels;
use crate::rule::Level;
use crate::rules::suppression::{unknown_suppression, unused_suppression};
use crate::rules::{find_rule, nearest_rule};

const WORD: &str = "ptx-allow";

/// What one name in a comment suppresses.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Suppression {
    /// The rule.
    rule: &'static str,
    /// Where the name stands.
    span: Span,
    /// What it suppresses, as an index of [`Suppressions::used`].
    what: usize,
}

/// A rule, and the line from 1 that it is suppressed on; none for the whole file.
type What = (&'static str, Option<u32>);

/// The suppressions of a text.
#[derive(Clone, Debug, Default)]
pub struct Suppressions {
    suppressions: Vec<Suppression>,
    /// What is suppressed, once however many comments say so, with an index of `used`.
    suppressed: FxHashMap<What, usize>,
    /// Whether something was suppressed.
    used: Vec<bool>,
    unknown: Vec<(String, Span)>,
    lines: Option<LineIndex>,
    /// The lines of comments that were looked at last, and the line after them that holds something else.
    looked_at: Range<u32>,
}

impl Suppressions {
    /// Whether a text might hold suppressions.
    pub(crate) fn may_be_in(text: &str) -> bool {
        memmem::find(text.as_bytes(), WORD.as_bytes()).is_some()
    }

    /// Reads the comments of a PTX text. A text without the word costs one search.
    #[must_use]
    pub fn of_ptx(source: &str) -> Self {
        if !Self::may_be_in(source) {
            return Self::default();
        }
        let comments = Lexer::new(source)
            .filter(|token| matches!(token.kind, TokenKind::LineComment | TokenKind::BlockComment))
            .map(|token| token.span);
        Self::of_comments(source, comments)
    }

    /// Reads the comments of a text of any language; `comments` are their places, in order.
    #[must_use]
    pub fn of_comments(source: &str, comments: impl IntoIterator<Item = Span>) -> Self {
        let mut found = Self { lines: Some(LineIndex::new(source)), ..Self::default() };
        for comment in comments {
            found.read(source, comment);
        }
        found
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.suppressions.is_empty() && self.unknown.is_empty()
    }

    fn read(&mut self, source: &str, comment: Span) {
        let text = comment.text(source);
        let Some((file_level, at)) = directive(text) else {
            if lacks_its_list(text) {
                self.unknown.push((String::new(), comment));
            }
            return;
        };
        let line = if file_level { None } else { self.line_spoken_of(source, comment) };
        let list = &text[at..];
        let list = list.split(" --").next().unwrap_or(list);
        let list = list.split("//").next().unwrap_or(list).trim_end_matches("*/");
        let mut start = comment.start + at as u32;
        for item in list.split(',') {
            let name = item.trim();
            let lead = (item.len() - item.trim_start().len()) as u32;
            let span = Span::new(start + lead, start + lead + name.len() as u32);
            start += item.len() as u32 + 1;
            match find_rule(name) {
                Some(rule) => {
                    let what = *self.suppressed.entry((rule.name, line)).or_insert(self.used.len());
                    if what == self.used.len() {
                        self.used.push(false);
                    }
                    self.suppressions.push(Suppression { rule: rule.name, span, what });
                }
                None if name.is_empty() => self.unknown.push((String::new(), comment)),
                None => self.unknown.push((name.into(), span)),
            }
        }
    }

    /// The line of the comment, or the next line that holds something else than comments.
    fn line_spoken_of(&mut self, source: &str, comment: Span) -> Option<u32> {
        let lines = self.lines.as_ref()?;
        let first = lines.position(comment.start).line;
        let before = Span::new(lines.line_span(first).start, comment.start).text(source);
        if !before.trim().is_empty() {
            return Some(first);
        }
        let from = lines.position(comment.end).line + 1;
        if self.looked_at.contains(&from) {
            return Some(self.looked_at.end);
        }
        // A line of the preprocessor is no comment, though Python's begin so.
        let begin =
            if comment.text(source).starts_with(['#', ';']) { &comment.text(source)[..1] } else { "//" };
        let mut line = from;
        while line < lines.line_count() {
            let text = lines.line_span(line).text(source).trim();
            if !text.is_empty() && !text.starts_with(begin) {
                break;
            }
            line += 1;
        }
        self.looked_at = from..line;
        Some(line)
    }

    /// Takes out the findings that are suppressed, and adds what is to be said about the suppressions. A
    /// suppression of a rule that the user switched off is not called unused.
    pub fn apply(&mut self, levels: &Levels, diagnostics: &mut Vec<Diagnostic>) {
        if self.is_empty() {
            return;
        }
        diagnostics.retain(|diagnostic| !self.suppresses(diagnostic));
        for suppression in &self.suppressions {
            let off = find_rule(suppression.rule).is_some_and(|rule| {
                levels.of(rule.name, rule.class).unwrap_or(rule.default_level) == Level::Allow
            });
            if !self.used[suppression.what] && !off {
                diagnostics.push(unused_suppression::finding(suppression.rule, suppression.span));
            }
        }
        for (name, span) in &self.unknown {
            diagnostics.push(unknown_suppression::finding(name, nearest_rule(name), *span));
        }
    }

    fn suppresses(&mut self, diagnostic: &Diagnostic) -> bool {
        let Some(lines) = &self.lines else { return false };
        let line = lines.position(diagnostic.span.start).line;
        let mut hit = false;
        for what in [(diagnostic.rule, Some(line)), (diagnostic.rule, None)] {
            if let Some(&index) = self.suppressed.get(&what) {
                self.used[index] = true;
                hit = true;
            }
        }
        hit
    }
}

/// Whether a comment is a suppression: at file level or not, and where its list begins.
fn directive(comment: &str) -> Option<(bool, usize)> {
    let body = ["//", "/*", "#", ";"].iter().find_map(|begin| comment.strip_prefix(begin))?;
    let rest = body.trim_start().strip_prefix(WORD)?;
    let (file_level, rest) = match rest.strip_prefix("-file") {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    let rest = rest.strip_prefix(':')?;
    Some((file_level, comment.len() - rest.len()))
}

/// Whether a comment is meant as a suppression and has no list of rules, or one without the colon before it.
/// It suppresses nothing: what is hidden without being named is hidden for ever.
fn lacks_its_list(comment: &str) -> bool {
    let body = comment.trim_start_matches(['/', '*', '#', ';']).trim_start().trim_end_matches("*/");
    let Some(rest) = body.strip_prefix(WORD) else { return false };
    let rest = rest.strip_prefix("-file").unwrap_or(rest);
    let mut words = rest.split([' ', '\t', ',']).filter(|word| !word.is_empty());
    match words.next() {
        None => true,
        Some(first) => {
            rest.starts_with([' ', '\t']) && (first == "--" || first == "all" || find_rule(first).is_some())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Suppressions;
    use crate::engine::levels::Levels;
    use ptx_syntax::{Diagnostic, Span};

    fn left(source: &str, findings: &[(&'static str, &str)]) -> Vec<(&'static str, String)> {
        let mut diagnostics = findings
            .iter()
            .map(|(rule, place)| {
                let at = source.find(place).unwrap() as u32;
                Diagnostic::invalid("P0101", rule, Span::new(at, at + place.len() as u32), "")
            })
            .collect();
        Suppressions::of_ptx(source).apply(&Levels::default(), &mut diagnostics);
        diagnostics.iter().map(|each| (each.rule, each.span.text(source).to_owned())).collect()
    }

    #[test]
    fn a_comment_speaks_of_its_line_or_of_the_next() {
        let source = "one; // ptx-allow: operand-type, P0203 -- why not\n\
                      two;\n// ptx-allow: operand-type\n// another comment\n\nthree;\nfour;";
        let findings = [
            ("operand-type", "one"),
            ("operand-count", "one;"),
            ("operand-type", "three"),
            ("operand-type", "four"),
        ];
        let found = left(source, &findings);
        let expected = [("operand-count", "one;"), ("operand-type", "four"), ("unused-suppression", "P0203")];
        assert_eq!(found, expected.map(|(rule, text)| (rule, text.to_owned())));
    }

    #[test]
    fn a_file_level_comment_speaks_of_all_lines() {
        let found = left(
            "a;\nb; /* ptx-allow-file: operand-type */\n",
            &[("operand-type", "a"), ("operand-type", "b")],
        );
        assert_eq!(found, []);
    }

    #[test]
    fn unknown_and_unused_names_are_reported() {
        let found = left("a; // ptx-allow: operand-tipe\n", &[]);
        assert_eq!(found, [("unknown-suppression", "operand-tipe".to_owned())]);
        let found = left("a; // ptx-allow: operand-type\n", &[]);
        assert_eq!(found, [("unused-suppression", "operand-type".to_owned())]);
        assert_eq!(left("a; // see ptx-allow: operand-type\n", &[]), []);
        for comment in [
            "// ptx-allow",
            "/* ptx-allow-file */",
            "// ptx-allow -- why",
            "// ptx-allow operand-type",
            "// ptx-allow all",
        ] {
            let found = left(&format!("a; {comment}\n"), &[("operand-type", "a")]);
            let expected = [("operand-type", "a"), ("unknown-suppression", comment)];
            assert_eq!(found, expected.map(|(rule, text)| (rule, text.to_owned())));
        }
        for prose in ["// ptx-allow comments name rules", "// ptx-allowed", "// ptx-allow-files"] {
            assert_eq!(left(&format!("a; {prose}\n"), &[]), []);
        }
    }
}
