//! One file a command: its arguments and what it does.

pub mod assemble;
pub mod canonicalize;
pub mod completions;
pub mod dump;
pub mod explain;
pub mod extract;
pub mod format;
pub mod help;
pub mod isa;
pub mod loads;
pub mod lsp;
pub mod man;
pub mod report;
pub mod rules;
pub mod schema;
pub mod verify;

use crate::cli::Command;
use crate::outcome::Exit;
use crate::terminal::Terminal;

/// Runs a command.
pub fn run(command: &Command, terminal: &Terminal) -> anyhow::Result<Exit> {
    match command {
        Command::Verify(args) => verify::run(args, terminal),
        Command::Format(args) => format::run(args, terminal),
        Command::Canonicalize(args) => canonicalize::run(args, terminal),
        Command::Report(args) => report::run(args, terminal),
        Command::Assemble(args) => assemble::run(args, terminal),
        Command::Extract(args) => extract::run(args, terminal),
        Command::Explain(args) => explain::run(args, terminal),
        Command::Rules(args) => rules::run(args, terminal),
        Command::Isa(args) => isa::run(args),
        Command::Loads(args) => loads::run(args, terminal),
        Command::Dump(args) => dump::run(args, terminal),
        Command::Lsp(args) => lsp::run(args),
        Command::Schema(schema::SchemaArgs {}) => schema::run(),
        Command::Completions(args) => completions::run(args),
        Command::Man(args) => man::run(args),
        Command::Help(args) => Ok(help::run(args)),
        Command::DriverProcess => {
            ptx_emit::assemble::driver::serve(std::io::stdin(), std::io::stdout())?;
            Ok(Exit::Clean)
        }
    }
}
