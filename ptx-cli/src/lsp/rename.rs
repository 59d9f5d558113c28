//! Other names for what a document declares.

use std::collections::HashSet;

use lsp_types::TextEdit;
use ptx_syntax::Span;
use ptx_syntax::lexer::{Lexer, TokenKind};
use ptx_syntax::names::{Declared, NameKind, Symbol};

use super::convert::ranges;
use super::document::Document;
use super::navigate::{Found, Place, places};
use super::part::{Part, Target};
use ptx_ir::special::SpecialRegister;

/// What is renamed at a place: the place, and the name as it is now.
pub fn prepare<'d>(document: &'d Document, found: &Found<'d>) -> (Span, &'d str) {
    (found.place, found.place.text(&document.source.text))
}

/// The edits that give what stands at a place another name, or why it cannot have it.
///
/// Where a register of a group gets a name of its own, a declaration comes with it. An operand `%0` of an asm statement
/// gets a symbolic name where others have one.
pub fn rename(document: &Document, found: &Found<'_>, name: &str) -> Result<Vec<TextEdit>, String> {
    let edits = match found.target {
        Target::Operand(number) => operand(document, found, number, name)?,
        Target::Name(symbol) => symbol_edits(document, found, symbol, name)?,
    };
    let (spans, texts): (Vec<Span>, Vec<String>) = edits.into_iter().unzip();
    let ranges = ranges(document, spans);
    Ok(ranges.into_iter().zip(texts).map(|(range, new_text)| TextEdit { range, new_text }).collect())
}

fn symbol_edits(
    document: &Document,
    found: &Found<'_>,
    symbol: Symbol,
    name: &str,
) -> Result<Vec<(Span, String)>, String> {
    let part = found.part;
    let declared = &part.names.declared()[symbol.declared as usize];
    check_name(name)?;
    check_free(&part, symbol, declared, name)?;
    let old = declared.name.text(part.text);
    let whole_group = declared.count.is_some() && symbol.member.is_none();
    if whole_group && name.ends_with(|last: char| last.is_ascii_digit()) {
        return Err(format!("`{name}` ends with a digit, and numbers follow it"));
    }
    let mut edits = Vec::new();
    for Place { span, declares } in places(document, found) {
        if declares && symbol.member.is_some() {
            continue;
        }
        // Of `%r17`, the part that the group declares is replaced.
        let end = if whole_group { span.start + old.len() as u32 } else { span.end };
        edits.push(spelled(document, &part, Span::new(span.start, end), name));
    }
    if symbol.member.is_some() {
        edits.push(declaration(document, &part, declared, name)?);
    }
    Ok(edits)
}

/// Whether a text is one name of PTX that programs can declare.
fn check_name(name: &str) -> Result<(), String> {
    let mut tokens = Lexer::new(name);
    let is_name = tokens
        .next()
        .is_some_and(|token| token.kind == TokenKind::Name && token.span.len() as usize == name.len());
    if !is_name || name == "_" {
        return Err(format!("`{name}` is no name in PTX"));
    }
    let is_special = SpecialRegister::all().any(|register| register.name().split('.').next() == Some(name));
    if is_special || name == "WARP_SZ" {
        return Err(format!("`{name}` is a special register"));
    }
    Ok(())
}

