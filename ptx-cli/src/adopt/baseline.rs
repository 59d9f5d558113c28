//! A baseline: findings that are known and not told again.
//!
//! A finding is known by its file, its rule and the text of its line, so that it stays known where lines move, and is
//! told again where its line changes. Of equal lines each counts once. The file has one finding a line, in order of
//! the files and lines, so that a change of it is easy to read.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context, bail};
use ptx_syntax::{Diagnostic, LineIndex};
use serde::{Deserialize, Serialize};

use crate::foreign;
use crate::source::{Source, plain, read_text};
use crate::write;

/// The only version so far.
const VERSION: u32 = 1;

/// A finding takes some hundred bytes; no baseline of a project is larger.
const MAX_BYTES: u64 = 256 << 20;

/// Of a line so much is kept.
const MAX_LINE: usize = 200;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    version: u32,
    findings: Vec<Record>,
}

/// Findings of one rule on equal lines of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// From the folder of the baseline, with slashes.
    file: String,
    rule: String,
    /// The text of the line, without the blanks around it.
    line: String,
    count: usize,
}

/// Known findings.
#[derive(Debug, Default)]
pub struct Baseline {
    folder: PathBuf,
    /// By file, the numbers of findings by rule and line.
    files: HashMap<String, HashMap<(String, String), usize>>,
}

/// What a baseline said of the findings of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// So many were known.
    pub known: usize,
    /// So many of the baseline are there no more.
    pub gone: usize,
}

impl Known {
    /// Adds those of another file.
    pub fn add(&mut self, other: Self) {
        self.known += other.known;
        self.gone += other.gone;
    }
}

impl Baseline {
    /// Reads a baseline.
    pub fn load(path: &Path) -> anyhow::Result<Self> {
        let name = foreign::path(path);
        let text = read_text(path, MAX_BYTES)
            .map_err(|error| anyhow::anyhow!("cannot read the baseline `{name}`: {}", plain(&error)))?;
        let contents: Contents =
            serde_json::from_str(&text).with_context(|| format!("cannot use the baseline `{name}`"))?;
        if contents.version != VERSION {
            bail!("cannot use the baseline `{name}`: its version is {}, not {VERSION}", contents.version);
        }
        let mut baseline = Self { folder: folder_of(path), files: HashMap::new() };
        for Record { file, rule, line, count } in contents.findings {
            *baseline.files.entry(file).or_default().entry((rule, line)).or_default() += count;
        }
        Ok(baseline)
    }

    /// Takes the known findings out.
    pub fn take_known(&self, source: &Source, diagnostics: &mut Vec<Diagnostic>) -> Known {
        let Some(known) = self.files.get(&name_from(&self.folder, source)) else { return Known::default() };
        let mut left = known.clone();
        let lines = Lines::new(source);
        let before = diagnostics.len();
        diagnostics.retain(|found| {
            let Some(count) = left.get_mut(&(found.rule.to_owned(), lines.of(found))) else { return true };
            let is_known = *count > 0;
            *count = count.saturating_sub(1);
            !is_known
        });
        Known { known: before - diagnostics.len(), gone: left.into_values().sum() }
    }
}

/// The findings of a source as a baseline at `path` has them.
pub fn records(path: &Path, source: &Source, diagnostics: &[Diagnostic]) -> Vec<Record> {
    let file = name_from(&folder_of(path), source);
    let lines = Lines::new(source);
    let mut records: Vec<Record> = Vec::new();
    let mut known: HashMap<(&str, String), usize> = HashMap::new();
    for found in diagnostics {
        let line = lines.of(found);
        let index = *known.entry((found.rule, line.clone())).or_insert(records.len());
        if index == records.len() {
            records.push(Record { file: file.clone(), rule: found.rule.to_owned(), line, count: 0 });
        }
        records[index].count += 1;
    }
    records
}

/// Writes a baseline.
pub fn save(path: &Path, records: &[Record]) -> anyhow::Result<()> {
    let mut text = format!("{{\"version\": {VERSION}, \"findings\": [").into_bytes();
    for (number, record) in records.iter().enumerate() {
        text.extend_from_slice(if number == 0 { b"\n" } else { b",\n" });
        foreign::write_json(&mut text, record)?;
    }
    text.extend_from_slice(b"\n]}\n");
    write::create(path, &text)
        .map_err(|error| anyhow::anyhow!("cannot write `{}`: {}", foreign::path(path), plain(&error)))
}

fn folder_of(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// The name of a source from `folder`, the same on every system; as it was given where it lies elsewhere.
fn name_from(folder: &Path, source: &Source) -> String {
    let path = source.name.path();
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let Ok(inside) = absolute.strip_prefix(folder) else { return source.name.exact().into_owned() };
    let parts = inside.components().map(|part| match part {
        Component::Normal(name) => name.to_string_lossy(),
        part => part.as_os_str().to_string_lossy(),
    });
    parts.collect::<Vec<_>>().join("/")
}

/// The lines of a source.
struct Lines<'s> {
    source: &'s Source,
    index: LineIndex,
}

impl<'s> Lines<'s> {
    fn new(source: &'s Source) -> Self {
        Self { source, index: LineIndex::new(&source.text) }
    }

    fn of(&self, found: &Diagnostic) -> String {
        let line = self.index.position(found.span.start).line;
        let text = self.index.line_span(line).text(&self.source.text).trim();
        let end = (0..=text.len().min(MAX_LINE)).rev().find(|end| text.is_char_boundary(*end));
        text[..end.unwrap_or(0)].to_owned()
    }
}
