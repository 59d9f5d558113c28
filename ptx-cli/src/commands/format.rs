//! `format`: lay PTX out anew.

use std::io::{self, Write};

use clap::Args;
use ptx_emit::format::Options;
use ptx_project::counted;

use crate::config::{ConfigArgs, config_of, is_excluded};
use crate::container::in_container;
use crate::diff::unified;
use crate::formatting::{self, FormattingArgs};
use crate::input::{Found, InputArgs, Wanted};
use crate::outcome::Exit;
use crate::source::{Input, Kind, Origin, Source, plain};
use crate::terminal::Terminal;
use crate::{work, write};

const AFTER_HELP: &str = "\
A file is replaced in one step, and only if the new text has the same tokens and comments as the old. \
CUDA sources are left alone, but with --asm, or where ptx.toml has `asm = true` in [format]: then the \
templates of their asm statements are laid out, within their string literals. What comes from a macro, \
or has a syntax error, stays as it is.

Exit status:
  0  done; with --check or --diff: nothing to change
  1  with --check or --diff: something to change; else: a file with syntax errors was left as it is
  2  a file could not be read or written, or wrong usage

Examples:
  ptx-cli format kernel.ptx
  ptx-cli format --check .
  ptx-cli format --asm include/
  nvcc -ptx -o - k.cu | ptx-cli format -";

/// Arguments of `format`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct FormatArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Change nothing; say which files would change
    #[arg(long)]
    check: bool,

    /// Change nothing; show what would change, with --check instead of the names
    #[arg(long)]
    diff: bool,

    /// Tell which asm statements were left as they are, and why
    #[arg(long, short)]
    verbose: bool,

    #[command(flatten)]
    formatting: FormattingArgs,

    #[command(flatten)]
    config: ConfigArgs,
}

/// What became of one file.
enum Outcome {
    /// It is as it should be.
    Same(Source),
    /// It would become these bytes.
    Changed(Source, Vec<u8>),
    /// It has syntax errors, or the formatter declined it.
    Declined(Source, String),
    /// It could not be read or written.
    Failed(String),
}

/// What became of one file, and what is to be told of its asm statements.
struct Done {
    outcome: Outcome,
    notes: Vec<String>,
}

impl From<Outcome> for Done {
    fn from(outcome: Outcome) -> Self {
        Self { outcome, notes: Vec::new() }
    }
}

/// Runs `format`.
pub fn run(args: &FormatArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let Found { inputs, failures } = args.input.find(Wanted::All)?;
    failures.iter().for_each(|failure| terminal.error(failure));
    let mut tally = Tally { failed: !failures.is_empty(), ..Tally::default() };
    let (jobs, passed_over) = with_options(inputs, args)?;
    if jobs.is_empty() && passed_over > 0 {
        return Ok(nothing_but_cuda(passed_over, &tally, args, terminal));
    }
    let threads = args.input.jobs(jobs.len());
    work::in_order(
        &jobs,
        threads,
        terminal,
        |job| format_file(job, args),
        |job, outcome| match outcome {
            Ok(Done { outcome, notes }) => {
                notes.iter().filter(|_| args.verbose).for_each(|note| terminal.note(note));
                tell(&job.input, &outcome, args, terminal, &mut tally)
            }
            Err(work::Panicked) => {
                terminal.error(&format!("cannot format `{}`: internal error", job.input.name));
                tally.failed = true;
                Ok(())
            }
        },
    )?;
    if jobs.iter().any(|job| job.input.origin != Origin::Stdin) {
        terminal.note(&tally.summary(args));
    }
    Ok(tally.exit(args))
}

/// Says that there are CUDA sources only, and nobody asked for these. Who names them, as pre-commit does, has named what
/// there is; a folder without PTX is more likely the wrong one.
fn nothing_but_cuda(count: usize, tally: &Tally, args: &FormatArgs, terminal: &Terminal) -> Exit {
    let left = format!("{} left alone; --asm formats their asm templates", counted(count, "CUDA source"));
    let paths = &args.input.paths;
    if paths.is_empty() || paths.iter().any(|path| path.is_dir()) {
        terminal.error(&format!("there is no PTX file; {left}"));
        return Exit::Failed;
    }
    terminal.note(&left);
    tally.exit(args)
}

/// A file and how it is laid out.
struct Job {
    input: Input,
    how: How,
}

enum How {
    Ptx(Options),
    Asm,
    /// A CUDA source that is answered with its own text.
    Not,
}

