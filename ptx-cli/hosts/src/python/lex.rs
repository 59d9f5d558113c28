//! The characters of Python as tokens: as much of them as calls, strings and assignments need.
//!
//! No token is refused. A string that does not end is one mark up to where it would have had to end, so that the time is
//! in proportion to the text whatever is missing in it.

use logos::{Lexer, Logos};
use ptx_syntax::Span;

use super::tokens::{Kind, Token};

#[derive(Logos, Clone, Copy, Debug, PartialEq, Eq)]
// A BOM, a line that goes on, and blanks separate tokens.
#[logos(skip r"(?:[ \t\x0C\u{FEFF}]|\\\r?\n)+")]
enum Raw {
    #[regex(r"#[^\r\n]*", allow_greedy = true)]
    Comment,
    #[regex(r"\r\n|\r|\n")]
    LineEnd,
    // Beyond ASCII only names have characters outside strings and comments.
    #[regex(r"[A-Za-z_\u{80}-\u{FEFE}\u{FF00}-\u{10FFFF}][0-9A-Za-z_\u{80}-\u{FEFE}\u{FF00}-\u{10FFFF}]*")]
    Word,
    #[regex(r"(?:[0-9]|\.[0-9])(?:[eE][+-][0-9]|[0-9A-Za-z_.])*")]
    Number,
    #[regex(r#"(?i:[rbuft]|[bft]r|r[bft])?["']"#, text)]
    Text(Ending),
    #[regex(r"[(\[{]")]
    Open,
    #[regex(r"[)\]}]")]
    Close,
    #[regex(r"\.\.\.|[.,:;~]|->|:=|(?:\*\*|//|<<|>>|[-+*/%@&|^<>=!])=?|<>")]
    Mark,
}

/// How a string ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ending {
    Quote,
    /// At the end of its line or of the file.
    Missing,
}

/// The tokens of a file, and its comments.
pub(super) fn tokens(source: &str) -> (Vec<Token>, Vec<Span>) {
    let (mut all, mut comments) = (Vec::new(), Vec::new());
    let mut depth = 0_usize;
    for (raw, range) in Raw::lexer(source).spanned() {
        let span = Span::new(range.start as u32, range.end as u32);
        let kind = match raw {
            Ok(Raw::Comment) => {
                comments.push(span);
                continue;
            }
            // Within brackets, and after nothing, the end of a line ends no statement.
            Ok(Raw::LineEnd) if depth > 0 => continue,
            Ok(Raw::LineEnd) => match all.last() {
                Some(Token { kind: Kind::Newline, .. }) | None => continue,
                _ => Kind::Newline,
            },
            Ok(Raw::Word) => Kind::Word,
            Ok(Raw::Number) => Kind::Number,
            Ok(Raw::Text(Ending::Quote)) => Kind::Text,
            Ok(Raw::Open) => {
                depth += 1;
                Kind::Mark
            }
            Ok(Raw::Close) => {
                depth = depth.saturating_sub(1);
                Kind::Mark
            }
            Ok(Raw::Mark | Raw::Text(Ending::Missing)) | Err(()) => Kind::Mark,
        };
        all.push(Token { kind, span });
    }
    if all.last().is_some_and(|token| token.kind != Kind::Newline) {
        all.push(Token { kind: Kind::Newline, span: Span::at(source.len() as u32) });
    }
    (all, comments)
}

/// A string, or a part of an f-string, that is open.
#[derive(Clone, Copy)]
enum Part {
    /// The characters of a string.
    Characters(Quotes),
    /// What an f-string computes, with so many brackets open.
    Field(usize),
    /// How an f-string shows what it computes: what follows the `:`.
    Format,
}

#[derive(Clone, Copy)]
struct Quotes {
    quote: u8,
    is_triple: bool,
    is_format: bool,
}

impl Quotes {
    /// The quotes at `at`, with the prefix that stands before them.
    fn at(bytes: &[u8], at: usize) -> Self {
        let prefix = bytes[..at].iter().rev().take(2).take_while(|byte| byte.is_ascii_alphabetic());
        let quote = bytes[at];
        Self {
            quote,
            is_triple: bytes.get(at + 1) == Some(&quote) && bytes.get(at + 2) == Some(&quote),
            is_format: prefix.clone().any(|byte| matches!(byte.to_ascii_lowercase(), b'f' | b't')),
        }
    }

    fn len(self) -> usize {
        if self.is_triple { 3 } else { 1 }
    }

    fn end_at(self, bytes: &[u8], at: usize) -> bool {
        bytes[at..].iter().take(self.len()).take_while(|byte| **byte == self.quote).count() == self.len()
    }
}

/// Takes the rest of a string after its first quote.
fn text(lexer: &mut Lexer<'_, Raw>) -> Ending {
    let bytes = lexer.source().as_bytes();
    let first = lexer.span().end - 1;
    let (end, ending) = end_of_text(bytes, first);
    lexer.bump(end - lexer.span().end);
    ending
}

