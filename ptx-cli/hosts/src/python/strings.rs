//! Python's string literals.

use ptx_syntax::Span;
use ptx_syntax::cuda::Template;
use ptx_syntax::cuda::host::TemplateBuilder;

use super::tokens::Token;

/// The characters of string literals that follow each other.
pub(crate) fn joined(source: &str, texts: &[Token]) -> Template {
    let mut out = TemplateBuilder::default();
    for text in texts {
        append(source, text.span, &mut out);
    }
    out.finish()
}

/// Appends the characters of a literal. What an f-string or a t-string computes is a wildcard.
pub(crate) fn append(source: &str, span: Span, out: &mut TemplateBuilder) {
    let text = span.text(source);
    let prefix = text.bytes().take_while(u8::is_ascii_alphabetic).count();
    let is = |letter: u8| text.as_bytes()[..prefix].iter().any(|byte| byte.eq_ignore_ascii_case(&letter));
    let (is_raw, is_format) = (is(b'r'), is(b'f') || is(b't'));
    let rest = &text[prefix..];
    let quotes = if rest.starts_with("\"\"\"") || rest.starts_with("'''") { 3 } else { 1 };
    let Some(inner) = rest.get(quotes..rest.len().saturating_sub(quotes).max(quotes)) else { return };
    let start = span.start + (prefix + quotes) as u32;
    let mut at = 0;
    while at < inner.len() {
        let rest = &inner[at..];
        let special = |byte: u8| (byte == b'\\' && !is_raw) || (is_format && matches!(byte, b'{' | b'}'));
        let plain = rest.bytes().position(special).unwrap_or(rest.len());
        if plain > 0 {
            out.copy(&rest[..plain], start + at as u32);
            at += plain;
            continue;
        }
        let place = |length: usize| Span::new(start + at as u32, start + (at + length) as u32);
        let length = match rest.as_bytes() {
            [b'\\', ..] => {
                let (character, length) = escape(&rest[1..]);
                if let Some(character) = character {
                    out.replace(character.encode_utf8(&mut [0; 4]), place(1 + length));
                }
                1 + length
            }
            [b'{', b'{', ..] | [b'}', b'}', ..] => {
                out.replace(&rest[..1], place(2));
                2
            }
            [b'{', ..] => {
                let length = end_of_field(rest);
                out.wildcard(place(length));
                length
            }
            _ => {
                out.copy(&rest[..1], start + at as u32);
                1
            }
        };
        at += length;
    }
}

/// How long the field is that an f-string computes, braces included.
fn end_of_field(text: &str) -> usize {
    let mut depth = 0_usize;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            b'{' => depth += 1,
            b'}' => {
                depth -= 1;
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The character of an escape, if it stands for one, and how many bytes follow the `\`.
fn escape(rest: &str) -> (Option<char>, usize) {
    let number = |from: usize, length: usize| {
        let digits = rest.get(from..from + length)?;
        u32::from_str_radix(digits, 16).ok().and_then(char::from_u32)
    };
    let Some(first) = rest.chars().next() else { return (Some('\\'), 0) };
    match first {
        '\n' => (None, 1),
        '\r' => (None, if rest.starts_with("\r\n") { 2 } else { 1 }),
        'n' => (Some('\n'), 1),
        't' => (Some('\t'), 1),
        'r' => (Some('\r'), 1),
        'v' => (Some('\u{b}'), 1),
        'f' => (Some('\u{c}'), 1),
        'a' => (Some('\u{7}'), 1),
        'b' => (Some('\u{8}'), 1),
        '\\' | '\'' | '"' => (Some(first), 1),
        'x' if number(1, 2).is_some() => (number(1, 2), 3),
        'u' if number(1, 4).is_some() => (number(1, 4), 5),
        'U' if number(1, 8).is_some() => (number(1, 8), 9),
        '0'..='7' => {
            let digits = rest.bytes().take(3).take_while(|byte| (b'0'..=b'7').contains(byte)).count();
            (u32::from_str_radix(&rest[..digits], 8).ok().and_then(char::from_u32), digits)
        }
        // Any other `\` stays.
        _ => (Some('\\'), 0),
    }
}
