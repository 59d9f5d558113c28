//! The instruction table against NVIDIA's assembler, line by line.
//!
//! [`generate`] makes instructions from the table and mutants of them, [`judge`] asks both sides for a verdict
//! on every line, [`report`] groups the disagreements. A line on which `ptxas` stops reading is taken out and
//! the rest is judged again, so every line has its own verdict.

pub mod generate;
pub mod judge;
pub mod mutate;
pub mod prelude;
pub mod random;
pub mod report;

pub use generate::Probe;
pub use judge::{Pair, ours, theirs};
pub use random::Random;
pub use report::Report;

/// Target and version pairs that a run covers, old and new.
pub const PAIRS: [(&str, &str); 12] = [
    ("sm_107a", "9.5"),
    ("sm_100a", "9.0"),
    ("sm_120a", "9.4"),
    ("sm_90a", "8.3"),
    ("sm_103f", "8.8"),
    ("sm_110a", "9.3"),
    ("sm_90", "7.8"),
    ("sm_80", "7.4"),
    ("sm_75", "6.5"),
    ("sm_60", "5.0"),
    ("sm_35", "3.2"),
    ("sm_20", "2.3"),
];

/// Generates `count` probes from the table for each pair, judges them, and compares.
///
/// # Errors
/// `ptxas` cannot be started.
pub fn run(ptxas: &std::path::Path, seed: u64, count: usize, pairs: &[Pair]) -> std::io::Result<Report> {
    let mut random = Random::new(seed);
    let mut report = Report::default();
    for pair in pairs {
        let mut probes = generate::probes(&mut random, count, pair);
        probes.retain(|probe| !probe.line.contains(['\n', '\r']));
        let lines: Vec<&str> = probes.iter().map(|probe| probe.line.as_str()).collect();
        let ours = ours(&lines, pair);
        let theirs = theirs(ptxas, &lines, pair)?;
        for ((probe, ours), theirs) in probes.iter().zip(ours).zip(theirs) {
            report.add(pair, probe, ours, theirs);
        }
    }
    Ok(report)
}
