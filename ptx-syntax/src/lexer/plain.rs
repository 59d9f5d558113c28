//! The tokens that nearly every byte of a text belongs to, without the automaton.
//!
//! White space, words, dotted spellings, decimal integers and single signs are recognised by their first byte and a
//! scan over a table of 256 entries. Whatever might be something else is left to logos, which would give the same
//! token for these; a test compares the two. Parsing is about a quarter faster for it.

use super::TokenKind;

/// What a byte can be part of.
type Classes = u8;
const BLANK: Classes = 1;
/// Letters, digits, `_` and `$`.
const WORD: Classes = 2;
/// What words begin with.
const LETTER: Classes = 4;
const DIGIT: Classes = 8;
const HEXADECIMAL: Classes = 16;

static CLASSES: [Classes; 256] = classes();

const fn classes() -> [Classes; 256] {
    let mut classes = [0; 256];
    let mut index = 0;
    while index < classes.len() {
        let byte = index as u8;
        classes[index] = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b'\x0c' | b'\x1a' => BLANK,
            b'a'..=b'f' | b'A'..=b'F' => WORD | LETTER | HEXADECIMAL,
            b'g'..=b'z' | b'G'..=b'Z' | b'_' | b'$' => WORD | LETTER,
            b'0'..=b'9' => WORD | DIGIT | HEXADECIMAL,
            _ => 0,
        };
        index += 1;
    }
    classes
}

/// Where the white space at `start` ends.
#[inline]
pub(super) fn blanks(bytes: &[u8], start: usize) -> usize {
    skip(bytes, start, BLANK)
}

/// The kind and the end of the token at `start`, where it is one of the plain ones.
#[inline]
pub(super) fn token(bytes: &[u8], start: usize) -> Option<(TokenKind, usize)> {
    let first = *bytes.get(start)?;
    let classes = CLASSES[first as usize];
    if classes & BLANK != 0 {
        return Some((TokenKind::Whitespace, skip(bytes, start + 1, BLANK)));
    }
    if classes & LETTER != 0 {
        return word(bytes, skip(bytes, start + 1, WORD));
    }
    if first == b'%' {
        let end = skip(bytes, start + 1, WORD);
        return if end > start + 1 { word(bytes, end) } else { None };
    }
    if classes & DIGIT != 0 {
        if first == b'0' && bytes.get(start + 1).is_some_and(|&next| is(next, LETTER)) {
            return prefixed(bytes, start);
        }
        let end = if first == b'0' { start + 1 } else { skip(bytes, start + 1, DIGIT) };
        let goes_on = bytes.get(end).is_some_and(|&next| next == b'.' || is(next, WORD));
        return if goes_on { None } else { Some((TokenKind::Integer, end)) };
    }
    if first == b'.' {
        return dot_word(bytes, start);
    }
    let kind = match first {
        b',' => TokenKind::Comma,
        b';' => TokenKind::Semicolon,
        b'[' => TokenKind::OpenBracket,
        b']' => TokenKind::CloseBracket,
        b'{' => TokenKind::OpenBrace,
        b'}' => TokenKind::CloseBrace,
        b'(' => TokenKind::OpenParen,
        b')' => TokenKind::CloseParen,
        b'+' => TokenKind::Plus,
        b'-' => TokenKind::Minus,
        b'@' => TokenKind::At,
        b':' => TokenKind::Colon,
        b'/' if bytes.get(start + 1) == Some(&b'/') => {
            let end = memchr::memchr(b'\n', &bytes[start..]).map_or(bytes.len(), |length| start + length);
            return Some((TokenKind::LineComment, end));
        }
        b'!' if bytes.get(start + 1) != Some(&b'=') => TokenKind::Not,
        b'|' if bytes.get(start + 1) != Some(&b'|') => TokenKind::Or,
        b'<' if !matches!(bytes.get(start + 1), Some(b'<' | b'=')) => TokenKind::Less,
        b'>' if !matches!(bytes.get(start + 1), Some(b'>' | b'=')) => TokenKind::Greater,
        _ => return None,
    };
    Some((kind, start + 1))
}

