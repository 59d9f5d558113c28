//! What a process costs.

#[cfg(unix)]
#[path = "../common/process.rs"]
mod process;

use std::fs::File;
use std::io::{BufWriter, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use crate::construct::Construct;

/// No process may have the processor for longer.
const TIME_LIMIT: Duration = Duration::from_secs(120);

/// Nor run for longer on the clock, which goes on while other programs have the processor.
const CLOCK_LIMIT: Duration = Duration::from_secs(3600);

/// What a process cost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Cost {
    /// On the processor, in the system's code included.
    pub seconds: f64,
    /// The most memory that it had resident, in bytes; where the system does not tell it, 0.
    pub memory: u64,
    /// Whether it crashed, found an error in itself or did not end in time.
    pub failed: bool,
}

impl Cost {
    /// The least of two measurements of the same. What disturbs a process only adds to what it costs.
    pub fn least(self, other: Self) -> Self {
        Self {
            seconds: self.seconds.min(other.seconds),
            memory: self.memory.min(other.memory),
            failed: self.failed || other.failed,
        }
    }
}

/// Works on a text of `n` repetitions; its length and the cost.
pub fn run(program: &Path, folder: &Path, construct: &Construct, n: usize, command: &str) -> (usize, Cost) {
    let (file, bytes) = write(folder, construct, n);
    let errors = folder.join("errors");
    let mut process = Command::new(program);
    process.args(arguments(command)).arg(&file).stdin(Stdio::null()).stdout(Stdio::null());
    process.stderr(File::create(&errors).expect("room for messages"));
    limit(&mut process);
    let mut cost = wait(process.spawn().expect("the program starts"));
    cost.failed |= contains(&errors, b"internal error");
    (bytes, cost)
}

/// How many instructions that takes, which no other program on the machine disturbs; none without `valgrind`.
pub fn instructions(
    program: &Path,
    folder: &Path,
    construct: &Construct,
    n: usize,
    command: &str,
) -> Option<u64> {
    let (file, _) = write(folder, construct, n);
    let log = folder.join("log");
    let mut process = Command::new("valgrind");
    process.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    process.arg(format!("--log-file={}", log.display())).arg(program).args(arguments(command)).arg(&file);
    process.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status().ok()?;
    let log = std::fs::read_to_string(log).ok()?;
    let (_, number) = log.split_once("Collected : ")?;
    number.split_whitespace().next()?.parse().ok()
}

fn write(folder: &Path, construct: &Construct, n: usize) -> (PathBuf, usize) {
    let file = folder.join(construct.file_name());
    let mut writer = BufWriter::new(File::create(&file).expect("room for the text"));
    let bytes = construct.write(n, &mut writer).expect("room for the text");
    writer.into_inner().expect("room for the text");
    (file, bytes)
}

fn arguments(command: &str) -> &'static [&'static str] {
    match command {
        "verify" => &["verify", "-j1", "--no-config", "--verbose"],
        "full" => &["verify", "-j1", "--no-config", "--all-findings", "--level", "info"],
        "concise" => &["verify", "-j1", "--no-config", "--message-format", "concise"],
        "json" => &["verify", "-j1", "--no-config", "--message-format", "json"],
        "sarif" => &["verify", "-j1", "--no-config", "--message-format", "sarif"],
        "github" => &["verify", "-j1", "--no-config", "--message-format", "github"],
        "fix" => &["verify", "-j1", "--no-config", "--fix", "--unsafe-fixes"],
        "format" => &["format", "-j1"],
        "canonicalize" => &["canonicalize"],
        "ir" => &["dump", "--ir"],
        "needs" => &["dump", "--needs"],
        "ast" => &["dump", "--ast"],
        "cfg" => &["dump", "--cfg"],
        "facts" => &["dump", "--facts"],
        other => panic!("no command {other}"),
    }
}

/// Whether a file has a text in it. No more than a piece of the file is in memory, since what the system says of the
/// next process counts that.
fn contains(file: &Path, wanted: &[u8]) -> bool {
    let Ok(mut file) = File::open(file) else { return false };
    let mut piece = vec![0; 1 << 16];
    let mut kept = 0;
    while let Ok(read @ 1..) = file.read(&mut piece[kept..]) {
        let known = &piece[..kept + read];
        if known.windows(wanted.len()).any(|window| window == wanted) {
            return true;
        }
        let start = known.len().saturating_sub(wanted.len() - 1);
        kept = known.len() - start;
        piece.copy_within(start..start + kept, 0);
    }
    false
}

/// Lets the system end the process when its time is over.
#[cfg(unix)]
fn limit(process: &mut Command) {
    use std::os::unix::process::CommandExt;
    let seconds = TIME_LIMIT.as_secs();
    let limit = libc::rlimit { rlim_cur: seconds, rlim_max: seconds };
    let set = move || {
        // SAFETY: the record is whole, and the call has no other effect than on this process.
        match unsafe { libc::setrlimit(libc::RLIMIT_CPU, &raw const limit) } {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        }
    };
    // SAFETY: between fork and exec nothing is allocated and no lock is taken.
    unsafe { process.pre_exec(set) };
}

/// Elsewhere the clock decides.
#[cfg(not(unix))]
fn limit(_process: &mut Command) {}

/// Waits for the end of a process, or ends it when its time is over.
#[cfg(unix)]
fn wait(child: Child) -> Cost {
    let start = Instant::now();
    loop {
        if let Some(usage) = process::ended(&child, false) {
            let failed = !libc::WIFEXITED(usage.status);
            return Cost { seconds: usage.seconds, memory: usage.memory, failed };
        }
        if start.elapsed() > CLOCK_LIMIT {
            // SAFETY: the process is our child and was not waited for, so that the number is still its own.
            unsafe { libc::kill(child.id().cast_signed(), libc::SIGKILL) };
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// Elsewhere only the time on the clock is known.
#[cfg(not(unix))]
fn wait(mut child: Child) -> Cost {
    let start = Instant::now();
    let failed = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status.code().is_none(),
            Ok(None) if start.elapsed() < TIME_LIMIT => std::thread::sleep(Duration::from_millis(2)),
            Ok(None) | Err(_) => {
                // It may have ended by itself.
                let _ = child.kill();
                break true;
            }
        }
    };
    Cost { seconds: start.elapsed().as_secs_f64(), memory: 0, failed }
}
