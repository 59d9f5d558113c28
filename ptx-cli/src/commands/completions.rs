//! `completions`: what a shell needs to complete the command line.

use std::io::{self, Write};

use clap::Args;
use clap_complete::Shell;

use crate::cli;
use crate::outcome::Exit;

const AFTER_HELP: &str = "\
Exit status:
  0  printed
  2  there is no such shell

Examples:
  ptx-cli completions bash >~/.local/share/bash-completion/completions/ptx-cli
  ptx-cli completions zsh >~/.zfunc/_ptx-cli
  ptx-cli completions fish >~/.config/fish/completions/ptx-cli.fish
  ptx-cli completions powershell | Out-String | Invoke-Expression";

/// Arguments of `completions`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Runs `completions`.
pub fn run(args: &CompletionsArgs) -> anyhow::Result<Exit> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut cli::visible(), "ptx-cli", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script).and_then(|()| out.flush())?;
    Ok(Exit::Clean)
}
