//! A scanner of C++ tokens, just fine enough to find `asm` statements and the declarations around them.
//!
//! It knows what hides text from the compiler: comments, ordinary, prefixed and raw strings, character
//! literals, digit separators, line continuations and preprocessor lines. It understands no more of C++, so
//! nothing that it has never seen (dialects, macros, broken code) makes it lose its place: a string or a
//! character that is not closed ends with its line, as compilers have it.
//!
//! Words that a line continuation breaks and digraphs are made usual before, see [`spelling`](super::spelling).

use std::collections::HashMap;

use memchr::{memchr_iter, memchr2, memmem};

use crate::Span;

/// What a token is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// An identifier or keyword.
    Identifier,
    /// A number in the preprocessor's wide sense.
    Number,
    /// A string literal with its prefix, quotes and all.
    Text,
    /// A raw string literal.
    RawText,
    /// A character literal.
    Character,
    /// An operator or a separator; the longest that C++ has.
    Punctuator,
    /// A whole preprocessor line, continuations included.
    Directive,
}

/// One token. Tokens of one file lie in a vector; comments and white space are not kept.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token {
    /// What it is.
    pub kind: Kind,
    /// Where it is.
    pub span: Span,
    /// The preprocessor condition under which it is compiled, an index into the file's conditions.
    pub condition: u32,
    /// A brace or parenthesis that only one branch of an `#if` may contribute, and this is another one.
    pub ignored: bool,
}

impl Token {
    /// Whether it is the punctuator or word `text`.
    pub fn is(self, source: &str, text: &str) -> bool {
        matches!(self.kind, Kind::Punctuator | Kind::Identifier) && self.span.text(source) == text
    }
}

/// Splits the bytes from `start` to `end` of a file into tokens.
pub(super) struct Scanner<'s> {
    bytes: &'s [u8],
    at: usize,
    end: usize,
    /// Whether only white space and comments precede on this line, so that `#` begins a directive.
    line_start: bool,
    /// Whether `#` may begin a directive at all; not so inside a `#define`.
    directives: bool,
    /// Where raw strings can end, by their delimiters; made for the first raw string.
    raw_ends: Option<HashMap<&'s [u8], Vec<usize>>>,
    /// Where comments are noted, if they are asked for.
    comments: Option<Vec<Span>>,
}

/// The comments of a file, in order; those of preprocessor lines are not among them.
pub(super) fn comments(source: &str) -> Vec<Span> {
    let mut scanner = Scanner { comments: Some(Vec::new()), ..Scanner::file(source) };
    while scanner.next().is_some() {}
    scanner.comments.unwrap_or_default()
}

/// The comments of a file, in order, also those of preprocessor lines.
pub(super) fn all_comments(source: &str) -> Vec<Span> {
    let mut scanner = Scanner { comments: Some(Vec::new()), ..Scanner::file(source) };
    while let Some(token) = scanner.next() {
        if token.kind == Kind::Directive {
            let mut line = Scanner { comments: scanner.comments.take(), ..Scanner::line(source, token.span) };
            while line.next().is_some() {}
            scanner.comments = line.comments;
        }
    }
    scanner.comments.unwrap_or_default()
}

/// How many bytes the delimiter of a raw string may have.
const MAX_DELIMITER: usize = 16;

const fn is_delimiter(byte: &u8) -> bool {
    !byte.is_ascii_whitespace() && !matches!(byte, b'(' | b')' | b'\\' | b'"')
}

/// The ends of all that could end a raw string: `)`, a delimiter and a quote. One pass for all raw strings, because
/// each may have a delimiter of its own and no end.
fn raw_ends(bytes: &[u8], from: usize, end: usize) -> HashMap<&[u8], Vec<usize>> {
    let mut ends: HashMap<&[u8], Vec<usize>> = HashMap::new();
    for quote in memchr_iter(b'"', &bytes[from..end]).map(|at| from + at) {
        let before = &bytes[from..quote];
        let delimiter = before.iter().rev().take(MAX_DELIMITER).take_while(|byte| is_delimiter(byte)).count();
        let (rest, delimiter) = before.split_at(before.len() - delimiter);
        if rest.last() == Some(&b')') {
            ends.entry(delimiter).or_default().push(quote + 1);
        }
    }
    ends
}

/// The length of the punctuator at the beginning of some bytes: the longest that C++ has, or of what is none a byte.
const fn punctuator(bytes: &[u8]) -> usize {
    match *bytes {
        [b'<', b'<', b'=', ..]
        | [b'>', b'>', b'=', ..]
        | [b'.', b'.', b'.', ..]
        | [b'-', b'>', b'*', ..]
        | [b'<', b'=', b'>', ..] => 3,
        [b':', b':', ..]
        | [b'-', b'>', ..]
        | [b'.', b'*', ..]
        | [b'<' | b'>' | b'=' | b'!' | b'&' | b'|' | b'+' | b'-' | b'*' | b'/' | b'%' | b'^', b'=', ..] => 2,
        [one @ (b'#' | b'<' | b'>' | b'&' | b'|' | b'+' | b'-'), two, ..] if one == two => 2,
        _ => 1,
    }
}

