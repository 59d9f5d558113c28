//! `special_registers.isa`.

use std::fmt::Write as _;

use super::{Definitions, Platform, Version, array, version_source};
use crate::cursor::Cursor;
use crate::fault::{Fault, Faults};
use crate::lexer::Token;

/// A special register, or one element of it.
#[derive(Clone)]
pub(super) struct Row {
    name: String,
    ty: &'static str,
    reads: &'static str,
    since: Version,
    target: u16,
    varies: &'static str,
    range: Option<(u64, u64)>,
    means: String,
}

/// What is said of the registers of a definition.
struct Facts {
    ty: &'static str,
    narrow: bool,
    any: bool,
    since: Version,
    target: u16,
    varies: &'static str,
}

impl Facts {
    /// The group of reads that the assembler allows.
    fn reads(&self, is_vector: bool) -> &'static str {
        match (is_vector, self.ty) {
            (true, _) if self.narrow => "NarrowVector",
            (true, _) => "Vector",
            _ if self.any => "Any",
            _ if self.narrow => "Narrow",
            (_, "U64") => "Double",
            (_, "Pred") => "Predicate",
            _ => "Word",
        }
    }
}

pub(super) fn read(definitions: &Definitions, platform: &Platform, faults: &mut Faults) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    definitions.each(faults, |cursor| {
        let (names, elements) = names(cursor)?;
        cursor.mark(':')?;
        let facts = facts(cursor, platform)?;
        let row = |name: String, is_vector| Row {
            name,
            ty: facts.ty,
            reads: facts.reads(is_vector),
            since: facts.since,
            target: facts.target,
            varies: facts.varies,
            range: None,
            means: String::new(),
        };
        let first = rows.len();
        for name in names {
            if rows.iter().any(|row| row.name == name) {
                return Err(cursor.fault(format!("`{name}` is there already")));
            }
            rows.push(row(name.clone(), !elements.is_empty()));
            rows.extend(elements.iter().map(|element| row(format!("{name}{element}"), false)));
        }
        ranges(cursor, &mut rows[first..])?;
        cursor.word("means")?;
        let means = cursor.text()?;
        rows[first..].iter_mut().for_each(|row| row.means.clone_from(&means));
        Ok(())
    });
    rows
}

/// `%tid{.x .y}`, `%envreg{0..31}`, `%lanemask_{eq le}`, `%pm{0..7}_64`: the names, and the elements that all of them have.
fn names(cursor: &mut Cursor<'_>) -> Result<(Vec<String>, Vec<String>), Fault> {
    let stem = cursor.name()?;
    if !stem.starts_with('%') {
        return Err(cursor.fault(format!("`{stem}` has no `%`")));
    }
    if !cursor.eat('{') {
        return Ok((vec![stem], Vec::new()));
    }
    let (mut parts, mut elements): (Vec<String>, Vec<String>) = Default::default();
    while !cursor.eat('}') {
        match cursor.next() {
            Some(Token::Dotted(element)) => elements.push(element.clone()),
            Some(Token::Word(part)) => parts.push(part.clone()),
            Some(&Token::Number(low)) if cursor.eat('…') => {
                let high = cursor.number()?;
                parts.extend((low..=high).map(|number| number.to_string()));
            }
            Some(Token::Number(part)) => parts.push(part.to_string()),
            _ => return Err(cursor.unexpected("a part of a name, or `}`")),
        }
    }
    if parts.is_empty() {
        return Ok((vec![stem], elements));
    }
    let end = if matches!(cursor.peek(), Some(Token::Word(_))) { cursor.name()? } else { String::new() };
    Ok((parts.iter().map(|part| format!("{stem}{part}{end}")).collect(), elements))
}

fn facts(cursor: &mut Cursor<'_>, platform: &Platform) -> Result<Facts, Fault> {
    let ty = match cursor.name()?.as_str() {
        "u32" => "U32",
        "u64" => "U64",
        "b32" => "B32",
        "pred" => "Pred",
        other => return Err(cursor.fault(format!("no special register is a `{other}`"))),
    };
    let (narrow, any) = (cursor.eat_word("narrow"), cursor.eat_word("any"));
    cursor.word("since")?;
    let since = platform.version(cursor)?;
    let target = platform.lowest_target(cursor)?;
    let varies = if cursor.eat_word("varies") { varies(cursor)? } else { "Launch" };
    Ok(Facts { ty, narrow, any, since, target, varies })
}

fn varies(cursor: &mut Cursor<'_>) -> Result<&'static str, Fault> {
    Ok(match cursor.name()?.as_str() {
        "thread" => "Thread",
        "lane" => "Lane",
        "warp" => "Warp",
        "block" => "Block",
        "cluster" => "Cluster",
        "time" => "Time",
        other => return Err(cursor.fault(format!("nothing varies by `{other}`"))),
    })
}

/// `in 0..31`, or `.x in 0..31, .y in 0..7` of elements.
fn ranges(cursor: &mut Cursor<'_>, rows: &mut [Row]) -> Result<(), Fault> {
    while matches!(cursor.peek(), Some(Token::Dotted(_))) || cursor.is_word("in") {
        let element = match cursor.peek() {
            Some(Token::Dotted(_)) => cursor.dotted()?,
            _ => String::new(),
        };
        cursor.word("in")?;
        let low = cursor.number()?;
        cursor.mark('…')?;
        let high = cursor.number()?;
        let range = u64::try_from(low).ok().zip(u64::try_from(high).ok()).filter(|(low, high)| low <= high);
        if range.is_none() {
            return Err(cursor.fault("these are no limits"));
        }
        let mut named = rows.iter_mut().filter(|row| row.name.ends_with(&element)).peekable();
        if named.peek().is_none() {
            return Err(cursor.fault(format!("there is no element `{element}`")));
        }
        named.for_each(|row| row.range = range);
        if !cursor.eat(',') {
            break;
        }
    }
    Ok(())
}

pub(super) fn write(rows: &[Row]) -> String {
    let mut out = String::new();
    array(
        &mut out,
        "static ROWS: [Row; #]",
        rows.iter().map(|Row { name, ty, reads, since, target, varies, range, means }| {
            format!(
                "Row {{ name: {name:?}, ty: Type::{ty}, reads: Reads::{reads}, min_version: {}, \
                 min_target: {target}, varies: Varies::{varies}, range: {range:?}, means: {means:?} }}",
                version_source(*since)
            )
        }),
    );
    let _ = writeln!(out, "impl SpecialRegister {{");
    for (index, Row { name, .. }) in rows.iter().enumerate() {
        let constant = name.trim_start_matches('%').replace('.', "_").to_ascii_uppercase();
        let _ = writeln!(out, "    /// `{name}`.\n    pub const {constant}: Self = Self({index});");
    }
    let _ = writeln!(out, "}}");
    out
}
