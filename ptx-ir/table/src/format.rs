//! The layout of `.isa` files: lines of at most [`WIDTH`] columns, one form a paragraph below what it does, sets, operands,
//! values that go together, requirements with effects side by side, every other clause on a line of its own; versions, targets and
//! the clauses of directives as many on a line as fit, special registers one on a line. Comments stay where they are.

use crate::parser::{defines_operand, is_indented};
use crate::syntax;

/// The longest line, in characters.
pub const WIDTH: usize = 110;

/// The text in its canonical layout. What cannot be read as definitions and forms stays as it is.
#[must_use]
pub fn format(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let mut out: Vec<String> = Vec::new();
    let (mut at, mut after_form, mut after_does) = (0, false, false);
    while at < lines.len() {
        let start = at;
        let formatted = item(&lines, &mut at);
        let had_blank = start > 0 && lines[start - 1].is_empty();
        let needs_blank = match out.last() {
            None => false,
            Some(last) if last.is_empty() || formatted.lines.is_empty() => false,
            Some(last) if last.starts_with('#') => had_blank,
            // What forms do is told right above the first of them.
            Some(_) if after_does => false,
            Some(last) => {
                had_blank
                    || formatted.is_paragraph
                    || lines[start].starts_with("does ")
                    || last == "}"
                    || last.starts_with("section ")
                    || after_form
            }
        };
        if needs_blank {
            out.push(String::new());
        }
        after_form = formatted.is_paragraph || formatted.lines.is_empty() && after_form;
        if !formatted.lines.is_empty() {
            after_does = lines[start].starts_with("does ");
        }
        out.extend(formatted.lines);
    }
    out.push(String::new());
    out.join("\n")
}

struct Formatted {
    lines: Vec<String>,
    /// Whether a blank line is before and after it.
    is_paragraph: bool,
}

/// Formats what begins at a line and steps over it.
fn item(lines: &[&str], at: &mut usize) -> Formatted {
    let start = *at;
    let line = lines[start];
    let text =
        |lines: Vec<String>| Formatted { is_paragraph: lines.last().is_some_and(|last| last == "}"), lines };
    let mut until = |ends: &dyn Fn(&str) -> bool| {
        let length =
            lines[start..].iter().position(|line| ends(line)).map_or(lines.len() - start, |end| end + 1);
        *at = start + length;
        &lines[start..start + length]
    };
    let first = line.split_whitespace().next().unwrap_or_default();
    match first {
        "" => text(until(&|_| true)[1..].iter().map(|&line| line.to_owned()).collect()),
        _ if line.starts_with('#') || is_indented(line) => text(vec![until(&|_| true)[0].to_owned()]),
        "clauses" => {
            let body = until(&|line| line.starts_with('}'));
            let mut formatted = vec![line.to_owned()];
            formatted.extend(clauses(&body[1..body.len() - 1]));
            formatted.push("}".to_owned());
            text(formatted)
        }
        "amend" => {
            let header = syntax::glued(until(&|line| line.ends_with(':')));
            let body = lines[*at..].iter().position(|line| !is_indented(line)).unwrap_or(lines.len() - *at);
            let mut formatted = opcodes(&header, 0, 8);
            formatted.extend(clauses(&lines[*at..*at + body]));
            *at += body;
            Formatted { lines: formatted, is_paragraph: true }
        }
        "reasons" => text(until(&|line| line.starts_with('}')).iter().map(|&line| line.to_owned()).collect()),
        "classes" => text(until(&|line| line.ends_with('}')).iter().map(|&line| line.to_owned()).collect()),
        "counts" => text(counts(&joined(until(&|line| line.ends_with('}'))), 0)),
        "repeatable" | "together" | "ignored" | "words" => {
            text(filled(&joined(until(&|line| line.ends_with('}'))), 0, 4))
        }
        "version" | "target" | "family" | "former" | "occupancy" => {
            let block = lines[start..].iter().position(|line| line.is_empty() || line.starts_with('#'));
            *at = block.map_or(lines.len(), |end| start + end);
            text(side_by_side(&lines[start..*at], 0))
        }
        "directive" => {
            let body = lines[start + 1..].iter().position(|line| !is_indented(line));
            *at = body.map_or(lines.len(), |end| start + 1 + end);
            let mut formatted = filled(&joined(&lines[start..=start]), 0, 4);
            formatted.extend(side_by_side(&lines[start + 1..*at], 4));
            Formatted { lines: formatted, is_paragraph: true }
        }
        "does" => text(does(until(&|line| line.ends_with(';')), 0)),
        "operand" => text(vec![until(&|line| line.ends_with(';')).join(" ")]),
        _ if ["section", "pragma"].contains(&first)
            || line.starts_with(['.', '%'])
            || defines_operand(line) =>
        {
            text(filled(&joined(until(&|line| line.ends_with(';'))), 0, 4))
        }
        _ => {
            let mut formatted = Vec::new();
            let mut end = start;
            while end < lines.len() && lines[end].starts_with(|first: char| first.is_ascii_lowercase()) {
                let length =
                    lines[end..].iter().position(|line| line.ends_with(';')).map_or(1, |last| last + 1);
                formatted.extend(syntax_line(&syntax::join(&lines[end..end + length])));
                end += length;
            }
            end = end.max(start + 1);
            let body = lines[end..].iter().position(|line| !is_indented(line)).unwrap_or(lines.len() - end);
            *at = end + body;
            formatted.extend(clauses(&lines[end..end + body]));
            Formatted { lines: formatted, is_paragraph: true }
        }
    }
}

