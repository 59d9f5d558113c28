//! What `dump --facts` says of the programs in `tests/facts`, held against the `.facts` file beside each.
//!
//! `BLESS=1 cargo test -p ptx-cli --test facts` writes these anew; read what it wrote. That the facts are true is shown by
//! executions: `tests/tests/facts`.

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn programs() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/facts");
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut programs: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|extension| extension == "ptx")).collect();
    programs.sort();
    programs
}

/// The first line in which two texts differ.
fn difference(expected: &str, found: &str) -> String {
    let (mut one, mut other) = (expected.lines(), found.lines());
    let mut number = 0;
    loop {
        number += 1;
        match (one.next(), other.next()) {
            (one, other) if one != other => {
                let shown = |line: Option<&str>| line.unwrap_or("the end").trim().to_owned();
                return format!("line {number}: {} instead of {}", shown(other), shown(one));
            }
            (None, _) => return "the ends of lines".to_owned(),
            _ => {}
        }
    }
}

#[test]
fn facts_are_as_they_were() {
    let blessing = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let programs = programs();
    assert!(programs.len() >= 20, "{programs:?}");
    let mut report = String::new();
    for program in &programs {
        let output = Command::new(env!("CARGO_BIN_EXE_ptx-cli"))
            .args(["dump", "--facts"])
            .arg(program)
            .output()
            .unwrap();
        assert!(output.status.success(), "{program:?}: {output:?}");
        let found = String::from_utf8(output.stdout).unwrap();
        let place = program.with_extension("facts");
        if blessing {
            fs::write(place, found).unwrap();
            continue;
        }
        let expected = fs::read_to_string(&place).unwrap_or_default();
        if expected != found {
            writeln!(report, "{program:?}: {}", difference(&expected, &found)).unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
}
