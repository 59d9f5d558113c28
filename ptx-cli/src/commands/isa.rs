//! `isa`: the instruction table.

use std::io::{self, Write};

use anyhow::bail;
use clap::Args;

use crate::manual;
use crate::outcome::Exit;

const AFTER_HELP: &str = "\
Exit status:
  0  shown
  1  there is such an instruction, but not with these modifiers
  2  there is no such instruction

Examples:
  ptx-cli isa                 list all instructions
  ptx-cli isa add             all forms of add, with versions and targets
  ptx-cli isa add.cc.u32      the forms that have this spelling
  ptx-cli isa %tid            a special register";

/// Arguments of `isa`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct IsaArgs {
    /// Opcode, spelling or special register, such as `add`, `ld.global.b32` or `%tid`; all without it
    #[arg(value_name = "OPCODE")]
    opcode: Option<String>,
}

/// Runs `isa`.
pub fn run(args: &IsaArgs) -> anyhow::Result<Exit> {
    if let Some(word) = args.opcode.as_deref().map(str::trim)
        && let Some(found) = manual::misspelled(word)
    {
        let opcode = word.split('.').next().unwrap_or(word);
        let mut err = io::stderr().lock();
        writeln!(err, "error: there is no instruction `{word}`: {}", found.message)?;
        let fix = found.fix.as_ref().map(|fix| &fix.message);
        for help in found.help.iter().chain(fix) {
            writeln!(err, "help: {help}")?;
        }
        writeln!(err, "`ptx-cli isa {opcode}` shows all forms of `{opcode}`")?;
        return Ok(Exit::Findings);
    }
    let text = match args.opcode.as_deref().map(str::trim) {
        None => manual::list(),
        Some(word) => match (manual::page(word), manual::nearest(word)) {
            (Some(page), _) => page,
            (None, Some(near)) => bail!("there is no instruction `{word}`; did you mean `{near}`?"),
            (None, None) => bail!("there is no instruction `{word}`; `ptx-cli isa` lists them"),
        },
    };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(Exit::Clean)
}