/// Words one after the other, in lines of at most [`WIDTH`] columns; an opcode that is too long is broken before a
/// modifier.
fn opcodes(text: &str, indent: usize, further: usize) -> Vec<String> {
    let mut lines = vec![" ".repeat(indent)];
    for word in words(text) {
        let length = word.chars().count();
        let last = lines.last_mut().expect("there is a first line");
        let is_first = last.trim().is_empty();
        if is_first || last.chars().count() + 1 + length <= WIDTH {
            last.push_str(if is_first { "" } else { " " });
            last.push_str(word);
            continue;
        }
        let mut line = " ".repeat(further);
        for piece in modifiers(word) {
            if line.chars().count() + piece.chars().count() > WIDTH {
                lines.push(std::mem::replace(&mut line, " ".repeat(further + 4)));
            }
            line.push_str(piece);
        }
        lines.push(line);
    }
    lines
}

/// An opcode cut before its modifiers, of which each keeps its braces.
fn modifiers(opcode: &str) -> Vec<&str> {
    let starts = opcode.char_indices().filter(|&(index, _)| {
        let rest = &opcode[index..];
        rest.starts_with("{.") || rest.starts_with('.') && !opcode[..index].ends_with('{')
    });
    let mut cuts: Vec<usize> = starts.map(|(index, _)| index).filter(|&index| index > 0).collect();
    cuts.insert(0, 0);
    cuts.push(opcode.len());
    cuts.windows(2).map(|pair| &opcode[pair[0]..pair[1]]).collect()
}

/// Lines as one, with single spaces.
fn joined(lines: &[&str]) -> String {
    let text = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    words(&text).join(" ").replace("| ", "|")
}

/// The words of a text; a quoted text is one.
fn words(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut quoted) = (None, false);
    for (index, character) in text.char_indices() {
        quoted ^= character == '"';
        if character.is_whitespace() && !quoted {
            found.extend(start.take().map(|start| &text[start..index]));
        } else if start.is_none() {
            start = Some(index);
        }
    }
    found.extend(start.map(|start| &text[start..]));
    found
}

/// The words of a text on lines of at most the width; a longer word is broken after a `|`.
fn filled(text: &str, indent: usize, further: usize) -> Vec<String> {
    let mut lines = vec![" ".repeat(indent)];
    for word in words(text) {
        let begins = |line: &String| line.trim().is_empty();
        let line = lines.last_mut().expect("there is a first line");
        let space = usize::from(!begins(line));
        if line.chars().count() + space + word.chars().count() <= WIDTH {
            line.push_str(&" "[..space]);
            line.push_str(word);
            continue;
        }
        let breaks = indent + further + word.chars().count() > WIDTH;
        if !breaks && !begins(line) {
            lines.push(" ".repeat(indent + further) + word);
            continue;
        }
        for (index, piece) in word.split_inclusive('|').enumerate() {
            let line = lines.last_mut().expect("there is a first line");
            let space = usize::from(index == 0 && !begins(line));
            if line.chars().count() + space + piece.chars().count() <= WIDTH {
                line.push_str(&" "[..space]);
                line.push_str(piece);
            } else {
                lines.push(" ".repeat(indent + further) + piece);
            }
        }
    }
    lines
}

