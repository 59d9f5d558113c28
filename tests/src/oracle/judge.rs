//! The verdict of both sides on lines of one kernel.

use std::collections::BTreeMap;
use std::fmt;
use std::io::{self, Write as _};
use std::path::Path;

use ptx_ir::platform::{Platform, TextureMode};
use ptx_ir::target::{Suffix, Target};
use ptx_ir::version::Version;
use ptx_syntax::{Class, LineIndex, Severity};
use ptx_verify::Config;

use super::prelude::{TAIL, head};
use crate::tools::{Complaint, assemble};

/// What a module is written for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pair {
    /// `.target`
    pub target: Target,
    /// `.version`
    pub version: Version,
    /// How textures are bound.
    pub texture_mode: TextureMode,
}

impl Pair {
    /// Reads `sm_90a` and `8.3`.
    #[must_use]
    pub fn parse(target: &str, version: &str) -> Option<Self> {
        let (target, version) = (Target::parse(target)?, Version::parse(version)?);
        Some(Self { target, version, texture_mode: TextureMode::Unified })
    }

    /// The same with `texmode_independent`.
    #[must_use]
    pub const fn independent(self) -> Self {
        Self { texture_mode: TextureMode::Independent, ..self }
    }

    /// What decides which instructions a module may use.
    #[must_use]
    pub const fn platform(&self) -> Platform {
        Platform { version: self.version, target: self.target, texture_mode: self.texture_mode }
    }

    /// The virtual architecture that NVIDIA's assembler is to be told, so that it only reads.
    #[must_use]
    pub fn architecture(&self) -> String {
        let number = self.target.number();
        let suffix = match self.target.suffix() {
            Suffix::Plain => "",
            Suffix::Family => "f",
            Suffix::Architecture => "a",
        };
        if number < 75 { "compute_75".to_owned() } else { format!("compute_{number}{suffix}") }
    }
}

/// As the arguments of the program `oracle` have it.
impl fmt::Display for Pair {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { target, version, texture_mode } = self;
        write!(formatter, "{target},{version}")?;
        match texture_mode {
            TextureMode::Unified => Ok(()),
            TextureMode::Independent => write!(formatter, ",{}", texture_mode.name()),
        }
    }
}

/// Accepted, or the first complaint.
pub type Verdict = Result<(), String>;

/// What became of a line that NVIDIA's assembler was asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Its verdict.
    Verdict(Verdict),
    /// It crashed, found an error in itself or did not end, and with this line alone too: what it said.
    Failure(String),
}

/// One kernel with a line for each probe, and the number of lines before the first.
fn source(lines: &[Option<&str>], pair: &Pair) -> (String, usize) {
    let mut text = head(pair);
    let before = text.matches('\n').count();
    for line in lines {
        match line {
            // Every line in its own scope, so that what is wrong with it stays on it.
            Some(line) => text.push_str(&format!("{{ {line} }}\n")),
            None => text.push('\n'),
        }
    }
    text.push_str(TAIL);
    (text, before)
}

/// The verdict of this project.
#[must_use]
pub fn ours(lines: &[&str], pair: &Pair) -> Vec<Verdict> {
    let given: Vec<Option<&str>> = lines.iter().map(|line| Some(*line)).collect();
    let (text, before) = source(&given, pair);
    let index = LineIndex::new(&text);
    let mut verdicts = vec![Ok(()); lines.len()];
    for found in ptx_verify::check(&text, &Config::default()) {
        if found.class != Class::Invalid || found.severity != Severity::Error {
            continue;
        }
        let line = index.position(found.span.start).line as usize;
        if let Some(verdict) = line.checked_sub(before + 1).and_then(|line| verdicts.get_mut(line)) {
            *verdict = Err(format!("{}: {}", found.rule, found.message));
        }
    }
    verdicts
}

/// What NVIDIA's assembler says of each line.
///
/// # Errors
/// It cannot be started.
pub fn theirs(ptxas: &Path, lines: &[&str], pair: &Pair) -> io::Result<Vec<Answer>> {
    let mut answers = vec![Answer::Verdict(Ok(())); lines.len()];
    for first in (0..lines.len()).step_by(400) {
        let end = (first + 400).min(lines.len());
        batch(ptxas, &lines[first..end], pair, &mut answers[first..end])?;
    }
    Ok(answers)
}

/// Takes refused lines out and asks again until all that is left is accepted as a whole.
fn batch(ptxas: &Path, lines: &[&str], pair: &Pair, answers: &mut [Answer]) -> io::Result<()> {
    let mut live: Vec<Option<&str>> = lines.iter().map(|line| Some(*line)).collect();
    while live.iter().any(Option::is_some) {
        let (text, before) = source(&live, pair);
        let mut file = tempfile::Builder::new().suffix(".ptx").tempfile()?;
        file.write_all(text.as_bytes())?;
        let complaints = assemble(ptxas, file.path(), &pair.architecture())?;
        let Some(first) = complaints.first().cloned() else { return Ok(()) };
        let refused = by_line(complaints, before, &live);
        if refused.is_empty() {
            return unexplained(ptxas, &live, pair, answers, first);
        }
        for (line, message) in refused {
            answers[line] = Answer::Verdict(Err(message));
            let alone = live[line].take().filter(|_| lines.len() > 1);
            if let Some(text) = alone.filter(|_| may_be_misplaced(&answers[line])) {
                answers[line] = Answer::Verdict(Ok(()));
                batch(ptxas, &[text], pair, &mut answers[line..=line])?;
            }
        }
    }
    Ok(())
}

/// Whether the line may be another than the one that is wrong. Instructions that the assembler has as macros (video, division,
/// square root) shift its count of lines, and it stops at an error of syntax, so nothing else tells. Those that it
/// makes a call of share their function with other lines, which may be at fault.
fn may_be_misplaced(answer: &Answer) -> bool {
    let signs =
        ["Parsing error", "Unknown symbol '__cuda", "Type of argument does not match formal parameter"];
    matches!(answer, Answer::Verdict(Err(message)) if signs.iter().any(|sign| message.starts_with(sign)))
}

/// A run without end, a crash, or a complaint that names no line: halves the batch until one line is left to blame.
fn unexplained(
    ptxas: &Path,
    live: &[Option<&str>],
    pair: &Pair,
    answers: &mut [Answer],
    said: Complaint,
) -> io::Result<()> {
    let rest: Vec<usize> = (0..live.len()).filter(|&line| live[line].is_some()).collect();
    if let [line] = rest[..] {
        let message = format!("unexplained: {}", said.message);
        answers[line] = if said.failure { Answer::Failure(message) } else { Answer::Verdict(Err(message)) };
        return Ok(());
    }
    let (left, right) = rest.split_at(rest.len() / 2);
    for half in [left, right] {
        let lines: Vec<&str> = half.iter().filter_map(|&line| live[line]).collect();
        let mut judged = vec![Answer::Verdict(Ok(())); lines.len()];
        batch(ptxas, &lines, pair, &mut judged)?;
        for (&line, answer) in half.iter().zip(judged) {
            answers[line] = answer;
        }
    }
    Ok(())
}

/// The complaints about lines that are still there.
fn by_line(complaints: Vec<Complaint>, before: usize, live: &[Option<&str>]) -> BTreeMap<usize, String> {
    let mut refused = BTreeMap::new();
    for Complaint { line, message, failure } in complaints {
        if failure {
            continue;
        }
        let index = line.map(|line| (line as usize).wrapping_sub(before + 1));
        if let Some(index) = index.filter(|&index| live.get(index).is_some_and(Option::is_some)) {
            refused.entry(index).or_insert(message);
        }
    }
    refused
}
