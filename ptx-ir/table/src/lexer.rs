//! Cuts a table file into tokens that know their line.

use std::fmt;

use crate::fault::Fault;

/// One token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Token {
    /// `d`, `out`, `sm_90+`, `cache-policy`: letters, digits, `_`, `%`, and inner `-`.
    Word(String),
    /// `.ftz`, `.L2::cache_hint`, `.relaxed.cta`: one or more dotted words without white space.
    Dotted(String),
    /// `15`, `0xff`, `-1`.
    Number(i64),
    /// `"…"`, or `'…'` where there is a `"` in it.
    Text(String),
    /// Any other character, and `..` as `'…'`.
    Mark(char),
}

impl fmt::Display for Token {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) | Self::Dotted(text) => write!(formatter, "`{text}`"),
            Self::Number(value) => write!(formatter, "`{value}`"),
            Self::Text(text) => write!(formatter, "\"{text}\""),
            Self::Mark('…') => formatter.write_str("`..`"),
            Self::Mark(mark) => write!(formatter, "`{mark}`"),
        }
    }
}

/// A token and where it is.
#[derive(Clone, Debug)]
pub struct Spanned {
    /// The token.
    pub token: Token,
    /// The line, counted from 1.
    pub line: usize,
    /// How many characters are before it in the line.
    pub column: usize,
}

/// Cuts text whose first line has the number `line` into tokens. `#` starts a comment.
pub fn tokens(file: &str, text: &str, mut line: usize) -> Result<Vec<Spanned>, Fault> {
    let characters: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let (mut at, mut line_start) = (0, 0);
    while let Some(&character) = characters.get(at) {
        let start = at;
        let token = match character {
            '\n' => {
                line += 1;
                at += 1;
                line_start = at;
                continue;
            }
            character if character.is_whitespace() => {
                at += 1;
                continue;
            }
            '#' => {
                at = skip(&characters, at, |character| character != '\n');
                continue;
            }
            quote @ ('"' | '\'') => {
                at = skip(&characters, at + 1, |character| character != quote && character != '\n');
                if characters.get(at) != Some(&quote) {
                    return Err(Fault::new(file, line, "a text that begins here has no closing quote"));
                }
                at += 1;
                Token::Text(characters[start + 1..at - 1].iter().collect())
            }
            '.' if characters.get(at + 1) == Some(&'.') => {
                at += 2;
                Token::Mark('…')
            }
            '.' => {
                at = dotted_end(&characters, at);
                Token::Dotted(characters[start..at].iter().collect())
            }
            _ if starts_number(&characters, at) => {
                at = skip(&characters, at + 1, |character| character.is_ascii_alphanumeric());
                let text: String = characters[start..at].iter().collect();
                match number(&text) {
                    Some(value) => Token::Number(value),
                    // `-0f` is the sign of an attribute and the name of a class.
                    None if text.starts_with('-') => {
                        at = start + 1;
                        Token::Mark('-')
                    }
                    None => Token::Word(text),
                }
            }
            _ if is_word(character) => {
                at = word_end(&characters, at);
                Token::Word(characters[start..at].iter().collect())
            }
            _ => {
                at += 1;
                Token::Mark(character)
            }
        };
        found.push(Spanned { token, line, column: start - line_start });
    }
    Ok(found)
}

fn skip(characters: &[char], mut at: usize, wanted: impl Fn(char) -> bool) -> usize {
    while characters.get(at).is_some_and(|&character| wanted(character)) {
        at += 1;
    }
    at
}

fn is_word(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_' || character == '%'
}

fn starts_number(characters: &[char], at: usize) -> bool {
    let digit = |index: usize| characters.get(index).is_some_and(char::is_ascii_digit);
    digit(at) || characters[at] == '-' && digit(at + 1)
}

/// A word may hold a `-` between two letters, as in `cache-policy`.
fn word_end(characters: &[char], mut at: usize) -> usize {
    loop {
        at = skip(characters, at, is_word);
        let inner =
            characters.get(at) == Some(&'-') && characters.get(at + 1).is_some_and(char::is_ascii_alphabetic);
        if !inner {
            return at;
        }
        at += 1;
    }
}

/// A dotted word goes on over further dots and over colons that are between its characters.
fn dotted_end(characters: &[char], mut at: usize) -> usize {
    loop {
        at = skip(characters, at + 1, is_word);
        match (characters.get(at), characters.get(at + 1)) {
            (Some('.'), Some(&next)) if is_word(next) => {}
            (Some(':'), Some(&next)) if is_word(next) || next == ':' => {}
            _ => return at,
        }
    }
}

fn number(text: &str) -> Option<i64> {
    match text.strip_prefix("0x") {
        Some(digits) => i64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
