//! Runs a program without ever hanging on it and without keeping more of its output than asked for.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

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
}

/// Runs `command` with an empty input for at most `timeout`, keeping the first `keep` bytes of each
/// of its outputs. Only the program itself is killed when the time is up: what it started in turn
/// may live on, but is not waited for.
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

/// Starts the program. On Linux a program file that was written a moment ago may still be open in a
/// process that another thread is just forking ("text file busy"); that passes.
fn spawn(command: &mut Command) -> io::Result<Child> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    for _ in 0..20 {
        match command.spawn() {
            Err(error) if error.kind() == io::ErrorKind::ExecutableFileBusy => thread::sleep(POLL),
            result => return result,
        }
    }
    command.spawn()
}

/// Reads `pipe` to its end in a thread of its own, then reports through `done`.
fn capture(mut pipe: impl Read + Send + 'static, keep: usize, done: Sender<()>) -> Arc<Mutex<Captured>> {
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
fn take(captured: Option<Arc<Mutex<Captured>>>) -> Captured {
    let Some(captured) = captured else { return Captured::default() };
    std::mem::take(&mut *captured.lock().unwrap_or_else(PoisonError::into_inner))
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
            status = child.try_wait()?;
        }
        let now = Instant::now();
        if status.is_some() {
            let since = *ended_at.get_or_insert(now);
            if open == 0 || now.duration_since(since) > GRACE {
                return Ok(status);
            }
        } else if deadline.is_some_and(|deadline| now >= deadline) {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
    }
}