/// `opcode  operands;`: where it is too long the operands are on the next line, and an opcode that is too long is
/// broken before a modifier.
fn syntax_line(text: &str) -> Vec<String> {
    if text.chars().count() <= WIDTH {
        return vec![text.to_owned()];
    }
    let (opcode, operands) = text.split_once("  ").unwrap_or((text, ""));
    let mut lines = vec![String::new()];
    let mut rest = opcode;
    while !rest.is_empty() {
        let end = rest.char_indices().skip(1).find(|&(index, _)| {
            rest[index..].starts_with("{.") || rest[index..].starts_with('.') && !rest[..index].ends_with('{')
        });
        let (piece, after) = rest.split_at(end.map_or(rest.len(), |(index, _)| index));
        let line = lines.last_mut().expect("there is a first line");
        if line.len() + piece.len() <= WIDTH {
            line.push_str(piece);
        } else {
            lines.push(" ".repeat(8) + piece);
        }
        rest = after;
    }
    if !operands.is_empty() {
        lines.extend(filled(operands, 8, 0));
    }
    lines
}

/// Statements one after the other, as many on a line as fit.
fn side_by_side(lines: &[&str], indent: usize) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let (mut statement, mut quote) = (String::new(), None);
    for character in lines.iter().flat_map(|line| line.trim().chars().chain([' '])) {
        statement.push(character);
        match quote {
            Some(open) if open == character => quote = None,
            None if ['"', '\''].contains(&character) => quote = Some(character),
            _ => {}
        }
        if character != ';' || quote.is_some() {
            continue;
        }
        let text = statement.trim();
        match out.last_mut() {
            Some(last) if last.chars().count() + 2 + text.chars().count() <= WIDTH => {
                last.extend(["  ", text]);
            }
            _ if indent + text.chars().count() <= WIDTH => out.push(" ".repeat(indent) + text),
            _ => out.extend(filled(text, indent, 4)),
        }
        statement.clear();
    }
    // What does not end stays where it is.
    if !statement.trim().is_empty() {
        out.push(" ".repeat(indent) + statement.trim());
    }
    out
}

/// `does opcode "…" as "…";`, with the example on a line of its own where both do not fit. A text that is longer than a line
/// goes on in further quotes.
fn does(lines: &[&str], indent: usize) -> Vec<String> {
    let all = joined(lines);
    let mut lines = vec![" ".repeat(indent)];
    let (mut opcode, mut parts) = (String::new(), vec![String::new()]);
    for word in words(all.trim_end_matches(';').trim_start_matches("does ")) {
        let part = parts.last_mut().expect("there is a first part");
        match word.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
            Some(text) if part.is_empty() => part.push_str(text),
            Some(text) => part.extend([" ", text]),
            None if word == "as" => parts.push(String::new()),
            None => opcode.push_str(word),
        }
    }
    lines[0].push_str("does");
    if !opcode.is_empty() {
        lines[0].extend([" ", &opcode]);
    }
    let whole = format!("{} \"{}\";", lines[0], parts.join("\" as \""));
    if whole.chars().count() <= WIDTH {
        return vec![whole];
    }
    for (index, part) in parts.iter().enumerate() {
        if index > 0 {
            lines.push(" ".repeat(indent + 4) + "as");
        }
        quoted(&mut lines, part, indent + 4);
    }
    lines.last_mut().expect("there is a first line").push(';');
    lines
}

/// Appends a text in as many quotes as it takes lines; it ends one column before the width, for what comes after it.
fn quoted(lines: &mut Vec<String>, text: &str, indent: usize) {
    let length = |line: &String| line.chars().count();
    let line = lines.last_mut().expect("there is a first line");
    line.push_str(" \"");
    let mut is_first = true;
    for word in text.split(' ') {
        let line = lines.last_mut().expect("there is a first line");
        if !is_first && length(line) + 1 + word.chars().count() + 2 > WIDTH {
            line.push('"');
            lines.push(" ".repeat(indent) + "\"" + word);
            continue;
        }
        if !is_first {
            line.push(' ');
        }
        line.push_str(word);
        is_first = false;
    }
    lines.last_mut().expect("there is a first line").push('"');
}

