//! `verify`: find what is wrong.

use std::io::{self, BufWriter};

use clap::{Args, ValueEnum};

use crate::diff::counted;
use crate::input::{Found, InputArgs, Wanted};
use crate::levels::{LevelArgs, Levels};
use crate::outcome::Exit;
use crate::pipeline::{self, Options};
use crate::render::{self, Counts, Format, Report, Style};
use crate::source::Input;
use crate::terminal::{self, Terminal};
use crate::work;

const AFTER_HELP: &str = "\
Exit status:
  0  no finding at error level
  1  findings at error level
  2  a file could not be read, or wrong usage

Examples:
  ptx-cli verify kernel.ptx
  ptx-cli verify --target sm_90a kernel.ptx          would it load on that GPU?
  ptx-cli verify --target sm_80,sm_100a include/     asm statements of CUDA headers, for two targets
  nvcc -ptx -o - k.cu | ptx-cli verify -
  ptx-cli verify --message-format sarif . >ptx.sarif
  ptx-cli verify --allow style --error carry-clobbered .";

/// Arguments of `verify`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct VerifyArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Verify for this target instead of the file's own; several, separated by commas
    ///
    /// For PTX the question is "would this load on that GPU?". CUDA sources are verified for sm_90a
    /// unless targets are given.
    #[arg(long, value_name = "TARGET", value_delimiter = ',')]
    target: Vec<String>,

    /// Verify for this PTX version, such as 8.6, instead of the file's own
    #[arg(long, value_name = "VERSION")]
    ptx_version: Option<String>,

    /// How to print findings
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "full")]
    message_format: Format,

    /// Do not print the summary
    #[arg(long, short)]
    quiet: bool,

    #[command(flatten)]
    levels: LevelArgs,

    /// Which front end's rules hold for asm statements
    #[arg(long, value_name = "COMPILER", value_enum, default_value = "nvcc", help_heading = "CUDA sources")]
    compiler: Compiler,
}

/// A CUDA front end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Compiler {
    /// NVIDIA's
    Nvcc,
    /// LLVM's
    Clang,
    /// What both accept
    Both,
}

/// What became of one file.
struct Outcome {
    rendered: Vec<u8>,
    counts: Counts,
    failure: Option<String>,
}

/// Runs `verify`.
pub fn run(args: &VerifyArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let options = Options {
        targets: args.target.clone(),
        ptx_version: args.ptx_version.clone(),
        levels: Levels::new(&args.levels)?,
    };
    let style = Style { format: args.message_format, color: terminal.stdout_color, width: terminal::width() };
    let Found { inputs, failures } = args.input.find(Wanted::All)?;
    failures.iter().for_each(|failure| terminal.error(failure));
    let mut tally = Tally { failed: !failures.is_empty(), ..Tally::default() };
    let mut report = Report::begin(BufWriter::new(io::stdout().lock()), style.format)?;
    let jobs = args.input.jobs(inputs.len());
    let work = |input: &Input| verify_file(input, &options, style);
    work::in_order(&inputs, jobs, terminal, work, |input, outcome| match outcome {
        Ok(outcome) => {
            tally.add(&outcome, terminal);
            report.file(&outcome.rendered)
        }
        Err(work::Panicked) => {
            terminal.error(&format!("cannot verify `{}`: internal error", input.name));
            tally.failed = true;
            Ok(())
        }
    })?;
    report.end()?;
    if style.format == Format::Full && !args.quiet && tally.files > 0 {
        terminal.note(&format!("{} in {}", tally.counts.summary(), counted(tally.files, "file")));
    }
    Ok(tally.exit())
}

fn verify_file(input: &Input, options: &Options, style: Style) -> Outcome {
    match input.read() {
        Ok(source) => {
            let diagnostics = pipeline::verify(&source, options);
            let counts = Counts::of(&diagnostics);
            Outcome { rendered: render::file(style, &source, &diagnostics), counts, failure: None }
        }
        Err(error) => {
            Outcome { rendered: Vec::new(), counts: Counts::default(), failure: Some(error.to_string()) }
        }
    }
}

/// What became of all files.
#[derive(Default)]
struct Tally {
    counts: Counts,
    files: usize,
    failed: bool,
}

impl Tally {
    fn add(&mut self, outcome: &Outcome, terminal: &Terminal) {
        match &outcome.failure {
            Some(failure) => {
                terminal.error(failure);
                self.failed = true;
            }
            None => self.files += 1,
        }
        self.counts.add(outcome.counts);
    }

    fn exit(&self) -> Exit {
        if self.failed { Exit::Failed } else { Exit::findings(self.counts.errors > 0) }
    }
}
