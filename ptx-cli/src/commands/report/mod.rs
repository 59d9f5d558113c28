//! `report`: compile and tell what came of it.

mod task;

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::Context;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, ValueEnum};
use ptx_emit::assemble::{
    Backend as Assembly, Baseline, Budget, Comparison, Excess, Options, Report, UnknownFigure,
};

use crate::config::{ConfigArgs, config_of, is_excluded};
use crate::foreign;
use crate::input::{Found, InputArgs, Wanted};
use crate::outcome::Exit;
use crate::render::{self, Format};
use crate::report::{self, Backend, Budgets};
use crate::source::{Input, plain, read_text};
use crate::terminal::Terminal;
use crate::{work, write};
use ptx_project::counted;
use task::{Job, Task, failed_with};

const AFTER_HELP: &str = "\
Each file is compiled by NVIDIA's own assembler. A CUDA source that is named goes through nvcc first, which \
is found by $NVCC, $CUDA_HOME/bin and $PATH, and for the targets of `[cuda]` in `ptx.toml` unless --target says \
others. A figure that the back end does not tell is `-`, in JSON `null`. Sizes are in bytes. Figures of \
different compiler versions differ for the same program.

A comment in a kernel or before it limits what this kernel may cost: \
`// ptx-budget: registers <= 64, spill = 0`, also stack and shared. The table `[budget]` of `ptx.toml` does so \
for all kernels that no such comment speaks of; the flags limit all.

A limit on a figure that the back end does not tell, and a baseline that shares no file and target with this \
run, cannot be judged: that is exit status 2.

Exit status:
  0  every file was accepted, nothing got worse, every limit is kept
  1  a file was refused, a figure is worse than in the baseline, or a limit is exceeded
  2  a file could not be read, the back end is missing or gave no verdict, a limit or the baseline
     cannot be judged, or wrong usage

Examples:
  ptx-cli report kernel.ptx
  ptx-cli report --target sm_90a --nvcc-option=-Iinclude kernel.cu
  ptx-cli report --target sm_90a,sm_100a --message-format json src/
  ptx-cli report --save figures.json src/            remember the figures ...
  ptx-cli report --baseline figures.json src/        ... and fail where one got worse
  ptx-cli report --max-registers 128 --max-spill 0 src/
  ptx-cli report --target sm_90a,sm_100a --message-format markdown src/ >comment.md";

/// Arguments of `report`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ReportArgs {
    #[command(flatten)]
    input: InputArgs,

    /// What compiles
    #[arg(long, value_enum, value_name = "BACKEND", default_value = "auto")]
    backend: Backend,

    /// Compile for these targets instead of the file's own, and report on each
    #[arg(long = "target", value_name = "TARGETS", value_delimiter = ',')]
    #[arg(value_parser = NonEmptyStringValueParser::new())]
    targets: Vec<String>,

    /// Give nvcc this option, too; can be repeated
    #[arg(long = "nvcc-option", value_name = "OPTION", allow_hyphen_values = true)]
    nvcc_options: Vec<String>,

    /// Give up on a file after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "600")]
    timeout: NonZeroU32,

    /// Threads of a block, for the number of blocks that a multiprocessor has room for [default: those of `.reqntid` or
    /// `.maxntid`]
    #[arg(long, value_name = "THREADS", value_parser = clap::value_parser!(u32).range(1..=1024))]
    block: Option<u32>,

    /// Bytes of dynamic shared memory of a block, for the same
    #[arg(long, value_name = "BYTES", default_value = "0")]
    dynamic_shared: u32,

    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "full")]
    message_format: ReportFormat,

    /// Do not print the summary
    #[arg(long, short)]
    quiet: bool,

    /// Compare with the figures in this file
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    baseline: Option<PathBuf>,

    /// Save the figures to this file
    #[arg(long, value_name = "FILE", help_heading = "Baseline")]
    save: Option<PathBuf>,

    #[command(flatten)]
    limits: LimitArgs,

    #[command(flatten)]
    config: ConfigArgs,
}

/// What a kernel may cost.
#[derive(Args, Clone, Copy, Debug)]
#[command(next_help_heading = "Limits of each kernel")]
struct LimitArgs {
    /// Registers per thread
    #[arg(long, value_name = "N")]
    max_registers: Option<u64>,

    /// Bytes of spill stores, and of spill loads
    #[arg(long, value_name = "BYTES")]
    max_spill: Option<u64>,

    /// Bytes of stack
    #[arg(long, value_name = "BYTES")]
    max_stack: Option<u64>,

    /// Bytes of static shared memory
    #[arg(long, value_name = "BYTES")]
    max_shared: Option<u64>,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    Full,
    /// One JSON object for each file and target
    Json,
    /// Tables for comments on pull requests
    Markdown,
    /// Refusals and figures above their limits as annotations on GitHub
    Github,
    /// The same as one SARIF 2.1.0 log
    Sarif,
}

