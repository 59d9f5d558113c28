//! `versions.isa`.

use super::{Definitions, Version, array, below, version_source};
use crate::cursor::Cursor;
use crate::fault::{Fault, Faults};

/// A version and the releases that brought it.
pub(super) struct Row {
    version: Version,
    releases: Vec<Release>,
}

/// A CUDA release, or a driver without one.
struct Release {
    cuda: Option<Version>,
    driver: Option<u16>,
}

pub(super) fn read(definitions: &Definitions, faults: &mut Faults) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    definitions.each(faults, |cursor| {
        cursor.word("version")?;
        let version = cursor.version_numbers()?;
        if rows.last().is_some_and(|last| last.version >= version) {
            return Err(cursor.fault("the version before this one is not older"));
        }
        cursor.mark('=')?;
        let mut releases = vec![release(cursor)?];
        while cursor.eat(',') {
            releases.push(release(cursor)?);
        }
        rows.push(Row { version, releases });
        Ok(())
    });
    rows
}

fn release(cursor: &mut Cursor<'_>) -> Result<Release, Fault> {
    let cuda = if cursor.eat_word("cuda") { Some(cursor.version_numbers()?) } else { None };
    let driver = if cursor.eat_word("driver") { Some(below(cursor)?) } else { None };
    match (cuda, driver) {
        (None, None) => Err(cursor.unexpected("`cuda` or `driver`")),
        _ => Ok(Release { cuda, driver }),
    }
}

/// Requires a version that was published.
pub(super) fn published(cursor: &mut Cursor<'_>, versions: &[Row]) -> Result<Version, Fault> {
    let version = cursor.version_numbers()?;
    let is_known = versions.iter().any(|row| row.version == version);
    if is_known { Ok(version) } else { Err(cursor.fault("this version was never published")) }
}

pub(super) fn write(rows: &[Row]) -> String {
    let mut out = String::new();
    array(&mut out, "const VERSIONS: [Version; #]", rows.iter().map(|row| version_source(row.version)));
    let releases: Vec<String> = rows
        .iter()
        .flat_map(|row| row.releases.iter().map(move |release| (row.version, release)))
        .map(|(version, Release { cuda, driver })| {
            let cuda = cuda.map_or("None".to_owned(), |(major, minor)| format!("Some(({major}, {minor}))"));
            format!("Release {{ version: {}, cuda: {cuda}, driver: {driver:?} }}", version_source(version))
        })
        .collect();
    array(&mut out, "static RELEASES: [Release; #]", releases.into_iter());
    out
}
