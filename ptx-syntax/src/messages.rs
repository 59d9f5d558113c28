//! The sentences for syntax errors: LALRPOP's lists of expected terminals folded into what a person
//! would say, with the word after which it was expected.

use crate::lexer::{Token, TokenKind};
use crate::nesting::{MAX_BLOCKS, MAX_WEIGHT};
use crate::{Applicability, Edit, Span, SyntaxError};

fn error(span: Span, message: impl Into<String>) -> SyntaxError {
    SyntaxError::new(span, message)
}

/// Where in a statement or item the parser stopped.
#[derive(Clone, Copy)]
pub(crate) struct Place<'a> {
    /// The text.
    pub source: &'a str,
    /// All tokens, without trivia.
    pub tokens: &'a [Token],
    /// Index of the first token of the statement.
    pub from: usize,
    /// Index of the token at fault.
    pub index: usize,
    /// Index after the last token of the statement; equal to `index` where the statement ended too early.
    pub to: usize,
}

impl<'a> Place<'a> {
    /// The token at fault; none at the end of the statement.
    fn found(self) -> Option<Token> {
        self.tokens.get(self.index).filter(|_| self.index < self.to).copied()
    }

    /// The token of the statement that is `back` tokens before the one at fault.
    fn before(self, back: usize) -> Option<Token> {
        let index = self.index.checked_sub(back)?;
        self.tokens.get(index).filter(|_| index >= self.from).copied()
    }

    fn kind_before(self, back: usize) -> Option<TokenKind> {
        self.before(back).map(|token| token.kind)
    }

    fn first(self) -> Option<TokenKind> {
        self.tokens.get(self.from).map(|token| token.kind)
    }

    fn text(self, token: Token) -> &'a str {
        token.text(self.source)
    }

    /// The tokens that were read.
    fn read(self) -> &'a [Token] {
        self.tokens.get(self.from..self.index).unwrap_or(&[])
    }

    /// Whether what was read is a guard and nothing else.
    fn is_behind_guard(self) -> bool {
        let mut kinds = self.read().iter().map(|token| token.kind).filter(|kind| *kind != TokenKind::Not);
        kinds.next() == Some(TokenKind::At) && kinds.next() == Some(TokenKind::Name) && kinds.next().is_none()
    }

    /// Whether what was read begins a function.
    fn is_header(self) -> bool {
        self.read().iter().any(|token| matches!(token.kind, TokenKind::Entry | TokenKind::Func))
    }
}

/// A token does not fit, or a statement ended too early.
pub(crate) fn unexpected(place: Place<'_>, expected: &[String]) -> SyntaxError {
    let found = place.found();
    if let Some(error) = found.and_then(|token| bad_token(place.source, token)) {
        return error;
    }
    if let Some(error) = place.read().iter().find_map(|token| broken_string(place.source, *token)) {
        return error;
    }
    if let Some(token) = found
        && token.kind == TokenKind::Semicolon
        && place.index == place.from
    {
        return error(token.span, "expected a statement, found a lone `;`")
            .with_help("remove the `;`: PTX has no empty statement")
            .with_fix("remove the `;`", Applicability::Certain, vec![remove(token.span)]);
    }
    let wanted = wanted(place, expected);
    let mut error = located(place, &wanted);
    if let Some(token) = found {
        error.what.help = help(place, token, &wanted);
    }
    error
}

/// The error at its place. What is missing belongs after the last token; where the next token is on a line of its
/// own, the error is there, as ptxas has it, and the gap is a second place.
fn located(place: Place<'_>, wanted: &Wanted) -> SyntaxError {
    let message = format!("expected {}{}", wanted.phrase, after(place));
    let gap = Span::at(place.tokens.get(place.index.wrapping_sub(1)).map_or(0, |token| token.span.end));
    let Some(next) = place.tokens.get(place.index) else {
        let end = Span::at(place.source.len() as u32);
        if !Span::new(gap.start, end.start).text(place.source).contains('\n') {
            return error(gap, message);
        }
        return error(end, message).with_label("the text ends here").with_secondary(gap, "it belongs here");
    };
    let text = shorten(place.text(*next));
    let missing = wanted.insertable && place.index > place.from || place.found().is_none();
    if !missing {
        return error(next.span, message).with_label(format!("found `{text}`"));
    }
    if Span::new(gap.start, next.span.start.max(gap.start)).text(place.source).contains('\n') {
        return error(next.span, message)
            .with_label(format!("found `{text}`"))
            .with_secondary(gap, "it belongs here");
    }
    error(gap, message).with_secondary(next.span, format!("found `{text}` instead"))
}

