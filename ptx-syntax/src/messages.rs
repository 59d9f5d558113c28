//! The sentences for syntax errors: LALRPOP's lists of expected terminals folded into what a person
//! would say, with the word after which it was expected.

use crate::lexer::{Token, TokenKind};
use crate::{Applicability, Diagnostic, Edit, Span};

const CODE: &str = "E0001";
const RULE: &str = "syntax";

fn error(span: Span, message: impl Into<String>) -> Diagnostic {
    Diagnostic::invalid(CODE, RULE, span, message)
}

/// The token at `index` does not fit, or the text of the statement ended at `index == to`.
pub(crate) fn unexpected(
    source: &str,
    tokens: &[Token],
    from: usize,
    index: usize,
    to: usize,
    expected: &[String],
) -> Diagnostic {
    let found = tokens.get(index).filter(|_| index < to).copied();
    if let Some(diagnostic) = found.and_then(|token| bad_token(source, token)) {
        return diagnostic;
    }
    let wanted = fold(expected);
    let after = after(source, tokens, from, index);
    // What is missing belongs behind the last token, not in front of whatever comes next.
    let missing = wanted.insertable && index > from;
    let span = match found {
        Some(token) if !missing => token.span,
        _ => Span::at(tokens.get(index.wrapping_sub(1)).map_or(0, |token| token.span.end)),
    };
    let mut diagnostic = error(span, format!("expected {}{after}", wanted.phrase));
    if let Some(token) = found {
        let text = shorten(token.text(source));
        if missing {
            diagnostic = diagnostic.with_secondary(token.span, format!("found `{text}` instead"));
        } else {
            diagnostic.label = format!("found `{text}`");
        }
    }
    if found.is_some_and(|token| token.kind == TokenKind::Semicolon) && index == from {
        diagnostic.message = "expected a statement, found a lone `;`".into();
        diagnostic = diagnostic.with_help("remove the `;`: PTX has no empty statement").with_fix(
            "remove the `;`",
            Applicability::Certain,
            vec![Edit { span, replacement: String::new() }],
        );
    }
    diagnostic
}

/// An item at module level that is none.
pub(crate) fn stray_at_module_level(source: &str, tokens: &[Token]) -> Diagnostic {
    let first = tokens[0];
    if let Some(diagnostic) = bad_token(source, first) {
        return diagnostic;
    }
    let text = shorten(first.text(source));
    let diagnostic = error(first.span, format!("expected a directive or a declaration, found `{text}`"));
    match first.kind {
        TokenKind::CloseBrace => {
            diagnostic.with_help("this `}` closes nothing: remove it, or open its block")
        }
        TokenKind::Name | TokenKind::Dotted | TokenKind::At => {
            diagnostic.with_help("instructions belong between the braces of an `.entry` or `.func`")
        }
        _ => diagnostic,
    }
}

/// A `{` without its `}`.
pub(crate) fn unclosed_brace(open: Span, found: Option<Span>, end: Span) -> Diagnostic {
    let diagnostic = error(open, "this `{` is never closed").with_label("opened here");
    let diagnostic = match found {
        Some(found) => diagnostic.with_secondary(found, "the body must end before this"),
        None => diagnostic.with_secondary(end, "the text ends here"),
    };
    diagnostic.with_help("add the missing `}`")
}

/// The text has more errors than are shown.
pub(crate) fn too_many(span: Span) -> Diagnostic {
    error(span, "too many syntax errors, the rest of the text was not read")
}

/// A token that is wrong wherever it stands.
fn bad_token(source: &str, token: Token) -> Option<Diagnostic> {
    let text = token.text(source);
    let shown = shorten(text);
    Some(match token.kind {
        TokenKind::UnterminatedComment => {
            error(Span::new(token.span.start, token.span.start + 2), "this comment is never closed")
                .with_help("end it with `*/`")
        }
        TokenKind::UnterminatedString => {
            error(token.span, "this string is never closed").with_help("end it with `\"` on the same line")
        }
        TokenKind::BadNumber => bad_number(token.span, text, &shown),
        TokenKind::Unknown => unknown_character(token.span, text),
        _ => return None,
    })
}

fn bad_number(span: Span, text: &str, shown: &str) -> Diagnostic {
    let diagnostic = error(span, format!("`{shown}` is not a number"));
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("0f") || lower.starts_with("0d") {
        let digits = if lower.starts_with("0f") { 8 } else { 16 };
        let have = text.len() - 2;
        return diagnostic.with_help(format!(
            "`{}` takes exactly {digits} hexadecimal digits, here are {have} characters",
            &text[..2]
        ));
    }
    if let Some(number) = text.strip_suffix('u')
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        let replacement = format!("{number}U");
        return diagnostic.with_help("the suffix of an unsigned integer is an upper-case `U`").with_fix(
            format!("write `{replacement}`"),
            Applicability::Certain,
            vec![Edit { span, replacement }],
        );
    }
    diagnostic.with_note("identifiers do not begin with a digit")
}