/// Gives each input the options of its configuration, and leaves out what a configuration excludes. Also tells how many
/// CUDA sources nobody asked for.
fn with_options(inputs: Vec<Input>, args: &FormatArgs) -> anyhow::Result<(Vec<Job>, usize)> {
    let mut configs = args.config.configs()?;
    // Wrong flags are told even where there is nothing to do.
    formatting::options(&args.formatting, None)?;
    let (mut jobs, mut passed_over) = (Vec::new(), 0);
    for mut input in inputs {
        let is_stdin = input.origin == Origin::Stdin;
        if args.formatting.asks_for_asm() && is_stdin && args.input.stdin_filename.is_none() {
            input.kind = Kind::Cuda;
        }
        let config = config_of(&mut configs, &input)?;
        if is_excluded(config.as_deref(), &input) {
            continue;
        }
        let how = match input.kind {
            Kind::Ptx => How::Ptx(formatting::options(&args.formatting, config.as_deref())?),
            Kind::Cuda if formatting::asm(&args.formatting, config.as_deref()) == Some(true) => How::Asm,
            Kind::Cuda | Kind::Host(_) if is_stdin => How::Not,
            // A folder is searched for all that can be verified.
            Kind::Host(_) => continue,
            Kind::Cuda => {
                passed_over += 1;
                continue;
            }
        };
        jobs.push(Job { input, how });
    }
    Ok((jobs, passed_over))
}

/// Formats one file, and replaces it unless that is not wanted.
fn format_file(job: &Job, args: &FormatArgs) -> Done {
    let Job { input, how } = job;
    let source = match input.read() {
        Ok(source) => source,
        Err(error) => return Outcome::Failed(error.to_string()).into(),
    };
    let formatted = match how {
        How::Ptx(options) => ptx_project::format(&source, options).map(|text| (text, Vec::new())),
        How::Asm => ptx_project::format_asm(&source).map(|(formatted, notes)| (formatted.text, notes)),
        How::Not => return Outcome::Same(source).into(),
    };
    match formatted {
        Ok((text, notes)) => Done { outcome: written(input, source, text, args), notes },
        Err(reason) => Outcome::Declined(source, reason.to_string()).into(),
    }
}

/// Replaces a file by its new text, unless that is not wanted.
fn written(input: &Input, source: Source, text: String, args: &FormatArgs) -> Outcome {
    let Some(bytes) = source.restore(text) else {
        return Outcome::Declined(source, "bytes outside UTF-8 would be lost".to_owned());
    };
    if bytes == source.bytes() {
        return Outcome::Same(source);
    }
    match &input.origin {
        Origin::File(path) if !args.check && !args.diff => match write::replace(path, source.bytes(), &bytes)
        {
            Ok(()) => Outcome::Changed(source, bytes),
            Err(error) => Outcome::Failed(format!("cannot write `{}`: {}", input.name, plain(&error))),
        },
        Origin::Member(_) if !args.check && !args.diff => Outcome::Failed(in_container(&input.name)),
        _ => Outcome::Changed(source, bytes),
    }
}

/// Prints what became of a file. Standard input is always answered with its text, even where it could
/// not be formatted, so that an editor that pipes its buffer through never ends up with less.
fn tell(
    input: &Input,
    outcome: &Outcome,
    args: &FormatArgs,
    terminal: &Terminal,
    tally: &mut Tally,
) -> io::Result<()> {
    let mut out = io::stdout().lock();
    let pipe = input.origin == Origin::Stdin && !args.check && !args.diff;
    match outcome {
        Outcome::Same(source) => {
            tally.same += 1;
            if pipe {
                out.write_all(&terminal.document(source.bytes()))?;
            }
        }
        Outcome::Changed(source, bytes) => {
            tally.changed += 1;
            if pipe {
                out.write_all(&terminal.document(bytes))?;
            } else if args.diff {
                out.write_all(&unified(&input.name, source.bytes(), bytes, terminal))?;
            } else if args.check {
                writeln!(out, "{}", input.name)?;
            }
        }
        Outcome::Declined(source, reason) => {
            tally.declined += 1;
            terminal.error(&format!("`{}` is left as it is: {reason}", input.name));
            if pipe {
                out.write_all(&terminal.document(source.bytes()))?;
            }
        }
        Outcome::Failed(reason) => {
            tally.failed = true;
            terminal.error(reason);
        }
    }
    out.flush()
}

/// What became of all files.
#[derive(Default)]
struct Tally {
    same: usize,
    changed: usize,
    declined: usize,
    failed: bool,
}

impl Tally {
    fn summary(&self, args: &FormatArgs) -> String {
        let verb = if args.check || args.diff { "would change" } else { "changed" };
        let mut text = format!("{} {verb}, {} as it should be", counted(self.changed, "file"), self.same);
        if self.declined > 0 {
            text.push_str(&format!(", {} left alone", self.declined));
        }
        text
    }

    fn exit(&self, args: &FormatArgs) -> Exit {
        let wanted = (args.check || args.diff) && self.changed > 0;
        if self.failed { Exit::Failed } else { Exit::findings(wanted || self.declined > 0) }
    }
}