/// `0x1F`, `0f3F800000`, `0d3FF0000000000000`.
fn prefixed(bytes: &[u8], start: usize) -> Option<(TokenKind, usize)> {
    let end = skip(bytes, start + 2, HEXADECIMAL);
    let kind = match (bytes[start + 1], end - start - 2) {
        (b'x' | b'X', 1..) => TokenKind::Integer,
        (b'f' | b'F', 8) | (b'd' | b'D', 16) => TokenKind::Float,
        _ => return None,
    };
    let goes_on = bytes.get(end).is_some_and(|&next| next == b'.' || is(next, WORD));
    if goes_on { None } else { Some((kind, end)) }
}

/// `.loc` and words such as `.b8`, which are much of a text for a debugger.
fn dot_word(bytes: &[u8], start: usize) -> Option<(TokenKind, usize)> {
    let (kind, end) = match bytes[start + 1..] {
        [b'l', b'o', b'c', ..] => (TokenKind::Loc, start + 4),
        // No directive has a digit there.
        [letter, digit, ..] if is(letter, LETTER) && is(digit, DIGIT) => {
            (TokenKind::DotWord, skip(bytes, start + 3, WORD))
        }
        _ => return None,
    };
    let goes_on = bytes.get(end).is_some_and(|&next| next == b':' || is(next, WORD));
    if goes_on { None } else { Some((kind, end)) }
}

#[inline]
fn is(byte: u8, classes: Classes) -> bool {
    CLASSES[byte as usize] & classes != 0
}

/// A word whose first part ends at `end`, with what follows it behind dots.
#[inline]
fn word(bytes: &[u8], mut end: usize) -> Option<(TokenKind, usize)> {
    let mut kind = TokenKind::Name;
    loop {
        match bytes.get(end) {
            Some(b'.') => {
                let next = skip(bytes, end + 1, WORD);
                if next == end + 1 {
                    return None;
                }
                kind = TokenKind::Dotted;
                end = next;
            }
            Some(b':') if bytes.get(end + 1) == Some(&b':') => return None,
            _ => return Some((kind, end)),
        }
    }
}

/// The first place from `at` on whose byte is not of these classes.
#[inline]
fn skip(bytes: &[u8], mut at: usize, classes: Classes) -> usize {
    while let Some(&byte) = bytes.get(at)
        && is(byte, classes)
    {
        at += 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::{TokenKind, token};
    use logos::Logos;

    fn same_as_logos(text: &str) -> usize {
        let mut plain = 0;
        let mut lexer = TokenKind::lexer(text);
        while let Some(kind) = lexer.next() {
            if let Some(found) = token(text.as_bytes(), lexer.span().start) {
                let expected = (kind.unwrap_or(TokenKind::Unknown), lexer.span().end);
                assert_eq!(found, expected, "at {} of {text:?}", lexer.span().start);
                plain += 1;
            }
        }
        plain
    }

    #[test]
    fn plain_tokens_are_those_of_logos() {
        let parts = [
            "a",
            "%",
            "%r1",
            "_",
            "$L",
            ".",
            "..",
            ":",
            "::",
            "0",
            "7",
            ".8",
            ".b8",
            ".loc",
            ".loc_",
            ".l1",
            "12",
            "0x1F",
            "0b1",
            "1U",
            "1e5",
            "1.5",
            "0f3F800000",
            "0d3FF0000000000000",
            "F",
            "=",
            ">",
            ">=",
            "add.s32",
            ".reg",
            ".8",
            ".b8",
            ".loc",
            ".loc_",
            ".l1",
            "\t",
            " ",
            "\n",
            "\x0c",
            "\x0b",
            "\x1a",
            ",",
            ";",
            "[",
            "]",
            "{",
            "}",
            "(",
            ")",
            "+",
            "-",
            "@",
            "!",
            "|",
            "||",
            "/",
            "//",
            "/*",
            "*/",
            "<",
            "<<",
            "#",
            "\"",
            "é",
            "\0",
            "L1::128:4",
        ];
        let mut state = 7_u64;
        let mut plain = 0;
        for _ in 0..60_000 {
            let mut text = String::new();
            for _ in 0..8 {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                text.push_str(parts[(state >> 33) as usize % parts.len()]);
            }
            plain += same_as_logos(&text);
        }
        assert!(plain > 60_000, "{plain}");
    }
}
