//! How a command ends.

use std::io;
use std::process::ExitCode;

use crate::terminal::Terminal;

/// The three exit statuses of every command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Nothing at error level; for `--check`, nothing to change.
    Clean,
    /// Findings.
    Findings,
    /// The work could not be done.
    Failed,
}

impl Exit {
    /// [`Exit::Findings`] where `found`, else [`Exit::Clean`].
    pub fn findings(found: bool) -> Self {
        if found { Self::Findings } else { Self::Clean }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        match exit {
            Exit::Clean => Self::from(0),
            Exit::Findings => Self::from(1),
            Exit::Failed => Self::from(2),
        }
    }
}

/// The exit status of a command's result. An error is told on standard error, except a closed pipe:
/// a reader such as `head` that has seen enough is no failure.
pub fn exit_of(result: anyhow::Result<Exit>, terminal: &Terminal) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(error) if is_broken_pipe(&error) => Exit::Clean,
        Err(error) => {
            terminal.error(&format!("{error:#}"));
            Exit::Failed
        }
    }
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .chain()
        .filter_map(|cause| cause.downcast_ref::<io::Error>())
        .any(|cause| cause.kind() == io::ErrorKind::BrokenPipe)
}
