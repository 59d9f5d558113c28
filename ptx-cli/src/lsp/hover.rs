//! What the editor shows where the mouse rests on an instruction, a name, a constant or a directive.

use std::fmt::Write;

use lsp_types::{Hover, HoverContents, MarkupContent, MarkupKind};
use ptx_ir::directive::DirectiveKind;
use ptx_ir::isa::Role;
use ptx_syntax::Span;
use ptx_syntax::lexer::{Lexer, Token, TokenKind};
use ptx_syntax::names::{NameKind, Symbol};

use super::access::Accesses;
use super::constants;
use super::convert::ranges;
use super::document::Document;
use super::navigate::{Found, Place, find, places};
use super::part::{Part, Target};
use super::values;

use crate::manual;
use crate::source::Kind;

/// No more lines are named where a register is set or read.
const MAX_LINES: usize = 8;

/// Of no more places of a register it is asked what happens there.
const MAX_PLACES: usize = 2000;

/// Headers are shown up to this length, in bytes.
const MAX_HEADER: usize = 2000;

/// The text for the word at a byte.
pub fn hover(document: &Document, offset: u32) -> Option<Hover> {
    let (place, text) = of_operand(document, offset).or_else(|| of_word(document, offset))?;
    let range = ranges(document, [place]).pop();
    let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: text });
    Some(Hover { contents, range })
}

/// An operand of an asm statement, behind its colon.
fn of_operand(document: &Document, offset: u32) -> Option<(Span, String)> {
    if document.source.kind != Kind::Cuda || document.part_at(offset).is_some() {
        return None;
    }
    let found = find(document, offset)?;
    let Target::Operand(number) = found.target else { return None };
    Some((found.place, operand(document, &found, number)?))
}

fn of_word(document: &Document, offset: u32) -> Option<(Span, String)> {
    let (part, at) = document.part_at(offset)?;
    let token = token_at(document, &part, at)?;
    let place = part.place(token.span)?;
    let word = token.span.text(part.text);
    let text = match token.kind {
        TokenKind::Integer | TokenKind::Float => constants::markdown(word),
        kind if kind.is_dot_word() => directive(word),
        _ => match find(document, offset) {
            Some(found) => named(document, &found),
            None => manual::markdown(word),
        },
    };
    Some((place, text?))
}

/// The word that holds or ends at a byte.
fn token_at(document: &Document, part: &Part<'_>, at: u32) -> Option<Token> {
    let word = |token: &Token| {
        matches!(token.kind, TokenKind::Name | TokenKind::Dotted | TokenKind::Integer | TokenKind::Float)
            || token.kind.is_dot_word()
    };
    let wanted = |token: &Token| word(token) && token.span.start <= at && at <= token.span.end;
    if part.statement.is_none() {
        return document.tokens_near(at).filter(wanted).last();
    }
    Lexer::new(part.text).take_while(|token| token.span.start <= at).filter(wanted).last()
}

fn directive(word: &str) -> Option<String> {
    let described = manual::describe(DirectiveKind::parse(word)?);
    Some(format!("```ptx\n{described}\n```\n"))
}

fn named(document: &Document, found: &Found<'_>) -> Option<String> {
    let symbol = match found.target {
        Target::Operand(number) => {
            let mut text = operand(document, found, number)?;
            if let Some(known) = values::known(document, found) {
                // Writing to a string cannot fail.
                let _ = write!(text, "\n\n{known}");
            }
            return Some(text);
        }
        Target::Name(symbol) => symbol,
    };
    let part = found.part;
    let declared = &part.names.declared()[symbol.declared as usize];
    let name = found.place.text(&document.source.text);
    let mut text = String::from("```ptx\n");
    let specifiers: Vec<&str> = cut(declared.specifiers.text(part.text)).split_whitespace().collect();
    let specifiers = specifiers.join(" ");
    // Writing to a string cannot fail.
    let _ = match declared.kind {
        NameKind::Kernel | NameKind::Function => writeln!(text, "{specifiers}"),
        NameKind::Label => writeln!(text, "{name}:"),
        NameKind::Prototype | NameKind::Targets => writeln!(text, "{}", cut(declared.span.text(part.text))),
        NameKind::Register if symbol.member.is_none() && declared.count.is_some() => {
            writeln!(text, "{specifiers} {name}<{}>;", declared.count.unwrap_or_default())
        }
        NameKind::Register | NameKind::Variable | NameKind::Parameter => {
            writeln!(text, "{specifiers} {name};")
        }
    };
    text.push_str("```\n");
    let all = places(document, found);
    let _ = match declared.kind {
        NameKind::Register => register(&mut text, document, found, symbol, &all),
        _ => {
            let uses = all.iter().filter(|place| !place.declares);
            let lines = lines(document, uses.map(|place| place.span));
            writeln!(text, "declared in line {}, {}", line_of(document, &part, declared.name), used(&lines))
        }
    };
    Some(text)
}

/// At most so much of a text as is shown.
fn cut(text: &str) -> &str {
    if text.len() <= MAX_HEADER {
        return text;
    }
    let end = (0..=MAX_HEADER).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    &text[..end]
}

