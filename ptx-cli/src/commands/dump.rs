//! `dump`: what each step makes of a file.

use std::path::PathBuf;

use anyhow::bail;
use clap::Args;

use crate::outcome::Exit;
use crate::terminal::Terminal;

const AFTER_HELP: &str = "\
The output is for reading and for tests; its form may change.

Exit status:
  0  shown
  2  the file could not be read, or wrong usage

Examples:
  ptx-cli dump --tokens kernel.ptx
  ptx-cli dump --cfg kernel.ptx";

/// Arguments of `dump`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct DumpArgs {
    #[command(flatten)]
    step: Step,

    /// PTX file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Which step.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Step {
    /// Tokens, comments and white space
    #[arg(long)]
    tokens: bool,

    /// The syntax tree
    #[arg(long)]
    ast: bool,

    /// The typed representation
    #[arg(long)]
    ir: bool,

    /// The control flow graph of each function
    #[arg(long)]
    cfg: bool,

    /// What the analyses know at each instruction
    #[arg(long)]
    facts: bool,
}

/// Runs `dump`.
pub fn run(args: &DumpArgs, _: &Terminal) -> anyhow::Result<Exit> {
    bail!("`dump` is not there yet ({args:?})")
}