/// What to do about a token that people write by mistake.
fn help(place: Place<'_>, found: Token, wanted: &Wanted) -> Option<String> {
    let text = place.text(found);
    if found.kind == TokenKind::Dotted && wanted.phrase.starts_with("a name") {
        return Some("a name has no dots".into());
    }
    if place.index == place.from && found.kind.is_dot_word() {
        return Some(format!("`{text}` does not belong in the body of a function"));
    }
    if found.kind == TokenKind::Colon && place.first() == Some(TokenKind::At) {
        return Some("a label stands in front of the guard".into());
    }
    let before = place.before(1)?;
    let number = matches!(before.kind, TokenKind::Integer | TokenKind::Float);
    let declares = place.kind_before(2) == Some(TokenKind::StateSpace);
    if declares && before.kind == TokenKind::Name && found.kind == TokenKind::Name {
        return Some(format!("a type begins with a dot: `.{}`", shorten(place.text(before))));
    }
    if found.kind == TokenKind::Name && number && before.span.end == found.span.start {
        return Some(format!("numbers have no suffix `{}`", shorten(text)));
    }
    if let Some(digits) = text.strip_prefix('%')
        && digits.starts_with(|first: char| first.is_ascii_digit())
        && number
    {
        return Some(format!("`{text}` is a name; write `% {digits}` for the remainder"));
    }
    None
}

fn remove(span: Span) -> Edit {
    Edit { span, replacement: String::new() }
}

/// What lines of debugging data began with in PTX 1.x.
pub(crate) const DWARF: &str = "@@DWARF";

/// An item at module level that is none.
pub(crate) fn stray_at_module_level(source: &str, tokens: &[Token]) -> SyntaxError {
    let first = tokens[0];
    if let Some(error) = bad_token(source, first) {
        return error;
    }
    let start = first.span.start;
    if source[start as usize..].starts_with(DWARF) {
        return error(
            Span::new(start, start + DWARF.len() as u32),
            "`@@DWARF` is no directive since PTX 2.0",
        )
        .with_help("write debugging data as `.section .debug_info { .b8 1, 2 }`");
    }
    let text = shorten(first.text(source));
    let error = error(first.span, format!("expected a directive or a declaration, found `{text}`"));
    match first.kind {
        TokenKind::CloseBrace => error.with_help("this `}` closes nothing: remove it, or open its block"),
        TokenKind::Semicolon => error.with_help("remove the `;`: nothing in front of it takes one").with_fix(
            "remove the `;`",
            Applicability::Certain,
            vec![remove(first.span)],
        ),
        TokenKind::Name | TokenKind::Dotted | TokenKind::At => {
            error.with_help("instructions belong between the braces of an `.entry` or `.func`")
        }
        _ => error,
    }
}

/// A `{` without its `}`.
pub(crate) fn unclosed_brace(open: Span, found: Option<Span>, end: Span) -> SyntaxError {
    let (place, label) = match found {
        Some(found) => (found, "the body must end before this"),
        None => (end, "the text ends here"),
    };
    error(place, "a `{` is never closed")
        .with_label(label)
        .with_secondary(open, "opened here")
        .with_help("add the missing `}`")
}

/// The text has more errors than are shown.
pub(crate) fn too_many(span: Span) -> SyntaxError {
    error(span, "too many syntax errors, the rest of the text was not read")
}

/// Brackets are nested more deeply than ptxas reads.
pub(crate) fn nested_too_deeply(bracket: Span, outermost: Span) -> SyntaxError {
    error(bracket, "brackets are nested more deeply than the assembler can read")
        .with_label("the text is not read from here on")
        .with_secondary(outermost, "the outermost one is opened here")
        .with_help(format!(
            "the parser of ptxas has no memory left after {MAX_BLOCKS} blocks or {MAX_WEIGHT} other brackets within \
             each other"
        ))
}

