//! Runs a program without ever hanging on it and without keeping more of its output than asked for, and
//! knows which programs run and which folders they have, so that all of it can be abandoned.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// How long the output is awaited after the program itself has ended: a grandchild may hold it open.
const GRACE: Duration = Duration::from_millis(500);
/// How often the program is looked at while its output stays open.
const POLL: Duration = Duration::from_millis(20);

/// How a run ended.
#[derive(Debug)]
pub(crate) struct Outcome {
    /// The exit status; `None` where the time was up and the program was killed.
    pub status: Option<ExitStatus>,
    pub stdout: Captured,
    pub stderr: Captured,
    pub elapsed: Duration,
}

/// The beginning of an output.
#[derive(Clone, Debug, Default)]
pub(crate) struct Captured {
    pub bytes: Vec<u8>,
    /// How many bytes were thrown away after it.
    pub dropped: u64,
}

impl Captured {
    /// The output as text; bytes that are not UTF-8 become replacement characters.
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    /// The last ten lines, none longer than 200 characters, without control characters: they are shown.
    pub(crate) fn last_lines(&self) -> String {
        let text = self.text();
        let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let shown = &lines[lines.len().saturating_sub(10)..];
        let clean = |line: &&str| line.chars().filter(|c| !c.is_control()).take(200).collect::<String>();
        shown.iter().map(clean).collect::<Vec<_>>().join("\n")
    }
}

/// What runs now, and the folders that belong to it.
#[derive(Debug)]
struct Work {
    /// Processes that are not waited for yet, each the leader of a group of its own.
    leaders: Vec<u32>,
    folders: Vec<PathBuf>,
    is_abandoned: bool,
}

static WORK: Mutex<Work> = Mutex::new(Work { leaders: Vec::new(), folders: Vec::new(), is_abandoned: false });

fn work() -> MutexGuard<'static, Work> {
    // A panic leaves the lists as they were before or after one change.
    WORK.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Kills every compiler that this process runs and removes the temporary folders, for a program that a signal
/// ends before they are done. Nothing is compiled afterwards: who waits for a compiler gets an error. Not
/// for a signal handler itself, where next to nothing is allowed, but for a thread that it wakes.
pub fn abandon() {
    let mut work = work();
    work.is_abandoned = true;
    for leader in std::mem::take(&mut work.leaders) {
        kill_group(leader);
    }
    for folder in std::mem::take(&mut work.folders) {
        // A program that was killed a moment ago may still be writing its last file.
        for _ in 0..20 {
            match std::fs::remove_dir_all(&folder) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => thread::sleep(POLL),
                _ => break,
            }
        }
    }
}

fn abandoned() -> io::Error {
    io::Error::new(io::ErrorKind::Interrupted, "the work was abandoned")
}

/// Kills a process and what it has started.
#[cfg(unix)]
fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        // It may have ended by itself.
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Elsewhere programs have no groups; the one that was started is killed through its handle.
#[cfg(not(unix))]
fn kill_group(_: u32) {}

/// A temporary folder that nobody else can look into: the text may be a secret. It is removed when this is
/// dropped, and by [`abandon`].
#[derive(Debug)]
pub(crate) struct PrivateFolder(TempDir);

impl PrivateFolder {
    pub(crate) fn new() -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("ptx-emit-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(std::fs::Permissions::from_mode(0o700));
        }
        let mut work = work();
        if work.is_abandoned {
            return Err(abandoned());
        }
        let folder = builder.tempdir()?;
        work.folders.push(folder.path().to_owned());
        Ok(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        self.0.path()
    }
}

impl Drop for PrivateFolder {
    fn drop(&mut self) {
        work().folders.retain(|folder| folder != self.0.path());
    }
}

/// Runs `command` with an empty input for at most `timeout`, keeping the first `keep` bytes of each
/// of its outputs. When the time is up it is killed with what it has started.
pub(crate) fn run(command: &mut Command, timeout: Duration, keep: usize) -> io::Result<Outcome> {
    let start = Instant::now();
    let mut child = spawn(command)?;
    let (done, ends) = channel();
    let stdout = child.stdout.take().map(|pipe| capture(pipe, keep, done.clone()));
    let stderr = child.stderr.take().map(|pipe| capture(pipe, keep, done));
    // A sum that overflows means no limit in practice.
    let deadline = start.checked_add(timeout);
    let status = wait(&mut child, &ends, deadline)?;
    let elapsed = start.elapsed();
    Ok(Outcome { status, stdout: take(stdout), stderr: take(stderr), elapsed })
}

