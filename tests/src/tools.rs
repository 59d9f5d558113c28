//! NVIDIA's tools and the corpus, where they are there.

use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant, UNIX_EPOCH};

/// The root of the repository.
#[must_use]
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or(Path::new("."))
}

/// `ptxas`: from `$PTXAS`, `$CUDA_HOME/bin`, `target/cuda-toolkit` as `tests/install-toolkit.sh` fills
/// it, or `$PATH`.
#[must_use]
pub fn ptxas() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    FOUND.get_or_init(|| std::env::var_os("PTXAS").map(PathBuf::from).or_else(|| tool("ptxas"))).as_deref()
}

/// Another of NVIDIA's tools: beside [`ptxas`] or in one of the places where that is looked for.
#[must_use]
pub fn tool(name: &str) -> Option<PathBuf> {
    let beside = std::env::var_os("PTXAS").and_then(|path| Some(Path::new(&path).parent()?.to_owned()));
    let home = std::env::var_os("CUDA_HOME").map(|home| Path::new(&home).join("bin"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = beside.into_iter().chain(home).chain(installed()).chain(std::env::split_paths(&path));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The `bin` folder that `tests/install-toolkit.sh` fills.
fn installed() -> Option<PathBuf> {
    let library = root().join("target/cuda-toolkit/lib");
    let pythons = std::fs::read_dir(library).ok()?;
    let bins = pythons.flatten().map(|python| python.path().join("site-packages/nvidia/cu13/bin"));
    bins.into_iter().find(|bin| bin.is_dir())
}

/// `ptxas`, for a test that is ignored where there is none.
///
/// # Panics
/// There is none: the test was asked for by `--ignored`.
#[must_use]
pub fn needed_ptxas() -> &'static Path {
    ptxas().expect("this test needs ptxas; `bash tests/install-toolkit.sh` installs it")
}

/// `nvcc` beside [`ptxas`], for a test that is ignored where it or a host compiler is missing.
///
/// # Panics
/// There is none: the test was asked for by `--ignored`.
#[must_use]
pub fn needed_nvcc() -> PathBuf {
    let nvcc = needed_ptxas().with_file_name("nvcc");
    assert!(nvcc.is_file(), "this test needs `{}` and g++", nvcc.display());
    nvcc
}

/// The folder of real compilers' output: PTX files, and a `manifest.jsonl` with the verdict of `ptxas` on each.
/// `tests/corpus.tar.zst` holds them; they are unpacked into `target/` once.
///
/// # Panics
/// The archive is missing or damaged, or the files cannot be written.
#[must_use]
pub fn corpus() -> &'static Path {
    static UNPACKED: OnceLock<PathBuf> = OnceLock::new();
    UNPACKED
        .get_or_init(|| unpacked(&root().join("tests/corpus.tar.zst")).expect("tests/corpus.tar.zst unpacks"))
}

/// The folder with the files of an archive. Another archive gets another folder, by its size and time.
fn unpacked(archive: &Path) -> io::Result<PathBuf> {
    let about = archive.metadata()?;
    let seconds = about.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let target = root().join("target");
    let folder = target.join(format!("corpus-{}-{seconds}", about.len()));
    if !folder.is_dir() {
        std::fs::create_dir_all(&target)?;
        let fresh = tempfile::tempdir_in(&target)?;
        let stream = ruzstd::decoding::StreamingDecoder::new(std::fs::File::open(archive)?);
        tar::Archive::new(stream.map_err(io::Error::other)?).unpack(fresh.path())?;
        // Another test program may have been faster; its files are the same.
        if std::fs::rename(fresh.path(), &folder).is_ok() {
            let _moved = fresh.keep();
        }
    }
    Ok(folder)
}

/// Says that something is skipped, past the test harness, which hides what passing tests print.
pub fn skipped(what: &str) {
    // A closed standard error leaves nobody to tell.
    let _ = writeln!(io::stderr(), "skipped: {what}");
}

/// A complaint of `ptxas`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Complaint {
    /// The line, where it names one.
    pub line: Option<u32>,
    /// What it says.
    pub message: String,
    /// Whether it says nothing about the program: `ptxas` crashed, found an error in itself or did not end.
    pub failure: bool,
}

/// How long `ptxas` may take to read a file of a few hundred lines, which takes it a fraction of a second: on some
/// invalid statements it never ends.
const TIME_LIMIT: Duration = Duration::from_secs(20);

