//! `verify`: find what is wrong, and fix it where that is wanted.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use clap::Args;
use ptx_project::config::Config;
use ptx_project::{Options, compile_commands, counted};
use ptx_syntax::{Diagnostic, LineIndex};
use ptx_verify::{Coverage, CoverageCounts, CudaVerification};

use crate::adopt::baseline::{self, Baseline, Known, Record};
use crate::adopt::statistics::Statistics;
use crate::adopt::suppressions;
use crate::config::{ConfigArgs, config_of, is_excluded};
use crate::container::in_container;
use crate::coverage;
use crate::diff::unified;
use crate::foreign;
use crate::input::{Found, InputArgs, Wanted};
use crate::options::{OptionArgs, options};
use crate::outcome::Exit;
use crate::render::{self, Counts, Format, Least, Output, Selection, Style};
use crate::source::{Input, Origin, Source, plain};
use crate::terminal::Terminal;
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
  ptx-cli verify kernels.py                          inline PTX of Triton and CuTe, modules in strings
  nvcc -ptx -o - k.cu | ptx-cli verify -
  ptx-cli verify --message-format sarif . >ptx.sarif
  ptx-cli verify --allow style --error carry-clobbered .
  ptx-cli verify --fix include/                      and apply the fixes that are certain
  ptx-cli verify --statistics .                      how many findings has each rule?
  ptx-cli verify --write-baseline known.json .       from now on ...
  ptx-cli verify --baseline known.json .             ... only what is new";

/// Arguments of `verify`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct VerifyArgs {
    #[command(flatten)]
    input: InputArgs,

    /// How to print findings
    #[arg(long, value_name = "FORMAT", value_enum, default_value = "full")]
    message_format: Format,

    /// Show findings from this severity on [default: warn; info in json, github and sarif]
    ///
    /// The others are only counted. The exit status does not depend on it.
    #[arg(long, value_name = "LEVEL", value_enum)]
    level: Option<Least>,

    /// Show all findings; without it, ten of each rule in a file
    ///
    /// json, github and sarif always have all.
    #[arg(long)]
    all_findings: bool,

    /// Do not print the summary
    #[arg(long, short)]
    quiet: bool,

    /// Tell more: which configuration files count, and which asm statements were not verified and why
    #[arg(long, short)]
    verbose: bool,

    #[command(flatten)]
    options: OptionArgs,

    #[command(flatten)]
    config: ConfigArgs,

    #[command(flatten)]
    fixes: FixArgs,

    #[command(flatten)]
    adopt: AdoptArgs,
}

/// What to do with the findings that a project has already.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Adopting")]
struct AdoptArgs {
    /// Show how many findings each rule has, instead of the findings
    #[arg(long, conflicts_with_all = ["diff", "add_suppressions"])]
    statistics: bool,

    /// Suppress what is found from --level on by a comment on its line; what remains is printed
    #[arg(long, conflicts_with_all = ["fix", "diff", "write_baseline"])]
    add_suppressions: bool,

    /// Do not tell the findings that this file has
    #[arg(long, value_name = "FILE", visible_alias = "baseline-findings", conflicts_with = "write_baseline")]
    baseline: Option<PathBuf>,

    /// Write the findings into this file instead of telling them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["fix", "diff"])]
    write_baseline: Option<PathBuf>,
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
    /// How many fixes were refused.
    refused: usize,
    /// What is told on standard error besides.
    warnings: Vec<String>,
    /// What became of asm statements, and the lines about those that were not verified.
    coverage: Coverage,
    not_verified: Vec<String>,
    /// The findings by rule, where they are to be counted.
    statistics: Statistics,
    /// What the baseline said, and what is to be in a new one.
    known: Known,
    records: Vec<Record>,
    /// How many findings were suppressed.
    suppressed: usize,
    failure: Option<String>,
    /// What the user may have meant.
    hint: Option<String>,
}

