//! The keys of a configuration file: the one place that knows them all. Unknown keys are told by it, and the schema for
//! editors is made of it.

use std::collections::HashMap;

use ptx_emit::format::Options;
use ptx_syntax::LineIndex;
use strsim::damerau_levenshtein;
use toml::de::{DeTable, DeValue};

/// What a key takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A path.
    Path,
    /// Patterns of paths.
    Patterns,
    /// Names of rules with levels.
    Levels,
    /// A target.
    Target,
    /// Targets.
    Targets,
    /// A PTX version.
    Version,
    /// A front end.
    Compiler,
    /// A layout.
    Layout,
    /// A number of columns, with the least and the most.
    Columns(u16, u16),
    /// A number from 0.
    Count,
    /// `true` or `false`.
    Switch,
    /// A table.
    Table,
    /// Tables in a list.
    Tables,
}

/// A key of the file.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    /// The table that it is in; empty for none.
    pub table: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it is for.
    pub description: &'static str,
}

const fn key(table: &'static str, name: &'static str, kind: Kind, description: &'static str) -> Key {
    Key { table, name, kind, description }
}

const INDENT: Kind = Kind::Columns(*Options::INDENTS.start() as u16, *Options::INDENTS.end() as u16);
const WIDTH: Kind = Kind::Columns(*Options::WIDTHS.start(), *Options::WIDTHS.end());

/// The keys, each table after the one that it is in.
pub const KEYS: [Key; 27] = [
    key(
        "",
        "extend",
        Kind::Path,
        "Another configuration file, from the folder of this one. What stands here counts before what stands there.",
    ),
    key("", "exclude", Kind::Patterns, "Files and folders to leave out, as in .gitignore."),
    key(
        "",
        "rules",
        Kind::Levels,
        "How loudly rules are reported: by name, code or class (invalid, hazard, style), or all. The more particular name counts.",
    ),
    key("", "ptx", Kind::Table, "What PTX files are verified for."),
    key("", "cuda", Kind::Table, "What asm statements of CUDA C++ are verified for."),
    key("", "format", Kind::Table, "How PTX is laid out."),
    key("", "budget", Kind::Table, "What a kernel may cost. Above it `ptx-cli report` fails."),
    key("", "overrides", Kind::Tables, "What holds for some files only; the last that names a file counts."),
    key(
        "ptx",
        "target",
        Kind::Target,
        "The GPU that everything is to load on, instead of the file's own target.",
    ),
    key("ptx", "version", Kind::Version, "The newest PTX version that is taken, as that of a driver."),
    key("cuda", "targets", Kind::Targets, "The targets of the asm statements; sm_90a unless given."),
    key("cuda", "version", Kind::Version, "The PTX version of the asm statements; the newest unless given."),
    key("cuda", "compiler", Kind::Compiler, "Whose rules hold for asm statements."),
    key(
        "format",
        "layout",
        Kind::Layout,
        "As compilers print, with tabs; or as people write, with spaces and with operands and comments in columns.",
    ),
    key(
        "format",
        "indent",
        INDENT,
        "Columns of a level of indentation where the layout is aligned; the file's own unless given.",
    ),
    key("format", "width", WIDTH, "Columns that a line should not exceed; 100 unless given."),
    key(
        "format",
        "asm",
        Kind::Switch,
        "Whether asm templates of CUDA C++ are formatted, too. Unless given, the command does so with --asm only, and editors do.",
    ),
    key("budget", "registers", Kind::Count, "Registers of a thread."),
    key("budget", "spill", Kind::Count, "Bytes of spill stores, and of spill loads."),
    key("budget", "stack", Kind::Count, "Bytes of stack."),
    key("budget", "shared", Kind::Count, "Bytes of static shared memory."),
    key("overrides", "files", Kind::Patterns, "The files and folders, as in .gitignore."),
    key("overrides", "rules", Kind::Levels, "How loudly rules are reported there."),
    key("overrides", "ptx", Kind::Table, "What PTX files are verified for there."),
    key("overrides", "cuda", Kind::Table, "What asm statements are verified for there."),
    key("overrides", "format", Kind::Table, "How PTX is laid out there."),
    key("overrides", "budget", Kind::Table, "What a kernel may cost there."),
];

/// The keys of a table. Those of `overrides.ptx` are those of `ptx`.
pub fn keys_of(table: &str) -> impl Iterator<Item = &'static Key> {
    let table = table.strip_prefix("overrides.").unwrap_or(table);
    KEYS.iter().filter(move |key| key.table == table)
}

/// The names of the tables, and of those that are lists of tables.
pub fn tables() -> impl Iterator<Item = &'static str> {
    let is_table = |key: &&Key| matches!(key.kind, Kind::Table | Kind::Tables | Kind::Levels);
    KEYS.iter().filter(|key| key.table.is_empty()).filter(is_table).map(|key| key.name)
}