/// Assembles a file for a target; the complaints, none where it is accepted.
///
/// # Errors
/// The program cannot be started.
pub fn assemble(ptxas: &Path, file: &Path, target: &str) -> io::Result<Vec<Complaint>> {
    let mut command = Command::new(ptxas);
    command.arg(format!("-arch={target}")).arg(file).args(["-o", "/dev/null"]);
    let failure = |message: String| vec![Complaint { line: None, message, failure: true }];
    let Some((status, text)) = output_within(&mut command, TIME_LIMIT)? else {
        return Ok(failure(format!("no end within {} seconds", TIME_LIMIT.as_secs())));
    };
    if status.success() {
        return Ok(Vec::new());
    }
    let complaints: Vec<Complaint> = text.lines().filter_map(complaint).collect();
    if complaints.is_empty() {
        return Ok(failure(format!("{status}: {text}")));
    }
    Ok(complaints)
}

/// Runs a program and gives what it wrote to both streams; none where it did not end in time and was killed.
///
/// # Errors
/// The program cannot be started.
pub fn output_within(command: &mut Command, limit: Duration) -> io::Result<Option<(ExitStatus, String)>> {
    // A file takes whatever the program writes, where a pipe would have to be emptied meanwhile.
    let mut file = tempfile::tempfile()?;
    command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file.try_clone()?);
    let mut child = command.spawn()?;
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        std::thread::sleep(Duration::from_millis(1));
    };
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(Some((status, String::from_utf8_lossy(&bytes).into_owned())))
}

/// Whether ptxas gave up: behind an error of syntax or of the header, and behind a declaration without a state space, it
/// reads nothing.
#[must_use]
pub fn stopped(complaints: &[Complaint]) -> bool {
    const LAST: [&str; 6] = [
        "Parsing error",
        "Missing .version",
        "Missing .target",
        "Unsupported .version",
        "Target architecture not defined",
        "No variable storage specified",
    ];
    complaints.iter().any(|complaint| LAST.iter().any(|words| complaint.message.starts_with(words)))
}

/// Reads `ptxas FILE, line N; error   : MESSAGE` and `ptxas fatal   : MESSAGE`.
fn complaint(line: &str) -> Option<Complaint> {
    let rest = line.strip_prefix("ptxas ")?;
    let (head, message) = rest.split_once(" : ")?;
    if !head.trim_end().ends_with("error") && !head.trim_end().ends_with("fatal") {
        return None;
    }
    // The sentence that ends every refusal tells nothing by itself.
    if message.starts_with("Ptx assembly aborted") {
        return None;
    }
    let number = head.split_once(", line ").and_then(|(_, rest)| rest.split_once(';')?.0.parse().ok());
    let message = message.trim().to_owned();
    let failure = message.to_ascii_lowercase().contains("internal error");
    Some(Complaint { line: number, message, failure })
}

/// Does `work` with every item on all cores and gathers what it says, in the order of the items. A panic goes on
/// here.
pub fn on_all_cores<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let each = || {
        let mut done = Vec::new();
        loop {
            let index = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            let Some(item) = items.get(index) else { return done };
            done.push((index, work(item)));
        }
    };
    let mut all: Vec<(usize, R)> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(each)).collect();
        let done = |worker: std::thread::ScopedJoinHandle<'_, _>| match worker.join() {
            Ok(done) => done,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        workers.into_iter().flat_map(done).collect()
    });
    all.sort_by_key(|(index, _)| *index);
    all.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn complaints_are_read() {
        let read = complaint("ptxas a,b.ptx, line 13; error   : Arguments mismatch for instruction 'add'");
        let message = "Arguments mismatch for instruction 'add'".to_owned();
        let expected = Complaint { line: Some(13), message, failure: false };
        assert_eq!(read, Some(expected));
        let fatal = complaint("ptxas fatal   : Unresolved extern function 'missing'");
        assert_eq!(fatal.map(|found| found.line), Some(None));
        assert_eq!(complaint("ptxas fatal   : Ptx assembly aborted due to errors"), None);
        assert_eq!(complaint("ptxas info    : Used 12 registers"), None);
        let internal = complaint("ptxas fatal   : Internal error: overlapping");
        assert_eq!(internal.map(|found| found.failure), Some(true));
    }

    #[test]
    #[cfg(unix)]
    fn programs_without_end_are_killed() {
        let run = |script: &str| {
            let mut command = Command::new("sh");
            output_within(command.args(["-c", script]), Duration::from_millis(500)).unwrap()
        };
        let (status, text) = run("echo out; echo err >&2; exit 3").unwrap();
        assert_eq!((status.code(), text.as_str()), (Some(3), "out\nerr\n"));
        assert_eq!(run("sleep 60"), None);
    }
}
