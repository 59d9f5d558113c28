//! Verifies files as their `ptx.toml` wants them and prints one SARIF log: `cargo run --example sarif FILE...`.

use std::path::{Path, PathBuf};

use ptx_toolkit::Severity;
use ptx_toolkit::project::config::Configs;
use ptx_toolkit::project::render::{Format, Output, Style, file};
use ptx_toolkit::project::{Error, Options, Source, verify};

/// The log of all files, and whether there is an error in one of them.
pub fn sarif(paths: &[PathBuf]) -> Result<(Vec<u8>, bool), Box<dyn std::error::Error>> {
    let style = Style::plain(Format::Sarif);
    let mut output = Output::begin(Vec::new(), style.format)?;
    let (mut configs, mut failed) = (Configs::default(), false);
    for path in paths {
        let Some(options) = options(&mut configs, path)? else { continue };
        let source = Source::read(path)?;
        let found = verify(&source, &options, 1);
        failed |= found.iter().any(|found| found.severity == Severity::Error);
        output.file(&file(style, &source, &found))?;
    }
    Ok((output.end()?, failed))
}

/// What the nearest `ptx.toml` asks for; none where it leaves the file out.
fn options(configs: &mut Configs, path: &Path) -> Result<Option<Options>, Error> {
    match configs.of(path)? {
        Some(config) if config.excludes(path) => Ok(None),
        Some(config) => Options::of(&config).map(Some),
        None => Ok(Some(Options::default())),
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let paths: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let (log, failed) = sarif(&paths)?;
    println!("{}", String::from_utf8_lossy(&log));
    std::process::exit(i32::from(failed))
}
