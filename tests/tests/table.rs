//! The instruction table: what a change of it changes, and how often it disagrees with NVIDIA's assembler.
//!
//! `BLESS=1 cargo test -p ptx-tests --test table` writes `tests/golden/table.txt` anew: read the difference. The
//! program `oracle` compares many more lines than the sample here.

use ptx_tests::oracle::{PAIRS, Pair, Probe, Report, Run, compare};
use ptx_tests::tools::{ptxas, root, skipped};

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
fn a_sample_of_the_table_agrees_with_ptxas() {
    let Some(report) = judged(&Run { seed: 20_260_101, count: 800, ..Run::default() }) else { return };
    assert!(report.legal > 1000 && report.illegal > 2000, "{report}");
    let legal = report.refused.iter().filter(|each| each.probe.kind == "legal");
    assert_eq!(legal.count(), 0, "{report}");
    assert!(report.refused.len() <= MUTANTS_REFUSED, "{report}");
    assert!(report.accepted.len() * 1000 <= report.illegal, "{report}");
}

#[test]
fn a_sample_that_knows_nothing_of_the_table_agrees_with_ptxas() {
    let run = Run { seed: 20_260_101, count: 400, spec: true, ..Run::default() };
    let Some(report) = judged(&run) else { return };
    assert!(report.legal > 200 && report.illegal > 2000, "{report}");
    assert!(report.is_good(), "{report}");
}

/// The result of a run with all pairs; none without an assembler.
fn judged(run: &Run) -> Option<Report> {
    let Some(ptxas) = ptxas() else {
        skipped("a sample of the instruction table against ptxas; tests/install-toolkit.sh installs it");
        return None;
    };
    let pairs = PAIRS.iter().filter_map(|(target, version)| Pair::parse(target, version)).collect();
    let mut report = Report::default();
    Run { pairs, ..run.clone() }.judge(ptxas, &mut report).unwrap();
    Some(report)
}

/// Every deviation of the table is shown by a line of `tests/deviations.txt`, and every line there is one.
#[test]
fn a_deviation_is_one() {
    let text = std::fs::read_to_string(root().join("tests/deviations.txt")).unwrap();
    let mut shown = std::collections::BTreeSet::new();
    let mut reason = "";
    let mut probes = Vec::new();
    for line in text.lines() {
        if let Some(comment) = line.strip_prefix("# ") {
            reason = comment;
        } else if let Some((pair, statement)) = line.split_once("  ") {
            let (target, version) = pair.split_once(',').unwrap();
            let pair = Pair::parse(target, version).unwrap_or_else(|| panic!("{line}"));
            shown.insert(reason);
            probes.push((pair, statement, reason));
        }
    }
    let reasons: std::collections::BTreeSet<&str> =
        ptx_ir::isa::forms().flat_map(ptx_ir::isa::FormId::deviations).collect();
    assert_eq!(shown, reasons, "tests/deviations.txt shows each reason of the table, and no other");
    let Some(ptxas) = ptxas() else {
        skipped("the deviations against ptxas; tests/install-toolkit.sh installs it");
        return;
    };
    for (pair, statement, reason) in probes {
        let mut report = Report::default();
        let probe = Probe { line: statement.to_owned(), kind: "given", place: reason.to_owned(), form: None };
        compare(ptxas, &pair, &[probe], &mut report).unwrap();
        let [(disagreement, why)] = &report.deliberate[..] else {
            panic!("no deviation: {statement}\n{report}")
        };
        assert_eq!(*why, reason, "{}", disagreement.probe.line);
    }
}
