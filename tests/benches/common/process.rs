//! What a process that ended took, which std does not tell.

use std::process::Child;

/// What a process took.
#[derive(Clone, Copy)]
pub struct Usage {
    /// Seconds on the processor, in the system's code included.
    pub seconds: f64,
    /// The most memory that it had resident, in bytes.
    pub memory: u64,
    /// As the system tells it.
    pub status: i32,
}

/// Of a child that nobody has waited for; none where it runs on. `waits` says to wait for its end.
pub fn ended(child: &Child, waits: bool) -> Option<Usage> {
    let id = child.id().cast_signed();
    let options = if waits { 0 } else { libc::WNOHANG };
    let mut status = 0;
    // SAFETY: a record of numbers may be all zeros.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places are ours, and the process is our child, which nobody else waits for.
    let ended = unsafe { libc::wait4(id, &raw mut status, options, &raw mut usage) };
    assert!(ended >= 0, "the process is our child");
    let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
    // Linux counts kibibytes, Apple's systems bytes.
    let unit = if cfg!(target_vendor = "apple") { 1 } else { 1024 };
    (ended == id).then(|| Usage {
        seconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
        memory: u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit,
        status,
    })
}
