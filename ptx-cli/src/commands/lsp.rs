//! `lsp`: the language server.

use std::io::{self, BufReader};

use clap::Args;

use crate::lsp::{self, Goodbye};
use crate::outcome::Exit;

const AFTER_HELP: &str = "\
The server shows findings while typing, offers their fixes, formats, and tells what an instruction \
needs. It reads the nearest `ptx.toml` of each file.

Exit status:
  0  the editor said goodbye
  2  the editor left without

Examples:
  ptx-cli lsp                                                  for an editor to start
  vim.lsp.start({ name = 'ptx', cmd = { 'ptx-cli', 'lsp' } })   in Neovim's configuration";

/// Arguments of `lsp`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct LspArgs {
    /// Talk over standard input and output, which is the only way; some editors pass this flag
    #[arg(long)]
    stdio: bool,
}

/// Runs `lsp`.
pub fn run(args: &LspArgs) -> anyhow::Result<Exit> {
    let LspArgs { stdio: _ } = args;
    let (goodbye, _) = lsp::serve(BufReader::new(io::stdin()), io::stdout())?;
    Ok(match goodbye {
        Goodbye::Said => Exit::Clean,
        Goodbye::Missing => Exit::Failed,
    })
}