/// Runs `verify`.
pub fn run(args: &VerifyArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    ptx_project::files_stay();
    let Found { inputs, failures } = args.input.find(Wanted::All)?;
    failures.iter().for_each(|failure| terminal.error(failure));
    let jobs = with_options(inputs, args, terminal)?;
    let baseline = args.adopt.baseline.as_deref().map(Baseline::load).transpose()?;
    check_formats(args)?;
    let changes = args.fixes.fix || args.adopt.add_suppressions;
    let filter = changes && jobs.iter().any(|job| job.input.origin == Origin::Stdin);
    let stream = if filter { terminal.stderr } else { terminal.stdout };
    let selection = Selection::new(args.message_format, args.level, args.all_findings);
    let style = Style { format: args.message_format, selection, ..stream.style() };
    let findings: Box<dyn Write> =
        if filter { Box::new(io::stderr().lock()) } else { Box::new(BufWriter::new(io::stdout())) };
    let mut tally = Tally { failed: !failures.is_empty(), ..Tally::default() };
    // A difference is to be read by `patch`: no frame of another format around it.
    let format = if args.fixes.diff { Format::Full } else { style.format };
    let mut report = Output::begin(findings, format)?;
    let mut records = Vec::new();
    // The threads are for the files; where there is but one file, they may work on its functions.
    let threads = (jobs.len() == 1).then_some(&args.input);
    let task = Task { fixes: args.fixes, adopt: &args.adopt, baseline: baseline.as_ref(), threads, style };
    let work = |job: &Job| task.verify_file(job, terminal);
    work::in_order(&jobs, args.input.jobs(jobs.len()), terminal, work, |job, outcome| {
        let outcome = outcome.unwrap_or_else(|work::Panicked| Outcome {
            failure: Some(format!("cannot verify `{}`: internal error", job.input.name)),
            ..Outcome::default()
        });
        tally.add(&outcome, terminal);
        outcome.hint.iter().for_each(|hint| terminal.note(hint));
        if args.verbose {
            outcome.not_verified.iter().for_each(|line| terminal.note(line));
        }
        records.extend(outcome.records);
        let mut out = io::stdout();
        out.write_all(&outcome.text).and_then(|()| out.flush())?;
        report.file(&outcome.rendered)
    })?;
    report.end()?;
    tell_builds(args, terminal);
    match style.format {
        _ if !args.adopt.statistics => {}
        Format::Json => tally.statistics.json(&mut io::stdout().lock())?,
        _ => tally.statistics.table(&mut io::stdout().lock())?,
    }
    if let Some(path) = args.adopt.write_baseline.as_deref().filter(|_| !tally.failed) {
        baseline::save(path, &records)?;
    }
    if style.format == Format::Full && !args.quiet && tally.files > 0 {
        terminal.note(&tally.summary(args, style.selection));
        coverage::summary(&tally.coverage).iter().for_each(|line| terminal.note(line));
    }
    Ok(tally.exit(args))
}

/// Fails on formats that have no place for what was asked for.
fn check_formats(args: &VerifyArgs) -> anyhow::Result<()> {
    if args.adopt.statistics && matches!(args.message_format, Format::Sarif | Format::Github) {
        anyhow::bail!("statistics are printed as `full` or `json`");
    }
    Ok(())
}

/// A file and what it is verified for.
struct Job {
    input: Input,
    options: Arc<Options>,
}

/// Gives each input the options of its configuration, and leaves out what a configuration excludes.
fn with_options(inputs: Vec<Input>, args: &VerifyArgs, terminal: &Terminal) -> anyhow::Result<Vec<Job>> {
    let mut configs = args.config.configs()?;
    // Files that share a configuration share their options.
    let mut known: Vec<(Option<Arc<Config>>, Arc<Options>)> = Vec::new();
    let mut jobs = Vec::new();
    let mut used: BTreeMap<PathBuf, usize> = BTreeMap::new();
    for input in inputs {
        let config = config_of(&mut configs, &input)?;
        let excluded = is_excluded(config.as_deref(), &input);
        if let Some(config) = &config {
            *used.entry(config.path.clone()).or_default() += usize::from(excluded);
        }
        if excluded {
            continue;
        }
        let same = |(other, _): &&(Option<Arc<Config>>, _)| {
            other.as_ref().map(Arc::as_ptr) == config.as_ref().map(Arc::as_ptr)
        };
        let options = match known.iter().find(same) {
            Some((_, options)) => Arc::clone(options),
            None => {
                let options = Arc::new(options(&args.options, config.as_deref())?);
                known.push((config, Arc::clone(&options)));
                options
            }
        };
        jobs.push(Job { input, options });
    }
    if jobs.is_empty() {
        // Wrong flags are told even where there is nothing to do.
        options(&args.options, None)?;
    }
    tell_configurations(&used, args, terminal);
    Ok(jobs)
}

/// Tells which configuration files left something out, and how many files; of the others only where more is
/// to be told.
fn tell_configurations(used: &BTreeMap<PathBuf, usize>, args: &VerifyArgs, terminal: &Terminal) {
    let here = std::env::current_dir().unwrap_or_default();
    for (path, excluded) in used {
        let path = foreign::path(path.strip_prefix(&here).unwrap_or(path));
        if *excluded > 0 && !args.quiet && (args.verbose || args.message_format == Format::Full) {
            let files = counted(*excluded, "file");
            terminal.note(&format!("{files} left out by the configuration `{path}`"));
        } else if args.verbose {
            terminal.note(&format!("the configuration `{path}` counts"));
        }
    }
}

