//! What became of each asm statement of a source: nothing is left out in silence.

use std::collections::{BTreeMap, HashMap};

use ptx_syntax::Span;
use ptx_syntax::cuda::{AsmStatement, Condition, ConditionId, ConditionKind, MAX_VARIANTS};

use super::{Choice, Subject};

/// What became of the asm statements of a source.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Coverage {
    /// The statements, in the order of the source. One that a macro holds, or that has variants, is there once.
    pub statements: Vec<Covered>,
}

/// How many statements met which treatment, in any number of sources.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct CoverageCounts {
    /// All statements.
    pub found: usize,
    /// Those that were verified in full.
    pub verified: usize,
    /// Those that were verified around parts that are not known.
    pub around_wildcards: usize,
    /// Those whose operands are not known.
    pub unknown_operands: usize,
    /// Those that no target in question has, by the condition that keeps them out.
    pub excluded: BTreeMap<String, usize>,
    /// Those of other assemblers.
    pub not_ptx: usize,
    /// Uses of macros that were not expanded.
    pub not_expanded: usize,
    /// Those of which not every choice of the `#if` branches inside them was read.
    pub with_unread_choices: usize,
}

impl CoverageCounts {
    /// Counts the statements of one more source.
    pub fn add(&mut self, coverage: &Coverage) {
        for covered in &coverage.statements {
            self.found += 1;
            self.with_unread_choices += usize::from(covered.choices.is_some());
            match &covered.treatment {
                Treatment::Verified => self.verified += 1,
                Treatment::AroundWildcards => self.around_wildcards += 1,
                Treatment::UnknownOperands => self.unknown_operands += 1,
                Treatment::Excluded(condition) => *self.excluded.entry(condition.clone()).or_default() += 1,
                Treatment::NotPtx => self.not_ptx += 1,
                Treatment::NotExpanded => self.not_expanded += 1,
            }
        }
    }
}

/// What became of one asm statement.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Covered {
    /// Its keyword; for a use of a macro that is not expanded, the macro's name.
    pub place: Span,
    /// What became of it.
    pub treatment: Treatment,
    /// Where `#if` branches inside it give more choices of its text than are read: how many there are.
    pub choices: Option<Choices>,
}

/// How many choices the `#if` branches inside a statement give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Choices {
    /// Those that are read.
    pub read: u32,
    /// All.
    pub all: u32,
}

/// What can become of a statement.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Treatment {
    /// All of it was verified, for one target and one choice of branches at least.
    Verified,
    /// Parts of its template are not known, and what stands around them was verified.
    AroundWildcards,
    /// Its operands come from a macro that is not known: the template was not verified.
    UnknownOperands,
    /// No target that came into question has it: the condition that keeps it out, as it is written.
    Excluded(String),
    /// It is of another assembler.
    NotPtx,
    /// The use of a macro that stands for too much text.
    NotExpanded,
}

impl Treatment {
    /// Whether the template was looked at.
    #[must_use]
    pub const fn is_verified(&self) -> bool {
        matches!(self, Self::Verified | Self::AroundWildcards)
    }

    /// The one that says more, of two readings of one statement.
    fn or(self, other: Self) -> Self {
        if self.rank() <= other.rank() { self } else { other }
    }

    const fn rank(&self) -> u8 {
        match self {
            Self::Verified => 0,
            Self::AroundWildcards => 1,
            Self::UnknownOperands => 2,
            Self::Excluded(_) => 3,
            Self::NotPtx => 4,
            Self::NotExpanded => 5,
        }
    }
}

/// Gathers what becomes of statements.
#[derive(Default)]
pub(super) struct Builder {
    /// By the place of the keyword, where a macro of another file may put several statements.
    known: BTreeMap<(Span, u32), Reading>,
    /// By the same place, for statements that have more choices than are read.
    choices: BTreeMap<Span, Choices>,
}