/// `counts name { … }`, on one line where it fits.
fn counts(text: &str, indent: usize) -> Vec<String> {
    let lines = filled(text, indent, 4);
    if lines.len() == 1 {
        return lines;
    }
    let Some((name, rows)) = text.split_once('{') else { return lines };
    let rows: Vec<&str> =
        rows.trim_end_matches('}').split(';').map(str::trim).filter(|row| !row.is_empty()).collect();
    let mut lines = vec![format!("{}{name}{{", " ".repeat(indent))];
    let mut line = " ".repeat(indent + 4);
    for row in rows {
        if line.chars().count() + row.chars().count() + 2 > WIDTH && !line.trim().is_empty() {
            lines.push(std::mem::replace(&mut line, " ".repeat(indent + 4)));
        }
        if !line.trim().is_empty() {
            line.push(' ');
        }
        line.push_str(row);
        line.push(';');
    }
    lines.push(line);
    lines.push(" ".repeat(indent) + "}");
    lines
}

/// Clauses of one kind are side by side; of the others each has a line of its own.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Operand,
    Effect,
    Slot,
    Use,
    Requirement,
    Combination,
    Other,
}

/// The clauses of a form.
fn clauses(lines: &[&str]) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut before = Kind::Other;
    let mut clause = String::new();
    for line in lines.iter().map(|line| line.trim()).filter(|line| !line.is_empty()) {
        if clause.is_empty() && line.starts_with('#') {
            out.push(format!("    {line}"));
            before = Kind::Other;
            continue;
        }
        for character in line.chars().chain([' ']) {
            clause.push(character);
            let quoted = clause.matches('"').count() % 2 == 1;
            let inside = clause.matches('{').count() > clause.matches('}').count();
            let is_counts = clause.trim_start().starts_with("counts ");
            if quoted || inside || character != ';' && !(is_counts && character == '}') {
                continue;
            }
            let text = joined(&[&clause]);
            clause.clear();
            if let Some(of) = text.strip_prefix("beyond ") {
                let (opcode, reason) = of.split_at(of.find(['"', ';']).unwrap_or(of.len()));
                let opcode: String = opcode.split_whitespace().collect();
                let space = if reason.starts_with('"') { " " } else { "" };
                out.extend(opcodes(&format!("beyond {opcode}{space}{reason}"), 4, 8));
                before = Kind::Other;
                continue;
            }
            if text.starts_with("does ") {
                out.extend(does(&[&text], 4));
                before = Kind::Other;
                continue;
            }
            let kind = kind(&text);
            match out.last_mut() {
                Some(last)
                    if (kind == before && kind != Kind::Other
                        || (before, kind) == (Kind::Requirement, Kind::Effect))
                        && last.chars().count() + 2 + text.chars().count() <= WIDTH =>
                {
                    last.push_str("  ");
                    last.push_str(&text);
                }
                _ if is_counts => out.extend(counts(&text, 4)),
                _ => out.extend(filled(&text, 4, 4)),
            }
            before = kind;
        }
        if clause.trim().is_empty() {
            clause.clear();
        }
    }
    if !clause.trim().is_empty() {
        out.push(format!("    {}", joined(&[&clause])));
    }
    out
}

fn kind(clause: &str) -> Kind {
    if defines_operand(clause) {
        Kind::Operand
    } else if clause.starts_with("effect ") {
        Kind::Effect
    } else if clause.starts_with('.') && clause.contains(" = ") {
        Kind::Slot
    } else if clause.starts_with("use ") {
        Kind::Use
    } else if is_requirement(clause) {
        Kind::Requirement
    } else if is_combination(clause) {
        Kind::Combination
    } else {
        Kind::Other
    }
}

/// `.ftz since 1.4 on sm_20+;`
fn is_requirement(clause: &str) -> bool {
    let begins = ["ignores ", "misread ", "deviation ", "beyond ", "in ", "with ", "without "];
    let is_other = begins.iter().any(|word| clause.starts_with(word)) || clause.contains('"');
    let mut words = clause.split_whitespace();
    !is_other && words.any(|word| ["since", "on", "until"].contains(&word))
}

/// `.x only with .y;`, `.x not with .y;`
fn is_combination(clause: &str) -> bool {
    !clause.contains('"') && [" only with ", " not with "].iter().any(|words| clause.contains(words))
}
