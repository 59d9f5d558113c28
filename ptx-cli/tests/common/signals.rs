//! Signals as a program finds them that a shell starts in the foreground.

use std::os::unix::process::CommandExt;
use std::process::Command;

/// Lets the program heed the signals that whoever runs the tests may ignore, as `nohup` and a job in the background of
/// a shell do: the program respects that, and would not end.
pub fn heeded(command: &mut Command) -> &mut Command {
    let heed = || {
        for signal in [libc::SIGHUP, libc::SIGINT, libc::SIGTERM] {
            // SAFETY: the default action needs no handler.
            unsafe { libc::signal(signal, libc::SIG_DFL) };
        }
        Ok(())
    };
    // SAFETY: `signal` may be called between `fork` and `exec`.
    unsafe { command.pre_exec(heed) }
}
