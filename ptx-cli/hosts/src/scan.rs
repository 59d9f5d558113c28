//! Tokens of LLVM IR and MLIR, as far as their inline assembler needs them.

use std::collections::HashMap;

use ptx_syntax::Span;
use ptx_syntax::cuda::Template;
use ptx_syntax::cuda::host::TemplateBuilder;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Letters, digits and `._$%@#!-`.
    Word,
    /// A string, quotes included.
    Text,
    /// One other character.
    Mark,
}

/// A token.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Token {
    pub kind: Kind,
    pub span: Span,
}

impl Token {
    pub fn is(self, source: &str, text: &str) -> bool {
        self.kind != Kind::Text && self.span.text(source) == text
    }
}

/// The tokens of a text, and its comments, which begin with `comment`.
pub(crate) fn tokens(source: &str, comment: &str) -> (Vec<Token>, Vec<Span>) {
    let bytes = source.as_bytes();
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || b"._$%@#!-".contains(&byte);
    let (mut tokens, mut comments) = (Vec::new(), Vec::new());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let start = at;
        if byte.is_ascii_whitespace() {
            at += 1;
            continue;
        }
        if source[at..].starts_with(comment) {
            at += memchr::memchr(b'\n', &bytes[at..]).unwrap_or(bytes.len() - at);
            comments.push(Span::new(start as u32, at as u32));
            continue;
        }
        let kind = match byte {
            b'"' => {
                at = end_of_string(bytes, at);
                Kind::Text
            }
            _ if is_word(byte) => {
                at += bytes[at..].iter().take_while(|byte| is_word(**byte)).count();
                Kind::Word
            }
            _ => {
                at += source[at..].chars().next().map_or(1, char::len_utf8);
                Kind::Mark
            }
        };
        tokens.push(Token { kind, span: Span::new(start as u32, at as u32) });
    }
    (tokens, comments)
}

/// Where the string ends that begins at `at`. The next character of a `\` is a part of it.
fn end_of_string(bytes: &[u8], at: usize) -> usize {
    let mut end = at + 1;
    while let Some(next) = memchr::memchr2(b'"', b'\\', bytes.get(end..).unwrap_or(&[])) {
        end += next;
        if bytes[end] == b'"' {
            return end + 1;
        }
        end += 2;
    }
    bytes.len()
}

/// The characters of a string of LLVM IR or MLIR: `\0A` is a byte by its number, `\n` and `\t` are those of C.
pub(crate) fn decoded(source: &str, token: Token) -> Template {
    let mut out = TemplateBuilder::default();
    let text = token.span.text(source);
    let inner = text.strip_prefix('"').unwrap_or(text);
    let inner = inner.strip_suffix('"').unwrap_or(inner);
    let start = token.span.start + 1;
    let mut at = 0;
    while at < inner.len() {
        let rest = &inner[at..];
        let plain = memchr::memchr(b'\\', rest.as_bytes()).unwrap_or(rest.len());
        if plain > 0 {
            out.copy(&rest[..plain], start + at as u32);
            at += plain;
            continue;
        }
        let (text, length) = escape(&rest[1..]);
        let place = start + at as u32;
        out.replace(text.encode_utf8(&mut [0; 4]), Span::new(place, place + 1 + length as u32));
        at += 1 + length;
    }
    out.finish()
}

/// The character of an escape, and how many bytes follow the `\`.
fn escape(rest: &str) -> (char, usize) {
    let number = rest.get(..2).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
    if let Some(number) = number.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
        return (char::from(number), 2);
    }
    match rest.chars().next() {
        Some('n') => ('\n', 1),
        Some('t') => ('\t', 1),
        Some(other) => (other, other.len_utf8()),
        None => ('\\', 0),
    }
}

/// Which brackets belong together: for each that opens the one that closes it, and the reverse.
pub(crate) struct Brackets(HashMap<usize, usize>);

/// No statement has brackets around more tokens than this.
const MAX_INSIDE: usize = 4096;

impl Brackets {
    pub fn of(source: &str, tokens: &[Token]) -> Self {
        let mut open: Vec<(usize, u8)> = Vec::new();
        let mut pairs = HashMap::new();
        let mut counts = [0_usize; 256];
        for (index, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Mark) {
            let byte = source.as_bytes()[token.span.start as usize];
            // `->` is no bracket.
            let is_arrow = byte == b'>' && index > 0 && tokens[index - 1].span.text(source).ends_with('-');
            let partner = match byte {
                b'(' | b'[' | b'{' | b'<' => {
                    open.push((index, byte));
                    counts[usize::from(byte)] += 1;
                    continue;
                }
                b')' => b'(',
                b']' => b'[',
                b'}' => b'{',
                b'>' if !is_arrow => b'<',
                _ => continue,
            };
            // What closes nothing is passed over, and so is what is still open inside.
            while counts[usize::from(partner)] > 0 {
                let Some((at, kind)) = open.pop() else { break };
                counts[usize::from(kind)] -= 1;
                if kind == partner {
                    pairs.insert(at, index);
                    pairs.insert(index, at);
                    break;
                }
            }
        }
        Self(pairs)
    }

    /// The place of the bracket that closes the one at `open`; `None` where there is none, or too much is inside.
    pub fn closing(&self, open: usize) -> Option<usize> {
        self.0.get(&open).copied().filter(|close| (open..open + MAX_INSIDE).contains(close))
    }

    /// The place of the bracket that the one at `close` closes.
    pub fn opening(&self, close: usize) -> Option<usize> {
        self.0.get(&close).copied().filter(|open| (*open..*open + MAX_INSIDE).contains(&close))
    }
}

/// The parts between commas that are in no bracket.
pub(crate) fn parts(source: &str, tokens: &[Token]) -> Vec<Span> {
    let mut parts = Vec::new();
    let (mut depth, mut part) = (0_i32, None::<Span>);
    for token in tokens {
        if token.kind == Kind::Mark {
            match token.span.text(source) {
                "(" | "[" | "{" | "<" => depth += 1,
                ")" | "]" | "}" | ">" => depth -= 1,
                "," if depth == 0 => {
                    parts.extend(part.take());
                    continue;
                }
                _ => {}
            }
        }
        part = Some(part.map_or(token.span, |before| before.to(token.span)));
    }
    parts.extend(part);
    parts
}
