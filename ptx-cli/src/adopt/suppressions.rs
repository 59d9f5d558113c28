//! Comments that suppress the findings of a source, each on its line.
//!
//! A comment goes to the end of its line, before a comment that is there already. Where a comment cannot stand, as in a
//! string of C++ or in a preprocessor line, none is written; what becomes of it decides, not what was meant: each comment
//! has to be one for the scanner of the language, and what is found afterwards tells what it suppresses.

use std::collections::BTreeMap;

use ptx_hosts::Language;
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::{Diagnostic, LineIndex, Span, cuda};

use crate::source::{Kind, Source};

/// A text to insert.
struct Insertion {
    at: usize,
    text: String,
}

/// The text of `source` with comments for these findings, and how many findings they are for. `None` where there is no
/// place for any.
pub fn add(source: &Source, findings: &[Diagnostic]) -> Option<(String, usize)> {
    let text = &source.text;
    let index = LineIndex::new(text);
    let mut by_line: BTreeMap<u32, Vec<&'static str>> = BTreeMap::new();
    for found in findings {
        let rules = by_line.entry(index.position(found.span.start).line).or_default();
        rules.push(found.rule);
    }
    let comments = comments(source.kind, text);
    let insertions = by_line.into_iter().filter_map(|(line, mut rules)| {
        let count = rules.len();
        rules.sort_unstable();
        rules.dedup();
        let begin = begin(source.kind);
        Some((insertion(text, index.line_span(line), &rules.join(", "), &comments, begin)?, count))
    });
    let insertions: Vec<(Insertion, usize)> = insertions.collect();
    // One that is no comment may hide that the next one is: those that are left are looked at again.
    let mut kept: Vec<&(Insertion, usize)> = insertions.iter().collect();
    loop {
        let (changed, places) = inserted(text, &kept);
        let found = self::comments(source.kind, &changed);
        let is_comment =
            |place: &Span| found.iter().any(|span| span.start <= place.start && place.end <= span.end);
        let good: Vec<bool> = places.iter().map(is_comment).collect();
        if good.iter().all(|good| *good) {
            let count = kept.iter().map(|(_, count)| count).sum();
            return (!kept.is_empty()).then_some((changed, count));
        }
        let mut good = good.into_iter();
        kept.retain(|_| good.next().unwrap_or(false));
    }
}

fn comments(kind: Kind, text: &str) -> Vec<Span> {
    match kind {
        Kind::Ptx => Lexer::new(text)
            .filter(|token| matches!(token.kind, TokenKind::LineComment | TokenKind::BlockComment))
            .map(|token| token.span)
            .collect(),
        Kind::Cuda => cuda::comments(text),
        Kind::Host(language) => ptx_hosts::find(language, text).comments,
    }
}

/// How a comment begins that ends with its line.
const fn begin(kind: Kind) -> &'static str {
    match kind {
        Kind::Ptx | Kind::Cuda | Kind::Host(Language::Rust | Language::Mlir) => "//",
        Kind::Host(Language::Python) => "#",
        Kind::Host(Language::LlvmIr) => ";",
    }
}

/// The comment for a line, and where it goes. A line that is nothing but a comment has no place: what stands alone speaks
/// of the next line.
fn insertion(text: &str, line: Span, rules: &str, comments: &[Span], begin: &str) -> Option<Insertion> {
    let content = line.text(text).trim_end();
    let end = line.start as usize + content.len();
    let last = comments.partition_point(|comment| (comment.start as usize) < end);
    let comment = last
        .checked_sub(1)
        .map(|last| comments[last])
        .filter(|comment| comment.start >= line.start && comment.end as usize >= end);
    if let Some(comment) = comment {
        let words = comment.text(text);
        let at = comment.start as usize;
        if text[line.start as usize..at].trim().is_empty() {
            return None;
        }
        let lead = words.len() - words.trim_start_matches(['/', '*', '#', ';']).trim_start().len();
        if let Some(list) = words[lead..].strip_prefix("ptx-allow:") {
            // A further rule for a comment that suppresses one already.
            return Some(Insertion { at: at + words.len() - list.len(), text: format!(" {rules},") });
        }
        let text = if words.starts_with(begin) {
            format!("{begin} ptx-allow: {rules} ")
        } else {
            block(rules) + " "
        };
        return Some(Insertion { at, text });
    }
    Some(match content.strip_suffix('\\') {
        Some(before) if begin == "//" => {
            let at = line.start as usize + before.trim_end().len();
            Insertion { at, text: format!(" {}", block(rules)) }
        }
        _ => Insertion { at: end, text: format!("  {begin} ptx-allow: {rules}") },
    })
}