/// What all files together gave.
#[derive(Default)]
struct Judgement {
    /// Whether something is refused, worse than it was or above its limit.
    found: bool,
    /// Whether something could not be judged.
    failed: bool,
}

/// Runs `report`.
pub fn run(args: &ReportArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let baseline = args.baseline.as_deref().map(load).transpose()?;
    let targets = targets(&args.targets);
    let Found { inputs, failures } = args.input.find(Wanted::PtxOnly)?;
    failures.iter().for_each(|failure| terminal.error(failure));
    let mut failed = !failures.is_empty();
    let files = with_budgets(inputs, args, terminal)?;
    let assembler = report::open(args.backend, &targets)?;
    let jobs = match assembler.backend() {
        Assembly::Ptxas => args.input.jobs(files.len()),
        // They compile in one process, where nobody has promised that two compilations get along.
        Assembly::Driver | Assembly::Library | Assembly::Nvcc => 1,
    };
    let _compilers = report::end_with_us()?;
    let mut reports = Vec::new();
    let timeout = Duration::from_secs(args.timeout.get().into());
    let options: Vec<Options> =
        targets.into_iter().map(|target| Options { target, timeout, ..Options::default() }).collect();
    let mut beside = Beside::default();
    let format = if args.message_format == ReportFormat::Sarif { Format::Sarif } else { Format::Full };
    let mut out = render::Output::begin(io::stdout(), format)?;
    let task = Task { args, assembler: &assembler, options: &options, terminal, nvcc: OnceLock::new() };
    work::in_order(
        &files,
        jobs,
        terminal,
        |file| task.report_on(file),
        |file, outcome| {
            let outcome = outcome.unwrap_or_else(|work::Panicked| {
                failed_with(format!("cannot report on `{}`: internal error", file.input.name))
            });
            out.file(&outcome.rendered)?;
            failed |= !outcome.failures.is_empty();
            outcome.failures.iter().for_each(|failure| terminal.error(failure));
            reports.extend(outcome.reports);
            beside.excesses.extend(outcome.excesses);
            beside.unjudged.extend(outcome.unjudged);
            Ok(())
        },
    )?;
    out.end()?;
    let judgement = judge(args, baseline.as_ref(), &reports, &beside, terminal)?;
    let failed = failed || judgement.failed;
    if let Some(path) = args.save.as_deref().filter(|_| !failed) {
        save(path, &reports)?;
    }
    Ok(if failed { Exit::Failed } else { Exit::findings(judgement.found) })
}

/// Gives each input the budget of its configuration, and leaves out what a configuration excludes.
fn with_budgets(inputs: Vec<Input>, args: &ReportArgs, terminal: &Terminal) -> anyhow::Result<Vec<Job>> {
    let mut configs = args.config.configs()?;
    let (mut jobs, mut excluded) = (Vec::new(), 0);
    for input in inputs {
        let config = config_of(&mut configs, &input)?;
        if is_excluded(config.as_deref(), &input) {
            excluded += 1;
            continue;
        }
        // A flag counts before the file.
        let contents = config.as_ref().map(|config| config.budget).unwrap_or_default();
        let unless = |flag: Option<u64>, limit: &mut Option<u64>| *limit = limit.filter(|_| flag.is_none());
        let mut budget = Budgets::limits(contents);
        unless(args.limits.max_registers, &mut budget.registers);
        unless(args.limits.max_spill, &mut budget.spill_bytes);
        unless(args.limits.max_stack, &mut budget.stack_bytes);
        unless(args.limits.max_shared, &mut budget.shared_bytes);
        let targets = config.map(|config| config.cuda.targets.clone()).unwrap_or_default();
        jobs.push(Job { input, budget, targets });
    }
    if excluded > 0 && !args.quiet {
        terminal.note(&format!("{} left out by the configuration", counted(excluded, "file")));
    }
    Ok(jobs)
}

/// Each target once, in the order given; `None` is the file's own.
fn targets(given: &[String]) -> Vec<Option<String>> {
    let mut targets: Vec<Option<String>> = Vec::new();
    for target in given {
        if !targets.iter().flatten().any(|known| known == target) {
            targets.push(Some(target.clone()));
        }
    }
    if targets.is_empty() { vec![None] } else { targets }
}

/// What the budgets beside kernels and of `ptx.toml` say of all files.
#[derive(Default)]
struct Beside {
    excesses: Vec<Excess>,
    unjudged: Vec<UnknownFigure>,
}

