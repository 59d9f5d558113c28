//! What is done with one file: it is compiled for each target, and what came of it is rendered.

use std::collections::HashMap;
use std::sync::OnceLock;

use ptx_emit::assemble::{
    Assembler, Compiled, Excess, LogLine, Nvcc, NvccError, NvccMessage, Options, Report, Source as Text,
    UnknownFigure,
};
use ptx_ir::ir::Function;
use ptx_ir::lower::lower;
use ptx_syntax::Diagnostic;
use serde::Serialize;

use super::{ReportArgs, ReportFormat, budget};
use crate::foreign;
use crate::render::json::{self, Finding};
use crate::render::position::Positions;
use crate::render::{self, Format, Style};
use crate::report::{self, Budgets};
use crate::source::{Input, Kind, Origin, Source};
use crate::terminal::Terminal;
use ptx_emit::assemble::Budget;

/// What CUDA C++ is compiled for unless somebody says otherwise: the target that its asm statements are verified for.
const CUDA_TARGET: &str = "sm_90a";

/// A file and what its kernels may cost by `ptx.toml`.
pub(super) struct Job {
    pub(super) input: Input,
    pub(super) budget: Budget,
    /// What its CUDA sources are verified for.
    pub(super) targets: Vec<String>,
}

/// What became of one file.
#[derive(Default)]
pub(super) struct Outcome {
    pub(super) reports: Vec<Report>,
    /// Ready to be printed.
    pub(super) rendered: Vec<u8>,
    /// What is above the limits beside kernels and of `ptx.toml`, and what of these nobody knows.
    pub(super) excesses: Vec<Excess>,
    pub(super) unjudged: Vec<UnknownFigure>,
    /// What `nvcc` says of a source, for each report.
    source_logs: Vec<Vec<LogLine>>,
    /// What is said of the text that the assembler got, for each report.
    findings: Vec<Vec<Diagnostic>>,
    pub(super) failures: Vec<String>,
}

/// A report in JSON: with the verdict over it.
#[derive(Serialize)]
struct Judged<'r> {
    #[serde(flatten)]
    report: &'r Report,
    /// What nvcc says of a CUDA source that it takes; the lines are those of the source.
    #[serde(skip_serializing_if = "<[LogLine]>::is_empty")]
    source_log: &'r [LogLine],
    /// What is shown beside the source for people, with our own findings in place of the assembler's messages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    findings: Vec<Finding<'r>>,
    /// `refused`, `over budget` or `accepted`.
    verdict: &'static str,
    over_budget: Vec<Over>,
}

/// A figure above its limit in JSON.
#[derive(Serialize)]
struct Over {
    function: String,
    figure: &'static str,
    value: u64,
    limit: u64,
}

/// The outcome of a file that could not be compiled.
pub(super) fn failed_with(failure: String) -> Outcome {
    Outcome { failures: vec![failure], ..Outcome::default() }
}

/// What all files have in common.
pub(super) struct Task<'a> {
    pub(super) args: &'a ReportArgs,
    pub(super) assembler: &'a Assembler,
    pub(super) options: &'a [Options],
    pub(super) terminal: &'a Terminal,
    /// Looked for when the first CUDA source is compiled.
    pub(super) nvcc: OnceLock<Result<Nvcc, String>>,
}

