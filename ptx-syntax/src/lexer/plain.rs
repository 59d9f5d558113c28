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
// Each token passes here: a call costs as much as what it does.
#[inline(always)]
pub(super) fn token(bytes: &[u8], start: usize) -> Option<(TokenKind, usize)> {
    let first = *bytes.get(start)?;
    let classes = CLASSES[first as usize];
    if classes & BLANK != 0 {
        return Some((TokenKind::Whitespace, skip(bytes, start + 1, BLANK)));
    }
    if classes & LETTER != 0 || first == b'%' && bytes.get(start + 1).is_some_and(|&next| is(next, WORD)) {
        return word(bytes, start + 1);
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

/// A word that goes on at `at`, with what follows it after dots; none where a dot is followed by none.
#[inline(always)]
fn word(bytes: &[u8], mut at: usize) -> Option<(TokenKind, usize)> {
    let (mut dots, mut empty, mut last_is_dot) = (0, 0, 0);
    while let Some(eight) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let eight = Eight::of(*eight);
        let length = eight.other.trailing_zeros() / 8;
        // The dots of the token, without those after its end.
        let own = eight.dots & !u64::MAX.checked_shl(8 * length).unwrap_or(0);
        dots |= own;
        empty |= own & (own << 8 | last_is_dot);
        last_is_dot = own >> 56;
        at += length as usize;
        if length < 8 {
            return ended(bytes, at, (dots != 0, empty != 0));
        }
    }
    // The last bytes of a text.
    let mut before = if last_is_dot != 0 { b'.' } else { 0 };
    while let Some(&byte) = bytes.get(at)
        && (byte == b'.' || is(byte, WORD))
    {
        dots |= u64::from(byte == b'.');
        empty |= u64::from(byte == b'.' && before == b'.');
        before = byte;
        at += 1;
    }
    ended(bytes, at, (dots != 0, empty != 0))
}

/// A word that ends at `end`.
#[inline]
fn ended(bytes: &[u8], end: usize, (dotted, has_empty_part): (bool, bool)) -> Option<(TokenKind, usize)> {
    let goes_on = bytes.get(end) == Some(&b':') && bytes.get(end + 1) == Some(&b':');
    if goes_on || has_empty_part || bytes[end - 1] == b'.' {
        return None;
    }
    Some((if dotted { TokenKind::Dotted } else { TokenKind::Name }, end))
}

/// What eight bytes are, as the high bit of each. A loop over bytes ends where the processor does not expect it, which
/// costs more than all this.
struct Eight {
    dots: u64,
    /// Neither dots nor parts of words.
    other: u64,
}

impl Eight {
    #[inline]
    fn of(bytes: [u8; 8]) -> Self {
        const ONES: u64 = u64::from_ne_bytes([1; 8]);
        const HIGH: u64 = ONES << 7;
        let all = u64::from_le_bytes(bytes);
        // Of seven bits each, so that nothing is carried into the next byte.
        let low = all & !HIGH;
        let from = |bytes: u64, first: u8| bytes + ONES * u64::from(0x80 - first);
        let is = |byte: u8| !((low ^ (ONES * u64::from(byte))) + ONES * 0x7f);
        let lower_case = low | (ONES * 0x20);
        let letter = from(lower_case, b'a') & !from(lower_case, b'z' + 1);
        let digit = from(low, b'0') & !from(low, b'9' + 1);
        let ascii = HIGH & !all;
        let dots = is(b'.') & ascii;
        let words = (letter | digit | is(b'_') | is(b'$')) & ascii;
        Self { dots, other: HIGH & !(dots | words) }
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
    use super::{Eight, TokenKind, WORD, is, token};
    use logos::Logos;

    fn same_as_logos(text: &str) -> usize {
        // The last bytes of a text are read one by one.
        same_at_the_end(text) + same_at_the_end(&format!("{text}{:16}", ""))
    }

    fn same_at_the_end(text: &str) -> usize {
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
    fn eight_bytes_are_what_each_is() {
        for at in 0..8 {
            for byte in 0..=255 {
                for other in [0, b'.', b'a', b'@', 0xff] {
                    let mut bytes = [other; 8];
                    bytes[at] = byte;
                    let eight = Eight::of(bytes);
                    let has = |mask: u64| mask >> (8 * at) & 0xff == 0x80;
                    assert_eq!(has(eight.dots), byte == b'.', "{byte} at {at}");
                    assert_eq!(has(eight.other), byte != b'.' && !is(byte, WORD), "{byte} at {at}");
                }
            }
        }
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
            "a_word_of_more_than_eight",
            "ld.global.nc",
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