/// Where the string ends whose quotes stand at `first`.
fn end_of_text(bytes: &[u8], first: usize) -> (usize, Ending) {
    let outer = Quotes::at(bytes, first);
    let mut open = vec![Part::Characters(outer)];
    let mut at = first + outer.len();
    while let (Some(part), Some(&byte)) = (open.last_mut(), bytes.get(at)) {
        let mut length = 1;
        // A string of one line ends with it, and so does what an f-string of one line computes in most versions.
        if matches!(byte, b'\r' | b'\n') && !outer.is_triple {
            return (at, Ending::Missing);
        }
        match part {
            Part::Characters(quotes) if quotes.end_at(bytes, at) => {
                length = quotes.len();
                open.pop();
            }
            Part::Characters(quotes) => match byte {
                b'\\' => length = escaped(bytes, at),
                b'{' | b'}' if quotes.is_format && bytes.get(at + 1) == Some(&byte) => length = 2,
                b'{' if quotes.is_format => open.push(Part::Field(0)),
                _ => {}
            },
            Part::Field(brackets) => match byte {
                b'(' | b'[' | b'{' => *brackets += 1,
                b')' | b']' | b'}' if *brackets > 0 => *brackets -= 1,
                b'}' => {
                    open.pop();
                }
                b':' if *brackets == 0 => *part = Part::Format,
                b'"' | b'\'' => {
                    let quotes = Quotes::at(bytes, at);
                    length = quotes.len();
                    open.push(Part::Characters(quotes));
                }
                _ => {}
            },
            Part::Format => match byte {
                b'{' => open.push(Part::Field(0)),
                b'}' => {
                    open.pop();
                }
                _ => {}
            },
        }
        at = (at + length).min(bytes.len());
    }
    (at, if open.is_empty() { Ending::Quote } else { Ending::Missing })
}

/// How long a `\` is with what it stands before.
fn escaped(bytes: &[u8], at: usize) -> usize {
    match bytes.get(at + 1..) {
        Some([b'\r', b'\n', ..]) => 3,
        Some([_, ..]) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(source: &str) -> Vec<(Kind, &str)> {
        let (all, _) = tokens(source);
        all.iter().map(|token| (token.kind, token.span.text(source))).collect()
    }

    fn texts(source: &str) -> Vec<&str> {
        shown(source).into_iter().filter(|(kind, _)| *kind == Kind::Text).map(|(_, text)| text).collect()
    }

    #[test]
    fn strings_end_where_python_ends_them() {
        assert_eq!(texts("'a\\'b' \"c\""), ["'a\\'b'", "\"c\""]);
        assert_eq!(texts("rb'\\'' 1 Rb\"x\" u'y'"), ["rb'\\''", "Rb\"x\"", "u'y'"]);
        assert_eq!(texts("\"\"\"a\"b\n''\"\"\" ''"), ["\"\"\"a\"b\n''\"\"\"", "''"]);
        assert_eq!(texts("'a\\\nb'"), ["'a\\\nb'"]);
    }

    #[test]
    fn a_field_of_an_f_string_has_its_own_quotes() {
        for text in [
            "f'{x[\"a\"]}'",
            "f'{x['a']}'",
            "f'{', '.join(f'{y}' for y in z)}'",
            "f'{x:'",
            "f'{{' '}}'",
            "t'{a:>{w}}'",
            "f'{x[1:2]:{y}}'",
        ] {
            let expected: Vec<&str> = match text {
                // The field does not end, so neither does the string.
                "f'{x:'" => Vec::new(),
                "f'{{' '}}'" => vec!["f'{{'", "'}}'"],
                text => vec![text],
            };
            assert_eq!(texts(text), expected, "{text}");
        }
    }

    #[test]
    fn a_string_without_its_end_is_one_mark_of_its_line() {
        assert_eq!(
            shown("a = 'b\nc"),
            [
                (Kind::Word, "a"),
                (Kind::Mark, "="),
                (Kind::Mark, "'b"),
                (Kind::Newline, "\n"),
                (Kind::Word, "c"),
                (Kind::Newline, ""),
            ]
        );
    }

    #[test]
    fn lines_end_outside_brackets() {
        let newlines = |source| shown(source).iter().filter(|(kind, _)| *kind == Kind::Newline).count();
        assert_eq!(newlines("\n\n# x\na(\nb,\n)\\\n + 1\n\nc"), 2);
        assert_eq!(newlines(")\na\r\nb\rc"), 4);
    }

    #[test]
    fn marks_are_as_long_as_in_python() {
        let marks = |source| shown(source).into_iter().map(|(_, text)| text).collect::<Vec<_>>();
        assert_eq!(
            marks("x**=y->z:=...,1.5e-3"),
            ["x", "**=", "y", "->", "z", ":=", "...", ",", "1.5e-3", ""]
        );
        assert_eq!(marks("\u{FEFF}größe==0x_ff"), ["größe", "==", "0x_ff", ""]);
    }
}
