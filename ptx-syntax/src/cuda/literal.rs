//! Decoding string literals: prefixes, escapes, line continuations and raw strings, byte by byte traceable.

use super::scan::{Kind, Token};
use super::template::SourceMap;
use crate::Span;

/// Appends the decoded text of a string token to `text` and its origin to `map`.
pub(super) fn decode(source: &str, token: Token, text: &mut String, map: &mut SourceMap) {
    let literal = token.span.text(source);
    let Some(quote) = literal.find('"') else { return };
    let inside = token.span.start as usize + quote + 1;
    if token.kind == Kind::RawText {
        decode_raw(source, inside, token.span.end as usize, text, map);
    } else {
        decode_quoted(source, inside, token.span.end as usize, text, map);
    }
}

/// The decoded text of a string token.
pub(super) fn decoded(source: &str, token: Token) -> String {
    let mut text = String::new();
    decode(source, token, &mut text, &mut SourceMap::default());
    text
}

fn decode_raw(source: &str, inside: usize, end: usize, text: &mut String, map: &mut SourceMap) {
    let body = source.get(inside..end).unwrap_or("");
    let Some(open) = body.find('(') else { return };
    // The closing parenthesis, the delimiter and the quote.
    let Some(close) = body.len().checked_sub(open + 2) else { return };
    let content = body.get(open + 1..close).unwrap_or("");
    text.push_str(content);
    map.push_verbatim(content.len() as u32, (inside + open + 1) as u32);
}

fn decode_quoted(source: &str, inside: usize, end: usize, text: &mut String, map: &mut SourceMap) {
    let closed = end > inside && source.as_bytes()[end - 1] == b'"';
    let body = source.get(inside..end - usize::from(closed)).unwrap_or("");
    let mut at = 0;
    while at < body.len() {
        let plain = body[at..].find('\\').unwrap_or(body.len() - at);
        text.push_str(&body[at..at + plain]);
        map.push_verbatim(plain as u32, (inside + at) as u32);
        at += plain;
        if at < body.len() {
            let (length, character) = escape(&body[at..]);
            if let Some(character) = character {
                text.push(character);
                let origin = Span::new((inside + at) as u32, (inside + at + length) as u32);
                map.push_opaque(character.len_utf8() as u32, origin);
            }
            at += length;
        }
    }
}

/// The length of the escape sequence at the start of `text`, and the character it means; none for a line
/// continuation.
fn escape(text: &str) -> (usize, Option<char>) {
    let mut characters = text[1..].chars();
    let Some(first) = characters.next() else { return (text.len(), Some('\\')) };
    let simple = |character| (1 + first.len_utf8(), Some(character));
    match first {
        '\n' => (2, None),
        '\r' if text[2..].starts_with('\n') => (3, None),
        'n' => simple('\n'),
        't' => simple('\t'),
        'r' => simple('\r'),
        'v' => simple('\u{b}'),
        'f' => simple('\u{c}'),
        'a' => simple('\u{7}'),
        'b' => simple('\u{8}'),
        'x' => numeric(text, 2, usize::MAX, 16),
        'u' => numeric(text, 2, 4, 16),
        'U' => numeric(text, 2, 8, 16),
        '0'..='7' => numeric(text, 1, 3, 8),
        // `\"`, `\\`, `\'`, `\?`, and what compilers do with an unknown one: the character itself.
        other => simple(other),
    }
}

fn numeric(text: &str, start: usize, most: usize, radix: u32) -> (usize, Option<char>) {
    let digits =
        text[start..].bytes().take(most).take_while(|byte| char::from(*byte).is_digit(radix)).count();
    let value = text[start..start + digits].chars().fold(0u32, |value, digit| {
        value.wrapping_mul(radix).wrapping_add(digit.to_digit(radix).unwrap_or(0))
    });
    (start + digits, Some(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)))
}

#[cfg(test)]
mod tests {
    use super::super::scan::Scanner;
    use super::*;

    fn check(source: &str, expected: &str) -> SourceMap {
        let (mut text, mut map) = (String::new(), SourceMap::default());
        for token in Scanner::file(source) {
            decode(source, token, &mut text, &mut map);
        }
        assert_eq!(text, expected);
        map
    }

    #[test]
    fn escapes_are_decoded_and_traced() {
        let map = check(r#""a\n\tb\x41\101\\""#, "a\n\tbAA\\");
        assert_eq!(map.byte(0), Span::new(1, 2));
        assert_eq!(map.byte(1), Span::new(2, 4));
        assert_eq!(map.byte(3), Span::new(6, 7));
        assert_eq!(map.byte(4), Span::new(7, 11));
        assert_eq!(map.byte(5), Span::new(11, 15));
        assert_eq!(map.byte(7), Span::at(17));
    }

    #[test]
    fn strings_join_over_comments_and_lines() {
        let source = "\"mov\" /* c */ // d\n \".u32\"";
        let map = check(source, "mov.u32");
        assert_eq!(map.span(Span::new(0, 7)), Span::new(1, source.len() as u32 - 1));
        assert!(map.is_verbatim(Span::new(3, 7)));
        assert!(!map.is_verbatim(Span::new(2, 4)));
    }

    #[test]
    fn a_continuation_inside_a_string_is_nothing() {
        let map = check("\"ab\\\ncd\\\r\n\"", "abcd");
        assert_eq!(map.byte(2), Span::new(5, 6));
    }

    #[test]
    fn raw_strings_keep_backslashes_and_newlines() {
        let map = check("R\"ptx(a\\n\n\"b)\" c)ptx\"", "a\\n\n\"b)\" c");
        assert_eq!(map.byte(0), Span::new(6, 7));
    }

    #[test]
    fn prefixes_are_no_text() {
        check(r#"u8"x" L"y""#, "xy");
    }

    #[test]
    fn unfinished_literals_decode_what_is_there() {
        check("\"abc", "abc");
        check("\"abc\\", "abc\\");
        check("\"", "");
    }
}