/// Tells which `compile_commands.json` could not be used; of the others only where more is to be told.
fn tell_builds(args: &VerifyArgs, terminal: &Terminal) {
    let here = std::env::current_dir().unwrap_or_default();
    for (path, reason) in compile_commands::asked() {
        let path = foreign::path(path.strip_prefix(&here).unwrap_or(&path));
        match reason {
            Some(reason) if !args.quiet => {
                let reason = foreign::line(&reason);
                terminal.note(&format!("includes are looked for without `{path}`: {reason}"));
            }
            None if args.verbose => terminal.note(&format!("includes are looked for as `{path}` says")),
            _ => {}
        }
    }
}

/// Sources larger than this are verified one at a time, so that memory does not grow with the threads.
const LARGE: usize = 32 << 20;
static LARGE_ONE: Mutex<()> = Mutex::new(());
/// Sources smaller than this are done before other threads have begun.
const SMALL: usize = 8 << 10;

/// What is done with each file.
struct Task<'a> {
    fixes: FixArgs,
    adopt: &'a AdoptArgs,
    baseline: Option<&'a Baseline>,
    /// Where they are asked for, these tell how many threads may work on a file; else one.
    threads: Option<&'a InputArgs>,
    style: Style,
}

impl Task<'_> {
    fn threads(&self, source: &Source) -> usize {
        let several = self.threads.filter(|_| source.text.len() >= SMALL);
        several.map_or(1, InputArgs::threads)
    }

    fn verify_file(&self, job: &Job, terminal: &Terminal) -> Outcome {
        let source = match job.input.read() {
            Ok(source) => source,
            Err(error) => return Outcome { failure: Some(error.to_string()), ..Outcome::default() },
        };
        // What a panic left behind is nothing that the lock guards.
        let large = || LARGE_ONE.lock().unwrap_or_else(PoisonError::into_inner);
        let _turn = (source.text.len() > LARGE).then(large);
        if self.fixes.fix || self.fixes.diff {
            return self.fix_file(job, source, terminal);
        }
        let CudaVerification { diagnostics, coverage } =
            ptx_project::verify_and_cover(&source, &job.options, self.threads(&source));
        if self.adopt.add_suppressions {
            return self.suppress(job, source, diagnostics, terminal);
        }
        let mut outcome = Outcome {
            not_verified: coverage::not_verified(&source, &coverage),
            coverage,
            ..Outcome::default()
        };
        self.tell(&source, diagnostics, &mut outcome);
        outcome.hint = (outcome.counts.errors > 0).then(|| hint(job, &source)).flatten();
        outcome
    }

    /// Counts, keeps or renders what was found.
    fn tell(&self, source: &Source, mut diagnostics: Vec<Diagnostic>, outcome: &mut Outcome) {
        if let Some(path) = &self.adopt.write_baseline {
            diagnostics.retain(|found| self.style.selection.shows(found));
            outcome.records = baseline::records(path, source, &diagnostics);
            outcome.counts = Counts::of(&diagnostics);
            return;
        }
        if let Some(baseline) = self.baseline {
            outcome.known = baseline.take_known(source, &mut diagnostics);
        }
        outcome.counts = Counts::of(&diagnostics);
        if self.adopt.statistics {
            diagnostics.retain(|found| self.style.selection.shows(found));
            outcome.statistics = Statistics::of_file(&diagnostics);
        } else {
            outcome.rendered = render::file(self.style, source, &diagnostics);
        }
    }

    /// Writes comments that suppress what was found, and tells what is found then.
    fn suppress(
        &self,
        job: &Job,
        source: Source,
        mut found: Vec<Diagnostic>,
        terminal: &Terminal,
    ) -> Outcome {
        let mut outcome = Outcome::default();
        if let Some(baseline) = self.baseline {
            baseline.take_known(&source, &mut found);
        }
        let (name, before) = (job.input.name.clone(), source.bytes().to_vec());
        let is_wanted =
            |found: &&Diagnostic| self.style.selection.shows(found) && source.not_text().is_none();
        let wanted: Vec<Diagnostic> = found.iter().filter(is_wanted).cloned().collect();
        let (after, found) =
            match suppressions::add(&source, &wanted).and_then(|(text, _)| source.restore(text)) {
                Some(bytes) => {
                    let after = Source::new(name.clone(), source.kind, bytes);
                    let found = ptx_project::verify(&after, &job.options, self.threads(&after));
                    (after, found)
                }
                None => (source, found),
            };
        let left = found.iter().filter(|found| self.style.selection.shows(found)).count();
        outcome.suppressed = wanted.len().saturating_sub(left);
        match &job.input.origin {
            Origin::Stdin => outcome.text = terminal.document(after.bytes()).into_owned(),
            Origin::File(path) if after.bytes() != before => {
                if let Err(error) = write::replace(path, &before, after.bytes()) {
                    outcome.failure = Some(format!("cannot write `{name}`: {}", plain(&error)));
                }
            }
            Origin::Member(_) if after.bytes() != before => outcome.failure = Some(in_container(&name)),
            Origin::File(_) | Origin::Member(_) => {}
        }
        self.tell(&after, found, &mut outcome);
        outcome
    }

    fn fix_file(&self, job: &Job, source: Source, terminal: &Terminal) -> Outcome {
        let before = source.bytes().to_vec();
        let fixed = match ptx_project::fix(source, &job.options, self.fixes.unsafe_fixes) {
            Ok(fixed) => fixed,
            Err(failure) => return Outcome { failure: Some(failure.to_string()), ..Outcome::default() },
        };
        let mut outcome = Outcome { fixed: fixed.count, refused: fixed.refused.len(), ..Outcome::default() };
        let (name, after) = (&job.input.name, fixed.source.bytes());
        if self.fixes.diff {
            outcome.counts = Counts::of(&fixed.diagnostics);
            outcome.text = unified(name, &before, after, terminal);
            // The findings, whose notes tell of it otherwise, are not shown.
            let index = LineIndex::new(&fixed.source.text);
            let warnings = fixed.refused.iter().map(|(found, refusal)| {
                let at = index.position(fixed.diagnostics[*found].span.start);
                format!("{name}:{}:{}: {refusal}", at.line, at.column)
            });
            outcome.warnings = warnings.collect();
            return outcome;
        }
        match &job.input.origin {
            Origin::Stdin => outcome.text = terminal.document(after).into_owned(),
            Origin::File(path) if fixed.count > 0 => {
                if let Err(error) = write::replace(path, &before, after) {
                    outcome.failure = Some(format!("cannot write `{name}`: {}", plain(&error)));
                }
            }
            Origin::Member(_) if fixed.count > 0 => outcome.failure = Some(in_container(name)),
            Origin::File(_) | Origin::Member(_) => {}
        }
        self.tell(&fixed.source, fixed.diagnostics, &mut outcome);
        outcome
    }
}

