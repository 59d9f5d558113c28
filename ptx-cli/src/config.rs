//! Which `ptx.toml` counts: the flags that choose it, and the inputs that it is chosen for.

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use ptx_project::ConfigError;
use ptx_project::config::{Config, Configs};

use crate::source::{Input, Origin};

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

impl ConfigArgs {
    /// Reads the configuration that the flags name, if they name one.
    pub fn configs(&self) -> Result<Configs, ConfigError> {
        Ok(match &self.config {
            Some(path) => Configs::fixed(Some(Config::read(path)?)),
            None if self.no_config => Configs::fixed(None),
            None => Configs::default(),
        })
    }
}

/// The configuration that counts for an input.
pub fn config_of(configs: &mut Configs, input: &Input) -> Result<Option<Arc<Config>>, ConfigError> {
    configs.of(input.path())
}

/// Whether the configuration leaves the input out. Standard input never is.
pub fn is_excluded(config: Option<&Config>, input: &Input) -> bool {
    let file = match &input.origin {
        Origin::File(path) => Some(path.as_path()),
        Origin::Member(member) => member.container.path(),
        Origin::Stdin => None,
    };
    config.zip(file).is_some_and(|(config, file)| config.excludes(file))
}
