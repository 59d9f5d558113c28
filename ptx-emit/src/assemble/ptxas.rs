//! The back end that runs NVIDIA's `ptxas`: needs no GPU, compiles for every target, writes cubins.
//!
//! The text goes through a file in a fresh temporary folder, which is also the working folder of
//! the program; the file has a fixed name, so that the log does not depend on the user's path.
//! Standard input is no choice: `ptxas` copies it to a file of a random name that shows in the log.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

use super::log::Log;
use super::outline::Outline;
use super::process::{self, Captured, Outcome, PrivateFolder};
use super::report::{Backend, LogLine, LogSeverity, Report};
use super::search::{Search, variable};
use super::{Assembly, Error, Options, Source, cubin, target};

/// Names of the files in the temporary folder.
const INPUT: &str = "input.ptx";
const OUTPUT: &str = "output.cubin";
/// How much of the log is kept. The largest useful log seen, 40,000 errors, had 3 MB.
const KEEP: usize = 32 << 20;
/// How long `ptxas --version` may take.
const VERSION_TIMEOUT: Duration = Duration::from_secs(30);

/// Where `ptxas` is looked for: the three variables of the environment that name it.
#[derive(Clone, Debug, Default)]
pub struct SearchPath {
    /// `$PTXAS`: the program itself, or its name on `$PATH`.
    pub ptxas: Option<OsString>,
    /// `$CUDA_HOME`: a toolkit, whose `bin` holds the program.
    pub cuda_home: Option<OsString>,
    /// `$PATH`.
    pub path: Option<OsString>,
}

impl SearchPath {
    /// Reads the environment of this process. An empty variable counts as unset.
    #[must_use]
    pub fn from_environment() -> Self {
        Self { ptxas: variable("PTXAS"), cuda_home: variable("CUDA_HOME"), path: variable("PATH") }
    }

    /// The first program found, as an absolute path.
    ///
    /// # Errors
    /// [`Error::Missing`] names every place that was looked at. A `$PTXAS` that names no program is
    /// an error of its own: silently taking another compiler would falsify the figures.
    pub fn find(&self) -> Result<PathBuf, Error> {
        let Self { ptxas, cuda_home, path } = self.clone();
        let search = Search { program: "ptxas", variable: "PTXAS", named: ptxas, cuda_home, path };
        search.find()?.map_err(|looked_for| Error::Missing { backend: Some(Backend::Ptxas), looked_for })
    }
}

/// A `ptxas` that was found and told its version.
#[derive(Clone, Debug)]
pub struct Ptxas {
    program: PathBuf,
    version: Option<String>,
}

impl Ptxas {
    /// The `ptxas` that the environment names.
    ///
    /// # Errors
    /// As [`SearchPath::find`] and [`Ptxas::at`].
    pub fn from_environment() -> Result<Self, Error> {
        Self::at(SearchPath::from_environment().find()?)
    }

    /// The `ptxas` at `program`, which is asked for its version.
    ///
    /// # Errors
    /// [`Error::Io`] where it cannot be started, [`Error::TimedOut`] and [`Error::Crashed`] where it
    /// does not answer. An answer without a version is fine: the version is unknown then.
    pub fn at(program: impl Into<PathBuf>) -> Result<Self, Error> {
        let program = program.into();
        let outcome = run(Command::new(&program).arg("--version"), &program, VERSION_TIMEOUT)?;
        let Some(status) = outcome.status else {
            return Err(Error::TimedOut { backend: Backend::Ptxas, after: VERSION_TIMEOUT });
        };
        if !status.success() {
            return Err(crashed(status, false, &outcome));
        }
        let version = parse_version(&outcome.stdout.text());
        Ok(Self { program, version })
    }

