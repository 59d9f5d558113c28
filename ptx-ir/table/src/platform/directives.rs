//! `directives.isa`.

use std::fmt::Write as _;

use super::{Definitions, Platform, Version, array, below, version_source};
use crate::cursor::Cursor;
use crate::fault::{Fault, Faults};
use crate::lexer::Token;

/// All directives and pragmas.
#[derive(Default)]
pub(super) struct Directives {
    rows: Vec<Row>,
    pragmas: Vec<Pragma>,
}

#[derive(Default)]
struct Row {
    word: String,
    kind: String,
    places: Vec<String>,
    arguments: Arguments,
    excludes: Vec<String>,
    needs: Vec<String>,
    names: Vec<String>,
    once: bool,
    first: bool,
    without_results: bool,
    since: Version,
    target: u16,
    until: Option<(Version, String)>,
    syntax: String,
    purpose: String,
    line: usize,
}

#[derive(Default)]
enum Arguments {
    #[default]
    Anything,
    Nothing,
    Integers {
        least: u8,
        most: u8,
        range: (u32, u32),
    },
    Names {
        range: (u32, u32),
    },
}

struct Pragma {
    word: String,
    places: Vec<String>,
    kernels_only: bool,
    takes_number: bool,
    since: Version,
    target: u16,
}

const PLACES: [&str; 5] = ["module", "kernel", "function", "body", "attribute"];

pub(super) fn read(definitions: &Definitions, platform: &Platform, faults: &mut Faults) -> Directives {
    let mut found = Directives::default();
    definitions.each(faults, |cursor| {
        if cursor.eat_word("directive") {
            let row = head(cursor, platform)?;
            if found.rows.iter().any(|other| other.word == row.word || other.kind == row.kind) {
                return Err(cursor.fault(format!("`{}` or `{}` is there already", row.word, row.kind)));
            }
            found.rows.push(row);
            return Ok(());
        }
        if cursor.eat_word("pragma") {
            found.pragmas.push(pragma(cursor, platform)?);
            return Ok(());
        }
        match found.rows.last_mut() {
            Some(row) => clause(cursor, platform, row),
            None => Err(cursor.unexpected("`directive`")),
        }
    });
    check(&definitions.file, &found, faults);
    exclude_each_other(&mut found.rows);
    found
}

/// What one directive excludes excludes it.
fn exclude_each_other(rows: &mut [Row]) {
    let pairs: Vec<(String, String)> = rows
        .iter()
        .flat_map(|row| row.excludes.iter().map(|other| (row.word.clone(), other.clone())))
        .collect();
    for (word, other) in pairs {
        if let Some(row) = rows.iter_mut().find(|row| row.word == other && !row.excludes.contains(&word)) {
            row.excludes.push(word);
        }
    }
}

fn check(file: &str, found: &Directives, faults: &mut Faults) {
    for row in &found.rows {
        let named = row.excludes.iter().chain(&row.needs).chain(row.until.as_ref().map(|(_, now)| now));
        for word in named.filter(|word| found.rows.iter().all(|row| row.word != **word)) {
            faults.push(Fault::new(file, row.line, format!("there is no directive `{word}`")));
        }
        if row.syntax.is_empty() || row.purpose.is_empty() {
            faults.push(Fault::new(file, row.line, "`written` and `means` are needed"));
        }
    }
}

/// `directive .maxntid as MaxThreads in kernel`.
fn head(cursor: &mut Cursor<'_>, platform: &Platform) -> Result<Row, Fault> {
    let line = cursor.line();
    let word = cursor.dotted()?;
    cursor.word("as")?;
    let kind = cursor.name()?;
    let row = Row { word, kind, places: places(cursor)?, since: (1, 0), line, ..Row::default() };
    Ok(Row { target: platform.targets.lowest(), ..row })
}

