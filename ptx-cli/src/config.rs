//! `ptx.toml`: what a project wants verified, and how.
//!
//! The file that counts for a source is the one in its folder or the nearest folder above; files further
//! up are not looked at. The search ends at the root of the repository and at the home folder, and never
//! looks into a folder where everybody may put files, such as `/tmp`: what a stranger wrote there must not
//! decide what is verified. Flags of the command line come on top of it. Everything in it is optional:
//!
//! ```toml
//! exclude = ["third_party/", "*.generated.ptx"]   # patterns as in .gitignore
//!
//! [rules]                                         # "allow", "info", "warn" or "error"
//! carry-unused = "allow"
//! style = "warn"
//!
//! [ptx]
//! target = "sm_90a"                               # the GPU that everything is to load on
//! version = "8.6"                                 # the newest PTX that the driver takes
//!
//! [cuda]
//! targets = ["sm_80", "sm_90a"]
//! version = "8.6"
//! compiler = "both"                               # "nvcc", "clang" or "both"
//! ```

use std::collections::{BTreeMap, HashMap};
use std::path::{Component, Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, bail};
use clap::Args;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ptx_syntax::LineIndex;
use ptx_verify::Level;
use serde::Deserialize;
use strsim::damerau_levenshtein;
use toml::de::DeTable;

use crate::foreign;
use crate::options::Compiler;
use crate::source::{Input, Origin, plain, read_text};

/// The name of the configuration file.
pub const FILE: &str = "ptx.toml";

/// No configuration that people write is larger, and none that is could exhaust the memory.
const MAX_BYTES: u64 = 1 << 20;

/// The keys of the file, by table; the rules of `[rules]` are told by name elsewhere.
const KEYS: [(&str, &[&str]); 3] = [
    ("", &["exclude", "rules", "ptx", "cuda"]),
    ("ptx", &["target", "version"]),
    ("cuda", &["targets", "version", "compiler"]),
];

/// The names of the tables.
pub fn tables() -> impl Iterator<Item = &'static str> {
    KEYS.iter().map(|(table, _)| *table).chain(["rules"]).filter(|table| !table.is_empty())
}

/// The keys of a table, or with an empty name those before the first table.
pub fn keys(table: &str) -> &'static [&'static str] {
    KEYS.iter().find(|(each, _)| *each == table).map_or(&[], |(_, keys)| keys)
}

/// The flags that choose the configuration.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Configuration")]
pub struct ConfigArgs {
    /// Use this configuration file instead of the nearest `ptx.toml` of each source
    #[arg(long, value_name = "FILE", conflicts_with = "no_config")]
    config: Option<PathBuf>,

    /// Use no configuration file
    #[arg(long)]
    no_config: bool,
}

/// The contents of a configuration file.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
struct Contents {
    exclude: Vec<String>,
    rules: BTreeMap<String, LevelName>,
    ptx: PtxContents,
    cuda: CudaContents,
}

/// A level as it is written in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LevelName {
    /// Not reported.
    Allow,
    /// Worth knowing.
    Info,
    /// A warning.
    Warn,
    /// An error.
    Error,
}

impl From<LevelName> for Level {
    fn from(name: LevelName) -> Self {
        match name {
            LevelName::Allow => Self::Allow,
            LevelName::Info => Self::Info,
            LevelName::Warn => Self::Warn,
            LevelName::Error => Self::Error,
        }
    }
}

/// The table `[ptx]`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PtxContents {
    /// The GPU that everything is to load on.
    pub target: Option<String>,
    /// The newest PTX version that is taken.
    pub version: Option<String>,
}

/// The table `[cuda]`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CudaContents {
    /// The targets that asm statements are verified for.
    pub targets: Vec<String>,
    /// The PTX version that asm statements are verified for.
    pub version: Option<String>,
    /// The front end.
    pub compiler: Option<Compiler>,
}

/// A configuration that was read.
#[derive(Debug)]
pub struct Config {
    /// The file, for messages about what is in it.
    pub path: PathBuf,
    /// Levels, by rule name, code, class, or `all`.
    pub rules: BTreeMap<String, LevelName>,
    /// What PTX files are verified for.
    pub ptx: PtxContents,
    /// What CUDA sources are verified for.
    pub cuda: CudaContents,
    exclude: Gitignore,
    /// The line of each entry, by its key: `rules.syntax`.
    lines: HashMap<String, u32>,
}