/// Starts the program in a group of its own. On Linux a program file that was written a moment ago may still be open in a
/// process that another thread is just forking ("text file busy"); that passes.
fn spawn(command: &mut Command) -> io::Result<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    for _ in 0..20 {
        match spawn_once(command) {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::sleep(POLL),
            result => return result,
        }
    }
    spawn_once(command)
}

/// Starts the program and notes it in one step, between which nothing is abandoned.
fn spawn_once(command: &mut Command) -> io::Result<Child> {
    let mut work = work();
    if work.is_abandoned {
        return Err(abandoned());
    }
    let child = command.spawn()?;
    work.leaders.push(child.id());
    Ok(child)
}

/// Asks whether the program has ended. Once it is waited for, its number may become another program's, so it
/// is forgotten in the same step.
fn try_wait(child: &mut Child) -> io::Result<Option<ExitStatus>> {
    let mut work = work();
    let status = child.try_wait()?;
    if status.is_some() {
        work.leaders.retain(|leader| *leader != child.id());
    }
    Ok(status)
}

/// Reads `pipe` to its end in a thread of its own, then reports through `done`.
pub(crate) fn capture(
    mut pipe: impl Read + Send + 'static,
    keep: usize,
    done: Sender<()>,
) -> Arc<Mutex<Captured>> {
    let captured = Arc::new(Mutex::new(Captured::default()));
    let shared = Arc::clone(&captured);
    thread::spawn(move || {
        let mut chunk = vec![0; 64 * 1024];
        loop {
            let count = match pipe.read(&mut chunk) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(_) => break,
            };
            let mut captured = shared.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = count.min(keep.saturating_sub(captured.bytes.len()));
            captured.bytes.extend_from_slice(&chunk[..kept]);
            captured.dropped += (count - kept) as u64;
        }
        // Nobody listens any more where the time was up.
        let _ = done.send(());
    });
    captured
}

/// What was captured so far.
pub(crate) fn take(captured: Option<Arc<Mutex<Captured>>>) -> Captured {
    let Some(captured) = captured else { return Captured::default() };
    std::mem::take(&mut *captured.lock().unwrap_or_else(PoisonError::into_inner))
}

/// How a program ended, as in "was killed by signal 11".
pub(crate) fn describe_end(status: ExitStatus) -> String {
    #[cfg(unix)]
    if let Some(signal) = std::os::unix::process::ExitStatusExt::signal(&status) {
        return format!("was killed by signal {signal}");
    }
    match status.code() {
        Some(code) => format!("ended with status {code}"),
        None => "ended without a status".to_owned(),
    }
}

/// Waits until both outputs have ended and then for the program, or until the time is up, when the
/// program is killed.
fn wait(child: &mut Child, ends: &Receiver<()>, deadline: Option<Instant>) -> io::Result<Option<ExitStatus>> {
    let mut open = 2;
    let mut ended_at = None;
    let mut status = None;
    loop {
        if open == 0 {
            thread::sleep(if status.is_none() { Duration::from_micros(200) } else { Duration::ZERO });
        } else {
            match ends.recv_timeout(POLL) {
                Ok(()) => open -= 1,
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => open = 0,
            }
        }
        if status.is_none() {
            status = try_wait(child)?;
        }
        let now = Instant::now();
        if status.is_some() {
            let since = *ended_at.get_or_insert(now);
            if open == 0 || now.duration_since(since) > GRACE {
                return Ok(status);
            }
        } else if deadline.is_some_and(|deadline| now >= deadline) {
            kill_group(child.id());
            // Where there are no groups; elsewhere it is dead already.
            let _ = child.kill();
            while try_wait(child)?.is_none() {
                thread::sleep(Duration::from_millis(1));
            }
            return Ok(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_the_output_is_safe_to_print() {
        let captured = |text: String| Captured { bytes: text.into_bytes(), dropped: 0 };
        let text = (0..30).map(|n| format!("line {n}\u{1b}[31m\n")).collect::<String>();
        assert!(captured(text).last_lines().starts_with("line 20[31m\nline 21"));
        assert_eq!(captured("x".repeat(1000)).last_lines().len(), 200);
    }
}
