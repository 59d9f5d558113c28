//! The tokens that nearly every byte of a text belongs to, without the automaton.
//!
//! White space, words, dotted spellings, decimal integers and single signs are recognised by their first byte in a
//! table of 256 entries; of words, sixteen bytes are looked at together. Whatever might be something else is left to
//! logos, which would give the same token for these; a test compares the two.

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
/// What comments begin with.
const COMMENT: Classes = 32;
/// What names begin with.
const NAME: Classes = 64;

static CLASSES: [Classes; 256] = classes();

const fn classes() -> [Classes; 256] {
    let mut classes = [0; 256];
    let mut index = 0;
    while index < classes.len() {
        let byte = index as u8;
        classes[index] = match byte {
            b' ' | b'\t' | b'\r' | b'\n' | b'\x0c' | b'\x1a' => BLANK,
            b'a'..=b'f' | b'A'..=b'F' => WORD | LETTER | NAME | HEXADECIMAL,
            b'g'..=b'z' | b'G'..=b'Z' | b'_' | b'$' => WORD | LETTER | NAME,
            b'%' => NAME,
            b'0'..=b'9' => WORD | DIGIT | HEXADECIMAL,
            b'/' | b'#' => COMMENT,
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

/// Whether a comment may begin with the byte.
#[inline(always)]
pub(super) fn begins_comment(byte: u8) -> bool {
    is(byte, COMMENT)
}

/// Whether a word may begin with the byte.
#[inline(always)]
pub(crate) fn begins_word(byte: u8) -> bool {
    is(byte, NAME)
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
    if classes & NAME != 0 {
        return word(bytes, start);
    }
    if classes & DIGIT != 0 {
        return number(bytes, start);
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

/// The kind and the end of the number at `start`, if there is a plain one.
// Tables may be most of a text.
#[inline(always)]
pub(super) fn number(bytes: &[u8], start: usize) -> Option<(TokenKind, usize)> {
    let first = *bytes.get(start)?;
    if !is(first, DIGIT) {
        return None;
    }
    if first == b'0' && bytes.get(start + 1).is_some_and(|&next| is(next, LETTER)) {
        return prefixed(bytes, start);
    }
    let end = if first == b'0' { start + 1 } else { skip(bytes, start + 1, DIGIT) };
    let goes_on = bytes.get(end).is_some_and(|&next| next == b'.' || is(next, WORD));
    if goes_on { None } else { Some((TokenKind::Integer, end)) }
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

/// Words such as `.b8`, and the directives that are most of what begins with a dot in compilers' output.
fn dot_word(bytes: &[u8], start: usize) -> Option<(TokenKind, usize)> {
    let end = skip(bytes, start + 1, WORD);
    let kind = match &bytes[start + 1..end] {
        b"reg" | b"param" | b"local" | b"shared" | b"global" => TokenKind::StateSpace,
        b"loc" => TokenKind::Loc,
        b"align" => TokenKind::Align,
        b"pred" => TokenKind::DotWord,
        // No directive has a digit there.
        [letter, digit, ..] if is(*letter, LETTER) && is(*digit, DIGIT) => TokenKind::DotWord,
        _ => return None,
    };
    if bytes.get(end) == Some(&b':') { None } else { Some((kind, end)) }
}

#[inline]
fn is(byte: u8, classes: Classes) -> bool {
    CLASSES[byte as usize] & classes != 0
}

/// The kind and the end of the word at `start` with what follows it after dots; none where a dot is followed by none.
// The parser reads most of a text by it.
#[inline(always)]
pub(super) fn word(bytes: &[u8], start: usize) -> Option<(TokenKind, usize)> {
    let at = start + 1;
    let Some(sixteen) = bytes.get(at..).and_then(<[u8]>::first_chunk) else { return last_word(bytes, start) };
    let sixteen = Sixteen::of(sixteen);
    // The names of registers end within eight bytes.
    let (dots, other) = (sixteen.dots[0], sixteen.other[0]);
    if other != 0 {
        // The dots of the token, without those after its end.
        let own = dots & other.wrapping_sub(1) & !other;
        let end = at + other.trailing_zeros() as usize / 8;
        return ended(bytes, (start, end), own != 0, own & own << 8 != 0);
    }
    long_word(bytes, start, sixteen)
}

/// A word of more than eight bytes, of which the first and the sixteen after it are known.
#[inline(never)]
fn long_word(bytes: &[u8], start: usize, sixteen: Sixteen) -> Option<(TokenKind, usize)> {
    let at = start + 1;
    let Sixteen { dots: [first, dots], other: [_, other] } = sixteen;
    // Most spellings of instructions end here.
    if other != 0 {
        let own = dots & other.wrapping_sub(1) & !other;
        let end = at + 8 + other.trailing_zeros() as usize / 8;
        let empty = first & first << 8 | own & (own << 8 | first >> 56);
        return ended(bytes, (start, end), first | own != 0, empty != 0);
    }
    longest_word(bytes, start)
}

/// A word that may have any length.
fn longest_word(bytes: &[u8], start: usize) -> Option<(TokenKind, usize)> {
    let mut at = start + 1;
    let (mut all, mut empty, mut last_is_dot) = (0, 0, 0);
    while let Some(sixteen) = bytes.get(at..).and_then(<[u8]>::first_chunk) {
        let sixteen = Sixteen::of(sixteen);
        for (&dots, &other) in sixteen.dots.iter().zip(&sixteen.other) {
            let own = dots & other.wrapping_sub(1) & !other;
            all |= own;
            empty |= own & (own << 8 | last_is_dot);
            if other != 0 {
                let end = at + other.trailing_zeros() as usize / 8;
                return ended(bytes, (start, end), all != 0, empty != 0);
            }
            last_is_dot = own >> 56;
            at += 8;
        }
    }
    last_word(bytes, start)
}

/// A word that ends in the last bytes of a text.
#[cold]
fn last_word(bytes: &[u8], start: usize) -> Option<(TokenKind, usize)> {
    let is_part = |&&byte: &&u8| byte == b'.' || is(byte, WORD);
    let end = start + 1 + bytes[start + 1..].iter().take_while(is_part).count();
    let has_empty_part = memchr::memmem::find(&bytes[start..end], b"..").is_some();
    ended(bytes, (start, end), bytes[start..end].contains(&b'.'), has_empty_part)
}

/// A word from `start` to `end`.
#[inline(always)]
fn ended(
    bytes: &[u8],
    (start, end): (usize, usize),
    is_dotted: bool,
    has_empty_part: bool,
) -> Option<(TokenKind, usize)> {
    if bytes.get(end) == Some(&b':') && bytes.get(end + 1) == Some(&b':') {
        return None;
    }
    if is_dotted {
        let [first, second, .., last] = bytes[start..end] else { return None };
        let is_plain = last != b'.' && !has_empty_part && (first, second) != (b'%', b'.');
        return is_plain.then_some((TokenKind::Dotted, end));
    }
    let is_sign = end == start + 1 && bytes[start] == b'%';
    if is_sign { None } else { Some((TokenKind::Name, end)) }
}

/// What sixteen bytes are, in halves: all bits of a byte are set where it is so. A loop over bytes ends where the processor does not
/// expect it, which costs more than all this; and the compiler makes vector instructions of it.
struct Sixteen {
    dots: [u64; 2],
    /// Neither dots nor parts of words.
    other: [u64; 2],
}

impl Sixteen {
    #[inline(always)]
    fn of(bytes: &[u8; 16]) -> Self {
        let (mut dots, mut other) = ([0; 16], [0; 16]);
        for ((&byte, dot), other) in bytes.iter().zip(&mut dots).zip(&mut other) {
            let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
            let is_digit = byte.wrapping_sub(b'0') < 10;
            let is_dot = byte == b'.';
            *dot = if is_dot { 0xff } else { 0 };
            *other = if is_letter | is_digit | (byte == b'_') | (byte == b'$') | is_dot { 0 } else { 0xff };
        }
        let halves = |bytes| {
            let both = u128::from_le_bytes(bytes);
            [both as u64, (both >> 64) as u64]
        };
        Self { dots: halves(dots), other: halves(other) }
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
    use super::{Sixteen, TokenKind, WORD, is, token};
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
    fn sixteen_bytes_are_what_each_is() {
        for at in 0..16 {
            for byte in 0..=255 {
                for other in [0, b'.', b'a', b'@', 0xff] {
                    let mut bytes = [other; 16];
                    bytes[at] = byte;
                    let sixteen = Sixteen::of(&bytes);
                    let of = |halves: [u64; 2]| halves[at / 8].to_le_bytes()[at % 8];
                    assert_eq!(of(sixteen.dots), if byte == b'.' { 0xff } else { 0 }, "{byte} at {at}");
                    let is_other = byte != b'.' && !is(byte, WORD);
                    assert_eq!(of(sixteen.other), if is_other { 0xff } else { 0 }, "{byte} at {at}");
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
