//! Rare spellings made the usual ones, without moving anything else: the text keeps its length and its lines.
//!
//! * A word that line continuations break is put together, and the continuations are after it: `as\⏎m(` becomes
//!   `asm\⏎(`.
//!   In a raw string the continuation is text, and is moved too: no template has it inside a word.
//! * A digraph becomes what it means, and a space: `<%` becomes `{ `. In literals and comments nothing is a digraph.

use std::borrow::Cow;

use memchr::memmem;

use super::scan::{Kind, Scanner, Token};
use crate::Span;

/// The digraphs, and what they mean.
const DIGRAPHS: [(&[u8; 2], u8); 5] =
    [(b"<%", b'{'), (b"%>", b'}'), (b"<:", b'['), (b":>", b']'), (b"%:", b'#')];

/// The text in usual spelling, of the same length.
pub(super) fn usual(source: &str) -> Cow<'_, str> {
    let whole = joined(source);
    match without_digraphs(&whole) {
        Some(text) => Cow::Owned(text),
        None => whole,
    }
}

/// The length of the line continuations that `bytes` begins with.
pub(super) fn continuations(bytes: &[u8]) -> usize {
    let mut at = 0;
    loop {
        at += match bytes.get(at..) {
            Some([b'\\', b'\n', ..]) => 2,
            Some([b'\\', b'\r', b'\n', ..]) => 3,
            _ => return at,
        };
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The text with broken words put together.
fn joined(source: &str) -> Cow<'_, str> {
    let bytes = source.as_bytes();
    let mut out: Option<Vec<u8>> = None;
    let mut done = 0;
    for at in memchr::memchr_iter(b'\\', bytes) {
        if at < done || !at.checked_sub(1).is_some_and(|before| is_word(bytes[before])) {
            continue;
        }
        let (mut word, mut breaks) = (Vec::new(), Vec::new());
        let mut end = at;
        loop {
            let length = continuations(&bytes[end..]);
            let part = bytes[end + length..].iter().take_while(|byte| is_word(**byte)).count();
            if length == 0 || part == 0 {
                break;
            }
            breaks.extend_from_slice(&bytes[end..end + length]);
            word.extend_from_slice(&bytes[end + length..end + length + part]);
            end += length + part;
        }
        if end > at {
            let out = out.get_or_insert_with(|| bytes.to_vec());
            word.append(&mut breaks);
            out[at..end].copy_from_slice(&word);
            done = end;
        }
    }
    // Only whole ASCII characters have changed places.
    out.and_then(|out| String::from_utf8(out).ok()).map_or(Cow::Borrowed(source), Cow::Owned)
}

/// The text with its digraphs replaced; none where there are none.
fn without_digraphs(source: &str) -> Option<String> {
    if DIGRAPHS.iter().all(|(digraph, _)| memmem::find(source.as_bytes(), *digraph).is_none()) {
        return None;
    }
    let mut found: Vec<(u32, u8)> = Vec::new();
    find(source, Scanner::file(source), &mut found);
    if found.is_empty() {
        return None;
    }
    let mut out = source.as_bytes().to_vec();
    for (at, meaning) in found {
        let at = at as usize;
        out[at..at + 2].copy_from_slice(&[meaning, b' ']);
    }
    String::from_utf8(out).ok()
}

/// Finds digraphs: two punctuators side by side. Those of preprocessor lines are looked for in their tokens.
fn find(source: &str, tokens: Scanner<'_>, found: &mut Vec<(u32, u8)>) {
    let mut previous: Option<Token> = None;
    for token in tokens {
        if token.kind == Kind::Directive {
            let line = Span::new(token.span.start + 1, token.span.end);
            find(source, Scanner::line(source, line), found);
        }
        let pair = previous.filter(|before| {
            before.kind == Kind::Punctuator
                && token.kind == Kind::Punctuator
                && before.span.end == token.span.start
                && before.span.len() == 1
                && token.span.len() == 1
        });
        let meaning = pair.and_then(|before| {
            let text = before.span.to(token.span).text(source).as_bytes();
            DIGRAPHS
                .iter()
                .find(|(digraph, _)| text == *digraph)
                .map(|(_, meaning)| (before.span.start, *meaning))
        });
        previous = Some(token).filter(|_| meaning.is_none());
        found.extend(meaning);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn broken_words_are_put_together() {
        assert_eq!(usual("as\\\nm(\"x\")"), "asm\\\n(\"x\")");
        assert_eq!(usual("a_\\\n\\\r\ns\\\nm1 b"), "a_sm1\\\n\\\r\n\\\n b");
        for same in ["asm \\\nm", "asm\\\n(", "a\\nb", "\\\nasm", "x\\", "\\"] {
            assert_eq!(usual(same), same);
        }
    }

    #[test]
    fn digraphs_are_replaced_outside_literals_and_comments() {
        assert_eq!(usual("f() <% a<:1:> = '<%'; %>"), "f() {  a[ 1]  = '<%'; } ");
        assert_eq!(usual("%:define X <% /* %> */\n"), "# define X {  /* %> */\n");
        assert_eq!(usual("#define X <%\nasm(\"<%\"); // %>\n"), "#define X { \nasm(\"<%\"); // %>\n");
        for same in ["a<::b>", "a ? b :: c", "asm(\"%:\" :: \"r\"(x))", "a % > b", "x %= y"] {
            assert_eq!(usual(same), same);
        }
    }
}
