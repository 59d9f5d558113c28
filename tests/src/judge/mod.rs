//! Holds what the verifier says of a kernel against what executions of it show.
//!
//! A finding is *shown* if some execution has the fault at its place. One that none shows is false, as far as the
//! executions go: those of a kernel with such a finding are many more than of others. A kernel is *missed* if an
//! execution shows a fault of a family and the verifier says nothing of that family.

mod inputs;
mod reduce;

use std::collections::BTreeSet;

use ptx_syntax::{Class, Diagnostic, LineIndex, Severity};
use ptx_verify::Config;

pub use inputs::{Input, Inputs};
pub use reduce::reduced;

use crate::emulate::{
    Cause, End, Fault, FaultKind, Observer, Outcome, Program, RAN, Schedule, Write, execute,
};

/// Findings and faults that are about the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Family {
    /// Threads that should come together do not.
    Divergence,
    /// A register is read that nothing has set.
    Register,
    /// The carry flag is.
    Carry,
    /// An address is no multiple of the size of the access.
    Alignment,
    /// An access is outside of its object.
    Bounds,
}

impl Family {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Divergence, Self::Register, Self::Carry, Self::Alignment, Self::Bounds];

    /// What a rule is about; none if no execution tells whether it is right.
    #[must_use]
    pub fn of_rule(rule: &str) -> Option<Self> {
        Some(match rule {
            "divergent-barrier" => Self::Divergence,
            // Rules about the threads of a mask have names of their own.
            _ if rule.contains("mask") || rule.contains("diverg") => Self::Divergence,
            "uninitialized-register" | "maybe-uninitialized-register" | "uninitialized-predicate" => {
                Self::Register
            }
            "carry-undefined" | "carry-across-call" => Self::Carry,
            "misaligned-constant-offset" | "declared-alignment-too-low" | "inconsistent-alignment" => {
                Self::Alignment
            }
            "out-of-bounds-constant-offset" => Self::Bounds,
            _ => return None,
        })
    }

    /// What a fault is about; none if no rule is about it.
    #[must_use]
    pub fn of_fault(fault: &Fault) -> Option<Self> {
        Some(match fault.kind {
            kind if kind.is_divergence() => Self::Divergence,
            FaultKind::Undefined(_) => {
                let of_register = |cause: &Cause| matches!(cause, Cause::Register(name) if name != CARRY);
                if !fault.sources.iter().any(|source| of_register(&source.cause)) {
                    return None;
                }
                Self::Register
            }
            FaultKind::CarryUnset => Self::Carry,
            FaultKind::Misaligned => Self::Alignment,
            FaultKind::OutOfBounds => Self::Bounds,
            _ => return None,
        })
    }
}

/// The name that the executor gives the carry flag.
const CARRY: &str = "CC.CF";

/// What executions say of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Shown {
    /// One has the fault, at the place of the finding.
    Here,
    /// One has a fault of the kind at another place.
    Elsewhere,
    /// One has a fault about which the manual leaves a doubt.
    Doubtful,
    /// None has, and some did not come to an end.
    Open,
    /// None has come to its place: it is dead code, or takes an input that was not tried.
    Unreached,
    /// None has: the finding is false.
    Never,
}

/// A finding and what executions say of it.
#[derive(Clone, Debug)]
pub struct Judged {
    /// The finding.
    pub finding: Diagnostic,
    /// What it is about.
    pub family: Family,
    /// The lines that it names: its own, and those of its labels.
    pub lines: Vec<u32>,
    /// What executions say of it.
    pub shown: Shown,
}

/// What there is to say of a kernel.
#[derive(Clone, Debug, Default)]
pub struct Judgement {
    /// Its findings of a known family, errors and warnings.
    pub findings: Vec<Judged>,
    /// Rules that say something no execution can judge.
    pub others: Vec<&'static str>,
    /// The faults that executions show beyond doubt, by family.
    pub faulty: BTreeSet<Family>,
    /// Those of them that no finding is about.
    pub missed: BTreeSet<Family>,
    /// What the verifier refuses, though it should be valid.
    pub invalid: Vec<String>,
    /// Instructions that the executor does not know.
    pub unknown: BTreeSet<String>,
    /// Faults, for people.
    pub described: Vec<String>,
}

