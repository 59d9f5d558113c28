//! `isa`: the instruction table.

use anyhow::bail;
use clap::Args;

use crate::outcome::Exit;
use crate::terminal::Terminal;

const AFTER_HELP: &str = "\
Exit status:
  0  shown
  2  there is no such instruction

Examples:
  ptx-cli isa                 list all instructions
  ptx-cli isa add             all forms of add, with versions and targets
  ptx-cli isa add.cc.u32      the forms that this spelling begins";

/// Arguments of `isa`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct IsaArgs {
    /// Opcode or spelling, such as `add` or `ld.global`; all instructions without it
    #[arg(value_name = "OPCODE")]
    opcode: Option<String>,
}

/// Runs `isa`.
pub fn run(args: &IsaArgs, _: &Terminal) -> anyhow::Result<Exit> {
    bail!("the instruction table is not linked into this build ({args:?})")
}