/// `in module, body`.
fn places(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Fault> {
    cursor.word("in")?;
    let mut found = Vec::new();
    loop {
        let place = cursor.name()?;
        if !PLACES.contains(&place.as_str()) {
            return Err(cursor.fault(format!("no directive is in a `{place}`")));
        }
        found.push(place);
        if !cursor.eat(',') {
            return Ok(found);
        }
    }
}

fn clause(cursor: &mut Cursor<'_>, platform: &Platform, row: &mut Row) -> Result<(), Fault> {
    match cursor.name()?.as_str() {
        "takes" => row.arguments = arguments(cursor)?,
        "excludes" => row.excludes = words(cursor)?,
        "needs" => row.needs = words(cursor)?,
        "once" => row.once = true,
        "first" => row.first = true,
        "without" => {
            cursor.word("results")?;
            row.without_results = true;
        }
        "since" => {
            row.since = platform.version(cursor)?;
            row.target = platform.lowest_target(cursor)?;
        }
        "until" => {
            let last = platform.version(cursor)?;
            cursor.word("then")?;
            row.until = Some((last, cursor.dotted()?));
        }
        "names" => {
            while !cursor.is_at_end() {
                row.names.push(cursor.text()?);
            }
        }
        "written" => row.syntax = cursor.text()?,
        "means" => row.purpose = cursor.text()?,
        other => return Err(cursor.fault(format!("`{other}` begins no clause of a directive"))),
    }
    Ok(())
}

fn words(cursor: &mut Cursor<'_>) -> Result<Vec<String>, Fault> {
    let mut found = vec![cursor.dotted()?];
    while !cursor.is_at_end() {
        found.push(cursor.dotted()?);
    }
    Ok(found)
}

/// `nothing`, `1..3 integers in 1..max`, `strings, integers in 0..10`.
fn arguments(cursor: &mut Cursor<'_>) -> Result<Arguments, Fault> {
    if cursor.eat_word("nothing") {
        return Ok(Arguments::Nothing);
    }
    if cursor.eat_word("strings") {
        cursor.mark(',')?;
        cursor.word("integers")?;
        return Ok(Arguments::Names { range: range(cursor)? });
    }
    let least: u8 = below(cursor)?;
    let most = if cursor.eat('…') { below(cursor)? } else { least };
    cursor.word("integers")?;
    Ok(Arguments::Integers { least, most, range: range(cursor)? })
}

/// `in 1..max`.
fn range(cursor: &mut Cursor<'_>) -> Result<(u32, u32), Fault> {
    cursor.word("in")?;
    let low = below(cursor)?;
    cursor.mark('…')?;
    let high = if cursor.eat_word("max") { u32::MAX } else { below(cursor)? };
    Ok((low, high))
}

/// `pragma "frequency" in body takes number since 9.0`.
fn pragma(cursor: &mut Cursor<'_>, platform: &Platform) -> Result<Pragma, Fault> {
    let word = cursor.text()?;
    let is =
        |count: usize, word: &str| matches!(cursor.ahead(count), Some(Token::Word(text)) if text == word);
    let kernels_only = is(1, "kernel") && is(2, "body");
    if kernels_only {
        cursor.word("in")?;
        cursor.word("kernel")?;
    }
    let places = if kernels_only { vec![cursor.name()?] } else { places(cursor)? };
    let takes_number = cursor.eat_word("takes");
    if takes_number {
        cursor.word("number")?;
    }
    let mut pragma = Pragma { word, places, kernels_only, takes_number, since: (1, 0), target: 0 };
    if cursor.eat_word("since") {
        pragma.since = platform.version(cursor)?;
    }
    pragma.target = platform.lowest_target(cursor)?;
    Ok(pragma)
}

pub(super) fn write(directives: &Directives) -> String {
    let mut out = String::from(
        "/// A directive of the manual.\n#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]\n\
         #[non_exhaustive]\n#[repr(u8)]\npub enum DirectiveKind {\n",
    );
    for Row { word, kind, purpose, .. } in &directives.rows {
        let _ = writeln!(out, "    /// `{word}`: {purpose}.\n    {kind},");
    }
    out.push_str("}\n");
    let kind = |word: &String| {
        let row = directives.rows.iter().find(|row| row.word == *word);
        row.map_or_else(String::new, |row| format!("DirectiveKind::{}", row.kind))
    };
    let kinds = |words: &[String]| words.iter().map(kind).collect::<Vec<_>>().join(", ");
    array(&mut out, "static ROWS: [Row; #]", directives.rows.iter().map(|row| {
        let until = row.until.as_ref().map_or_else(
            || "None".to_owned(),
            |(version, now)| format!("Some(({}, {}))", version_source(*version), kind(now)),
        );
        let arguments = match row.arguments {
            Arguments::Anything => "Arguments::Anything".to_owned(),
            Arguments::Nothing => "Arguments::Nothing".to_owned(),
            Arguments::Integers { least, most, range: (low, high) } => {
                format!("Arguments::Integers {{ least: {least}, most: {most}, low: {low}, high: {high} }}")
            }
            Arguments::Names { range: (low, high) } => {
                format!("Arguments::Names {{ low: {low}, high: {high}, names: &{:?} }}", row.names)
            }
        };
        format!(
            "Row {{ kind: DirectiveKind::{}, word: {:?}, quoted: \"`{}`\", places: {}, arguments: {arguments}, excludes: &[{}], \
             needs: &[{}], once: {}, first: {}, without_results: {}, min_version: {}, min_target: {}, \
             until: {until}, syntax: {:?}, purpose: {:?} }}",
            row.kind, row.word, row.word, places_source(&row.places), kinds(&row.excludes), kinds(&row.needs),
            row.once, row.first, row.without_results, version_source(row.since), row.target,
            row.syntax, row.purpose,
        )
    }));
    array(&mut out, "static PRAGMAS: [Pragma; #]", directives.pragmas.iter().map(|pragma| {
        format!(
            "Pragma {{ word: {:?}, described: \"pragma `{}`\", places: {}, kernels_only: {}, takes_number: {}, min_version: {}, min_target: {} }}",
            pragma.word, pragma.word, places_source(&pragma.places), pragma.kernels_only, pragma.takes_number,
            version_source(pragma.since), pragma.target,
        )
    }));
    out
}

fn places_source(places: &[String]) -> String {
    let is = |place: &str| places.iter().any(|each| each == place);
    let [module, kernel, function, body, attribute] = PLACES.map(is);
    format!(
        "Places {{ module: {module}, kernel: {kernel}, function: {function}, body: {body}, attribute: {attribute} }}"
    )
}
