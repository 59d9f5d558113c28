//! `ptx.toml`: what a project wants verified, and how.
//!
//! The file that counts for a source is the one in its folder or the nearest folder above; files further
//! up are not looked at. The search ends at the root of the repository and at the home folder, and never
//! looks into a folder where everybody may put files, such as `/tmp`: what a stranger wrote there must not
//! decide what is verified. Flags of the command line come on top of it. Everything in it is optional:
//!
//! ```toml
//! extend = "../ptx.toml"                          # another file, which this one changes
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
//!
//! [format]
//! layout = "aligned"                              # "compiler" or "aligned"
//! indent = 4                                      # columns, where aligned
//! width = 100
//! asm = true                                      # asm templates of CUDA C++, too
//!
//! [[overrides]]                                   # what holds for some files only
//! files = ["generated/"]                          # patterns as in .gitignore
//! rules = { style = "allow" }                     # and ptx, cuda, format as above
//! ```
//!
//! Of two entries the nearer one counts: that of the file before that of the file that it extends, and that of the
//! last override that names a source before all others. Patterns are taken from the folder of the file that they are in.
//!
//! ```
//! use std::path::Path;
//! use ptx_project::config::{Config, Configs};
//! use ptx_project::Options;
//!
//! let (config, _) = Config::of_text(Path::new("ptx.toml"), "ptx.target = \"sm_90a\"\nexclude = [\"old/\"]\n")?;
//! assert_eq!(Options::of(&config)?.ptx_targets[0].as_str(), "sm_90a");
//! assert!(config.excludes(Path::new("old/k.ptx")));
//! let mut configs = Configs::default();           // looks for the nearest `ptx.toml` of each file, and reads each once
//! let config = configs.of(Path::new("kernels/k.ptx"))?;
//! # Ok::<(), ptx_project::Error>(())
//! ```

mod contents;
mod keys;
mod search;

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use ignore::gitignore::{Gitignore, GitignoreBuilder};

use ptx_emit::format;

use crate::error::{ConfigError, Error};
use crate::options::layout;
use crate::source::{plain, read_text};

pub use contents::{
    BudgetContents, CompilerName, CudaContents, FormatContents, LayoutName, LevelName, PtxContents,
};
use contents::{Contents, OverrideContents};
pub use keys::{KEYS, Key, Kind, keys_of, tables};
use search::in_folder;
pub(crate) use search::looked_in;
pub use search::{is_shared, nearest};

/// The name of the configuration file.
pub const FILE: &str = "ptx.toml";

/// No configuration that people write is larger, and none that is could exhaust the memory.
const MAX_BYTES: u64 = 1 << 20;

/// How many files may extend one another.
const MAX_EXTENDED: usize = 16;

/// A configuration that was read.
#[derive(Clone, Debug)]
pub struct Config {
    /// The file, for messages about it.
    pub path: PathBuf,
    /// Levels, by rule name, code, class, or `all`; of two equal names the later counts.
    pub rules: Vec<(String, LevelName)>,
    /// What PTX files are verified for.
    pub ptx: PtxContents,
    /// What CUDA sources are verified for.
    pub cuda: CudaContents,
    /// How PTX is laid out.
    pub format: FormatContents,
    /// What kernels may cost.
    pub budget: BudgetContents,
    exclude: Vec<Gitignore>,
    overrides: Vec<Override>,
    /// The place of each entry, by its key: `rules.syntax`.
    places: HashMap<String, Place>,
}

/// A configuration file and a line of it, from 1.
type Place = (Arc<Path>, u32);

/// What holds for some files.
#[derive(Clone, Debug)]
struct Override {
    files: Gitignore,
    contents: OverrideContents,
    places: HashMap<String, Place>,
}

impl Config {
    /// Reads the file and those that it extends.
    ///
    /// # Errors
    /// One of them cannot be read or is not right, or they extend each other.
    pub fn read(path: &Path) -> Result<Self, ConfigError> {
        Self::read_below(path, &mut Vec::new())
    }

