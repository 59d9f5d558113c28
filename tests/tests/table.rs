//! The instruction table: what a change of it changes, and how often it disagrees with NVIDIA's assembler.
//!
//! `BLESS=1 cargo test -p ptx-tests --test table` writes `tests/golden/table.txt` anew: read the difference. The
//! program `oracle` compares many more lines than the sample here.

use ptx_tests::oracle::{PAIRS, Pair, Report, Run};
use ptx_tests::tools::{ptxas, root, skipped};

/// How many of a thousand illegal lines of the sample may be accepted.
const ACCEPTED_IN_A_THOUSAND: usize = 40;

/// How many legal lines of the sample may be refused.
const REFUSED: usize = 12;

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
    let Some(ptxas) = ptxas() else {
        return skipped(
            "a sample of the instruction table against ptxas; tests/install-toolkit.sh installs it",
        );
    };
    let pairs = PAIRS.iter().filter_map(|(target, version)| Pair::parse(target, version)).collect();
    let run = Run { seed: 20_260_101, count: 500, pairs, ..Run::default() };
    let mut report = Report::default();
    run.judge(ptxas, &mut report).unwrap();
    assert!(report.legal > 1000 && report.illegal > 2000, "{report}");
    assert!(report.refused.len() <= REFUSED, "{report}");
    assert!(report.accepted.len() * 1000 <= report.illegal * ACCEPTED_IN_A_THOUSAND, "{report}");
}
