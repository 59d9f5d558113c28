//! CUDA C++ with asm statements, and what fixing it does.

use std::collections::BTreeSet;

use ptx_emit::format::{Reason, format_asm};
use ptx_syntax::{Class, Diagnostic, Severity};
use ptx_verify::{CudaConfig, check_cuda};

use super::points_into;

/// All properties of a CUDA source.
///
/// # Panics
/// Where one does not hold.
pub fn cuda(text: &str) {
    let config = CudaConfig::default();
    let before = check_cuda(text, &config);
    points_into(text, &before);
    formats_asm(text);
    let fixed = ptx_cli::fuzz::fixed_cuda(text);
    if fixed == text {
        return;
    }
    assert_eq!(comments(text), comments(&fixed), "a fix keeps every comment");
    let after = check_cuda(&fixed, &config);
    points_into(&fixed, &after);
    // What is not read for one error is read when that is fixed, and has errors of its own.
    if before.iter().any(|found| found.class == Class::Invalid) {
        return;
    }
    let new: Vec<&str> = rules(&after).difference(&rules(&before)).copied().collect();
    assert!(new.is_empty(), "fixing brings {new:?}: {after:#?}");
    assert_eq!(ptx_cli::fuzz::fixed_cuda(&fixed), fixed, "fixed twice is fixed once");
}

/// Formatting the templates of asm statements changes blanks only, and only once.
fn formats_asm(text: &str) {
    let formatted = format_asm(text);
    let mistakes = [Reason::TokenChanged, Reason::NotIdempotent];
    let mistake = formatted.left_alone.iter().find(|each| mistakes.contains(&each.reason));
    assert_eq!(mistake, None);
    let bare = |text: &str| text.replace([' ', '\t'], "");
    assert_eq!(bare(text), bare(&formatted.text), "only blanks change");
    assert_eq!(comments(text), comments(&formatted.text), "comments stay");
    let again = format_asm(&formatted.text);
    assert!(!again.changed, "formatted twice is formatted once:\n{}\n{}", formatted.text, again.text);
}

/// The rules that find more than something to know.
fn rules(found: &[Diagnostic]) -> BTreeSet<&'static str> {
    found.iter().filter(|found| found.severity > Severity::Info).map(|found| found.rule).collect()
}

/// The comments of C++, without their white space. A reader of its own, which shares nothing with the
/// toolkit's: comments, strings with and without escapes, characters.
#[must_use]
pub fn comments(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut at = 0;
    let bytes = text.as_bytes();
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = at
            + match rest {
                [b'/', b'/', ..] => line_comment(rest),
                [b'/', b'*', ..] => find(&rest[2..], b"*/").map_or(rest.len(), |end| end + 4),
                [b'R', b'"', ..] if !is_word_before(bytes, at) => raw_string(rest),
                [quote @ (b'"' | b'\''), ..] => string(rest, *quote),
                _ => 1,
            };
        if rest.starts_with(b"//") || rest.starts_with(b"/*") {
            found.push(String::from_utf8_lossy(&bytes[at..end]).split_ascii_whitespace().collect());
        }
        at = end;
    }
    found
}

fn is_word_before(bytes: &[u8], at: usize) -> bool {
    at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_')
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// The length of a comment that ends at its line; a backslash at the end of the line continues it.
fn line_comment(rest: &[u8]) -> usize {
    let ends = rest.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at);
    let mut ends = ends.filter(|&at| !rest[..at].strip_suffix(b"\r").unwrap_or(&rest[..at]).ends_with(b"\\"));
    ends.next().unwrap_or(rest.len())
}

/// The length of a string or a character, which ends at its line at the latest.
fn string(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() {
        match rest[at] {
            b'\\' => at += 1,
            b'\n' => return at,
            byte if byte == quote => return at + 1,
            _ => {}
        }
        at += 1;
    }
    rest.len()
}

/// The length of `R"delimiter(…)delimiter"`.
fn raw_string(rest: &[u8]) -> usize {
    let Some(open) = rest.iter().take(20).position(|&byte| byte == b'(') else { return 2 };
    let close = [b")", &rest[2..open], b"\""].concat();
    find(&rest[open..], &close).map_or(rest.len(), |end| open + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_told_from_strings() {
        let text = "a /* b // c */ \"/* d\" R\"x(// )\" e)x\" '\"' // f \\\ng\n\"\\\"//\"";
        assert_eq!(comments(text), ["/*b//c*/", "//f\\g"]);
    }
}