fn unknown_character(span: Span, text: &str) -> Diagnostic {
    let character = text.chars().next().unwrap_or('\0');
    match character {
        '\0' => error(span, "the text holds a NUL byte").with_help("is this a binary file?"),
        '\u{feff}' => error(span, "the text begins with a byte-order mark")
            .with_help("save the file without it")
            .with_fix("remove it", Applicability::Certain, vec![Edit { span, replacement: String::new() }]),
        '#' => error(span, "unexpected character `#`")
            .with_help("PTX is not preprocessed: run the C preprocessor before"),
        _ if character.is_ascii_graphic() => error(span, format!("unexpected character `{character}`")),
        _ => error(span, format!("unexpected character U+{:04X}", character as u32)),
    }
}

/// ` after …`, from the token before `index`.
fn after(source: &str, tokens: &[Token], from: usize, index: usize) -> String {
    if index <= from {
        return String::new();
    }
    let Some(before) = tokens.get(index - 1) else { return String::new() };
    let text = shorten(before.text(source));
    let opcode = index - 1 == from || (index >= 2 && guard_ends(tokens, from, index - 2));
    match before.kind {
        TokenKind::Dotted | TokenKind::Name if opcode => format!(" after `{text}`"),
        TokenKind::Name
        | TokenKind::Dotted
        | TokenKind::Integer
        | TokenKind::Float
        | TokenKind::CloseBracket
        | TokenKind::CloseBrace
        | TokenKind::CloseParen
            if matches!(tokens[from].kind, TokenKind::Name | TokenKind::Dotted | TokenKind::At) =>
        {
            " after an operand".into()
        }
        _ => format!(" after `{text}`"),
    }
}

/// Whether a guard ends at the token `last`.
fn guard_ends(tokens: &[Token], from: usize, last: usize) -> bool {
    tokens.get(from).is_some_and(|token| token.kind == TokenKind::At)
        && last > from
        && last <= from + 2
        && tokens[last].kind == TokenKind::Name
}

/// What the parser would have taken.
struct Wanted {
    phrase: String,
    /// Whether it is a separator, which is missing rather than wrong.
    insertable: bool,
}

/// Groups of terminals that have one name among people. A group is named when all its members are expected.
const GROUPS: [(&str, &[&str]); 3] = [
    ("an operand", &["name", "dotted", "integer", "float", "\"[\"", "\"{\"", "\"(\""]),
    ("a statement", &["name", "dotted", "\"@\"", "\"{\""]),
    ("a type or another word with a dot", &["dot_word", "space"]),
];

/// Words of the grammar as people know them; those that are missing here are shown as they are.
const NAMES: [(&str, &str); 11] = [
    ("name", "a name"),
    ("dotted", ""),
    ("dot_word", "a word with a dot"),
    ("integer", "an integer"),
    ("float", "a number"),
    ("string", "a string"),
    ("linkage", ""),
    ("space", "a state space"),
    ("source_section", ""),
    ("source_text", ""),
    ("targets", ""),
];

fn fold(expected: &[String]) -> Wanted {
    let mut rest: Vec<&str> = expected.iter().map(String::as_str).collect();
    let mut parts: Vec<String> = Vec::new();
    let separators: Vec<&str> = ["\",\"", "\";\"", "\")\"", "\"]\"", "\"}\"", "\":\""]
        .into_iter()
        .filter(|s| rest.contains(s))
        .collect();
    let operands = GROUPS[0].1.iter().all(|member| rest.contains(member));
    for (name, members) in GROUPS {
        if members.iter().all(|member| rest.contains(member)) {
            parts.push(name.into());
            rest.clear();
        }
    }
    let insertable = !separators.is_empty() && !operands;
    if insertable {
        // Operators could follow an operand nearly everywhere; nobody who forgot a comma meant one.
        rest.clear();
    }
    for word in rest {
        let name = NAMES
            .iter()
            .find(|(key, _)| *key == word)
            .map_or_else(|| format!("`{}`", word.trim_matches('"')), |(_, name)| (*name).to_owned());
        if !name.is_empty() && !separators.contains(&word) && !parts.contains(&name) {
            parts.push(name);
        }
    }
    parts.extend(separators.iter().map(|separator| format!("`{}`", separator.trim_matches('"'))));
    parts.dedup();
    parts.truncate(6);
    Wanted { phrase: join(&parts), insertable }
}

fn join(parts: &[String]) -> String {
    match parts {
        [] => "the end of the text".into(),
        [one] => one.clone(),
        [head @ .., last] => format!("{} or {last}", head.join(", ")),
    }
}

fn shorten(text: &str) -> String {
    const MOST: usize = 40;
    let line = text.lines().next().unwrap_or("");
    if line.chars().count() <= MOST {
        return line.into();
    }
    line.chars().take(MOST).chain("…".chars()).collect()
}