fn used(lines: &str) -> String {
    if lines.is_empty() { "not used".to_owned() } else { format!("used in {lines}") }
}

/// Where a register is set and read, and what is known of its value.
fn register(
    text: &mut String,
    document: &Document,
    found: &Found<'_>,
    symbol: Symbol,
    all: &[Place],
) -> std::fmt::Result {
    let part = found.part;
    let declared = part.names.declared()[symbol.declared as usize];
    if symbol.member.is_none() && declared.count.is_some() {
        let uses = all.iter().filter(|place| !place.declares).count();
        return writeln!(text, "used at {uses} places");
    }
    let mut accesses = Accesses::new(part);
    let (mut set, mut read) = (Vec::new(), Vec::new());
    let uses = all.iter().filter(|place| !place.declares);
    for place in uses.clone().take(MAX_PLACES) {
        let local = match part.statement {
            None => Some(place.span.start),
            Some(statement) => statement.template.map.decoded(place.span.start),
        };
        let role = local.map_or(Role::Source, |at| accesses.role(at));
        if role != Role::Source {
            set.push(place.span);
        }
        if role != Role::Destination {
            read.push(place.span);
        }
    }
    let is_cut = if uses.count() > MAX_PLACES { ", among others" } else { "" };
    let told = |lines: String| if lines.is_empty() { "nowhere".to_owned() } else { format!("in {lines}") };
    let (set, read) = (lines(document, set.into_iter()), lines(document, read.into_iter()));
    writeln!(text, "set {}; read {}{is_cut}", told(set), told(read))?;
    if let Some(known) = values::known(document, found) {
        writeln!(text, "\n{known}")?;
    }
    Ok(())
}

/// `line 3`, `lines 3, 4`, `lines 3, 4 and 17 more`.
fn lines(document: &Document, spans: impl Iterator<Item = Span>) -> String {
    let mut lines: Vec<u32> = spans.map(|span| document.lines.line(span.start) + 1).collect();
    lines.dedup();
    let shown: Vec<String> = lines.iter().take(MAX_LINES).map(u32::to_string).collect();
    let word = if lines.len() == 1 { "line" } else { "lines" };
    match lines.len() {
        0 => String::new(),
        count if count > MAX_LINES => format!("{word} {} and {} more", shown.join(", "), count - MAX_LINES),
        _ => format!("{word} {}", shown.join(", ")),
    }
}

fn line_of(document: &Document, part: &Part<'_>, span: Span) -> u32 {
    document.lines.line(part.place(span).unwrap_or_default().start) + 1
}

/// An operand of an asm statement: its expression, and what the compiler makes of it.
fn operand(document: &Document, found: &Found<'_>, number: usize) -> Option<String> {
    let statement = found.part.statement?;
    let operand = statement.operands().nth(number)?;
    let source = &document.source.text;
    let is_output = number < statement.outputs.len();
    let constraint = &operand.constraint;
    let what = match (is_output, constraint.is_read_write()) {
        (true, true) => "read and written",
        (true, false) => "output",
        (false, _) => "input",
    };
    let register = match constraint.letters().as_str() {
        "h" => "a 16-bit register",
        "r" => "a 32-bit register",
        "l" => "a 64-bit register",
        "q" => "a 128-bit register",
        "f" => "a `.f32` register",
        "d" => "a `.f64` register",
        "n" => "an integer constant",
        "C" => "the text of a string",
        _ => "a register or constant",
    };
    let expression = cut(operand.expression.text(source));
    let early = if constraint.is_early_clobber() { ", written before all inputs are read" } else { "" };
    Some(format!(
        "```cpp\n\"{}\"({expression})\n```\noperand `%{number}`: {what}, {register}{early}",
        constraint.text
    ))
}

#[cfg(test)]
mod tests {
    use std::str::FromStr;

    use lsp_types::Uri;

    use super::super::lines::Encoding;
    use super::*;

    #[test]
    fn a_word_is_found_wherever_it_is_in_a_large_text() {
        let piece = "/* a comment\n of two lines */ add.u32 %r1, %r1, 1; // mul\n";
        let text = piece.repeat(1000);
        let uri = Uri::from_str("file:///a.ptx").unwrap();
        let document = Document::new(&uri, "ptx", 1, text.clone(), Encoding::Utf8);
        let word_at = |offset: usize| {
            let (part, at) = document.part_at(offset as u32).unwrap();
            token_at(&document, &part, at).map(|token| token.span.text(&text)).unwrap_or_default()
        };
        for at in (0..1000).map(|index| index * piece.len()) {
            let add = at + piece.find("add").unwrap();
            assert_eq!([add, add + 3, add + 7].map(word_at), ["add.u32"; 3]);
            assert_eq!(word_at(at + piece.find("comment").unwrap()), "");
            assert_eq!(word_at(at + piece.find("lines").unwrap()), "");
            assert_eq!(word_at(at + piece.find("mul").unwrap()), "");
        }
        assert_eq!(word_at(text.len() + 9), "");
    }
}