impl Config {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let text = read_text(path, MAX_BYTES)
            .map_err(|error| anyhow::anyhow!("cannot read `{}`: {}", foreign::path(path), plain(&error)))?;
        Self::new(path, &text)
    }

    /// The configuration that a file at `path` with this text is.
    pub fn new(path: &Path, text: &str) -> anyhow::Result<Self> {
        let wrong = || format!("the configuration file `{}` is not right", foreign::path(path));
        let lines = lines(text).with_context(wrong)?;
        let mut config = Self {
            path: path.to_owned(),
            rules: BTreeMap::new(),
            ptx: PtxContents::default(),
            cuda: CudaContents::default(),
            exclude: Gitignore::empty(),
            lines,
        };
        config.check_keys()?;
        let contents: Contents = toml::from_str(text).with_context(wrong)?;
        (config.rules, config.ptx, config.cuda) = (contents.rules, contents.ptx, contents.cuda);
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut exclude = GitignoreBuilder::new(folder.unwrap_or(Path::new(".")));
        for pattern in &contents.exclude {
            if let Err(error) = exclude.add_line(None, pattern) {
                return wrong_entry(&config, "exclude", &error);
            }
        }
        config.exclude = exclude.build().or_else(|error| wrong_entry(&config, "exclude", &error))?;
        Ok(config)
    }

    /// Fails on a key that no table has, with its line and the key that was meant.
    fn check_keys(&self) -> anyhow::Result<()> {
        let mut unknown: Vec<(u32, &str, &[&str])> = Vec::new();
        for (key, line) in &self.lines {
            let (table, name) = key.split_once('.').unwrap_or(("", key));
            if let Some((_, known)) =
                KEYS.iter().find(|(each, known)| *each == table && !known.contains(&name))
            {
                unknown.push((*line, key, known));
            }
        }
        let Some((_, key, known)) = unknown.iter().min() else { return Ok(()) };
        let name = key.rsplit_once('.').map_or(*key, |(_, name)| name);
        let distance = |known: &&str| damerau_levenshtein(name, known);
        let near = known
            .iter()
            .copied()
            .filter(|each| name.len() < 3 * each.len() && distance(each) <= each.len() / 3);
        let message = match near.min_by_key(distance) {
            Some(near) => format!("there is no key `{name}`; did you mean `{near}`?"),
            None => {
                let known: Vec<String> = known.iter().map(|each| format!("`{each}`")).collect();
                format!("there is no key `{name}`; there are {}", known.join(", "))
            }
        };
        wrong_entry(self, key, &message)
    }

    /// A configuration of this text.
    #[cfg(test)]
    pub fn parse(text: &str) -> Self {
        Self::new(Path::new(FILE), text).unwrap()
    }

    fn excludes(&self, path: &Path) -> bool {
        let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
        let root =
            std::path::absolute(self.exclude.path()).unwrap_or_else(|_| self.exclude.path().to_owned());
        match absolute.strip_prefix(&root) {
            Ok(inside) => self.exclude.matched_path_or_any_parents(inside, false).is_ignore(),
            Err(_) => false,
        }
    }
}

/// The configurations of all sources of a run, each file read once.
#[derive(Debug, Default)]
pub struct Configs {
    fixed: Option<Option<Rc<Config>>>,
    folders: HashMap<PathBuf, Option<Rc<Config>>>,
}

impl Configs {
    /// Reads the configuration that the flags name, if they name one.
    pub fn new(args: &ConfigArgs) -> anyhow::Result<Self> {
        let fixed = match &args.config {
            Some(path) => Some(Some(Rc::new(Config::read(path)?))),
            None => args.no_config.then_some(None),
        };
        Ok(Self { fixed, folders: HashMap::new() })
    }

    /// The configuration that counts for an input.
    pub fn of(&mut self, input: &Input) -> anyhow::Result<Option<Rc<Config>>> {
        if let Some(fixed) = &self.fixed {
            return Ok(fixed.clone());
        }
        let path = match &input.origin {
            Origin::File(path) => path.clone(),
            Origin::Stdin => input.name.path().to_owned(),
        };
        let path = std::path::absolute(&path).context("the current directory is gone")?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        // A path that leads upwards names folders that the file is not in.
        let leads_up = path.components().any(|part| part == Component::ParentDir);
        match folder.canonicalize() {
            Ok(folder) if leads_up => self.of_folder(&folder),
            _ => self.of_folder(folder),
        }
    }

    fn of_folder(&mut self, folder: &Path) -> anyhow::Result<Option<Rc<Config>>> {
        let mut config = None;
        let mut searched = Vec::new();
        for folder in looked_in(folder) {
            if let Some(known) = self.folders.get(folder) {
                config.clone_from(known);
                break;
            }
            searched.push(folder);
            if let Some(path) = in_folder(folder) {
                config = Some(Rc::new(Config::read(&path)?));
                break;
            }
        }
        self.folders.extend(searched.into_iter().map(|folder| (folder.to_owned(), config.clone())));
        Ok(config)
    }
}