impl Task<'_> {
    /// Compiles one file with each of the options and renders what came of it.
    pub(super) fn report_on(&self, job: &Job) -> Outcome {
        let input = &job.input;
        if let Kind::Host(_) = input.kind {
            let kind = input.kind.name();
            return failed_with(format!("cannot report on `{}`: it is {kind}, not PTX", input.name));
        }
        let source = match input.read() {
            Ok(source) => source,
            Err(error) => return failed_with(error.to_string()),
        };
        if let Some(found) = source.not_text() {
            let help = found.help.map_or_else(String::new, |help| format!("\nhelp: {help}"));
            return failed_with(format!("cannot report on `{}`: {}{help}", input.name, found.message));
        }
        let is_cuda = input.kind == Kind::Cuda;
        let budgets = Budgets::of(&source, job.budget);
        let mut outcome = Outcome::default();
        let mut of_source = Vec::new();
        let add = |compiled: &Source, options: &Options, outcome: &mut Outcome| match self
            .assemble(compiled, options)
        {
            Ok(report) => {
                let (excesses, unjudged) = budgets.judge(&report);
                outcome.excesses.extend(excesses);
                outcome.unjudged.extend(unjudged);
                let found = report::with_own(compiled, &report, report::diagnostics(compiled, &report));
                outcome.findings.push(if is_cuda {
                    report::in_source(&source, compiled, found)
                } else {
                    report::with_places(compiled, found)
                });
                outcome.reports.push(report);
                true
            }
            Err(failure) => {
                outcome.failures.push(failure);
                false
            }
        };
        if is_cuda {
            let mut said: Vec<NvccMessage> = Vec::new();
            let log = |all: &[NvccMessage]| report::source_log(&source, all);
            for options in self.options_of_cuda(job) {
                match self.ptx(input, &options) {
                    Ok(Ok(compiled)) => {
                        let made = Source::new(input.name.clone(), Kind::Ptx, compiled.ptx);
                        if add(&made, &options, &mut outcome) {
                            outcome.source_logs.push(log(&compiled.messages));
                        }
                        said.extend(compiled.messages);
                    }
                    Ok(Err(refused)) => {
                        let target = options.target.clone().unwrap_or_default();
                        outcome.reports.push(report::refused(&source, target, log(&refused)));
                        outcome.source_logs.push(Vec::new());
                        outcome.findings.push(Vec::new());
                        said.extend(refused);
                    }
                    Err(failure) => outcome.failures.push(failure),
                }
            }
            // Most is said for each of the targets.
            of_source = report::of_nvcc(&source, &said);
        } else {
            for options in self.options {
                add(&source, options, &mut outcome);
            }
        }
        match self.render(&source, &outcome, of_source, &budgets) {
            Ok(rendered) => outcome.rendered = rendered,
            Err(failure) => outcome.failures.push(failure),
        }
        outcome.failures.extend(budgets.wrong);
        outcome
    }

    /// CUDA C++ has no target of its own: those of the command line count, those of `ptx.toml`, or else the one that asm
    /// statements are verified for.
    fn options_of_cuda(&self, job: &Job) -> Vec<Options> {
        if self.options.iter().any(|options| options.target.is_some()) {
            return self.options.to_vec();
        }
        let first = self.options.first().cloned().unwrap_or_default();
        let default = [CUDA_TARGET.to_owned()];
        let targets = if job.targets.is_empty() { &default[..] } else { &job.targets };
        targets.iter().map(|target| Options { target: Some(target.clone()), ..first.clone() }).collect()
    }

    /// What `nvcc` makes of a CUDA source, or what it says where it refuses the source.
    fn ptx(&self, input: &Input, options: &Options) -> Result<Result<Compiled, Vec<NvccMessage>>, String> {
        let cannot = |why: &dyn std::fmt::Display| format!("cannot report on `{}`: {why}", input.name);
        let Origin::File(path) = &input.origin else {
            return Err(cannot(&"`nvcc` compiles CUDA C++ in files only"));
        };
        let nvcc = self.nvcc.get_or_init(|| Nvcc::from_environment().map_err(|error| error.to_string()));
        let nvcc = nvcc.as_ref().map_err(|missing| cannot(missing))?;
        let target = options.target.as_deref().unwrap_or_default();
        match nvcc.ptx(path, target, &self.args.nvcc_options, options.timeout) {
            Ok(compiled) => Ok(Ok(compiled)),
            Err(NvccError::Refused { output }) => Ok(Err(report::why_refused(&output))),
            Err(error) => Err(cannot(&error)),
        }
    }

    fn assemble(&self, source: &Source, options: &Options) -> Result<Report, String> {
        let args = self.args;
        let blocks = if args.block.is_none() { block_sizes(&source.text) } else { HashMap::new() };
        let threads = |name: &str| args.block.or_else(|| blocks.get(name).copied());
        let text = Text { file: &source.name.exact(), text: source.bytes() };
        let mut assembly = self
            .assembler
            .assemble(&text, options)
            .map_err(|error| format!("cannot report on `{}`: {}", source.name, report::failure(&error)))?;
        assembly.report.add_occupancy(threads, args.dynamic_shared);
        report::add_names(&mut assembly.report);
        Ok(assembly.report)
    }

    /// Renders the reports of a file; `of_source` is what `nvcc` says of it.
    fn render(
        &self,
        source: &Source,
        outcome: &Outcome,
        of_source: Vec<Diagnostic>,
        budgets: &Budgets,
    ) -> Result<Vec<u8>, String> {
        let Self { args, terminal, .. } = *self;
        let reports = outcome.reports.as_slice();
        let limits = budget(args.limits);
        let excesses =
            || reports.iter().flat_map(|report| limits.excesses(report)).chain(outcome.excesses.clone());
        let mut rendered = Vec::new();
        match args.message_format {
            ReportFormat::Json => {
                let none = Vec::new();
                let logs = outcome.source_logs.iter().chain(std::iter::repeat(&none));
                let positions = Positions::new(source);
                let mut messages = outcome.findings.iter();
                for (report, source_log) in reports.iter().zip(logs) {
                    let over = excesses().filter(|excess| excess.target == report.target);
                    let found = messages.next().into_iter().flatten();
                    let findings = found.map(|found| json::finding(&positions, found)).collect();
                    write_object(&mut rendered, (report, source_log, findings), over.collect())?;
                }
            }
            ReportFormat::Full => {
                let style = terminal.stdout.style();
                for found in std::iter::once(&of_source).chain(&outcome.findings) {
                    rendered.extend(render::file(style, source, found));
                }
                if !reports.is_empty() {
                    rendered.extend(report::table(reports, style.color).into_bytes());
                }
            }
            ReportFormat::Markdown => rendered.extend(report::markdown(reports).into_bytes()),
            ReportFormat::Github | ReportFormat::Sarif => {
                let is_sarif = args.message_format == ReportFormat::Sarif;
                let format = if is_sarif { Format::Sarif } else { Format::Github };
                let style = Style { format, ..terminal.stdout.style() };
                let mut found = of_source;
                found.extend(outcome.findings.concat());
                found.extend(excesses().map(|excess| budgets.finding(&excess)));
                rendered = render::file(style, source, &found);
            }
        }
        Ok(rendered)
    }
}