/// How many executions a judgement takes.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Of each kernel.
    pub first: usize,
    /// Of a kernel with a finding that those do not show.
    pub most: usize,
}

impl Default for Effort {
    fn default() -> Self {
        Self { first: 12, most: 200 }
    }
}

/// Executions in a row that come nowhere new, after which no more are tried.
const MAX_STALE: usize = 120;
/// Steps of all threads of an execution.
const STEPS: usize = 400_000;

/// One execution of a kernel.
#[must_use]
pub fn run(program: &Program, input: &Input, schedule: Schedule, observer: Option<Observer<'_>>) -> Outcome {
    let kernel = &program.functions().iter().find(|function| function.entry).expect("there is a kernel").name;
    execute(program, &input.launch(kernel, STEPS), schedule, observer)
}

/// Each second execution goes in lockstep.
fn schedule(turn: usize) -> Schedule {
    if turn.is_multiple_of(2) { Schedule::Lockstep } else { Schedule::Random(turn as u64) }
}

/// Judges what the verifier says of the only kernel of a text.
#[must_use]
pub fn judge(text: &str, effort: Effort) -> Judgement {
    judge_findings(text, ptx_verify::check(text, &Config::default()), effort)
}

/// Findings that an execution can judge, and none judged yet.
fn unjudged(text: &str, findings: Vec<Diagnostic>) -> Judgement {
    let mut judgement = Judgement::default();
    let index = LineIndex::new(text);
    for finding in findings {
        if finding.class == Class::Invalid {
            judgement.invalid.push(finding.message.clone());
        }
        if finding.class != Class::Hazard || finding.severity < Severity::Warning {
            continue;
        }
        let Some(family) = Family::of_rule(finding.rule) else {
            judgement.others.push(finding.rule);
            continue;
        };
        let labels = finding.labels.iter().map(|label| label.span);
        let spans = std::iter::once(finding.span).chain(labels);
        let lines = spans.map(|span| index.position(span.start).line).collect();
        judgement.findings.push(Judged { finding, family, lines, shown: Shown::Never });
    }
    judgement
}

/// Judges findings about the only kernel of a text.
#[must_use]
pub fn judge_findings(text: &str, findings: Vec<Diagnostic>, effort: Effort) -> Judgement {
    let mut judgement = unjudged(text, findings);
    if !judgement.invalid.is_empty() {
        return judgement;
    }
    let program = Program::read(text);
    if !program.functions().iter().any(|function| function.entry) {
        judgement.invalid.push("there is no kernel".to_owned());
        return judgement;
    }
    let mut seen: BTreeSet<Fault> = BTreeSet::new();
    let mut all_end = true;
    let mut last_new = 0;
    let mut inputs = Inputs::new(text);
    let mut reached: Vec<Vec<u8>> = Vec::new();
    for turn in 0..effort.most {
        let Some(input) = inputs.next() else { break };
        let unshown = judgement.findings.iter().any(|judged| judged.shown == Shown::Never);
        if turn >= effort.first && (!unshown || turn > last_new + MAX_STALE) {
            break;
        }
        let outcome = run(&program, &input, schedule(turn), None);
        match outcome.end {
            End::Unknown(what) => {
                judgement.unknown.insert(what);
                break;
            }
            End::Endless => all_end = false,
            End::Finished | End::Trapped | End::Stopped => {}
        }
        if is_new(&mut reached, &outcome.reached) {
            last_new = turn;
            inputs.keep(input.clone());
        }
        for fault in outcome.faults {
            if seen.contains(&fault) {
                continue;
            }
            judgement.described.push(format!("{} ({input})", fault.describe(&program)));
            judgement.note(&program, &fault);
            seen.insert(fault);
        }
    }
    let ran = |line: u32| {
        let places = (0..reached.len()).flat_map(|f| (0..reached[f].len()).map(move |at| (f, at)));
        let mut here = places.filter(|(f, at)| program.position(*f, *at).0 == line);
        here.any(|(f, at)| reached[f][at] & RAN != 0)
    };
    for judged in judgement.findings.iter_mut().filter(|judged| judged.shown == Shown::Never) {
        if !all_end {
            judged.shown = Shown::Open;
        } else if !ran(judged.lines[0]) {
            judged.shown = Shown::Unreached;
        }
    }
    let found: BTreeSet<Family> = judgement.findings.iter().map(|judged| judged.family).collect();
    judgement.missed = judgement.faulty.difference(&found).copied().collect();
    judgement
}

