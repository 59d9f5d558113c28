//! `lsp`: the language server.

use anyhow::bail;
use clap::Args;

use crate::outcome::Exit;
use crate::terminal::Terminal;

/// Arguments of `lsp`.
#[derive(Args, Debug)]
pub struct LspArgs {
    /// Talk over standard input and output, which is the only way; editors pass this flag
    #[arg(long)]
    stdio: bool,
}

/// Runs `lsp`.
pub fn run(args: &LspArgs, _: &Terminal) -> anyhow::Result<Exit> {
    bail!("the language server is not there yet (stdio: {})", args.stdio)
}
