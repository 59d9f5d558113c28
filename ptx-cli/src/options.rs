//! What to verify for: the flags of the command line on top of the configuration file.

use clap::Args;
use ptx_project::config::{CompilerName, Config};
use ptx_project::{Options, targets, version};

use crate::commands::loads::toolkit;
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

    /// Verify for the PTX version of this CUDA release, such as 12.4, and CUDA sources for its branches of `#if` lines
    #[arg(long, value_name = "RELEASE", conflicts_with = "ptx_version")]
    cuda: Option<String>,

    #[command(flatten)]
    levels: LevelArgs,

    /// Which front end's rules hold for asm statements [default: nvcc]
    #[arg(long, value_name = "COMPILER", value_enum, help_heading = "CUDA sources")]
    compiler: Option<CompilerName>,
}

/// Puts the flags on top of the configuration. Fails on a name that does not exist.
pub fn options(args: &OptionArgs, config: Option<&Config>) -> anyhow::Result<Options> {
    let targets = targets(&args.target)?;
    let release = args.cuda.as_deref().map(toolkit).transpose()?;
    let version = match release {
        Some((_, version)) => Some(version),
        None => args.ptx_version.as_deref().map(version).transpose()?,
    };
    let mut options = config.map_or_else(|| Ok(Options::default()), Options::of)?;
    options.levels = levels(&args.levels, config)?;
    if !targets.is_empty() {
        options.ptx_targets.clone_from(&targets);
        options.cuda_targets = targets;
    }
    if version.is_some() {
        (options.ptx_version, options.cuda_version) = (version, version);
        options.cuda_toolkit = release.map(|(numbers, _)| numbers);
    }
    options.compiler = args.compiler.map_or(options.compiler, Into::into);
    Ok(options)
}
