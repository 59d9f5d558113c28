//! `assemble`: PTX to a cubin.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use super::report::Backend;
use crate::outcome::Exit;
use crate::terminal::Terminal;

/// Arguments of `assemble`.
#[derive(Args, Debug)]
pub struct AssembleArgs {
    /// PTX file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where to write the cubin
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,

    /// What assembles
    #[arg(long, value_enum, value_name = "BACKEND", default_value = "auto")]
    backend: Backend,

    /// Assemble for this target instead of the file's own
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,
}

/// Runs `assemble`.
pub fn run(args: &AssembleArgs, _: &Terminal) -> anyhow::Result<Exit> {
    bail!("`assemble` is not there yet: no back end is linked into this build ({args:?})")
}