/// A token that is wrong wherever it is.
fn bad_token(source: &str, token: Token) -> Option<SyntaxError> {
    let text = token.text(source);
    let shown = shorten(text);
    Some(match token.kind {
        TokenKind::UnterminatedComment => {
            error(Span::new(token.span.start, token.span.start + 2), "this comment is never closed")
                .with_help("end it with `*/`")
        }
        TokenKind::UnterminatedString => unclosed_string(source, token.span),
        TokenKind::BadNumber => bad_number(token.span, text, &shown),
        TokenKind::Unknown => {
            end_of_string(source, token.span).unwrap_or_else(|| unknown_character(token.span, text))
        }
        _ => return None,
    })
}

/// A string that begins on one line and ends on another, in a statement that is wrong: its end is the
/// beginning of another string, most likely.
fn broken_string(source: &str, token: Token) -> Option<SyntaxError> {
    let lines = token.kind == TokenKind::String && token.text(source).contains('\n');
    lines.then(|| unclosed_string(source, token.span))
}

fn unclosed_string(source: &str, span: Span) -> SyntaxError {
    let line = span.text(source).find(['\r', '\n']).map_or(span.end, |length| span.start + length as u32);
    error(Span::new(span.start, line), "this string is never closed")
        .with_help("end it with `\"` on the same line")
}

fn bad_number(span: Span, text: &str, shown: &str) -> SyntaxError {
    let error = error(span, format!("`{shown}` is not a number"));
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("0f") || lower.starts_with("0d") {
        let digits = if lower.starts_with("0f") { 8 } else { 16 };
        let have = text.len() - 2;
        return error.with_help(format!(
            "`{}` takes exactly {digits} hexadecimal digits, here are {have} characters",
            &text[..2]
        ));
    }
    if let Some(number) = text.strip_suffix('u')
        && number.bytes().all(|byte| byte.is_ascii_digit())
    {
        let replacement = format!("{number}U");
        return error.with_help("the suffix of an unsigned integer is an upper-case `U`").with_fix(
            format!("write `{replacement}`"),
            Applicability::Certain,
            vec![Edit { span, replacement }],
        );
    }
    if lower.len() > 1 && lower.starts_with('0') && lower.bytes().all(|byte| byte.is_ascii_digit()) {
        return error.with_help("a number that begins with 0 is octal, and its digits are 0 to 7");
    }
    error.with_note("identifiers do not begin with a digit")
}

/// What names are made of.
const LETTERS: &str = "names are ASCII: letters, digits, `_`, `$` and `%`";

/// The NUL with which a text in the memory of a C program ends, where nothing follows.
fn end_of_string(source: &str, span: Span) -> Option<SyntaxError> {
    let rest = source.get(span.start as usize..).filter(|rest| rest.starts_with('\0'))?;
    rest.bytes().all(|byte| byte == 0 || byte.is_ascii_whitespace()).then(|| {
        let span = Span::new(span.start, source.len() as u32);
        error(span, "the text ends with a NUL byte, which is no part of it").with_help("remove it").with_fix(
            "remove it",
            Applicability::Certain,
            vec![Edit { span, replacement: String::new() }],
        )
    })
}

fn unknown_character(span: Span, text: &str) -> SyntaxError {
    let character = text.chars().next().unwrap_or('\0');
    match character {
        '\0' => error(span, "the text holds a NUL byte").with_help("is this a binary file?"),
        '\u{feff}' => error(span, "the text begins with a byte-order mark")
            .with_help("save the file without it")
            .with_fix("remove it", Applicability::Certain, vec![Edit { span, replacement: String::new() }]),
        '#' => error(span, "unexpected character `#`")
            .with_help("PTX is not preprocessed: run the C preprocessor before"),
        '.' => error(span, "unexpected character `.`").with_help("a word follows a dot, without a space"),
        _ if character.is_ascii_graphic() && character != '`' => {
            error(span, format!("unexpected character `{character}`"))
        }
        _ if character == '\x7f' || character.is_alphabetic() => {
            error(span, format!("unexpected character U+{:04X}", character as u32)).with_help(LETTERS)
        }
        _ => error(span, format!("unexpected character U+{:04X}", character as u32)),
    }
}

