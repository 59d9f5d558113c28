//! The command line.

use clap::{CommandFactory, Parser, Subcommand};

use crate::commands::{
    assemble, canonicalize, completions, dump, explain, extract, format, help, isa, loads, lsp, man, report,
    rules, schema, verify,
};
use crate::terminal::ColorChoice;

const AFTER_HELP: &str = "\
Exit status:
  0  nothing at error level (for --check: nothing to change)
  1  findings
  2  the work could not be done: no such file, wrong usage, back end missing

Examples:
  ptx-cli verify kernel.ptx                   verify one file
  ptx-cli verify --target sm_90a src/         would all of these load on an H100?
  ptx-cli format --check .                    is everything formatted?
  ptx-cli explain carry-undefined             what does this finding mean?";

/// Verify, format and report on NVIDIA PTX.
#[derive(Debug, Parser)]
#[command(name = "ptx-cli", bin_name = "ptx-cli", version = env!("PTX_CLI_VERSION"), about, after_help = AFTER_HELP, max_term_width = 100, disable_help_subcommand = true)]
pub struct Cli {
    /// When to colour: auto (as NO_COLOR, FORCE_COLOR or CLICOLOR_FORCE say, else on a terminal), always or never
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "WHEN",
        default_value = "auto",
        hide_possible_values = true
    )]
    pub color: ColorChoice,

    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Find what NVIDIA's tools refuse, and what they let pass though it is wrong
    Verify(verify::VerifyArgs),
    /// Lay PTX out anew, keeping every token and comment
    Format(format::FormatArgs),
    /// Print the canonical PTX of a file from its typed representation
    Canonicalize(canonicalize::CanonicalizeArgs),
    /// Compile and tell registers, spills, memory and the compiler's messages
    Report(report::ReportArgs),
    /// Assemble PTX to a cubin
    Assemble(assemble::AssembleArgs),
    /// Tell which drivers and CUDA releases load a file, for which devices
    Loads(loads::LoadsArgs),
    /// Take the PTX out of libraries, programs and other files that carry it
    Extract(extract::ExtractArgs),
    /// Explain a rule or code
    Explain(explain::ExplainArgs),
    /// List all rules
    Rules(rules::RulesArgs),
    /// Show the instruction table
    Isa(isa::IsaArgs),
    /// Show what the toolkit makes of a file, step by step
    Dump(dump::DumpArgs),
    /// Serve editors over the language server protocol
    Lsp(lsp::LspArgs),
    /// Print the JSON schema of ptx.toml
    Schema(schema::SchemaArgs),
    /// Print what a shell needs to complete the command line
    Completions(completions::CompletionsArgs),
    /// Print manual pages, or write them
    Man(man::ManArgs),
    /// Show this help, or that of a command
    Help(help::HelpArgs),
    /// Run the CUDA driver's compiler for another process of this program
    #[command(name = crate::report::DRIVER_PROCESS, hide = true)]
    DriverProcess,
}

/// The program as users see it.
pub fn visible() -> clap::Command {
    let all = Cli::command();
    let commands = all.get_subcommands().filter(|command| !command.is_hide_set()).cloned();
    let program = clap::Command::new("ptx-cli").args(all.get_arguments().cloned()).subcommands(commands);
    let texts = |text: Option<&clap::builder::StyledStr>| text.cloned().unwrap_or_default();
    let (about, after) = (texts(all.get_about()), texts(all.get_after_help()));
    program.version(env!("PTX_CLI_VERSION")).about(about).after_help(after).disable_help_subcommand(true)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        super::Cli::command().debug_assert();
    }
}