/// Fails where the new name means something else already, in the block of the declaration or between it and a use.
fn check_free(part: &Part<'_>, symbol: Symbol, declared: &Declared, name: &str) -> Result<(), String> {
    let names = part.names;
    let taken = || Err(format!("`{name}` is declared here already"));
    let numbers = declared.count.filter(|_| symbol.member.is_none());
    let clash = |scope: u32| {
        let same = names.find_in(part.text, name, scope);
        // The registers of a group are as many names.
        let members = || {
            let mut names = names.declared_of(scope).map(|each| each.name.text(part.text));
            names.any(|each| {
                let number = each.strip_prefix(name).and_then(|rest| rest.parse::<u32>().ok());
                number.zip(numbers).is_some_and(|(number, count)| number < count)
            })
        };
        same.is_some_and(|same| same.declared != symbol.declared || symbol.member.is_some())
            || numbers.is_some() && members()
    };
    if clash(declared.scope) {
        return taken();
    }
    let mut asked = HashSet::from([declared.scope]);
    for each in names.references(part.text, symbol) {
        for scope in names.enclosing(each.scope).take_while(|scope| *scope != declared.scope) {
            if !asked.insert(scope) {
                break;
            }
            if clash(scope) {
                return taken();
            }
        }
    }
    // What has the name now, from further out, would be hidden.
    let span = names.scopes()[declared.scope as usize].span;
    let is_used = names.occurrences_in(span).iter().any(|each| {
        let text = each.span.text(part.text);
        let is_member =
            || numbers.is_some() && text.strip_prefix(name).is_some_and(|rest| rest.parse::<u32>().is_ok());
        (text == name || is_member())
            && names.resolve(part.text, *each).is_none_or(|found| found.declared != symbol.declared)
    });
    if is_used { taken() } else { Ok(()) }
}

/// An edit of a name. In a template, `%` is doubled.
fn spelled(document: &Document, part: &Part<'_>, span: Span, name: &str) -> (Span, String) {
    let doubles = part.statement.is_some_and(|statement| statement.colons > 0);
    if !doubles {
        return (span, name.to_owned());
    }
    let is_doubled = document.source.text[..span.start as usize].ends_with('%');
    let start = span.start - u32::from(is_doubled);
    (Span::new(start, span.end), name.replace('%', "%%"))
}

/// The declaration of a register that leaves its group.
fn declaration(
    document: &Document,
    part: &Part<'_>,
    declared: &Declared,
    name: &str,
) -> Result<(Span, String), String> {
    let text = part.text;
    if declared.kind != NameKind::Register || !declared.span.text(text).ends_with(';') {
        return Err("only registers can leave their group".to_owned());
    }
    let end = Span::new(declared.span.end - 1, declared.span.end);
    let place = part.place(end).ok_or("the declaration is not written in this statement")?;
    let specifiers = declared.specifiers.text(text);
    let (_, name) = spelled(document, part, Span::at(0), name);
    if part.statement.is_some() {
        return Ok((Span::at(place.end), format!(" {specifiers} {name};")));
    }
    let line = text[..declared.span.start as usize].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[line..declared.span.start as usize];
    let indent = if indent.trim().is_empty() { indent } else { "" };
    Ok((Span::at(place.end), format!("\n{indent}{specifiers} {name};")))
}

/// `%[name]` for `%0`, or another symbolic name. nvcc knows none ("symbolic operand reference not supported"), so an operand
/// gets one only in a statement that has such names already.
fn operand(
    document: &Document,
    found: &Found<'_>,
    number: usize,
    name: &str,
) -> Result<Vec<(Span, String)>, String> {
    let statement = found.part.statement.ok_or("not in an asm statement")?;
    let name = name.trim_start_matches('%').trim_start_matches('[').trim_end_matches(']');
    let is_identifier = name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && name.bytes().next().is_some_and(|first| !first.is_ascii_digit());
    if !is_identifier {
        return Err(format!("`{name}` is no name of an operand"));
    }
    let source = &*document.source.text;
    let is_taken =
        |operand: &ptx_syntax::cuda::Operand| operand.name.is_some_and(|each| each.text(source) == name);
    if statement.operands().any(is_taken) {
        return Err(format!("another operand has the name `{name}`"));
    }
    let operand = statement.operands().nth(number).ok_or("there is no such operand")?;
    if statement.operands().all(|operand| operand.name.is_none()) {
        return Err("nvcc knows no names of operands, and no operand of this statement has one".to_owned());
    }
    let uses = places(document, found).into_iter().filter(|place| !place.declares);
    let mut edits: Vec<(Span, String)> = uses.map(|place| (place.span, format!("%[{name}]"))).collect();
    edits.push(match operand.name {
        Some(old) => (old, name.to_owned()),
        None => (Span::at(operand.constraint.span.start), format!("[{name}] ")),
    });
    Ok(edits)
}
