//! The instruction table: what a change of it changes, and how often it disagrees with NVIDIA's assembler.
//!
//! `BLESS=1 cargo test -p ptx-tests table::` writes `tests/golden/table.txt` anew: read the difference. The
//! program `oracle` compares many more lines than the sample here.

use std::collections::BTreeSet;

use ptx_tests::oracle::{PAIRS, Pair, Probe, Report, Run, compare};
use ptx_tests::tools::{needed_ptxas, root};

/// How many mutants that the assembler takes may be refused: it takes what nobody means.
const MUTANTS_REFUSED: usize = 3;

#[test]
fn the_table_is_the_one_under_version_control() {
    let path = root().join("tests/golden/table.txt");
    let now = ptx_ir::isa::dump();
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(&path, &now).unwrap();
    }
    let golden = std::fs::read_to_string(&path).unwrap_or_default();
    let changed: Vec<String> = golden
        .lines()
        .map(|line| ("-", line, &now))
        .chain(now.lines().map(|line| ("+", line, &golden)))
        .filter(|(_, line, other)| !other.lines().any(|each| each == *line))
        .map(|(sign, line, _)| format!("{sign} {line}"))
        .take(20)
        .collect();
    assert!(golden == now, "the table changed; BLESS=1 writes the golden file anew\n{}", changed.join("\n"));
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn a_sample_of_the_table_agrees_with_ptxas() {
    let report = judged(&Run { seed: 20_260_101, count: 800, ..Run::default() });
    assert!(report.legal > 1000 && report.illegal > 2000, "{report}");
    let legal = report.refused.iter().filter(|each| each.probe.kind == "legal");
    assert_eq!(legal.count(), 0, "{report}");
    assert!(report.refused.len() <= MUTANTS_REFUSED, "{report}");
    assert!(report.accepted.len() * 1000 <= report.illegal, "{report}");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn a_sample_that_knows_nothing_of_the_table_agrees_with_ptxas() {
    let run = Run { seed: 20_260_101, count: 400, spec: true, ..Run::default() };
    let report = judged(&run);
    assert!(report.legal > 200 && report.illegal > 2000, "{report}");
    assert!(report.is_good(), "{report}");
}

/// The result of a run with all pairs.
fn judged(run: &Run) -> Report {
    let pairs = PAIRS.iter().filter_map(|(target, version)| Pair::parse(target, version)).collect();
    let mut report = Report::default();
    Run { pairs, ..run.clone() }.judge(needed_ptxas(), &mut report).unwrap();
    report
}

/// The lines of `tests/deviations.txt`, each with the reason above it.
fn deviations() -> Vec<(Pair, String, String)> {
    let text = std::fs::read_to_string(root().join("tests/deviations.txt")).unwrap();
    let mut reason = "";
    let mut probes = Vec::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            reason = comment;
        } else if let Some((pair, statement)) = line.split_once("  ") {
            let (target, version) = pair.split_once(',').unwrap();
            let pair = Pair::parse(target, version).unwrap_or_else(|| panic!("{line}"));
            probes.push((pair, statement.to_owned(), reason.to_owned()));
        }
    }
    probes
}

#[test]
fn each_deviation_of_the_table_is_shown() {
    let deviations = deviations();
    let shown: BTreeSet<&str> = deviations.iter().map(|(.., reason)| reason.as_str()).collect();
    let reasons: BTreeSet<&str> = ptx_ir::isa::forms().flat_map(ptx_ir::isa::FormId::deviations).collect();
    assert_eq!(shown, reasons, "tests/deviations.txt shows each reason of the table, and no other");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn a_deviation_is_one() {
    for (pair, statement, reason) in deviations() {
        let mut report = Report::default();
        let probe = Probe { line: statement.clone(), kind: "given", place: reason.clone(), form: None };
        compare(needed_ptxas(), &pair, &[probe], &mut report).unwrap();
        let [(disagreement, why)] = &report.deliberate[..] else {
            panic!("no deviation: {statement}\n{report}")
        };
        assert_eq!(*why, reason, "{}", disagreement.probe.line);
    }
}