/// The first key that its table has not, and what is to be told of it. `found` are keys with their lines.
pub(super) fn unknown<'k>(found: impl Iterator<Item = (&'k str, u32)>) -> Option<(String, String)> {
    let is_unknown = |key: &str| {
        let (table, name) = split(key);
        // The rules of a table of rules are told elsewhere.
        (keys_of(&table).next().is_some() && !keys_of(&table).any(|known| known.name == name))
            .then_some(table)
    };
    let wrong = found.filter_map(|(key, line)| Some((line, key, is_unknown(key)?)));
    let (_, key, table) = wrong.min_by_key(|(line, key, _)| (*line, *key))?;
    let (_, name) = split(key);
    let known: Vec<&str> = keys_of(&table).map(|key| key.name).collect();
    let distance = |known: &&str| damerau_levenshtein(name, known);
    let near =
        known.iter().copied().filter(|each| name.len() < 3 * each.len() && distance(each) <= each.len() / 3);
    let message = match near.min_by_key(distance) {
        Some(near) => format!("there is no key `{name}`; did you mean `{near}`?"),
        None => {
            let known: Vec<String> = known.iter().map(|each| format!("`{each}`")).collect();
            format!("there is no key `{name}`; there are {}", known.join(", "))
        }
    };
    Some((key.to_owned(), message))
}

/// The table and the name of a key, without the numbers of a list: those of `overrides.0.files` are `overrides` and
/// `files`.
fn split(key: &str) -> (String, &str) {
    let (table, name) = key.rsplit_once('.').unwrap_or(("", key));
    let is_name = |part: &&str| !part.bytes().all(|byte| byte.is_ascii_digit());
    (table.split('.').filter(is_name).collect::<Vec<_>>().join("."), name)
}

/// Tables below this depth have no keys that are known.
const MAX_DEPTH: usize = 4;

/// The line of each key of a text, and of each key of its tables. Fails where it is no TOML.
pub(super) fn lines(text: &str) -> Result<HashMap<String, u32>, toml::de::Error> {
    let table = DeTable::parse(text)?;
    let mut lines = HashMap::new();
    add(table.get_ref(), "", 0, &LineIndex::new(text), &mut lines);
    Ok(lines)
}

fn add(table: &DeTable<'_>, prefix: &str, depth: usize, index: &LineIndex, lines: &mut HashMap<String, u32>) {
    for (name, value) in table {
        let key = format!("{prefix}{}", name.get_ref());
        let below = format!("{key}.");
        lines.insert(key, index.position(name.span().start as u32).line);
        if depth == MAX_DEPTH {
            continue;
        }
        match value.get_ref() {
            DeValue::Table(inner) => add(inner, &below, depth + 1, index, lines),
            DeValue::Array(elements) => {
                for (number, element) in elements.iter().enumerate() {
                    if let DeValue::Table(inner) = element.get_ref() {
                        add(inner, &format!("{below}{number}."), depth + 1, index, lines);
                    }
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{KEYS, Kind, keys_of};
    use crate::config::Config;
    use crate::config::contents::Contents;

    /// A value that a key takes.
    fn example(kind: Kind) -> &'static str {
        match kind {
            Kind::Path => "\"other.toml\"",
            Kind::Patterns => "[\"a/\"]",
            Kind::Levels => "{ syntax = \"warn\", P0205 = \"allow\", all = \"info\" }",
            Kind::Target => "\"sm_90a\"",
            Kind::Targets => "[\"sm_90a\"]",
            Kind::Version => "\"8.6\"",
            Kind::Compiler => "\"both\"",
            Kind::Layout => "\"aligned\"",
            Kind::Columns(..) | Kind::Count => "80",
            Kind::Switch => "true",
            Kind::Table => "{}",
            Kind::Tables => "[]",
        }
    }

    #[test]
    fn every_key_is_one_that_is_read() {
        for key in KEYS {
            let value = example(key.kind);
            let text = match key.table {
                "" => format!("{} = {value}\n", key.name),
                "overrides" if key.name == "files" => format!("[[overrides]]\nfiles = {value}\n"),
                "overrides" => format!("[[overrides]]\nfiles = []\n{} = {value}\n", key.name),
                table => format!("[{table}]\n{} = {value}\n", key.name),
            };
            Config::parse(&text);
        }
    }

    #[test]
    fn every_field_that_is_read_is_a_key() {
        // serde names the fields that it knows where one is unknown.
        for table in ["", "ptx", "cuda", "format", "budget", "overrides"] {
            let text = match table {
                "" => "no-such-key = 1\n".to_owned(),
                "overrides" => "[[overrides]]\nfiles = []\nno-such-key = 1\n".to_owned(),
                table => format!("[{table}]\nno-such-key = 1\n"),
            };
            let error = toml::from_str::<Contents>(&text).unwrap_err().to_string();
            let expected = error.rsplit_once("expected ").unwrap().1;
            let mut fields: Vec<&str> = expected.split('`').skip(1).step_by(2).collect();
            let mut keys: Vec<&str> = keys_of(table).map(|key| key.name).collect();
            fields.sort_unstable();
            keys.sort_unstable();
            assert_eq!(keys, fields, "{error}");
        }
    }
}
