#![allow(dead_code, reason = "each test file uses what it needs of this module")]

//! Running the built program on scratch files.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What the program answered.
#[derive(Debug)]
pub struct Answer {
    /// Exit status; a signal is a failure of the test.
    pub status: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

/// A scratch directory that the program runs in.
pub struct Scratch {
    directory: tempfile::TempDir,
}

impl Scratch {
    /// An empty directory.
    pub fn new() -> Self {
        Self { directory: tempfile::tempdir().unwrap() }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Writes a file, and the directories above it.
    pub fn file(&self, name: &str, contents: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, contents).unwrap();
        path
    }

    /// Reads a file.
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path().join(name)).unwrap()
    }

    /// Runs the program with empty standard input.
    pub fn run(&self, arguments: &[&str]) -> Answer {
        self.run_with(arguments, b"")
    }

    /// Runs the program with this standard input.
    pub fn run_with(&self, arguments: &[&str], stdin: &[u8]) -> Answer {
        let mut child = self
            .command(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        let bytes = stdin.to_vec();
        // The program may end without reading all of it.
        let writer = std::thread::spawn(move || input.write_all(&bytes));
        let output = child.wait_with_output().unwrap();
        let _ = writer.join().unwrap();
        let answer = Answer {
            status: output.status.code().unwrap_or(-1),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
        };
        assert!((0..=2).contains(&answer.status), "{arguments:?}: {answer:?}");
        assert!(!answer.stderr.contains("internal error"), "{arguments:?}: {answer:?}");
        answer
    }

    /// The program, ready to be started in this directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_ptx-cli"));
        command
            .args(arguments)
            .current_dir(self.path())
            .env_remove("NO_COLOR")
            .env_remove("FORCE_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env("COLUMNS", "100");
        command
    }
}

/// A text with names of files as all systems but Windows write them.
pub fn slashes(text: &str) -> String {
    if cfg!(windows) { text.replace('\\', "/") } else { text.to_owned() }
}

/// The address of a file, as the server writes it.
pub fn address(path: &Path) -> String {
    let path = path.to_str().unwrap();
    if !cfg!(windows) {
        return format!("file://{path}");
    }
    let path = path.strip_prefix(r"\\?\").unwrap_or(path);
    format!("file:///{}", path.replace('\\', "/").replace(':', "%3A"))
}

/// A kernel with nothing wrong in it.
pub const GOOD: &str = "\
.version 8.6
.target sm_90
.address_size 64

.visible .entry k(.param .u64 p)
{
\t.reg .b32 %r<2>;
\t.reg .b64 %rd<3>;

\tld.param.u64 %rd1, [p];
\tcvta.to.global.u64 %rd2, %rd1;
\tmov.u32 %r1, 7;
\tst.global.u32 [%rd2], %r1;
\tret;
}
";

/// [`GOOD`] without the comma of line 12, column 13.
pub fn bad() -> String {
    GOOD.replace("mov.u32 %r1, 7", "mov.u32 %r1 7")
}
