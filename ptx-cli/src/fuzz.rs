//! Entrances for what the project's own tests hold for any input: see `ptx_tests::properties`. They are no
//! interface for anybody else.

use std::path::Path;

use crate::config::Config;
use crate::fix;
use crate::foreign::Name;
use crate::options::{OptionArgs, Options};
use crate::source::{Kind, Source};

/// CUDA C++ with its certain fixes applied, as `verify --fix` writes it.
#[must_use]
pub fn fixed_cuda(text: &str) -> String {
    let source = Source::new(Name::from("fuzz.cu"), Kind::Cuda, text.as_bytes().to_vec());
    fix::fix(source, &Options::default(), false).map_or_else(|_| text.to_owned(), |fixed| fixed.source.text)
}

/// Reads `text` as a `ptx.toml`.
///
/// # Errors
/// The sentence for the user.
pub fn configuration(text: &str) -> Result<(), String> {
    let read = || {
        let config = Config::new(Path::new("ptx.toml"), text)?;
        Options::new(&OptionArgs::default(), Some(&config)).map(drop)
    };
    read().map_err(|error| format!("{error:#}"))
}