/// ` after …`, from the token before the one at fault.
fn after(place: Place<'_>) -> String {
    let Some(before) = place.before(1) else { return String::new() };
    let text = shorten(place.text(before));
    if place.is_behind_guard() {
        return format!(" after the guard `{}`", guard(place));
    }
    let instruction = matches!(place.first(), Some(TokenKind::Name | TokenKind::Dotted | TokenKind::At));
    match before.kind {
        TokenKind::Dotted | TokenKind::Name if is_opcode(place) => format!(" after `{text}`"),
        TokenKind::Name
        | TokenKind::Dotted
        | TokenKind::Integer
        | TokenKind::Float
        | TokenKind::CloseBracket
        | TokenKind::CloseBrace
        | TokenKind::CloseParen
            if instruction =>
        {
            " after an operand".into()
        }
        _ => format!(" after `{text}`"),
    }
}

/// The guard as it should be written.
fn guard(place: Place<'_>) -> String {
    place.read().iter().map(|token| place.text(*token)).collect()
}

/// Whether the token before the one at fault is the opcode of an instruction.
fn is_opcode(place: Place<'_>) -> bool {
    let last = Place { index: place.index.saturating_sub(1), ..place };
    last.index == place.from || last.is_behind_guard()
}

/// What the parser would have taken.
struct Wanted {
    phrase: String,
    /// Whether it is a separator, which is missing rather than wrong.
    insertable: bool,
}

/// Groups of terminals that have one name among people. A group is named when all its members are expected.
const GROUPS: [(&str, &[&str]); 4] = [
    ("an operand", &["name", "dotted", "integer", "float", "\"[\"", "\"{\"", "\"(\""]),
    ("a statement", &["name", "dotted", "\"@\"", "\"{\""]),
    ("a value", &["name", "dot_word", "integer", "float", "string", "\"-\""]),
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

fn wanted(place: Place<'_>, expected: &[String]) -> Wanted {
    let has = |word: &str| expected.iter().any(|expected| expected == word);
    special(place, &has).unwrap_or_else(|| fold(expected))
}

/// What was expected in places where the grammar's list says less than is known.
fn special(place: Place<'_>, has: &dyn Fn(&str) -> bool) -> Option<Wanted> {
    let wrong = |phrase: &str| Some(Wanted { phrase: phrase.into(), insertable: false });
    let before = place.kind_before(1)?;
    if before == TokenKind::At || before == TokenKind::Not && place.kind_before(2) == Some(TokenKind::At) {
        return wrong("a predicate register");
    }
    if place.is_behind_guard() {
        return wrong("an instruction");
    }
    if before == TokenKind::Section {
        return wrong("the name of a section");
    }
    if place.first() == Some(TokenKind::Section) && before == TokenKind::OpenBrace {
        return wrong("data such as `.b8 1` or `}`");
    }
    if has("dot_word") && has("space") && matches!(before, TokenKind::OpenParen | TokenKind::Comma) {
        return wrong(if has("\")\"") { "a parameter or `)`" } else { "a parameter" });
    }
    if place.is_header() && has("\"{\"") && has("\";\"") {
        let phrase = if has("\"(\"") { "`(`, `{` or `;`" } else { "`{` or `;`" };
        return Some(Wanted { phrase: phrase.into(), insertable: true });
    }
    let declaration = place.first().is_some_and(TokenKind::is_dot_word);
    if declaration && has("dot_word") && has("space") && has("linkage") {
        let types = place.read().iter().any(|token| token.kind == TokenKind::DotWord);
        return match (has("name"), types) {
            (false, _) if has("\".func\"") => wrong("`.entry`, `.func` or a state space"),
            (false, _) => wrong("a state space"),
            (true, true) => wrong("a name"),
            (true, false) => wrong("a type"),
        };
    }
    None
}

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
    if rest.contains(&"integer") && rest.contains(&"float") {
        rest.retain(|word| *word != "integer");
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
    const MAX_LENGTH: usize = 40;
    let line = text.lines().next().unwrap_or("");
    if line.chars().count() <= MAX_LENGTH {
        return line.into();
    }
    line.chars().take(MAX_LENGTH).chain("…".chars()).collect()
}