fn block(rules: &str) -> String {
    format!("/* ptx-allow: {rules} */")
}

/// The text with the insertions, and where each then is, without the blanks around it.
fn inserted(text: &str, insertions: &[&(Insertion, usize)]) -> (String, Vec<Span>) {
    let mut changed = String::with_capacity(text.len() + 40 * insertions.len());
    let mut places = Vec::with_capacity(insertions.len());
    let mut done = 0;
    for (Insertion { at, text: new }, _) in insertions {
        changed.push_str(&text[done..*at]);
        let start = changed.len() + (new.len() - new.trim_start().len());
        changed.push_str(new);
        places.push(Span::new(start as u32, (start + new.trim().len()) as u32));
        done = *at;
    }
    changed.push_str(&text[done..]);
    (changed, places)
}

#[cfg(test)]
mod tests {
    use ptx_syntax::Diagnostic;

    use super::*;

    /// The text with suppressions of `rule` at each of these places.
    fn added(name: &str, text: &str, places: &[&str]) -> Option<(String, usize)> {
        let source = Source::new(name.into(), Kind::of(name.as_ref()), text.into());
        let found = places.iter().map(|place| {
            let at = text.find(place).unwrap() as u32;
            Diagnostic::invalid("P0000", "a-rule", Span::new(at, at + 1), "")
        });
        add(&source, &found.collect::<Vec<_>>())
    }

    #[test]
    fn a_comment_goes_to_the_end_of_its_line_before_another_one() {
        let text = |text: &str| added("a.ptx", text, &["x"]).unwrap().0;
        assert_eq!(text("x;\ny;\n"), "x;  // ptx-allow: a-rule\ny;\n");
        assert_eq!(text("x; \t\r\ny;"), "x;  // ptx-allow: a-rule \t\r\ny;");
        assert_eq!(text("x;"), "x;  // ptx-allow: a-rule");
        assert_eq!(text("x; // why\n"), "x; // ptx-allow: a-rule // why\n");
        assert_eq!(text("x; /* why\n so */\n"), "x; /* ptx-allow: a-rule */ /* why\n so */\n");
        assert_eq!(text("/* why */ x;\n"), "/* why */ x;  // ptx-allow: a-rule\n");
        assert_eq!(text("x; // ptx-allow: other -- why\n"), "x; // ptx-allow: a-rule, other -- why\n");
    }

    #[test]
    fn findings_of_a_line_share_a_comment() {
        let (text, count) = added("a.ptx", "x y;\nz;\n", &["x", "y", "z"]).unwrap();
        assert_eq!((text.as_str(), count), ("x y;  // ptx-allow: a-rule\nz;  // ptx-allow: a-rule\n", 3));
    }

    #[test]
    fn what_would_be_no_comment_is_not_written() {
        let raw = "asm(R\"(\n x;\n)\");\nint y; // here\n";
        let (text, count) = added("a.cu", raw, &["x", "y"]).unwrap();
        assert_eq!(
            (text.as_str(), count),
            ("asm(R\"(\n x;\n)\");\nint y; // ptx-allow: a-rule // here\n", 1)
        );
        assert_eq!(added("a.cu", "#define A asm(\"x\") \\\n ;\n", &["x"]), None);
        assert_eq!(added("a.ptx", "/* x\n*/", &["x"]), None);
    }
}
