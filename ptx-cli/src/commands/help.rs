//! `help`: the help of the program or of a command.

use clap::{Args, Parser};

use crate::cli::Cli;
use crate::outcome::Exit;
use crate::usage;

const AFTER_HELP: &str = "\
Exit status:
  0  shown
  2  there is no such command

Examples:
  ptx-cli help
  ptx-cli help verify";

/// Arguments of `help`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct HelpArgs {
    /// The command; without it the help of the program is shown
    #[arg(value_name = "COMMAND")]
    command: Option<String>,
}

/// Runs `help`. clap's own command of this name takes no `--help`.
pub fn run(args: &HelpArgs) -> Exit {
    let words = ["ptx-cli"].into_iter().chain(args.command.as_deref()).chain(["--help"]);
    // The answer to `--help` comes as an error, and so does a command that does not exist.
    let Err(answer) = Cli::try_parse_from(words) else { return Exit::Clean };
    let exit = if answer.use_stderr() { Exit::Failed } else { Exit::Clean };
    usage::print(answer);
    exit
}
