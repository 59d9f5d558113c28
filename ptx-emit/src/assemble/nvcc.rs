//! NVIDIA's compiler of CUDA C++, which prints the PTX that a back end takes.
//!
//! Only the device code is wanted, so `nvcc` is asked for PTX with the lines of the source (`-ptx -lineinfo`); it runs in the
//! folder that this process works in, where the paths of its arguments lead from.

use std::ffi::{OsStr, OsString};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use super::Error;
use super::process::{self, PrivateFolder};
use super::report::LogSeverity;
use super::search::Search;

/// The name of the file in the temporary folder.
const OUTPUT: &str = "output.ptx";
/// How much of its messages is kept.
const KEEP: usize = 1 << 20;

/// An `nvcc` that was found.
#[derive(Clone, Debug)]
pub struct Nvcc {
    program: PathBuf,
}

/// What `nvcc` makes of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Compiled {
    /// The PTX.
    pub ptx: Vec<u8>,
    /// What it says of the source: warnings and remarks.
    pub messages: Vec<NvccMessage>,
}

/// A message of `nvcc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NvccMessage {
    /// The file as `nvcc` names it; none where the message is about the command or the machine.
    pub file: Option<String>,
    /// The line in it, from 1.
    pub line: Option<u32>,
    /// How loud.
    pub severity: LogSeverity,
    /// The message in its words.
    pub text: String,
}

/// Why there is no PTX.
#[derive(Debug)]
#[non_exhaustive]
pub enum NvccError {
    /// There is no `nvcc`.
    Missing {
        /// Everything that was looked for, each with what was found there instead.
        looked_for: Vec<String>,
    },
    /// The source was refused.
    Refused {
        /// What `nvcc` printed.
        output: String,
    },
    /// The time was over, and `nvcc` was stopped.
    TimedOut {
        /// The time that it was given.
        after: Duration,
    },
    /// Reading or writing beside it failed.
    Io(Error),
}

impl fmt::Display for NvccError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { looked_for } => write!(f, "`nvcc` is missing: {}", looked_for.join("; ")),
            Self::Refused { output } => write!(f, "`nvcc` refuses it:\n{}", output.trim_end()),
            Self::TimedOut { after } => {
                write!(f, "`nvcc` did not finish within {} s and was stopped", after.as_secs_f64())
            }
            Self::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for NvccError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Missing { .. } | Self::Refused { .. } | Self::TimedOut { .. } => None,
        }
    }
}

impl Nvcc {
    /// The `nvcc` that `$NVCC` names, of `$CUDA_HOME/bin`, or of `$PATH`.
    ///
    /// # Errors
    /// [`NvccError::Missing`] names every place that was looked at.
    pub fn from_environment() -> Result<Self, NvccError> {
        let search = Search::from_environment("nvcc", "NVCC");
        match search.find() {
            Ok(Ok(program)) => Ok(Self::at(program)),
            Ok(Err(looked_for)) => Err(NvccError::Missing { looked_for }),
            Err(error) => Err(NvccError::Io(error)),
        }
    }

    /// The `nvcc` at `program`.
    #[must_use]
    pub fn at(program: impl Into<PathBuf>) -> Self {
        Self { program: program.into() }
    }

    /// Where the program is.
    #[must_use]
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// The PTX of a source for a target such as `sm_90a`, compiled with `arguments` besides.
    ///
    /// # Errors
    /// The source is refused, the time is over, or the machine has no room.
    pub fn ptx(
        &self,
        file: &Path,
        target: &str,
        arguments: &[String],
        timeout: Duration,
    ) -> Result<Compiled, NvccError> {
        let io = |doing: &str| {
            let doing = doing.to_owned();
            move |error| NvccError::Io(Error::io(doing, error))
        };
        let folder = PrivateFolder::new().map_err(io("create a temporary folder"))?;
        let output = folder.path().join(OUTPUT);
        let mut command = Command::new(&self.program);
        command.args(["-ptx", "-lineinfo", "-x", "cu"]).arg(format!("-arch={target}")).args(arguments);
        // A name that begins with a dash would be an option.
        let name = if file.is_absolute() { file.to_owned() } else { Path::new(".").join(file) };
        command.arg(OsStr::new("-o")).arg(&output).arg(OsString::from(name));
        let outcome = process::run(&mut command, timeout, KEEP)
            .map_err(|error| NvccError::Io(Error::io(format!("run `{}`", self.program.display()), error)))?;
        let Some(status) = outcome.status else { return Err(NvccError::TimedOut { after: timeout }) };
        let said = outcome.stderr.text() + &outcome.stdout.text();
        let compiled = |ptx| Compiled { ptx, messages: messages(&said) };
        if !status.success() {
            // For some targets it has `ptxas` look at its PTX, whose verdict is asked of the back end. What was written before a
            // signal ended it may be a part.
            let is_whole = status.code().is_some();
            if let Some(text) = fs::read(&output).ok().filter(|text| is_whole && !text.is_empty()) {
                return Ok(compiled(text));
            }
            let output = if said.trim().is_empty() { process::describe_end(status) } else { said };
            return Err(NvccError::Refused { output });
        }
        fs::read(&output).map(compiled).map_err(io("read what `nvcc` wrote"))
    }
}