impl<'s> Scanner<'s> {
    /// A scanner of a whole file, which yields [`Kind::Directive`] for its preprocessor lines.
    pub fn file(source: &'s str) -> Self {
        Self::new(source, 0, source.len(), true)
    }

    /// The same of a part of a text.
    pub fn part(source: &'s str, span: Span) -> Self {
        Self::new(source, span.start as usize, (span.end as usize).min(source.len()), true)
    }

    /// A scanner of a part of a preprocessor line.
    pub fn line(source: &'s str, span: Span) -> Self {
        Self::new(source, span.start as usize, (span.end as usize).min(source.len()), false)
    }

    fn new(source: &'s str, at: usize, end: usize, directives: bool) -> Self {
        let bytes = source.as_bytes();
        Self { bytes, at, end, line_start: directives, directives, raw_ends: None, comments: None }
    }

    fn byte(&self, ahead: usize) -> u8 {
        let at = self.at + ahead;
        if at < self.end { self.bytes[at] } else { 0 }
    }

    /// Length of the line continuation at `at`, 0 if there is none.
    fn continuation(&self, at: usize) -> usize {
        match self.bytes.get(at..self.end) {
            Some([b'\\', b'\n', ..]) => 2,
            Some([b'\\', b'\r', b'\n', ..]) => 3,
            _ => 0,
        }
    }

    fn skip_trivia(&mut self) {
        while self.at < self.end {
            let start = self.at;
            match self.bytes[self.at] {
                b'\n' => {
                    self.line_start = self.directives;
                    self.at += 1;
                }
                byte if byte.is_ascii_whitespace() || byte == 0x0b => self.at += 1,
                b'/' if self.byte(1) == b'/' => {
                    self.at = self.line_end(self.at);
                    self.comment(start);
                }
                b'/' if self.byte(1) == b'*' => {
                    self.at = self.comment_end(self.at);
                    self.comment(start);
                }
                b'\\' if self.continuation(self.at) > 0 => self.at += self.continuation(self.at),
                _ => return,
            }
        }
    }

    fn comment(&mut self, start: usize) {
        if let Some(comments) = &mut self.comments {
            comments.push(Span::new(start as u32, self.at as u32));
        }
    }

    /// The newline that ends the line at `from`, continuations passed over.
    fn line_end(&self, from: usize) -> usize {
        let mut at = from;
        while let Some(found) = memchr2(b'\n', b'\\', &self.bytes[at..self.end]) {
            at += found;
            if self.bytes[at] == b'\n' {
                return at;
            }
            at += self.continuation(at).max(1);
        }
        self.end
    }

    fn comment_end(&self, from: usize) -> usize {
        let inside = (from + 2).min(self.end);
        memmem::find(&self.bytes[inside..self.end], b"*/").map_or(self.end, |found| inside + found + 2)
    }

    /// The end of a quoted literal whose opening quote is at `from`; an unclosed one ends with its line.
    fn quoted_end(&self, from: usize) -> usize {
        let quote = self.bytes[from];
        let mut at = from + 1;
        while at < self.end {
            match self.bytes[at] {
                b'\\' => at += self.continuation(at).max(2),
                b'\n' => return at,
                byte if byte == quote => return at + 1,
                _ => at += 1,
            }
        }
        self.end
    }

    /// The end of the raw string whose quote is at `quote`; none if it has no end in this text.
    fn raw_end(&mut self, quote: usize) -> Option<usize> {
        let inside = self.bytes.get(quote + 1..self.end)?;
        let length = inside.iter().take(MAX_DELIMITER + 1).position(|&byte| byte == b'(')?;
        let delimiter = &inside[..length];
        if !delimiter.iter().all(is_delimiter) {
            return None;
        }
        let from = quote + 1 + length;
        let ends =
            self.raw_ends.get_or_insert_with(|| raw_ends(self.bytes, from, self.end)).get(delimiter)?;
        ends.get(ends.partition_point(|end| *end < from + length + 3)).copied()
    }

    /// The end of the preprocessor line at `from`: comments over several lines and raw strings belong to it.
    fn directive_end(&mut self, from: usize) -> usize {
        let mut at = from;
        while at < self.end {
            at = match self.bytes[at] {
                b'\n' => return at,
                b'\\' => at + self.continuation(at).max(1),
                b'/' if self.bytes.get(at + 1) == Some(&b'/') => return self.line_end(at),
                b'/' if self.bytes.get(at + 1) == Some(&b'*') => self.comment_end(at),
                b'"' if self.bytes[at - 1] == b'R' => match self.raw_end(at) {
                    Some(end) => end,
                    None => self.quoted_end(at),
                },
                b'"' => self.quoted_end(at),
                b'\'' if !self.bytes[at - 1].is_ascii_alphanumeric() => self.quoted_end(at),
                _ => at + 1,
            };
        }
        self.end
    }

