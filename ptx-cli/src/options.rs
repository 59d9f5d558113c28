//! What to verify for: the flags of the command line on top of the configuration file.

use anyhow::bail;
use clap::{Args, ValueEnum};
use ptx_ir::target::Target;
use ptx_ir::version::Version;
use ptx_verify::Levels;
use serde::Deserialize;

use crate::commands::loads::cuda;
use crate::config::{Config, wrong_entry};
use crate::levels::{LevelArgs, levels};

/// The flags that say what to verify for.
#[derive(Args, Clone, Debug, Default)]
pub struct OptionArgs {
    /// Verify for this target instead of the file's own; several, separated by commas
    ///
    /// For PTX the question is "would this load on that GPU?". CUDA sources are verified for sm_90a
    /// unless targets are given.
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    target: Vec<String>,

    /// Verify for this PTX version, such as 8.6, instead of the file's own
    #[arg(long, value_name = "VERSION")]
    ptx_version: Option<String>,

    /// Verify for the PTX version of this CUDA release, such as 12.4
    #[arg(long, value_name = "RELEASE", conflicts_with = "ptx_version")]
    cuda: Option<String>,

    #[command(flatten)]
    levels: LevelArgs,

    /// Which front end's rules hold for asm statements [default: nvcc]
    #[arg(long, value_name = "COMPILER", value_enum, help_heading = "CUDA sources")]
    compiler: Option<Compiler>,
}

/// A CUDA front end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compiler {
    /// NVIDIA's
    #[default]
    Nvcc,
    /// LLVM's
    Clang,
    /// What both accept
    Both,
}

/// How the columns of PTX are made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// As compilers print, with tabs
    #[default]
    Compiler,
    /// As people write, with spaces, and with operands and comments in columns
    Aligned,
}

impl Layout {
    /// The layout of the formatter.
    #[must_use]
    pub const fn of_format(self) -> ptx_emit::format::Layout {
        match self {
            Self::Compiler => ptx_emit::format::Layout::Compiler,
            Self::Aligned => ptx_emit::format::Layout::Aligned,
        }
    }
}

/// What to verify for.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The levels that were asked for.
    pub levels: Levels,
    /// What PTX is to load on; empty for what the file itself says.
    pub ptx_targets: Vec<Target>,
    /// The newest PTX version that is taken; `None` for what the file itself says.
    pub ptx_version: Option<Version>,
    /// The targets of asm statements; empty for the default.
    pub cuda_targets: Vec<Target>,
    /// The PTX version of asm statements; `None` for the newest.
    pub cuda_version: Option<Version>,
    /// The front end of asm statements.
    pub compiler: Compiler,
}

impl Options {
    /// Puts the flags on top of the configuration. Fails on a name that does not exist.
    pub fn new(args: &OptionArgs, config: Option<&Config>) -> anyhow::Result<Self> {
        let targets = targets(&args.target)?;
        let version = match &args.cuda {
            Some(release) => Some(cuda(release)?),
            None => args.ptx_version.as_deref().map(version).transpose()?,
        };
        let mut options = match config {
            Some(config) => Self::of_config(config)?,
            None => Self::default(),
        };
        options.levels = levels(&args.levels, config)?;
        if !targets.is_empty() {
            options.ptx_targets.clone_from(&targets);
            options.cuda_targets = targets;
        }
        if version.is_some() {
            (options.ptx_version, options.cuda_version) = (version, version);
        }
        options.compiler = args.compiler.unwrap_or(options.compiler);
        Ok(options)
    }

    fn of_config(config: &Config) -> anyhow::Result<Self> {
        let targets_of =
            |key: &str, names: &[String]| targets(names).or_else(|error| wrong_entry(config, key, &error));
        let version_of = |key: &str, text: Option<&str>| {
            text.map(version).transpose().or_else(|error| wrong_entry(config, key, &error))
        };
        Ok(Self {
            levels: Levels::default(),
            ptx_targets: targets_of("ptx.target", config.ptx.target.as_slice())?,
            ptx_version: version_of("ptx.version", config.ptx.version.as_deref())?,
            cuda_targets: targets_of("cuda.targets", &config.cuda.targets)?,
            cuda_version: version_of("cuda.version", config.cuda.version.as_deref())?,
            compiler: config.cuda.compiler.unwrap_or_default(),
        })
    }
}

/// The targets of these names.
pub fn targets(names: &[String]) -> anyhow::Result<Vec<Target>> {
    names.iter().map(|name| target(name.trim())).collect()
}

/// The target of this name. Fails with the targets that have its number, or with all.
pub fn target(name: &str) -> anyhow::Result<Target> {
    if let Some(target) = Target::parse(name) {
        return Ok(target);
    }
    let digits: String = name.chars().filter(char::is_ascii_digit).collect();
    let near = |target: &Target| digits.parse() == Ok(target.number());
    let alike: Vec<String> = Target::all().filter(near).map(|target| format!("`{target}`")).collect();
    if alike.is_empty() {
        let all: Vec<&str> = Target::all().map(Target::as_str).collect();
        bail!("there is no target `{name}`; there are {}", all.join(", "));
    }
    bail!("there is no target `{name}`; there is {}", alike.join(", "))
}

/// The version that `text` is.
pub fn version(text: &str) -> anyhow::Result<Version> {
    match Version::parse(text.trim()).filter(|version| version.is_published()) {
        Some(version) => Ok(version),
        None => bail!("there is no PTX version `{text}`; the newest that is known is {}", Version::LATEST),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_names_are_told_with_right_ones() {
        assert_eq!(target("sm_90").unwrap().as_str(), "sm_90");
        let error = target("sm90").unwrap_err().to_string();
        assert_eq!(error, "there is no target `sm90`; there is `sm_90`, `sm_90a`");
        assert!(target("hopper").unwrap_err().to_string().contains("sm_20, "));
        assert!(version("12.3").unwrap_err().to_string().contains("9.5"));
    }
}