/// Tells what is to be told about all files together.
fn judge(
    args: &ReportArgs,
    baseline: Option<&Baseline>,
    reports: &[Report],
    beside: &Beside,
    terminal: &Terminal,
) -> io::Result<Judgement> {
    let mut lines = Vec::new();
    let comparison = baseline.map(|baseline| baseline.compare(reports)).unwrap_or_default();
    lines.extend(comparison.improvements.iter().chain(&comparison.regressions).map(report::change));
    let budget = budget(args.limits);
    let of_flags = reports.iter().flat_map(|report| budget.excesses(report));
    let excesses: Vec<_> = of_flags.chain(beside.excesses.iter().cloned()).collect();
    lines.extend(excesses.iter().map(report::excess));
    let note = |text: &str| terminal.note(&format!("note: {}", foreign::line(text)));
    comparison.notes.iter().for_each(|each| note(&each.to_string()));
    if let Some(unused) = report::unused(&comparison.unused, |file| !Path::new(file).exists()) {
        note(&unused);
    }
    match args.message_format {
        // Standard output is for the objects alone; an annotation says the same.
        ReportFormat::Json | ReportFormat::Github | ReportFormat::Sarif => {
            lines.iter().for_each(|line| terminal.note(line));
        }
        ReportFormat::Full | ReportFormat::Markdown => {
            let mut out = io::stdout().lock();
            let begin = if args.message_format == ReportFormat::Markdown { "* " } else { "" };
            lines.iter().try_for_each(|line| writeln!(out, "{begin}{}", foreign::text(line)))?;
            out.flush()?;
        }
    }
    if args.message_format == ReportFormat::Full && !args.quiet && !reports.is_empty() {
        terminal.note(&summary(reports));
    }
    let refused = reports.iter().any(|report| !report.accepted);
    Ok(Judgement {
        found: refused || !comparison.regressions.is_empty() || !excesses.is_empty(),
        failed: tell_unjudged(baseline, &comparison, &budget, reports, beside, terminal),
    })
}

/// Tells what could not be judged; whether there is anything of that.
fn tell_unjudged(
    baseline: Option<&Baseline>,
    comparison: &Comparison,
    budget: &Budget,
    reports: &[Report],
    beside: &Beside,
    terminal: &Terminal,
) -> bool {
    let of_flags = reports.iter().flat_map(|report| budget.unjudged(report));
    let over_limit: Vec<_> = of_flags.chain(beside.unjudged.iter().cloned()).collect();
    // Nothing to compare with is no failure where there is nothing yet, or nothing was accepted.
    let shares_nothing = comparison.compared == 0
        && baseline.is_some_and(|baseline| !baseline.records.is_empty())
        && reports.iter().any(|report| report.accepted);
    let nothing = "cannot judge the baseline: it has no file of this run for the same target";
    let failures = [
        report::unjudged("the limits", &over_limit),
        report::unjudged("the baseline", &comparison.unjudged),
        shares_nothing.then(|| nothing.to_owned()),
    ];
    failures.iter().flatten().for_each(|failure| terminal.error(failure));
    failures.iter().any(Option::is_some)
}

/// How many files, functions and refusals there are.
fn summary(reports: &[Report]) -> String {
    let distinct = |name: fn(&Report) -> &str| reports.iter().map(name).collect::<BTreeSet<_>>().len();
    let files = distinct(|report| &report.file);
    let functions = counted(reports.iter().map(|report| report.functions.len()).sum(), "function");
    let refused = reports.iter().filter(|report| !report.accepted).count();
    if reports.len() == files {
        return format!("{}, {functions}; {refused} refused", counted(files, "file"));
    }
    let targets = distinct(|report| &report.target);
    let (files, targets) = (counted(files, "file"), counted(targets, "target"));
    format!("{files} for {targets}, {functions}; {refused} of {} refused", reports.len())
}

fn budget(limits: LimitArgs) -> Budget {
    let LimitArgs { max_registers, max_spill, max_stack, max_shared } = limits;
    Budget {
        registers: max_registers,
        spill_bytes: max_spill,
        stack_bytes: max_stack,
        shared_bytes: max_shared,
    }
}

/// A figure takes some hundred bytes; no baseline of a project is larger.
const MAX_BASELINE: u64 = 64 << 20;

fn load(path: &Path) -> anyhow::Result<Baseline> {
    let name = foreign::path(path);
    let text = read_text(path, MAX_BASELINE)
        .map_err(|error| anyhow::anyhow!("cannot read the baseline `{name}`: {}", plain(&error)))?;
    Baseline::from_json(&text).with_context(|| format!("cannot use the baseline `{name}`"))
}

fn save(path: &Path, reports: &[Report]) -> anyhow::Result<()> {
    let text = Baseline::from_reports(reports).to_json().context("cannot write the baseline")?;
    write::create(path, text.as_bytes())
        .map_err(|error| anyhow::anyhow!("cannot write `{}`: {}", foreign::path(path), plain(&error)))
}