    /// Where the program is.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The program's version, such as `13.5.37`.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.version.as_deref()
    }

    /// Compiles `source`. A refused program is a report with `accepted: false`.
    ///
    /// # Errors
    /// Whatever keeps `ptxas` from giving a verdict; see [`Error`].
    pub fn assemble(&self, source: &Source<'_>, options: &Options) -> Result<Assembly, Error> {
        let outline = Outline::of(source.text);
        let target = options.target.clone().unwrap_or_else(|| target::default_target(&outline));
        let folder = PrivateFolder::new().map_err(|error| Error::io("create a temporary folder", error))?;
        fs::write(folder.path().join(INPUT), source.text)
            .map_err(|error| Error::io("write the text to a temporary file", error))?;
        let mut command = Command::new(&self.program);
        command.current_dir(folder.path()).args(arguments(&target, options)).args([INPUT, "-o", OUTPUT]);
        let outcome = run(&mut command, &self.program, options.timeout)?;
        let Some(status) = outcome.status else {
            return Err(Error::TimedOut { backend: Backend::Ptxas, after: options.timeout });
        };
        let log = parse_log(&outcome, source.file);
        let cubin = fs::read(folder.path().join(OUTPUT)).ok().filter(|bytes| !bytes.is_empty());
        self.verdict(source, &outline, target, status, (outcome, log), cubin)
    }

    /// Turns the end of a run into a report, or into the reason why there is none.
    fn verdict(
        &self,
        source: &Source<'_>,
        outline: &Outline,
        target: String,
        status: ExitStatus,
        (outcome, log): (Outcome, Log),
        cubin: Option<Vec<u8>>,
    ) -> Result<Assembly, Error> {
        let refused = log.refuses();
        if let Some(reason) = unknown_target(&log) {
            return Err(Error::TargetUnsupported {
                backend: Backend::Ptxas,
                version: self.version.clone(),
                target,
                reason,
            });
        }
        // A verdict is either a cubin and status 0, or messages that refuse and the status of a
        // refusal. Everything else is a program that broke down.
        let success = status.success() && !refused;
        let accepted = success && cubin.as_deref().is_some_and(cubin::is_cubin);
        let clean_refusal = refused && status.code().is_some_and(|code| code != 0) && !is_breakdown(&log);
        if !accepted && !clean_refusal {
            return Err(crashed(status, success && cubin.is_some(), &outcome));
        }
        let (lines, functions) = log.functions_in_source_order(outline);
        let mut report = Report {
            file: source.file.to_owned(),
            backend: Backend::Ptxas,
            backend_version: self.version.clone(),
            target,
            accepted,
            seconds: outcome.elapsed.as_secs_f64(),
            log: lines,
            functions: if accepted { functions } else { Vec::new() },
        };
        let cubin = cubin.filter(|_| accepted);
        if let Some(bytes) = &cubin {
            cubin::complete(&mut report.functions, bytes, outline);
        }
        Ok(Assembly { report, cubin })
    }
}

/// The options of one compilation, without its files.
pub(super) fn arguments(target: &str, options: &Options) -> Vec<String> {
    let mut arguments = vec!["-v".to_owned(), format!("-arch={target}")];
    if let Some(level) = options.optimization {
        arguments.push(format!("-O{level}"));
    }
    if let Some(limit) = options.max_registers {
        arguments.push(format!("-maxrregcount={limit}"));
    }
    if options.line_info {
        arguments.push("-lineinfo".to_owned());
    }
    arguments
}

fn run(command: &mut Command, program: &Path, timeout: Duration) -> Result<Outcome, Error> {
    process::run(command, timeout, KEEP)
        .map_err(|error| Error::io(format!("run `{}`", program.display()), error))
}

/// Finds `V13.5.37` in the answer to `--version`.
fn parse_version(text: &str) -> Option<String> {
    let words = text.split([' ', ',', '\n', '\r']);
    let version = words.filter_map(|word| word.strip_prefix('V')).find(|rest| {
        rest.starts_with(|c: char| c.is_ascii_digit()) && rest.chars().all(|c| c.is_ascii_digit() || c == '.')
    })?;
    Some(version.to_owned())
}

/// Reads both outputs; today's programs write everything to standard error.
fn parse_log(outcome: &Outcome, file: &str) -> Log {
    let text = outcome.stderr.text() + &outcome.stdout.text();
    let mut log = Log::parse(&text);
    for line in &mut log.lines {
        // A few messages name the file.
        if line.message.contains(INPUT) {
            line.message = line.message.replace(INPUT, file);
        }
    }
    let dropped = outcome.stderr.dropped + outcome.stdout.dropped;
    if dropped > 0 {
        let message = format!("{dropped} more bytes of the log were not kept");
        log.lines.push(LogLine { severity: LogSeverity::Warning, line: None, message });
    }
    log
}

/// The message about an `-arch` that this `ptxas` does not know.
pub(super) fn unknown_target(log: &Log) -> Option<String> {
    let unknown = |line: &&LogLine| line.message.ends_with("is not defined for option 'gpu-name'");
    log.lines.iter().find(unknown).map(|line| line.message.clone())
}

/// Whether the refusal is about `ptxas` or this machine rather than about the program.
fn is_breakdown(log: &Log) -> bool {
    let about_itself = |message: &str| {
        message.contains("Internal compiler error")
            || message.contains("Internal error")
            || message.contains("Memory allocation failure")
            || message.contains("could not be opened")
    };
    log.lines.iter().any(|line| line.severity.is_refusal() && about_itself(&line.message))
}

/// The error for a run that ended without a verdict.
fn crashed(status: ExitStatus, wrote_something: bool, outcome: &Outcome) -> Error {
    let how = match status.code() {
        Some(0) if wrote_something => "wrote a file that is no cubin".to_owned(),
        Some(0) => "ended with status 0 but wrote no cubin".to_owned(),
        _ => process::describe_end(status),
    };
    let both = [&outcome.stdout, &outcome.stderr].map(Captured::last_lines);
    let output = both.into_iter().filter(|text| !text.is_empty()).collect::<Vec<_>>().join("\n");
    Error::Crashed { backend: Backend::Ptxas, how, output }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_the_word_with_a_v() {
        let text = "ptxas: NVIDIA (R) Ptx optimizing assembler\nCuda compilation tools, release 13.5, V13.5.37\nBuild";
        assert_eq!(parse_version(text).as_deref(), Some("13.5.37"));
        assert_eq!(parse_version("Vendor V, Vx V13beta"), None);
        assert_eq!(parse_version(""), None);
    }
}
