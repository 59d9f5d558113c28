//! Why a back end gave no verdict. A program that the back end *refuses* is no error: it is a
//! [`Report`](super::Report) with `accepted: false`.

use std::fmt;
use std::io;
use std::time::Duration;

use super::Backend;

/// The work could not be done. The text says what happened; the cure, if one is known, is in
/// [`Error::help`].
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The back end is not installed, or was left out of this build.
    Missing {
        /// The back end asked for; `None` where any would have done.
        backend: Option<Backend>,
        /// Everything that was looked for, each with what was found there instead.
        looked_for: Vec<String>,
    },
    /// The back end exists but cannot compile for this target, so it has no verdict.
    TargetUnsupported {
        /// The back end.
        backend: Backend,
        /// Its version, where it told.
        version: Option<String>,
        /// The target it was asked for.
        target: String,
        /// What the back end said, or why it cannot.
        reason: String,
    },
    /// The back end cannot do this kind of work at all.
    Unsupported {
        /// The back end.
        backend: Backend,
        /// What it cannot do, as in "write a cubin".
        what: &'static str,
    },
    /// The back end ended without a verdict: a signal, an internal error, no output.
    Crashed {
        /// The back end.
        backend: Backend,
        /// How it ended, as in "was killed by signal 11".
        how: String,
        /// The end of what it printed; may be empty.
        output: String,
    },
    /// The back end did not finish in time and was stopped.
    TimedOut {
        /// The back end.
        backend: Backend,
        /// The time it was given.
        after: Duration,
    },
    /// Reading or writing beside the back end failed.
    Io {
        /// What was being done, as in "start `/opt/cuda/bin/ptxas`".
        doing: String,
        /// The cause.
        source: io::Error,
    },
}

impl Error {
    /// What the user can do about it.
    #[must_use]
    pub fn help(&self) -> Option<String> {
        let text = match self {
            Self::Missing { backend: Some(Backend::Driver), .. } => {
                "use `--backend ptxas`, which needs no GPU, or run on a machine with NVIDIA's driver"
            }
            Self::Missing { backend: Some(Backend::Library), .. } => {
                "use `--backend ptxas`: it gives the same figures as the compiler library"
            }
            Self::Missing { backend: Some(Backend::Ptxas | Backend::Nvcc) | None, .. } => {
                "install the CUDA compiler tools and name `ptxas` in `$PTXAS`, or put its folder on `$PATH`"
            }
            Self::TargetUnsupported { backend: Backend::Driver, .. } => {
                "leave `--target` out to compile for the GPU of this machine, or use `--backend ptxas`"
            }
            Self::TargetUnsupported { .. } => {
                "ask for another target with `--target`, or use a compiler that knows this one"
            }
            Self::Unsupported { .. } => "use `--backend ptxas`",
            Self::Crashed { .. } | Self::TimedOut { .. } | Self::Io { .. } => return None,
        };
        Some(text.to_owned())
    }

    /// Wraps an [`io::Error`] with what was being done.
    pub(crate) fn io(doing: impl Into<String>, source: io::Error) -> Self {
        Self::Io { doing: doing.into(), source }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { backend, looked_for } => {
                match backend {
                    Some(backend) => write!(f, "the `{backend}` back end is missing")?,
                    None => write!(f, "no assembler back end is available")?,
                }
                write_list(f, looked_for)
            }
            Self::TargetUnsupported { backend, version, target, reason } => {
                write!(f, "the `{backend}` back end")?;
                if let Some(version) = version {
                    write!(f, " ({version})")?;
                }
                write!(f, " cannot compile for `{target}`: {reason}")
            }
            Self::Unsupported { backend, what } => write!(f, "the `{backend}` back end cannot {what}"),
            Self::Crashed { backend, how, output } => {
                write!(f, "the `{backend}` back end gave no verdict: it {how}")?;
                if !output.is_empty() {
                    write!(f, "; the end of its output:\n{output}")?;
                }
                Ok(())
            }
            Self::TimedOut { backend, after } => {
                write!(
                    f,
                    "the `{backend}` back end did not finish within {} s and was stopped",
                    after.as_secs_f64()
                )
            }
            Self::Io { doing, source } => write!(f, "could not {doing}: {source}"),
        }
    }
}

/// Writes `: a; b; c`, or nothing for an empty list.
fn write_list(f: &mut fmt::Formatter<'_>, items: &[String]) -> fmt::Result {
    for (index, item) in items.iter().enumerate() {
        write!(f, "{}{item}", if index == 0 { ": " } else { "; " })?;
    }
    Ok(())
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io { source, .. } => Some(source),
            Self::Missing { .. }
            | Self::TargetUnsupported { .. }
            | Self::Unsupported { .. }
            | Self::Crashed { .. }
            | Self::TimedOut { .. } => None,
        }
    }
}
