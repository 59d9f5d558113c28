//! Faults planted into clean PTX are found: the repository's own kernels and data files, and compilers' output
//! where it is there, each on the line where it shows. The table of what was found is printed with `-- --nocapture`.

use std::collections::BTreeSet;
use std::path::PathBuf;

use ptx_syntax::{Class, Diagnostic, LineIndex};
use ptx_tests::case::files;
use ptx_tests::faults::{Fault, Kind, plant};
use ptx_tests::tools::{corpus, on_all_cores, root};
use ptx_verify::Config;

/// Faults of each kind that are tried.
const MAX_FAULTS: usize = 60;
/// Faults of a kind taken from one file.
const MAX_FAULTS_OF_A_FILE: usize = 6;
/// Larger files cost more than they show.
const MAX_BYTES: usize = 120_000;

struct Random(u64);

impl Random {
    fn below(&mut self, count: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 33) as usize % count.max(1)
    }

    fn shuffle<T>(&mut self, values: &mut [T]) {
        for index in (1..values.len()).rev() {
            values.swap(index, self.below(index + 1));
        }
    }
}

/// Texts in which nothing is found.
fn sources() -> Vec<(PathBuf, String)> {
    let mut paths = files(&root().join("tests/kernels"), "ptx");
    paths.extend(
        files(&root().join("tests/cases"), "ptx").into_iter().filter(|path| path.ends_with("silent.ptx")),
    );
    let mut more = files(corpus(), "ptx");
    Random(7).shuffle(&mut more);
    paths.extend(more);
    paths
        .into_iter()
        .filter_map(|path| Some((path.clone(), std::fs::read_to_string(path).ok()?)))
        .filter(|(_, text)| text.len() < MAX_BYTES)
        .collect()
}

fn hazards(text: &str) -> Vec<Diagnostic> {
    let mut found = ptx_verify::check(text, &Config::default());
    found.retain(|each| each.class != Class::Style);
    found
}

/// What became of a fault.
enum Outcome {
    Found,
    /// A finding of the kind, on another line.
    Elsewhere,
    Missed,
    /// The text is refused: that is no fault of the kind.
    Invalid,
}

fn judge(fault: &Fault, before: &BTreeSet<(&'static str, u32)>) -> Outcome {
    let found = hazards(&fault.text);
    if found.iter().any(|each| each.class == Class::Invalid) {
        return Outcome::Invalid;
    }
    let index = LineIndex::new(&fault.text);
    let line_of = |span: ptx_syntax::Span| index.position(span.start).line;
    let is_new = |each: &&Diagnostic| {
        fault.kind.rules().contains(&each.rule) && !before.contains(&(each.rule, line_of(each.span)))
    };
    // A finding may tell a fault at one of the other places that it names.
    let places = |each: &Diagnostic| -> Vec<u32> {
        let labels = each.labels.iter().map(|label| label.span);
        std::iter::once(each.span).chain(labels).map(line_of).collect()
    };
    let new: Vec<u32> = found.iter().filter(is_new).flat_map(places).collect();
    match new.first() {
        None => Outcome::Missed,
        Some(_) if new.iter().any(|line| fault.lines.contains(line)) => Outcome::Found,
        Some(_) => Outcome::Elsewhere,
    }
}

#[test]
fn planted_faults_are_found() {
    let sources = sources();
    let said = on_all_cores(&Kind::ALL, |&kind| planted_of(kind, &sources));
    said.iter().for_each(|(told, _)| print!("{told}"));
    let failures: String = said.into_iter().map(|(_, failures)| failures).collect();
    assert!(failures.is_empty(), "\n{failures}");
}

/// What became of the faults of a kind, and what is wrong with that.
fn planted_of(kind: Kind, sources: &[(PathBuf, String)]) -> (String, String) {
    let mut random = Random(0x5eed + kind as u64);
    let (mut found, mut planted, mut harmless, mut noticed) = (0, 0, 0, 0);
    let mut missed = Vec::new();
    for (path, text) in sources {
        if planted >= MAX_FAULTS {
            break;
        }
        let mut faults = plant(kind, text);
        if faults.is_empty() {
            continue;
        }
        let clean = hazards(text);
        let is_faulty = |each: &Diagnostic| each.class == Class::Invalid || kind.rules().contains(&each.rule);
        if clean.iter().any(is_faulty) {
            continue;
        }
        let index = LineIndex::new(text);
        let before = clean.iter().map(|each| (each.rule, index.position(each.span.start).line)).collect();
        random.shuffle(&mut faults);
        for fault in faults.iter().take(MAX_FAULTS_OF_A_FILE) {
            match judge(fault, &before) {
                Outcome::Invalid => {}
                Outcome::Found | Outcome::Elsewhere if fault.harmless => noticed += 1,
                Outcome::Missed if fault.harmless => harmless += 1,
                Outcome::Found => (found, planted) = (found + 1, planted + 1),
                Outcome::Elsewhere => {
                    planted += 1;
                    missed.push(format!("{}: not on {:?}", path.display(), fault.lines));
                }
                Outcome::Missed => {
                    planted += 1;
                    missed.push(format!("{}:{:?}", path.display(), fault.lines));
                }
            }
        }
    }
    let mut told = format!(
        "{kind:?}: {found}/{planted} found, {harmless} harmless ones silent, {noticed} of them noticed\n"
    );
    missed.iter().for_each(|each| told += &format!("    missed: {each}\n"));
    let mut failures = String::new();
    // A wait after the last round is for copies that executions have no more, as their rounds are all done.
    let least = if kind == Kind::DropOneWait { 75 } else { 95 };
    if planted < 10 || found * 100 < planted * least {
        failures += &format!("{kind:?}: {found} of {planted}; missed {missed:#?}\n");
    }
    if noticed > 0 {
        failures += &format!("{kind:?}: {noticed} harmless faults are reported\n");
    }
    (told, failures)
}
