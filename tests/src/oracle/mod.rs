//! The instruction table against NVIDIA's assembler, line by line.
//!
//! [`generate`] makes instructions from the table and mutants of them, [`judge`] asks both sides for a verdict
//! on every line, [`report`] groups the disagreements. A line on which `ptxas` stops reading is taken out and
//! the rest is judged again, so every line has its own verdict. Lines on which it crashes or does not end are listed.

pub mod generate;
pub mod judge;
pub mod mutate;
pub mod prelude;
pub mod random;
pub mod report;
pub mod spec;

use std::io;
use std::path::Path;

pub use generate::Probe;
pub use judge::{Answer, Pair, ours, theirs};
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

/// What is compared.
#[derive(Clone, Debug)]
pub struct Run {
    /// The seed of the random numbers.
    pub seed: u64,
    /// How many probes there are for each pair.
    pub count: usize,
    /// The target and version pairs.
    pub pairs: Vec<Pair>,
    /// A text that the place or the opcode of a form must contain.
    pub only: Option<String>,
    /// Whether the probes come from [`spec`].
    pub spec: bool,
}

impl Default for Run {
    fn default() -> Self {
        Self { seed: 1, count: 20_000, pairs: Vec::new(), only: None, spec: false }
    }
}

/// So many lines of [`spec`] make a module.
const MAX_LINES: usize = 5_000;

impl Run {
    /// Generates probes from the table for each pair, judges them, and compares.
    ///
    /// # Errors
    /// `ptxas` cannot be started.
    pub fn judge(&self, ptxas: &Path, report: &mut Report) -> io::Result<()> {
        let mut random = Random::new(self.seed);
        if self.spec {
            return self.judge_spec(ptxas, &mut random, report);
        }
        let only = self.only.as_deref();
        // Instructions that know nothing of textures need no second mode; in a run over all, every third probe
        // is one of a module with samplers of its own.
        let share = if !generate::have_texture_mode(only) { 0 } else { self.count / 3 };
        for pair in &self.pairs {
            for (pair, count) in [(*pair, self.count - share), (pair.independent(), share)] {
                let probes = generate::probes(&mut random, count, &pair, only);
                compare(ptxas, &pair, &probes, report)?;
            }
        }
        Ok(())
    }

    /// About as many probes of [`spec`] for each pair as were asked for.
    fn judge_spec(&self, ptxas: &Path, random: &mut Random, report: &mut Report) -> io::Result<()> {
        let mut probes = spec::probes(random)?;
        if let Some(only) = &self.only {
            probes.retain(|probe| probe.line.contains(only.as_str()) || probe.place.contains(only.as_str()));
        }
        for pair in &self.pairs {
            // Each probe is drawn by itself, so that all kinds are among them.
            let mut chosen = probes.clone();
            chosen.retain(|_| random.below(probes.len()) < self.count);
            // The toolkit does not read on after a thousand syntax errors.
            for part in chosen.chunks(MAX_LINES) {
                compare(ptxas, pair, part, report)?;
            }
        }
        Ok(())
    }
}

/// Judges probes for one pair and adds the verdicts to the report.
///
/// # Errors
/// `ptxas` cannot be started.
pub fn compare(ptxas: &Path, pair: &Pair, probes: &[Probe], report: &mut Report) -> io::Result<()> {
    let lines: Vec<&str> = probes.iter().map(|probe| probe.line.as_str()).collect();
    let ours = ours(&lines, pair);
    let theirs = theirs(ptxas, &lines, pair)?;
    for ((probe, ours), theirs) in probes.iter().zip(ours).zip(theirs) {
        match theirs {
            Answer::Verdict(theirs) => report.add(pair, probe, ours, theirs),
            Answer::Failure(message) => report.add_failure(pair, probe, message),
        }
    }
    Ok(())
}