/// What to do about CUDA C++ that was taken for PTX.
fn hint(job: &Job, source: &Source) -> Option<String> {
    if !source.looks_like_cuda() {
        return None;
    }
    let name = &job.input.name;
    let how = match job.input.origin {
        Origin::Stdin => "`--stdin-filename NAME.cu` says what standard input is",
        Origin::File(_) | Origin::Member(_) => {
            "an extension such as .cu or .cuh says so, or `--stdin-filename NAME.cu -` where it is piped in"
        }
    };
    Some(format!("note: `{name}` was read as PTX and looks like CUDA C++; {how}"))
}

/// What became of all files.
#[derive(Default)]
struct Tally {
    counts: Counts,
    files: usize,
    fixed: usize,
    refused: usize,
    failed: bool,
    coverage: CoverageCounts,
    statistics: Statistics,
    known: Known,
    suppressed: usize,
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
        self.coverage.add(&outcome.coverage);
        self.counts.add(outcome.counts);
        self.statistics.add(&outcome.statistics);
        self.known.add(outcome.known);
        self.suppressed += outcome.suppressed;
        self.fixed += outcome.fixed;
        self.refused += outcome.refused;
        outcome.warnings.iter().for_each(|warning| terminal.note(warning));
    }

    fn summary(&self, args: &VerifyArgs, selection: Selection) -> String {
        let fixes = args.fixes;
        let mut found = format!("{} in {}", self.counts.summary(), counted(self.files, "file"));
        if self.counts.infos > 0 && selection.hides_infos() && !fixes.diff {
            found.push_str(" (`--level info` shows the infos)");
        }
        let Known { known, gone } = self.known;
        if known > 0 {
            found.push_str(&format!(", besides {} of the baseline", counted(known, "finding")));
        }
        if gone > 0 {
            let are = if gone == 1 { "is" } else { "are" };
            found.push_str(&format!("; {} of the baseline {are} gone", counted(gone, "finding")));
        }
        let refused = match self.refused {
            0 => String::new(),
            refused => format!(", {refused} refused"),
        };
        match (fixes.diff, fixes.fix) {
            (true, _) => format!("{} to apply{refused}; then {found}", counted(self.fixed, "fix")),
            (_, true) => format!("{} applied{refused}; {found}", counted(self.fixed, "fix")),
            _ if args.adopt.add_suppressions => {
                format!("{} suppressed; then {found}", counted(self.suppressed, "finding"))
            }
            _ if args.adopt.write_baseline.is_some() => format!("{found} are the baseline"),
            _ => found,
        }
    }

    fn exit(&self, args: &VerifyArgs) -> Exit {
        let is_news = self.counts.errors > 0 && args.adopt.write_baseline.is_none();
        let found = is_news || (args.fixes.diff && self.fixed > 0);
        if self.failed { Exit::Failed } else { Exit::findings(found) }
    }
}
