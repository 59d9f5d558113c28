//! Disagreements, counted and grouped.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};

use super::generate::Probe;
use super::judge::{Pair, Verdict};
use super::prelude::classes;

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
    /// Disagreements that the table declares deliberate, with the reason.
    pub deliberate: Vec<(Disagreement, &'static str)>,
    /// Lines that tell nothing, since `ptxas` crashes on them, finds an error in itself or does not end.
    pub failures: Vec<Disagreement>,
    /// Whether every probe is kept for [`Report::every_probe`].
    pub keep_all: bool,
    /// Every probe with our verdict and theirs, where they are kept.
    pub kept: Vec<(Pair, Probe, Verdict, Verdict)>,
}

impl Report {
    /// Counts one line.
    pub fn add(&mut self, pair: &Pair, probe: &Probe, ours: Verdict, theirs: Verdict) {
        if self.keep_all {
            self.kept.push((*pair, probe.clone(), ours.clone(), theirs.clone()));
        }
        let disagreement = |message| Disagreement { pair: *pair, probe: probe.clone(), message };
        if ours.is_ok() != theirs.is_ok()
            && let Some(reason) = deviation(probe)
        {
            let message = ours.and(theirs).err().unwrap_or_default();
            self.deliberate.push((disagreement(message), reason));
            return;
        }
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

    /// Counts one line on which `ptxas` gives no verdict.
    pub fn add_failure(&mut self, pair: &Pair, probe: &Probe, message: String) {
        self.failures.push(Disagreement { pair: *pair, probe: probe.clone(), message });
    }

    /// Whether the two sides agree as often as is wanted: nothing legal is refused, and at most one illegal
    /// line in a thousand is accepted.
    #[must_use]
    pub fn is_good(&self) -> bool {
        self.refused.is_empty() && self.accepted.len() * 1000 <= self.illegal
    }

    /// Every disagreement, one a line.
    #[must_use]
    pub fn every_disagreement(&self) -> String {
        let mut text = String::new();
        for (title, list) in
            [("refused", &self.refused), ("accepted", &self.accepted), ("no end or a crash", &self.failures)]
        {
            for Disagreement { pair, probe, message } in list {
                let (place, kind) = (&probe.place, probe.kind);
                let _ = writeln!(text, "{title}\t{place}\t{kind}\t{pair}\t{}\t{message}", probe.line);
            }
        }
        for (Disagreement { pair, probe, message }, reason) in &self.deliberate {
            let (place, kind, line) = (&probe.place, probe.kind, &probe.line);
            let _ = writeln!(text, "deliberate\t{place}\t{kind}\t{pair}\t{line}\t{message}\t{reason}");
        }
        text
    }

    /// Every probe that was kept, with our verdict and theirs, one a line.
    #[must_use]
    pub fn every_probe(&self) -> String {
        let mut text = String::new();
        let word = |verdict: &Verdict| verdict.as_ref().map_or_else(Clone::clone, |()| "accepted".to_owned());
        for (pair, probe, ours, theirs) in &self.kept {
            let (place, kind, line) = (&probe.place, probe.kind, &probe.line);
            let (ours, theirs) = (word(ours), word(theirs));
            let _ = writeln!(text, "{place}\t{kind}\t{pair}\t{line}\t{ours}\t{theirs}");
        }
        text
    }
}

/// Why the table disagrees with the assembler about a statement on purpose.
fn deviation(probe: &Probe) -> Option<&'static str> {
    let line = probe.line.trim_start_matches(['@', '!']);
    let line = if line.starts_with('%') { line.split_once(' ')?.1 } else { line };
    let spelling = line.split([' ', ';']).next()?;
    let classes = classes(line);
    let resolved = ptx_ir::isa::resolve(spelling);
    let found = resolved.instances.iter().find_map(|each| each.form.deviation(&each.modifiers, classes));
    found.or_else(|| {
        let words: Vec<String> = spelling.split('.').skip(1).map(|word| format!(".{word}")).collect();
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        probe.form?.deviation(&words, classes)
    })
}

impl fmt::Display for Report {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let total = self.legal + self.illegal;
        writeln!(formatter, "{total} probes: {} legal, {} illegal", self.legal, self.illegal)?;
        let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
        for (_, reason) in &self.deliberate {
            *reasons.entry(reason).or_default() += 1;
        }
        writeln!(formatter, "judged otherwise on purpose: {}", self.deliberate.len())?;
        for (reason, count) in reasons {
            writeln!(formatter, "{count:5} {reason}")?;
        }
        group(formatter, "legal, refused by us", &self.refused)?;
        group(formatter, "illegal, accepted by us", &self.accepted)?;
        if !self.failures.is_empty() {
            group(formatter, "ptxas does not end or crashes", &self.failures)?;
        }
        Ok(())
    }
}

/// Prints the disagreements by form and kind of probe, the most frequent first, with one example each.
fn group(formatter: &mut fmt::Formatter<'_>, title: &str, list: &[Disagreement]) -> fmt::Result {
    writeln!(formatter, "{title}: {}", list.len())?;
    let mut groups: BTreeMap<(&str, &str), Vec<&Disagreement>> = BTreeMap::new();
    for each in list {
        groups.entry((each.probe.place.as_str(), each.probe.kind)).or_default().push(each);
    }
    let mut groups: Vec<_> = groups.into_iter().collect();
    groups.sort_by_key(|(_, list)| std::cmp::Reverse(list.len()));
    for ((place, kind), list) in groups {
        let Disagreement { pair, probe, message } = list[0];
        writeln!(formatter, "{:5} {place} {kind}: `{}` ({pair}): {message}", list.len(), probe.line)?;
    }
    Ok(())
}
