//! Executable files that a test makes.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Stdio};

/// Writes an executable file. A child writes it: what is open for writing in this process is open in every program
/// that another test starts at that moment too, and the kernel executes no file that anybody writes ("text file
/// busy").
pub fn write(path: &Path, contents: &[u8]) {
    let mut shell = Command::new("sh")
        .args(["-c", "cat >\"$1\" && chmod 755 \"$1\"", "sh"])
        .arg(path)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    shell.stdin.take().unwrap().write_all(contents).unwrap();
    assert!(shell.wait().unwrap().success());
}
