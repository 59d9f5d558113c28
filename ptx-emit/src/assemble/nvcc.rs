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
    ) -> Result<Vec<u8>, NvccError> {
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
        if !status.success() {
            // For some targets it has `ptxas` look at its PTX, whose verdict is asked of the back end. What was written before a
            // signal ended it may be a part.
            let is_whole = status.code().is_some();
            if let Some(text) = fs::read(&output).ok().filter(|text| is_whole && !text.is_empty()) {
                return Ok(text);
            }
            let said = outcome.stderr.text() + &outcome.stdout.text();
            let output = if said.trim().is_empty() { process::describe_end(status) } else { said };
            return Err(NvccError::Refused { output });
        }
        fs::read(&output).map_err(io("read what `nvcc` wrote"))
    }
}
