//! Disagreements, counted and grouped.

use std::collections::BTreeMap;
use std::fmt;

use super::generate::Probe;
use super::judge::{Pair, Verdict};

/// A line that the two sides judge differently.
#[derive(Clone, Debug)]
pub struct Disagreement {
    /// Target and version.
    pub pair: Pair,
    /// The line and where it came from.
    pub probe: Probe,
    /// Our complaint, or theirs.
    pub message: String,
}

/// The result of a run.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// Lines that `ptxas` accepts.
    pub legal: usize,
    /// Lines that `ptxas` refuses.
    pub illegal: usize,
    /// Accepted by `ptxas`, refused by us.
    pub refused: Vec<Disagreement>,
    /// Refused by `ptxas`, accepted by us.
    pub accepted: Vec<Disagreement>,
}

impl Report {
    /// Counts one line.
    pub fn add(&mut self, pair: &Pair, probe: &Probe, ours: Verdict, theirs: Verdict) {
        let disagreement = |message| Disagreement { pair: *pair, probe: probe.clone(), message };
        match (ours, theirs) {
            (Ok(()), Ok(())) => self.legal += 1,
            (Err(_), Err(_)) => self.illegal += 1,
            (Err(message), Ok(())) => {
                self.legal += 1;
                self.refused.push(disagreement(message));
            }
            (Ok(()), Err(message)) => {
                self.illegal += 1;
                self.accepted.push(disagreement(message));
            }
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.legal + self.illegal;
        writeln!(formatter, "{total} probes: {} legal, {} illegal", self.legal, self.illegal)?;
        group(formatter, "legal, refused by us", &self.refused)?;
        group(formatter, "illegal, accepted by us", &self.accepted)
    }
}

/// Prints the disagreements by form and kind of probe, the most frequent first, with one example each.
fn group(formatter: &mut fmt::Formatter<'_>, title: &str, list: &[Disagreement]) -> fmt::Result {
    writeln!(formatter, "{title}: {}", list.len())?;
    let mut groups: BTreeMap<(&str, &str), Vec<&Disagreement>> = BTreeMap::new();
    for each in list {
        groups.entry((each.probe.form.place(), each.probe.kind)).or_default().push(each);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, list)| std::cmp::Reverse(list.len()));
    for ((place, kind), list) in groups {
        let Disagreement { pair, probe, message } = list[0];
        let Pair { target, version } = pair;
        writeln!(
            formatter,
            "{:5} {place} {kind}: `{}` ({target}, {version}): {message}",
            list.len(),
            probe.line
        )?;
    }
    Ok(())
}