/// Adds what an execution reached; whether some of it is new.
fn is_new(all: &mut Vec<Vec<u8>>, reached: &[Vec<u8>]) -> bool {
    if all.is_empty() {
        *all = reached.to_vec();
        return true;
    }
    let pairs = all.iter_mut().flatten().zip(reached.iter().flatten());
    pairs.fold(false, |new, (known, here)| {
        let more = *here & !*known != 0;
        *known |= here;
        new | more
    })
}

impl Judgement {
    /// Sees to what a fault shows.
    fn note(&mut self, program: &Program, fault: &Fault) {
        let Some(family) = Family::of_fault(fault) else { return };
        if fault.kind.is_certain() && !fault.follows {
            self.faulty.insert(family);
        }
        let line = program.position(fault.function, fault.statement).0;
        for judged in self.findings.iter_mut().filter(|judged| judged.family == family) {
            let shown = match family {
                Family::Register => fault.sources.iter().fold(Shown::Never, |best, source| {
                    let Cause::Register(name) = &source.cause else { return best };
                    let own = program.position(source.function, source.statement).0 == judged.lines[0];
                    let named = judged.finding.message.contains(&format!("`{name}`"));
                    // A finding about a whole list names none of its registers, or not all.
                    let of_list = own && !judged.finding.message.contains("`%");
                    match (named, own) {
                        (true, true) => best.min(Shown::Here),
                        (true, false) => best.min(Shown::Elsewhere),
                        (false, _) if of_list => best.min(Shown::Here),
                        (false, _) => best,
                    }
                }),
                _ if !fault.kind.is_certain() => Shown::Doubtful,
                _ if judged.lines.contains(&line) => Shown::Here,
                Family::Divergence => Shown::Elsewhere,
                _ => Shown::Never,
            };
            judged.shown = judged.shown.min(shown);
        }
    }
}

/// Calls an observer for each write of a register, in so many executions of the only kernel of a text: what is known of
/// a value has to hold for all of them.
///
/// # Errors
/// The first error of the observer, with the line of the write, its thread and its value.
pub fn facts_hold(
    text: &str,
    executions: usize,
    mut holds: impl FnMut(&Program, &Write<'_>) -> Result<(), String>,
) -> Result<(), String> {
    let program = Program::read(text);
    for (turn, input) in Inputs::new(text).take(executions).enumerate() {
        executed(&program, &input, turn, |write| holds(&program, write))?;
    }
    Ok(())
}

/// Executes the only kernel of a program, and calls an observer for each write of a register.
///
/// # Errors
/// The first error of the observer, with the line of the write, its thread and its value.
pub fn executed(
    program: &Program,
    input: &Input,
    turn: usize,
    mut holds: impl FnMut(&Write<'_>) -> Result<(), String>,
) -> Result<Outcome, String> {
    let mut wrong = None;
    let mut observer = |write: &Write<'_>| {
        if wrong.is_some() {
            return;
        }
        if let Err(what) = holds(write) {
            let (line, _) = program.position(write.function, write.statement);
            wrong = Some(format!(
                "line {line}, thread {}, {input}: {} = {:#x}, undefined bits {:#x}: {what}",
                write.thread, write.register, write.bits, write.undefined
            ));
        }
    };
    let outcome = run(program, input, schedule(turn), Some(&mut observer));
    wrong.map_or(Ok(outcome), Err)
}