/// The messages in what `nvcc` printed, without the lines of the source that it shows. What the assembler says is left
/// out: its verdict is asked of a back end.
#[must_use]
pub fn messages(output: &str) -> Vec<NvccMessage> {
    output.lines().filter(|line| !line.starts_with([' ', '\t'])).filter_map(message).collect()
}

/// `k.cu(3): warning #177-D: text`, `k.cu:1:10: fatal error: text`, `nvcc fatal   : text`, `Command-line error: text`.
fn message(line: &str) -> Option<NvccMessage> {
    let kinds = [
        (": catastrophic error", LogSeverity::Fatal),
        (": internal error", LogSeverity::Fatal),
        (": fatal error", LogSeverity::Fatal),
        (": error", LogSeverity::Error),
        (": warning", LogSeverity::Warning),
        (": remark", LogSeverity::Info),
    ];
    let found = kinds.iter().filter_map(|(word, severity)| Some((line.find(word)?, word.len(), *severity)));
    if let Some((at, length, severity)) = found.min_by_key(|(at, ..)| *at) {
        let (file, number) = place(&line[..at])?;
        // A number such as `#177-D` belongs to the message: it is what the option that switches it off wants.
        let text = line[at + length..].trim_start_matches(": ").trim().to_owned();
        return Some(NvccMessage { file: Some(file), line: Some(number), severity, text });
    }
    let (who, text) = line.split_once(':')?;
    let mut words = who.split_whitespace();
    let severity = match (words.next()?, words.next()?) {
        ("nvcc", "fatal") => LogSeverity::Fatal,
        ("nvcc" | "Command-line", "error") => LogSeverity::Error,
        ("nvcc", "warning") => LogSeverity::Warning,
        _ => return None,
    };
    Some(NvccMessage { file: None, line: None, severity, text: text.trim().to_owned() })
}

/// `k.cu(3)`, `k.cu:3` and `k.cu:3:10`.
fn place(text: &str) -> Option<(String, u32)> {
    if let Some((file, number)) = text.strip_suffix(')').and_then(|text| text.rsplit_once('(')) {
        return Some((file.to_owned(), number.parse().ok()?));
    }
    let (before, last) = text.rsplit_once(':')?;
    let last = last.parse().ok()?;
    match before.rsplit_once(':').map(|(file, number)| (file, number.parse())) {
        Some((file, Ok(number))) => Some((file.to_owned(), number)),
        _ => Some((before.to_owned(), last)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_lines_of_the_source() {
        let output = "./a b.cuh(2): warning #177-D: variable \"y\" was declared: but never referenced\n  int y; // x(1): error: no\n\
                      \x20     ^\n\nRemark: The warnings can be suppressed with \"-diag-suppress <warning-number>\"\n\n\
                      C:/k(1).cu(3): error: identifier \"nothing\" is undefined\n./y.cu:1:10: fatal error: gone.h: No such file\n\
                      z.c:7: error: odd\nnvcc fatal   : Unsupported gpu architecture 'sm_77'\nCommand-line error: invalid \
                      option: --bad\nptxas warning : Value\n2 errors detected in the compilation of \"./x.cu\".\n";
        let found = messages(output);
        let told: Vec<_> = found
            .iter()
            .map(|each| (each.file.as_deref(), each.line, each.severity.as_str(), each.text.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (
                    Some("./a b.cuh"),
                    Some(2),
                    "warning",
                    "#177-D: variable \"y\" was declared: but never referenced"
                ),
                (Some("C:/k(1).cu"), Some(3), "error", "identifier \"nothing\" is undefined"),
                (Some("./y.cu"), Some(1), "fatal", "gone.h: No such file"),
                (Some("z.c"), Some(7), "error", "odd"),
                (None, None, "fatal", "Unsupported gpu architecture 'sm_77'"),
                (None, None, "error", "invalid option: --bad"),
            ]
        );
    }
}
