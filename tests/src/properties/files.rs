//! What the toolkit reads besides programs: logs and machine code of the assembler, baselines, `ptx.toml`.

use std::collections::BTreeSet;
use std::sync::Arc;

use ptx_container::MAX_UNPACKED;
use ptx_emit::assemble::{Baseline, Budget, FunctionKind, Report, is_cubin, kernels_of_cubin, parse_log};

/// A log of `ptxas`: nothing of it is lost, and figures belong to functions that it names.
///
/// # Panics
/// Where that does not hold.
pub fn log(text: &str) {
    let (lines, functions) = parse_log(text);
    let filled = text.lines().filter(|line| !line.trim().is_empty()).count();
    assert_eq!(lines.len(), filled, "a line is a message");
    for line in &lines {
        let message = line.message.trim();
        assert!(text.contains(message), "the words are the assembler's: {message:?}");
    }
    let mut names: Vec<&str> = functions.iter().map(|function| function.name.as_str()).collect();
    assert!(names.iter().all(|name| text.contains(name)));
    names.sort_unstable();
    let count = names.len();
    names.dedup();
    assert_eq!(count, names.len(), "a function is told of once");
}

/// Machine code: what counts as a cubin is not cut short, and every kernel of it has a name.
///
/// # Panics
/// Where that does not hold.
pub fn cubin(bytes: &[u8]) {
    let kernels = kernels_of_cubin(bytes);
    for kernel in kernels.iter().flatten() {
        assert!(!kernel.name.is_empty() && kernel.kind == FunctionKind::Entry);
    }
    if is_cubin(bytes) {
        assert!(bytes.starts_with(b"\x7fELF"));
        let is_64_bit = bytes[4] == 2;
        assert!(!is_64_bit || kernels.is_some(), "what is taken for a cubin is read as one");
    }
}

/// A container: its modules have names of their own, and texts that are no longer than is allowed.
///
/// # Panics
/// Where that does not hold.
pub fn container(bytes: &[u8]) {
    let Some(contents) = ptx_container::open("fuzz", Arc::new(bytes.to_vec())) else { return };
    let names: BTreeSet<&str> = contents.modules.iter().map(|module| module.name.as_str()).collect();
    assert_eq!(names.len(), contents.modules.len(), "{names:?}");
    for module in &contents.modules {
        match module.text() {
            Ok(text) => assert!(text.len() as u64 <= MAX_UNPACKED && text.last() != Some(&0)),
            Err(problem) => assert!(!problem.message.is_empty()),
        }
    }
}

/// A baseline: what is read is written the same, and nothing changed against itself.
///
/// # Panics
/// Where that does not hold.
pub fn baseline(text: &str) {
    let Ok(baseline) = Baseline::from_json(text) else { return };
    let written = baseline.to_json().expect("a baseline has a JSON form");
    assert_eq!(Baseline::from_json(&written).ok().as_ref(), Some(&baseline), "read, written, read");
    let reports: Vec<Report> = baseline
        .records
        .iter()
        .map(|record| Report {
            file: record.file.clone(),
            backend: record.backend,
            backend_version: record.backend_version.clone(),
            target: record.target.clone(),
            accepted: true,
            seconds: 0.0,
            log: Vec::new(),
            functions: record.functions.clone(),
        })
        .collect();
    let again = Baseline::from_reports(&reports);
    assert_eq!(again.records, baseline.records, "a record is a report without its times");
    let comparison = baseline.compare(&reports);
    assert!(comparison.unused.is_empty() && comparison.compared == reports.len());
    let files: BTreeSet<_> = reports.iter().map(|report| (&report.file, &report.target)).collect();
    // A record that is there twice may have two figures for one function.
    let functions_are_distinct = reports.iter().all(|report| {
        let names: BTreeSet<_> = report.functions.iter().map(|each| &each.name).collect();
        names.len() == report.functions.len()
    });
    if files.len() == reports.len() && functions_are_distinct {
        assert!(comparison.regressions.is_empty() && comparison.improvements.is_empty());
        assert!(comparison.unjudged.is_empty() && comparison.notes.is_empty(), "{:?}", comparison.notes);
    }
    let budget =
        Budget { registers: Some(0), spill_bytes: Some(0), stack_bytes: Some(0), shared_bytes: Some(0) };
    for report in &reports {
        let kernels = report.functions.iter().filter(|function| function.kind == FunctionKind::Entry).count();
        let judged = budget.excesses(report).len() + budget.unjudged(report).len();
        assert!(judged <= 5 * kernels, "a figure is judged once");
    }
}

/// A `ptx.toml`: taken, or refused with a sentence.
///
/// # Panics
/// Where that does not hold.
pub fn configuration(text: &str) {
    if let Err(sentence) = ptx_cli::fuzz::configuration(text) {
        assert!(!sentence.trim().is_empty());
    }
}
