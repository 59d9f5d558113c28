//! `ptx.toml`: what a project wants verified, and how.
//!
//! The file that counts for a source is the one in its folder or the nearest folder above; files further
//! up are not looked at. Flags of the command line come on top of it. Everything in it is optional:
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
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context, bail};
use clap::Args;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use ptx_verify::Level;
use serde::Deserialize;

use crate::foreign;
use crate::options::Compiler;
use crate::source::{Input, Origin, plain};

/// The name of the configuration file.
const FILE: &str = "ptx.toml";

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
}

impl Config {
    fn read(path: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(path)
            .map_err(|error| anyhow::anyhow!("cannot read `{}`: {}", foreign::path(path), plain(&error)))?;
        Self::new(path, &text)
            .with_context(|| format!("the configuration file `{}` is not right", foreign::path(path)))
    }

    fn new(path: &Path, text: &str) -> anyhow::Result<Self> {
        let contents: Contents = toml::from_str(text)?;
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let mut exclude = GitignoreBuilder::new(folder.unwrap_or(Path::new(".")));
        for pattern in &contents.exclude {
            exclude.add_line(None, pattern)?;
        }
        Ok(Self {
            path: path.to_owned(),
            rules: contents.rules,
            ptx: contents.ptx,
            cuda: contents.cuda,
            exclude: exclude.build()?,
        })
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
        let folder = std::path::absolute(&path).context("the current directory is gone")?;
        self.of_folder(folder.parent().unwrap_or(Path::new("/")))
    }

    fn of_folder(&mut self, folder: &Path) -> anyhow::Result<Option<Rc<Config>>> {
        if let Some(known) = self.folders.get(folder) {
            return Ok(known.clone());
        }
        let path = folder.join(FILE);
        let config = if path.is_file() {
            Some(Rc::new(Config::read(&path)?))
        } else {
            match folder.parent() {
                Some(parent) => self.of_folder(parent)?,
                None => None,
            }
        };
        self.folders.insert(folder.to_owned(), config.clone());
        Ok(config)
    }
}

/// Whether the configuration leaves the input out. What is named by the user is left out too, since
/// tools such as pre-commit name every file.
pub fn is_excluded(config: Option<&Config>, input: &Input) -> bool {
    match (&input.origin, config) {
        (Origin::File(path), Some(config)) => config.excludes(path),
        (Origin::Stdin, _) | (_, None) => false,
    }
}

/// Fails with the place of a wrong entry.
pub fn wrong_entry<T>(config: &Config, error: &dyn std::fmt::Display) -> anyhow::Result<T> {
    bail!("the configuration file `{}` is not right: {error}", foreign::path(&config.path))
}