/// How many threads the blocks of each kernel have, by the directives of the kernel.
fn block_sizes(text: &str) -> HashMap<String, u32> {
    let parse = ptx_syntax::parse(text);
    let module = lower(&parse.tree, text).module;
    let size = |function: &Function| {
        let extents = function.required_threads().or_else(|| function.max_threads())?;
        let threads = extents.iter().try_fold(1_u32, |product, extent| product.checked_mul(*extent))?;
        Some((module.name(function.name).to_owned(), threads))
    };
    module.functions.iter().filter_map(|(_, function)| size(function)).collect()
}

/// Writes a report as an object on a line.
fn write_object(
    out: &mut Vec<u8>,
    (report, source_log, findings): (&Report, &[LogLine], Vec<Finding<'_>>),
    over: Vec<Excess>,
) -> Result<(), String> {
    let verdict = match (report.accepted, over.is_empty()) {
        (false, _) => "refused",
        (true, false) => "over budget",
        (true, true) => "accepted",
    };
    let of = |excess: Excess| Over {
        function: excess.function,
        figure: excess.figure.unit(),
        value: excess.value,
        limit: excess.limit,
    };
    let judged =
        Judged { report, source_log, findings, verdict, over_budget: over.into_iter().map(of).collect() };
    foreign::write_json(out, &judged).map_err(|error| error.to_string())?;
    out.push(b'\n');
    Ok(())
}
