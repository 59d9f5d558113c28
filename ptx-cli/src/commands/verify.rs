//! `verify`: find what is wrong, and fix it where that is wanted.

use std::io::{self, BufWriter, Write};

use clap::{Args, ValueEnum};

use crate::diff::{counted, unified};
use crate::fix;
use crate::input::{Found, InputArgs, Wanted};
use crate::levels::{LevelArgs, Levels};
use crate::outcome::Exit;
use crate::pipeline::{self, Options};
use crate::render::{self, Counts, Format, Report, Style};
use crate::source::{Input, Origin, Source, plain};
use crate::terminal::{self, Terminal};
use crate::{work, write};

const AFTER_HELP: &str = "\
Exit status:
  0  no finding at error level (with --diff: and nothing to change)
  1  findings at error level
  2  a file could not be read or written, or wrong usage

Examples:
  ptx-cli verify kernel.ptx
  ptx-cli verify --target sm_90a kernel.ptx          would it load on that GPU?
  ptx-cli verify --target sm_80,sm_100a include/     asm statements of CUDA headers, for two targets
  nvcc -ptx -o - k.cu | ptx-cli verify -
  ptx-cli verify --message-format sarif . >ptx.sarif
  ptx-cli verify --allow style --error carry-clobbered .
  ptx-cli verify --fix include/                      and apply the fixes that are certain";

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

    #[command(flatten)]
    fixes: FixArgs,

    /// Which front end's rules hold for asm statements
    #[arg(long, value_name = "COMPILER", value_enum, default_value = "nvcc", help_heading = "CUDA sources")]
    compiler: Compiler,
}

/// Which fixes to apply, and whether to write them.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Fixes")]
struct FixArgs {
    /// Apply the fixes that are certain; what remains is printed
    ///
    /// Standard input is answered with its fixed text on standard output, and the findings then go
    /// to standard error.
    #[arg(long)]
    fix: bool,

    /// With --fix or --diff, apply also the fixes that are probably what was meant
    #[arg(long)]
    unsafe_fixes: bool,

    /// Change nothing; show what --fix would change, instead of the findings
    #[arg(long)]
    diff: bool,
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
#[derive(Default)]
struct Outcome {
    /// The findings, ready to be printed.
    rendered: Vec<u8>,
    counts: Counts,
    /// What goes to standard output besides: a difference, or the fixed text of standard input.
    text: Vec<u8>,
    /// How many fixes were, or would be, applied.
    fixed: usize,
    failure: Option<String>,
}

/// Runs `verify`.
pub fn run(args: &VerifyArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let options = Options {
        targets: args.target.clone(),
        ptx_version: args.ptx_version.clone(),
        levels: Levels::new(&args.levels)?,
    };
    let Found { inputs, failures } = args.input.find(Wanted::All)?;
    failures.iter().for_each(|failure| terminal.error(failure));
    let filter = args.fixes.fix && inputs.iter().any(|input| input.origin == Origin::Stdin);
    let color = if filter { terminal.stderr_color } else { terminal.stdout_color };
    let style = Style { format: args.message_format, color, width: terminal::width() };
    let findings: Box<dyn Write> =
        if filter { Box::new(io::stderr().lock()) } else { Box::new(BufWriter::new(io::stdout())) };
    let mut tally = Tally { failed: !failures.is_empty(), ..Tally::default() };
    // A difference is to be read by `patch`: no frame of another format around it.
    let format = if args.fixes.diff { Format::Full } else { style.format };
    let mut report = Report::begin(findings, format)?;
    let work = |input: &Input| verify_file(input, &options, args.fixes, style);
    work::in_order(&inputs, args.input.jobs(inputs.len()), terminal, work, |input, outcome| {
        let outcome = outcome.unwrap_or_else(|work::Panicked| Outcome {
            failure: Some(format!("cannot verify `{}`: internal error", input.name)),
            ..Outcome::default()
        });
        tally.add(&outcome, terminal);
        let mut out = io::stdout();
        out.write_all(&outcome.text).and_then(|()| out.flush())?;
        report.file(&outcome.rendered)
    })?;
    report.end()?;
    if style.format == Format::Full && !args.quiet && tally.files > 0 {
        terminal.note(&tally.summary(args.fixes));
    }
    Ok(tally.exit(args.fixes))
}

fn verify_file(input: &Input, options: &Options, fixes: FixArgs, style: Style) -> Outcome {
    let source = match input.read() {
        Ok(source) => source,
        Err(error) => return Outcome { failure: Some(error.to_string()), ..Outcome::default() },
    };
    if fixes.fix || fixes.diff {
        return fix_file(input, source, options, fixes, style);
    }
    let diagnostics = pipeline::verify(&source, options);
    let counts = Counts::of(&diagnostics);
    Outcome { rendered: render::file(style, &source, &diagnostics), counts, ..Outcome::default() }
}

fn fix_file(input: &Input, source: Source, options: &Options, fixes: FixArgs, style: Style) -> Outcome {
    let before = source.bytes().to_vec();
    let fixed = fix::fix(source, options, fixes.unsafe_fixes);
    let mut outcome =
        Outcome { counts: Counts::of(&fixed.diagnostics), fixed: fixed.count, ..Outcome::default() };
    let after = fixed.source.bytes();
    if fixes.diff {
        outcome.text = unified(&input.name, &before, after, style.color);
        return outcome;
    }
    match &input.origin {
        Origin::Stdin => outcome.text = after.to_vec(),
        Origin::File(path) if fixed.count > 0 => {
            if let Err(error) = write::replace(path, after) {
                outcome.failure = Some(format!("cannot write `{}`: {}", input.name, plain(&error)));
            }
        }
        Origin::File(_) => {}
    }
    outcome.rendered = render::file(style, &fixed.source, &fixed.diagnostics);
    outcome
}

/// What became of all files.
#[derive(Default)]
struct Tally {
    counts: Counts,
    files: usize,
    fixed: usize,
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
        self.fixed += outcome.fixed;
    }

    fn summary(&self, fixes: FixArgs) -> String {
        let found = format!("{} in {}", self.counts.summary(), counted(self.files, "file"));
        match (fixes.diff, fixes.fix) {
            (true, _) => format!("{} to apply; then {found}", counted(self.fixed, "fix")),
            (_, true) => format!("{} applied; {found}", counted(self.fixed, "fix")),
            _ => found,
        }
    }

    fn exit(&self, fixes: FixArgs) -> Exit {
        let found = self.counts.errors > 0 || (fixes.diff && self.fixed > 0);
        if self.failed { Exit::Failed } else { Exit::findings(found) }
    }
}