    fn identifier_end(&self, from: usize) -> usize {
        let is_part = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$') || byte >= 0x80;
        let rest = &self.bytes[from..self.end];
        from + rest.iter().position(|&byte| !is_part(byte)).unwrap_or(rest.len())
    }

    fn number_end(&self, from: usize) -> usize {
        let mut at = from + 1;
        while at < self.end {
            let byte = self.bytes[at];
            let next = self.bytes.get(at + 1).copied().unwrap_or(0);
            let sign = matches!(byte, b'+' | b'-') && matches!(self.bytes[at - 1] | 0x20, b'e' | b'p');
            let hex_e = self.bytes.get(from + 1).is_some_and(|x| x | 0x20 == b'x')
                && self.bytes[at - 1] | 0x20 == b'e';
            let separator = byte == b'\'' && next.is_ascii_alphanumeric();
            let part = byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_');
            if !(part || separator || (sign && !hex_e)) {
                break;
            }
            at += 1;
        }
        at
    }

    /// A string, if the identifier from `start` to `end` is the prefix of one.
    fn prefixed(&mut self, start: usize, end: usize) -> Option<(Kind, usize)> {
        let quote = *self.bytes.get(end).filter(|_| end < self.end)?;
        match (&self.bytes[start..end], quote) {
            (b"R" | b"LR" | b"u8R" | b"uR" | b"UR", b'"') => Some((Kind::RawText, self.raw_end(end)?)),
            (b"L" | b"u8" | b"u" | b"U", b'"') => Some((Kind::Text, self.quoted_end(end))),
            (b"L" | b"u8" | b"u" | b"U", b'\'') => Some((Kind::Character, self.quoted_end(end))),
            _ => None,
        }
    }

    fn token_end(&mut self) -> (Kind, usize) {
        let start = self.at;
        match self.bytes[start] {
            b'#' if self.line_start => (Kind::Directive, self.directive_end(start + 1)),
            b'"' => (Kind::Text, self.quoted_end(start)),
            b'\'' => (Kind::Character, self.quoted_end(start)),
            byte if byte.is_ascii_digit() || (byte == b'.' && self.byte(1).is_ascii_digit()) => {
                (Kind::Number, self.number_end(start))
            }
            byte if byte.is_ascii_alphabetic() || matches!(byte, b'_' | b'$') || byte >= 0x80 => {
                let end = self.identifier_end(start);
                self.prefixed(start, end).unwrap_or((Kind::Identifier, end))
            }
            _ => (Kind::Punctuator, start + punctuator(&self.bytes[start..self.end])),
        }
    }
}

impl Iterator for Scanner<'_> {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        self.skip_trivia();
        if self.at >= self.end {
            return None;
        }
        let start = self.at;
        let (kind, end) = self.token_end();
        self.at = end.clamp(start + 1, self.end);
        self.line_start = false;
        Some(Token { kind, span: Span::new(start as u32, self.at as u32), condition: 0, ignored: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(source: &str) -> Vec<&str> {
        Scanner::file(source).map(|token| token.span.text(source)).collect()
    }

    #[test]
    fn comments_and_continuations_are_no_tokens() {
        assert_eq!(texts("a /* asm( */ b // asm( \\\n asm(\nc \\\n d"), ["a", "b", "c", "d"]);
    }

    #[test]
    fn comments_of_preprocessor_lines_are_comments() {
        let source = "// a\n#define X(b) /* c */ f(\"//\") // d \\\n e\nx /* f */\n#if 0 // g";
        let comments: Vec<&str> = all_comments(source).iter().map(|span| span.text(source)).collect();
        assert_eq!(comments, ["// a", "/* c */", "// d \\\n e", "/* f */", "// g"]);
    }

    #[test]
    fn strings_hide_their_contents() {
        let source = r#"x "a\"asm(" u8"b" L'\'' R"d(asm("q)")d" 'c'"#;
        assert_eq!(texts(source), ["x", r#""a\"asm(""#, "u8\"b\"", r"L'\''", r#"R"d(asm("q)")d""#, "'c'"]);
    }

    #[test]
    fn an_open_literal_ends_with_its_line() {
        assert_eq!(texts("\"open\nasm R\"(x"), ["\"open", "asm", "R", "\"(x"]);
    }

    #[test]
    fn numbers_keep_separators_and_exponents() {
        assert_eq!(texts("1'000'000u 0x1e+2 1e+2 .5f"), ["1'000'000u", "0x1e", "+", "2", "1e+2", ".5f"]);
    }

    #[test]
    fn directives_are_one_token() {
        let source = "  #define X(a) asm(#a) /* over\n lines */ \\\n y\nz # w";
        assert_eq!(texts(source), ["#define X(a) asm(#a) /* over\n lines */ \\\n y", "z", "#", "w"]);
    }

    #[test]
    fn an_apostrophe_in_an_error_line_hurts_nothing() {
        assert_eq!(texts("#error don't\nasm(\"\")"), ["#error don't", "asm", "(", "\"\"", ")"]);
    }
}
