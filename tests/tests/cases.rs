//! The data files of `tests/cases`: what is found is what they expect, no more and no less.
//!
//! `BLESS=1 cargo test -p ptx-tests cases::` writes the expectations anew; read what it wrote.

use std::fmt::Write;
use std::path::Path;

use ptx_tests::case::{Case, files};
use ptx_tests::expect::{bless, compare, expectations, found};
use ptx_tests::tools::root;

#[test]
fn every_finding_is_expected_and_every_expectation_is_found() {
    let blessing = std::env::var_os("BLESS").is_some_and(|value| value == "1");
    let mut report = String::new();
    let mut cases = files(&root().join("tests/cases"), "ptx");
    for extension in ["cu", "py", "rs", "ll", "mlir"] {
        cases.extend(files(&root().join("tests/cases"), extension));
    }
    assert!(!cases.is_empty(), "there are no data files in tests/cases");
    for path in &cases {
        if let Err(failure) = check(path, blessing) {
            let name = path.strip_prefix(root()).unwrap_or(path).display();
            writeln!(report, "{name}\n{failure}").unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

fn check(path: &Path, blessing: bool) -> Result<(), String> {
    let case = Case::read(path)?;
    let found = found(&case.source, &case.diagnostics());
    let mismatches = compare(&expectations(&case.source), &found);
    if mismatches.is_empty() {
        return Ok(());
    }
    if blessing {
        std::fs::write(path, bless(&case.source, &found)).map_err(|error| error.to_string())?;
        // What was written has to hold; a comment inside a comment, say, would not.
        return check(path, false);
    }
    Err(mismatches.iter().map(|mismatch| format!("  {mismatch}\n")).collect())
}

/// The kernels of the documents are right, so nothing is found in them.
#[test]
fn kernels_verify_clean() {
    let kernels = files(&root().join("tests/kernels"), "ptx");
    assert!(kernels.len() >= 7, "{kernels:?}");
    for path in kernels {
        let case = Case::read(&path).unwrap();
        let found = found(&case.source, &case.diagnostics());
        assert!(found.is_empty(), "{}: {found:#?}", path.display());
    }
}

/// Each rule has data files of its own, in the folder of its name.
#[test]
fn every_rule_has_data_files() {
    let without: Vec<&str> = ptx_verify::rules()
        .map(|rule| rule.name)
        // Binary files cannot hold expectations; the command line's tests have them.
        .filter(|name| *name != "not-text")
        .filter(|name| {
            let folder = root().join("tests/cases").join(name);
            ["ptx", "cu", "py"].iter().all(|extension| files(&folder, extension).is_empty())
        })
        .collect();
    assert!(without.is_empty(), "rules without tests/cases/NAME/*.ptx, *.cu or *.py: {without:?}");
}

/// A folder of `tests/cases` is named after a rule or is one of the general ones.
#[test]
fn every_folder_is_that_of_a_rule() {
    const GENERAL: [&str; 2] = ["combined", "hosts"];
    for entry in std::fs::read_dir(root().join("tests/cases")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        let known = ptx_verify::find_rule(&name).is_some() || GENERAL.contains(&name.as_str());
        assert!(known, "tests/cases/{name} is not named after a rule");
    }
}