    /// Reads a file that is extended by those in `above`, of which the last one names it.
    fn read_below(path: &Path, above: &mut Vec<PathBuf>) -> Result<Self, ConfigError> {
        let text = read_text(path, MAX_BYTES)
            .map_err(|error| ConfigError::Unreadable { file: path.to_owned(), reason: plain(&error) })?;
        let (mut config, extended) = Self::of_text(path, &text)?;
        let Some(extended) = extended else { return Ok(config) };
        above.push(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        let extended = joined(folder_of(path), &extended);
        let is_known = extended.canonicalize().is_ok_and(|path| above.contains(&path));
        if is_known || above.len() > MAX_EXTENDED {
            let problem =
                if is_known { "the file extends itself" } else { "too many files extend each other" };
            return Err(config.wrong_entry("extend", &problem));
        }
        match Self::read_below(&extended, above) {
            Ok(base) => config.put_on(base),
            Err(error) => return Err(config.wrong_entry("extend", &error)),
        }
        Ok(config)
    }

    /// The configuration that a file at `path` with this text is, and the file that it extends, which is not read.
    ///
    /// # Errors
    /// The text is not right.
    pub fn of_text(path: &Path, text: &str) -> Result<(Self, Option<String>), ConfigError> {
        let wrong = |error: toml::de::Error| ConfigError::Syntax {
            file: path.to_owned(),
            span: error.span(),
            message: error.message().to_owned(),
            excerpt: error.to_string(),
        };
        let file: Arc<Path> = path.into();
        let lines = keys::lines(text).map_err(wrong)?;
        let mut config = Self {
            path: path.to_owned(),
            rules: Vec::new(),
            ptx: PtxContents::default(),
            cuda: CudaContents::default(),
            format: FormatContents::default(),
            budget: BudgetContents::default(),
            exclude: Vec::new(),
            overrides: Vec::new(),
            places: lines.into_iter().map(|(key, line)| (key, (Arc::clone(&file), line))).collect(),
        };
        if let Some((key, message)) =
            keys::unknown(config.places.iter().map(|(key, (_, line))| (&**key, *line)))
        {
            return Err(config.wrong_entry(&key, &message));
        }
        let contents: Contents = toml::from_str(text).map_err(wrong)?;
        config.rules = contents.rules.into_iter().collect();
        (config.ptx, config.cuda, config.format) = (contents.ptx, contents.cuda, contents.format);
        config.budget = contents.budget;
        config.exclude.push(config.patterns("exclude", &contents.exclude)?);
        for (number, contents) in contents.overrides.into_iter().enumerate() {
            let prefix = format!("overrides.{number}.");
            let files = config.patterns(&format!("{prefix}files"), &contents.files)?;
            let of_it = |(key, place): (&String, &Place)| {
                Some((key.strip_prefix(&prefix)?.to_owned(), place.clone()))
            };
            let places = config.places.iter().filter_map(of_it).collect();
            config.overrides.push(Override { files, contents, places });
        }
        Ok((config, contents.extend))
    }

    /// The patterns of the entry `key`.
    fn patterns(&self, key: &str, patterns: &[String]) -> Result<Gitignore, ConfigError> {
        let mut builder = GitignoreBuilder::new(folder_of(&self.path));
        for pattern in patterns {
            if let Err(error) = builder.add_line(None, pattern) {
                return Err(self.wrong_entry(key, &error));
            }
        }
        builder.build().map_err(|error| self.wrong_entry(key, &error))
    }

    /// Puts what the file says on top of the file that it extends.
    fn put_on(&mut self, base: Self) {
        let above = std::mem::replace(self, base);
        self.path = above.path;
        self.exclude.extend(above.exclude);
        self.overrides.extend(above.overrides);
        self.format.put(&above.format);
        self.budget.put(above.budget);
        self.put(&above.rules, &above.ptx, &above.cuda, above.places);
    }

    fn put(
        &mut self,
        rules: &[(String, LevelName)],
        ptx: &PtxContents,
        cuda: &CudaContents,
        places: HashMap<String, Place>,
    ) {
        self.rules.extend_from_slice(rules);
        self.ptx.put(ptx);
        self.cuda.put(cuda);
        self.places.extend(places);
    }

    /// Which overrides hold for a file.
    fn overrides_of(&self, path: &Path) -> Vec<bool> {
        self.overrides.iter().map(|each| matches(&each.files, path)).collect()
    }

    /// The configuration with these overrides.
    fn overridden(&self, hold: &[bool]) -> Self {
        let mut config = self.clone();
        for (each, _) in self.overrides.iter().zip(hold).filter(|(_, holds)| **holds) {
            let OverrideContents { files: _, rules, ptx, cuda, format, budget } = &each.contents;
            let rules: Vec<_> = rules.iter().map(|(name, level)| (name.clone(), *level)).collect();
            config.format.put(format);
            config.budget.put(*budget);
            config.put(&rules, ptx, cuda, each.places.clone());
        }
        config
    }

    /// A configuration of this text.
    #[cfg(test)]
    pub(crate) fn parse(text: &str) -> Self {
        Self::of_text(Path::new(FILE), text).unwrap().0
    }

    /// Whether a file is left out. What is named by the user is left out too, since tools such as pre-commit name every
    /// file.
    #[must_use]
    pub fn excludes(&self, path: &Path) -> bool {
        self.exclude.iter().any(|patterns| matches(patterns, path))
    }

    /// How PTX is laid out.
    ///
    /// # Errors
    /// Widths that are not sensible.
    pub fn layout(&self) -> Result<format::Options, ConfigError> {
        let (written, default) = (&self.format, format::Options::default());
        let columns = written.layout.map_or(default.layout, format::Layout::from);
        let width = written.width.unwrap_or(default.width);
        let wrong = |key: &str, error: Error| self.wrong_entry(key, &error);
        layout(columns, written.indent, default.width).map_err(|error| wrong("format.indent", error))?;
        layout(columns, written.indent, width).map_err(|error| wrong("format.width", error))
    }

    /// The error that an entry is wrong, which is given by its key: `rules.syntax`.
    #[must_use]
    pub fn wrong_entry(&self, key: &str, error: &dyn std::fmt::Display) -> ConfigError {
        let place = self.places.get(key);
        ConfigError::Entry {
            file: place.map_or(self.path.as_path(), |(file, _)| file).to_owned(),
            line: place.map(|(_, line)| *line),
            message: error.to_string(),
        }
    }
}

/// Whether one of the patterns names a file or a folder that it is in.
fn matches(patterns: &Gitignore, path: &Path) -> bool {
    let absolute = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    let root = std::path::absolute(patterns.path()).unwrap_or_else(|_| patterns.path().to_owned());
    match absolute.strip_prefix(&root) {
        Ok(inside) => patterns.matched_path_or_any_parents(inside, false).is_ignore(),
        Err(_) => false,
    }
}

fn folder_of(file: &Path) -> &Path {
    file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// `path` from `folder`, without the parts that lead upwards, so that what lies below has its name as a beginning.
fn joined(folder: &Path, path: &str) -> PathBuf {
    let mut whole = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    for part in Path::new(path).components() {
        match part {
            Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    whole
}

/// The configurations of all sources of a run, each file read once.
#[derive(Debug, Default)]
pub struct Configs {
    fixed: Option<Option<Arc<Config>>>,
    folders: HashMap<PathBuf, Option<Arc<Config>>>,
    /// Configurations with overrides, by the file and which of its overrides hold. Sources that have the same in common
    /// share theirs.
    overridden: HashMap<(PathBuf, Vec<bool>), Arc<Config>>,
}

impl Configs {
    /// Takes this configuration for all sources, or none for all.
    #[must_use]
    pub fn fixed(config: Option<Config>) -> Self {
        Self { fixed: Some(config.map(Arc::new)), ..Self::default() }
    }

    /// The configuration that counts for a file, with the overrides that hold for it.
    ///
    /// # Errors
    /// It cannot be read or is not right.
    pub fn of(&mut self, path: &Path) -> Result<Option<Arc<Config>>, ConfigError> {
        let Some(config) = self.of_path(path)? else { return Ok(None) };
        let hold = config.overrides_of(path);
        if !hold.contains(&true) {
            return Ok(Some(config));
        }
        let known = self.overridden.entry((config.path.clone(), hold));
        Ok(Some(Arc::clone(known.or_insert_with_key(|(_, hold)| Arc::new(config.overridden(hold))))))
    }

    fn of_path(&mut self, path: &Path) -> Result<Option<Arc<Config>>, ConfigError> {
        if let Some(fixed) = &self.fixed {
            return Ok(fixed.clone());
        }
        let gone = |error: std::io::Error| ConfigError::NoFolder { reason: error.to_string() };
        let path = std::path::absolute(path).map_err(gone)?;
        let folder = path.parent().unwrap_or(Path::new("/"));
        // A path that leads upwards names folders that the file is not in.
        let leads_up = path.components().any(|part| part == Component::ParentDir);
        match folder.canonicalize() {
            Ok(folder) if leads_up => self.of_folder(&folder),
            _ => self.of_folder(folder),
        }
    }

    fn of_folder(&mut self, folder: &Path) -> Result<Option<Arc<Config>>, ConfigError> {
        let mut config = None;
        let mut searched = Vec::new();
        for folder in looked_in(folder) {
            if let Some(known) = self.folders.get(folder) {
                config.clone_from(known);
                break;
            }
            searched.push(folder);
            if let Some(path) = in_folder(folder) {
                config = Some(Arc::new(Config::read(&path)?));
                break;
            }
        }
        self.folders.extend(searched.into_iter().map(|folder| (folder.to_owned(), config.clone())));
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error(text: &str) -> String {
        Config::of_text(Path::new("p/ptx.toml"), text).unwrap_err().to_string()
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
    fn overrides_hold_for_their_files_and_the_last_counts() {
        let text = "[rules]\nsyntax = \"warn\"\n[ptx]\ntarget = \"sm_80\"\n\
            [[overrides]]\nfiles = [\"gen/\"]\nrules = { syntax = \"allow\" }\nptx.target = \"sm_90\"\n\
            [[overrides]]\nfiles = [\"*.x.ptx\"]\n[overrides.rules]\nP0102 = \"error\"\n";
        let config = Config::parse(text);
        let of = |path: &str| {
            let config = config.overridden(&config.overrides_of(Path::new(path)));
            let last = config.rules.last().unwrap().clone();
            (config.rules.len(), last.1, config.ptx.target.unwrap())
        };
        assert_eq!(of("a.ptx"), (1, LevelName::Warn, "sm_80".to_owned()));
        assert_eq!(of("gen/deep/a.ptx"), (2, LevelName::Allow, "sm_90".to_owned()));
        assert_eq!(of("gen/a.x.ptx"), (3, LevelName::Error, "sm_90".to_owned()));
        assert!(
            error("[[overrides]]\nfiles = []\nrule = 1\n")
                .contains("in line 3: there is no key `rule`; did you mean `rules`?")
        );
        assert!(error("[[overrides]]\nfiles = []\nptx.targets = 1\n").contains("did you mean `target`?"));
        assert!(error("[[overrides]]\nrules = {}\n").contains("missing field `files`"));
    }

    #[test]
    fn a_file_changes_the_one_that_it_extends() {
        let scratch = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = scratch.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, text).unwrap();
            path
        };
        let base = "exclude = [\"old/\"]\n[rules]\nstyle = \"allow\"\nP0102 = \"warn\"\n[ptx]\ntarget = \"sm_80\"\nversion = \"8.0\"\n";
        file("ptx.toml", base);
        let inner = file(
            "a/ptx.toml",
            "extend = \"../ptx.toml\"\nrules.syntax = \"info\"\n[ptx]\ntarget = \"sm_90\"\n",
        );
        let config = Config::read(&inner).unwrap();
        assert_eq!(config.rules.last(), Some(&("syntax".to_owned(), LevelName::Info)));
        assert_eq!((config.rules.len(), config.ptx.target.as_deref()), (3, Some("sm_90")));
        assert_eq!(config.ptx.version.as_deref(), Some("8.0"));
        assert!(config.excludes(&scratch.path().join("old/a.ptx")));
        // What is wrong is told of the file that it is in.
        file("ptx.toml", "\n[rules]\nsyntax = 1\n");
        let error = Config::read(&inner).unwrap_err().to_string();
        assert!(error.contains("in line 1: the configuration file") && error.contains("line 3"), "{error}");
        file("ptx.toml", "extend = \"a/ptx.toml\"\n");
        assert!(Config::read(&inner).unwrap_err().to_string().ends_with("the file extends itself"));
        file("ptx.toml", "extend = \"missing.toml\"\n");
        assert!(Config::read(&inner).unwrap_err().to_string().contains("missing.toml"));
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