enum Reading {
    Excluded(ConditionId),
    Read(Treatment),
}

impl Builder {
    /// Notes one reading of a statement.
    pub(super) fn note(&mut self, statement: &AsmStatement, choice: &Choice<'_>) {
        if statement.choices > MAX_VARIANTS {
            let choices = Choices { read: MAX_VARIANTS, all: statement.choices };
            self.choices.insert(statement.keyword, choices);
        }
        let known = self.known.remove(&(statement.keyword, statement.ordinal));
        let now = match choice {
            Choice::Excluded => known.unwrap_or_else(|| {
                let inside = statement.branches.iter().find(|(_, taken)| *taken);
                Reading::Excluded(inside.map_or(statement.condition, |(condition, _)| *condition))
            }),
            Choice::NotPtx => better(known, Treatment::NotPtx),
            Choice::Unit(_) if !statement.complete => better(known, Treatment::UnknownOperands),
            Choice::Unit(unit) if unit.expanded.has_wildcards => better(known, Treatment::AroundWildcards),
            Choice::Unit(_) => better(known, Treatment::Verified),
        };
        self.known.insert((statement.keyword, statement.ordinal), now);
    }

    pub(super) fn finish(self, subject: &Subject<'_>) -> Coverage {
        // Many statements are under one condition, and one may be as long as the file.
        let mut conditions: HashMap<ConditionId, String> = HashMap::new();
        let covered = self.known.into_iter().map(|((place, _), reading)| Covered {
            place,
            treatment: match reading {
                Reading::Read(treatment) => treatment,
                Reading::Excluded(condition) => {
                    let text = conditions.entry(condition).or_insert_with(|| excluding(subject, condition));
                    Treatment::Excluded(text.clone())
                }
            },
            choices: self.choices.get(&place).copied(),
        });
        let unexpanded = subject.file.unexpanded.iter().map(|found| Covered {
            place: found.call,
            treatment: Treatment::NotExpanded,
            choices: None,
        });
        let mut statements: Vec<Covered> = covered.chain(unexpanded).collect();
        statements.sort_by_key(|covered| covered.place);
        Coverage { statements }
    }
}

fn better(known: Option<Reading>, now: Treatment) -> Reading {
    match known {
        Some(Reading::Read(before)) => Reading::Read(before.or(now)),
        Some(Reading::Excluded(_)) | None => Reading::Read(now),
    }
}

/// The line that excludes a statement.
fn excluding(subject: &Subject<'_>, condition: ConditionId) -> String {
    let Some(id) = subject.excluding(condition) else { return "the targets together".into() };
    let condition = &subject.file.conditions[id.index()];
    let text = directive(subject.source, condition);
    match (condition.kind, condition.previous) {
        (ConditionKind::Else, Some(before)) => {
            format!("{text} of {}", directive(subject.source, &subject.file.conditions[before.index()]))
        }
        _ => text,
    }
}

/// A condition as it is written, on one line.
fn directive(source: &str, condition: &Condition) -> String {
    let word = match (condition.kind, condition.previous) {
        (ConditionKind::If, None) => "#if ",
        (ConditionKind::If, Some(_)) => "#elif ",
        (ConditionKind::Defined, None) => "#ifdef ",
        (ConditionKind::Defined, Some(_)) => "#elifdef ",
        (ConditionKind::Undefined, None) => "#ifndef ",
        (ConditionKind::Undefined, Some(_)) => "#elifndef ",
        (ConditionKind::Else, _) => "#else",
        (ConditionKind::File | ConditionKind::Target, _) => "",
    };
    let expression = condition.expression.text(source).replace("\\\n", " ");
    let words: Vec<&str> = expression.split("//").next().unwrap_or("").split_whitespace().collect();
    let words: String = words.join(" ").chars().take(MAX_SHOWN).collect();
    format!("{word}{words}")
}

/// How much of a condition is shown, in characters.
const MAX_SHOWN: usize = 80;