/// The configuration file that counts for what lies in `folder`.
pub fn nearest(folder: &Path) -> Option<PathBuf> {
    looked_in(folder).find_map(in_folder)
}

fn in_folder(folder: &Path) -> Option<PathBuf> {
    Some(folder.join(FILE)).filter(|file| file.exists())
}

/// The folders in which a configuration file counts for what lies in `folder`, the nearest first.
fn looked_in(folder: &Path) -> impl Iterator<Item = &Path> {
    let mut ended = false;
    folder.ancestors().take_while(move |folder| {
        let counts = !ended && !is_shared(folder);
        ended = counts && is_top(folder);
        counts
    })
}

/// Whether what lies above `folder` is another project's business: it is the root of a repository, or the
/// home folder.
fn is_top(folder: &Path) -> bool {
    folder.join(".git").exists() || std::env::home_dir().is_some_and(|home| home == folder)
}

/// Whether everybody may put files into `folder` and nobody may take away those of others, as in `/tmp`.
#[cfg(unix)]
pub fn is_shared(folder: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    const STICKY_AND_WRITABLE: u32 = 0o1002;
    folder.metadata().is_ok_and(|of| of.permissions().mode() & STICKY_AND_WRITABLE == STICKY_AND_WRITABLE)
}

/// Folders have no such mode here.
#[cfg(not(unix))]
pub fn is_shared(_: &Path) -> bool {
    false
}

/// The line of each key of a text, and of each key of its tables. Fails where it is no TOML.
fn lines(text: &str) -> Result<HashMap<String, u32>, toml::de::Error> {
    let table = DeTable::parse(text)?;
    let index = LineIndex::new(text);
    let line_of = |at: usize| index.position(at as u32).line;
    let mut lines = HashMap::new();
    for (key, value) in table.get_ref() {
        lines.insert(key.get_ref().to_string(), line_of(key.span().start));
        let Some(inner) = value.get_ref().as_table() else { continue };
        for name in inner.keys() {
            lines.insert(format!("{}.{}", key.get_ref(), name.get_ref()), line_of(name.span().start));
        }
    }
    Ok(lines)
}

/// Whether the configuration leaves the input out. What is named by the user is left out too, since
/// tools such as pre-commit name every file.
pub fn is_excluded(config: Option<&Config>, input: &Input) -> bool {
    match (&input.origin, config) {
        (Origin::File(path), Some(config)) => config.excludes(path),
        (Origin::Stdin, _) | (_, None) => false,
    }
}

/// Fails with the place of a wrong entry, given by its key: `rules.syntax`.
pub fn wrong_entry<T>(config: &Config, key: &str, error: &dyn std::fmt::Display) -> anyhow::Result<T> {
    let line = config.lines.get(key).map_or_else(String::new, |line| format!(" in line {line}"));
    bail!("the configuration file `{}` is not right{line}: {error}", foreign::path(&config.path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        format!("{:#}", Config::new(Path::new("p/ptx.toml"), text).unwrap_err())
    }

    #[test]
    fn wrong_keys_are_told_with_their_line_and_the_nearest() {
        let wrong = "the configuration file `p/ptx.toml` is not right";
        assert_eq!(
            error("# a\n\nrulez = 1\n"),
            format!("{wrong} in line 3: there is no key `rulez`; did you mean `rules`?")
        );
        assert_eq!(
            error("[cuda]\ntarget = \"sm_90\"\n"),
            format!("{wrong} in line 2: there is no key `target`; did you mean `targets`?")
        );
        assert_eq!(
            error("[ptx]\nlevel = 1\n"),
            format!("{wrong} in line 2: there is no key `level`; there are `target`, `version`")
        );
        assert!(
            error("[rules]\n\n\nsyntax = \"loud\"\n").contains("line 4"),
            "{}",
            error("[rules]\nsyntax = 1")
        );
    }

    #[test]
    fn the_search_ends_at_the_repository_and_before_shared_folders() {
        let scratch = tempfile::tempdir().unwrap();
        let inner = scratch.path().join("repository/inner");
        std::fs::create_dir_all(&inner).unwrap();
        let found = || Configs::default().of_folder(&inner).unwrap().map(|config| config.path.clone());
        let outside = scratch.path().join(FILE);
        std::fs::write(&outside, "").unwrap();
        assert_eq!(found(), Some(outside));
        std::fs::create_dir(scratch.path().join("repository/.git")).unwrap();
        assert_eq!(found(), None);
        let inside = scratch.path().join("repository").join(FILE);
        std::fs::write(&inside, "").unwrap();
        assert_eq!(found(), Some(inside));
    }
}
