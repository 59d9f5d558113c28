//! `targets.isa`.

use std::fmt::Write as _;

use super::{Definitions, Version, array, below, version_source, versions};
use crate::cursor::Cursor;
use crate::fault::{Fault, Faults};

/// All that is known of targets.
#[derive(Default)]
pub(super) struct Targets {
    rows: Vec<Row>,
    families: Vec<Vec<u16>>,
    former: Vec<Former>,
    occupancy: Vec<Occupancy>,
}

struct Row {
    number: u16,
    suffix: Suffix,
    since: Version,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Suffix {
    Plain,
    Family,
    Architecture,
}

impl Suffix {
    const ALL: [Self; 3] = [Self::Plain, Self::Family, Self::Architecture];

    const fn letter(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Family => "f",
            Self::Architecture => "a",
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Plain => "Plain",
            Self::Family => "Family",
            Self::Architecture => "Architecture",
        }
    }
}

/// A name that a target had in older versions.
struct Former {
    number: u16,
    since: Vec<(Suffix, Version)>,
    now: u16,
    until: Version,
}

struct Occupancy {
    numbers: Vec<u16>,
    warps: u16,
    blocks: u16,
    shared: u32,
    reserved: u32,
    granularity: u32,
}

impl Targets {
    /// The number of the oldest target.
    pub(super) fn lowest(&self) -> u16 {
        self.rows.first().map_or(0, |row| row.number)
    }

    /// Reads `sm_90`: the number of a target that there is.
    pub(super) fn number(&self, cursor: &mut Cursor<'_>) -> Result<u16, Fault> {
        let number = target(cursor)?;
        let is_known = self.rows.iter().any(|row| row.number == number);
        if is_known { Ok(number) } else { Err(cursor.fault(format!("`sm_{number}` is not a target"))) }
    }
}

/// Reads `sm_90`.
fn target(cursor: &mut Cursor<'_>) -> Result<u16, Fault> {
    let name = cursor.name()?;
    let number = name.strip_prefix("sm_").and_then(|number| number.parse().ok());
    number.ok_or_else(|| cursor.fault(format!("`{name}` is no name of a target")))
}

pub(super) fn read(definitions: &Definitions, versions: &[versions::Row], faults: &mut Faults) -> Targets {
    let mut targets = Targets::default();
    definitions.each(faults, |cursor| match cursor.name()?.as_str() {
        "target" => {
            let number = target(cursor)?;
            if targets.rows.last().is_some_and(|last| last.number >= number) {
                return Err(cursor.fault("the target before this one has no lower number"));
            }
            let since = suffixes(cursor, versions)?;
            targets.rows.extend(since.into_iter().map(|(suffix, since)| Row { number, suffix, since }));
            Ok(())
        }
        "family" => {
            let mut members = Vec::new();
            while !cursor.is_at_end() {
                members.push(below(cursor)?);
            }
            targets.families.push(members);
            Ok(())
        }
        "former" => {
            let (number, since) = (target(cursor)?, suffixes(cursor, versions)?);
            cursor.word("is")?;
            let now = targets.number(cursor)?;
            cursor.word("from")?;
            let until = versions::published(cursor, versions)?;
            targets.former.push(Former { number, since, now, until });
            Ok(())
        }
        "occupancy" => occupancy(cursor, &targets).map(|row| targets.occupancy.push(row)),
        other => Err(cursor.fault(format!("`{other}` defines nothing here"))),
    });
    targets
}

/// `since 8.6, f since 8.8, a since 8.6`.
fn suffixes(cursor: &mut Cursor<'_>, versions: &[versions::Row]) -> Result<Vec<(Suffix, Version)>, Fault> {
    let mut found: Vec<(Suffix, Version)> = Vec::new();
    loop {
        let suffix = Suffix::ALL.into_iter().find(|suffix| cursor.eat_word(suffix.letter()));
        let suffix = suffix.unwrap_or(Suffix::Plain);
        if found.iter().any(|(other, _)| *other == suffix) {
            return Err(cursor.fault("this is said already"));
        }
        cursor.word("since")?;
        found.push((suffix, versions::published(cursor, versions)?));
        if !cursor.eat(',') {
            found.sort_by_key(|(suffix, _)| Suffix::ALL.iter().position(|each| each == suffix));
            return Ok(found);
        }
    }
}

fn occupancy(cursor: &mut Cursor<'_>, targets: &Targets) -> Result<Occupancy, Fault> {
    let mut numbers = vec![targets.number(cursor)?];
    while !cursor.eat('=') {
        numbers.push(targets.number(cursor)?);
    }
    let mut row = Occupancy { numbers, warps: 0, blocks: 0, shared: 0, reserved: 1, granularity: 128 };
    loop {
        let amount: u16 = below(cursor)?;
        match cursor.name()?.as_str() {
            "warps" => row.warps = amount,
            "blocks" => row.blocks = amount,
            "shared" => row.shared = amount.into(),
            "reserved" => row.reserved = amount.into(),
            "granularity" => row.granularity = amount.into(),
            other => return Err(cursor.fault(format!("a multiprocessor has no `{other}`"))),
        }
        if !cursor.eat(',') {
            break;
        }
    }
    if row.warps == 0 || row.blocks == 0 || row.shared == 0 {
        return Err(cursor.fault("warps, blocks and shared memory are needed"));
    }
    Ok(row)
}

pub(super) fn write(targets: &Targets) -> String {
    let mut out = String::new();
    let _ = writeln!(out, "const COUNT: usize = {};", targets.rows.len());
    array(
        &mut out,
        "static ROWS: [Row; #]",
        targets.rows.iter().map(|Row { number, suffix, since }| {
            let (letter, name, since) = (suffix.letter(), suffix.name(), version_source(*since));
            format!(
                "Row {{ name: \"sm_{number}{letter}\", number: {number}, suffix: Suffix::{name}, \
                 min_version: {since} }}"
            )
        }),
    );
    let families = targets.families.iter().map(|members| format!("&{members:?}"));
    array(&mut out, "const FAMILIES: [&[u16]; #]", families);
    let former: Vec<String> = targets
        .former
        .iter()
        .flat_map(|former| former.since.iter().map(move |(suffix, since)| (former, suffix.letter(), *since)))
        .map(|(Former { number, now, until, .. }, letter, since)| {
            format!(
                "Former {{ name: \"sm_{number}{letter}\", now: \"sm_{now}{letter}\", min_version: {}, until: {} }}",
                version_source(since),
                version_source(*until)
            )
        })
        .collect();
    array(&mut out, "static FORMER: [Former; #]", former.into_iter());
    let occupancy: Vec<String> = targets
        .occupancy
        .iter()
        .flat_map(|row| row.numbers.iter().map(move |number| (number, row)))
        .map(|(number, Occupancy { warps, blocks, shared, reserved, granularity, .. })| {
            format!(
                "({number}, Multiprocessor {{ warps: {warps}, blocks: {blocks}, shared_memory: {}, \
                 reserved_shared_memory: {}, shared_memory_granularity: {granularity} }})",
                shared * 1024,
                reserved * 1024
            )
        })
        .collect();
    array(&mut out, "static OCCUPANCY: [(u16, Multiprocessor); #]", occupancy.into_iter());
    out
}
