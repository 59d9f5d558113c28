//! Real compilers' output: no finding of class `hazard` is an error, and the warnings are those that somebody
//! has looked at.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use ptx_syntax::{Class, LineIndex, Severity};
use ptx_tests::tools::corpus;
use ptx_verify::Config;

/// How many warnings of each rule there are at most, and why they are right.
const EXAMINED: &[(&str, usize, &str)] = &[
    ("async-race", 6, "a source that copies twice to one place, to have each form of the instruction"),
    ("carry-polarity", 8, "a division in a header takes the borrow out with `addc 0, 0`"),
    ("cluster-lifetime", 7, "a source with each form of remote atomics, whose blocks never meet"),
    ("cp-async-no-wait", 6, "a kernel of a test that reads what its last group copies, which no wait is for"),
    (
        "maybe-uninitialized-register",
        10,
        "variables of the source that are set only where something is found",
    ),
    (
        "out-of-bounds-constant-offset",
        23,
        "tests of LLVM that read behind a parameter or a variable, and a vector of five `i1` in one byte",
    ),
    ("protocol-not-analysed", 60, "no warning: kernels whose control depends on memory"),
    ("state-space-mismatch", 1, "a cast chain that goes through the wrong space"),
    ("unordered-flag", 6, "a source with each form of a store, of which some tell others"),
    ("uninitialized-predicate", 41, "operations that an older compiler dropped, keeping their results"),
    ("uninitialized-register", 113, "undefined values of the source, printed as registers that nothing sets"),
    ("unset-call-argument", 1, "an undefined value of the source, passed"),
];

#[test]
fn no_hazard_in_compilers_output_is_an_error() {
    let folder = corpus();
    let manifest = std::fs::read_to_string(folder.join("manifest.jsonl")).unwrap();
    let paths: Vec<String> = manifest
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter(|entry| entry["accepted"] == true)
        .map(|entry| entry["path"].as_str().unwrap().to_owned())
        .collect();
    assert!(paths.len() > 800, "{} accepted files", paths.len());
    let (next, counts, errors) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()), Mutex::new(Vec::new()));
    let work = || {
        while let Some(path) = paths.get(next.fetch_add(1, Ordering::Relaxed)) {
            let source = std::fs::read_to_string(folder.join(path)).unwrap();
            let index = LineIndex::new(&source);
            for found in ptx_verify::check(&source, &Config::default()) {
                if found.class != Class::Hazard {
                    continue;
                }
                *counts.lock().unwrap().entry(found.rule).or_insert(0_usize) += 1;
                if found.severity == Severity::Error {
                    let line = index.position(found.span.start).line;
                    errors.lock().unwrap().push(format!("{path}:{line}: {}: {}", found.rule, found.message));
                }
            }
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..2).map(|_| scope.spawn(work)).collect();
        workers.into_iter().for_each(|worker| worker.join().unwrap());
    });
    let errors = errors.into_inner().unwrap();
    assert!(errors.is_empty(), "\n{}", errors.join("\n"));
    for (rule, count) in counts.into_inner().unwrap() {
        let most = EXAMINED.iter().find(|(name, ..)| *name == rule).map_or(0, |(_, most, _)| *most);
        assert!(count <= most, "{count} warnings of {rule}, and {most} were examined");
    }
}
