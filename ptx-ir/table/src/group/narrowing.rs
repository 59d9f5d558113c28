//! The forms that a syntax line is where some operands, or some classes of them, ask for more of version and target than
//! the others: one for each set of requirements that there can be.

use super::condition::{can_hold, holds_always};
use super::{Group, Located, has_all, operand_names};
use crate::check::covers;
use crate::class_words::classes;
use crate::clauses::{Atom, Clause};
use crate::fault::Fault;
use crate::model::{Condition, Variant};
use crate::syntax::Syntax;
use crate::target::TargetSet;
use crate::version::Version;

/// A syntax line without and with an optional operand; the line itself where it has no such operand.
fn split_at(syntax: &Syntax, name: &str) -> Vec<Syntax> {
    let Some(index) = syntax.operands.iter().position(|place| place.optional && place.name == name) else {
        return vec![syntax.clone()];
    };
    let (mut without, mut with) = (syntax.clone(), syntax.clone());
    without.operands.remove(index);
    with.operands[index].optional = false;
    with.operands[index].required = true;
    let drawn = format!("{{, {name}}}");
    without.text = syntax.text.replace(&drawn, "");
    with.text = syntax.text.replace(&drawn, &format!(", {name}"));
    vec![without, with]
}

/// A first version, a last version and targets.
type Requirement = (Version, Version, TargetSet);

/// What meets both requirements; none where nothing does.
fn meet(one: Requirement, other: &&Narrowing<'_>) -> Option<Requirement> {
    let (version, until, targets) = other.requirement;
    let both = (one.0.max(version), one.1.min(until), one.2.intersect(targets));
    (both.0 <= both.1 && !both.2.is_empty()).then_some(both)
}

/// A requirement that only some classes of operands bring.
struct Narrowing<'a> {
    requirement: Requirement,
    clauses: Vec<Located<'a, Clause>>,
}

impl Narrowing<'_> {
    /// Whether what meets this requirement meets the other one too.
    fn asks_for_all_of(&self, other: &Self) -> bool {
        let ((version, until, targets), least) = (self.requirement, other.requirement);
        version >= least.0 && until <= least.1 && targets.intersect(least.2) == targets
    }
}

impl<'a> Group<'a> {
    /// The syntax line without and with each optional operand that has requirements of its own: what an
    /// instruction needs then follows from its form.
    pub(super) fn split(&self, syntax: &Syntax) -> Vec<Syntax> {
        let mut lines = vec![syntax.clone()];
        for located in &self.clauses {
            let Clause::Gate { operands, classes, marks, .. } = located.clause else { continue };
            let is_whole = classes.is_empty() && marks.is_empty();
            let (Some(name), true) = (operands.first(), is_whole) else { continue };
            lines = lines.iter().flat_map(|line| split_at(line, name)).collect();
        }
        lines.into_iter().flat_map(|line| self.narrow(line)).collect()
    }

    /// The requirements that some classes of a line's operands bring, each once, with the clauses that say it.
    fn narrowings(&self, syntax: &Syntax) -> Vec<Narrowing<'a>> {
        let mut names = Vec::new();
        operand_names(&syntax.operands, &mut names);
        let mut found: Vec<Narrowing<'a>> = Vec::new();
        for located in &self.clauses {
            let Clause::Gate { operands, classes, marks, when, version, until, targets, .. } = located.clause
            else {
                continue;
            };
            if classes.is_empty() && marks.is_empty()
                || !has_all(&names, operands)
                || self.known_condition(&self.form_slots(syntax), when).is_none()
            {
                continue;
            }
            let requirement = (*version, *until, *targets);
            match found.iter_mut().find(|each| each.requirement == requirement) {
                Some(same) => same.clauses.push(*located),
                None => found.push(Narrowing { requirement, clauses: vec![*located] }),
            }
        }
        found
    }

    /// The syntax line, and where some classes of its operands ask for more than the others, after it the lines without
    /// what asks for it. A line that meets one requirement only where it meets another is left out, and so is one of
    /// which nothing meets all requirements.
    fn narrow(&self, line: Syntax) -> Vec<Syntax> {
        let all = self.narrowings(&line);
        let slots = self.form_slots(&line);
        let always = |located: &Located<'_, Clause>| match located.clause {
            Clause::Gate { when, .. } => {
                self.known_condition(&slots, when).is_some_and(|when| holds_always(&slots, &when))
            }
            _ => false,
        };
        let is_there = |narrowed: &u32| {
            let is_without = |index: usize| narrowed >> index & 1 != 0;
            let constant = all.iter().enumerate().filter(|(_, each)| each.clauses.iter().all(always));
            let (without, with): (Vec<_>, Vec<_>) = constant.partition(|(index, _)| is_without(*index));
            let with: Vec<&Narrowing<'_>> = with.into_iter().map(|(_, each)| each).collect();
            let can_be =
                with.iter().try_fold((Version::OLDEST, Version::LATEST, TargetSet::ALL), meet).is_some();
            can_be && !without.iter().any(|(_, each)| with.iter().any(|other| other.asks_for_all_of(each)))
        };
        let lines = (0..1_u32 << all.len()).filter(is_there);
        let lines = lines.enumerate();
        lines.map(|(index, narrowed)| Syntax { narrowed, repeated: index > 0, ..line.clone() }).collect()
    }

    /// The classes that an operand of a narrowed line does not have under a condition, and the marks that it has. A
    /// requirement of values for which a clause before it counts (`earlier`) says nothing of it.
    pub(super) fn narrowed_classes(
        &self,
        syntax: &Syntax,
        name: &str,
        condition: &Condition,
        earlier: &[Variant],
    ) -> Result<(u128, u128), Fault> {
        let slots = self.form_slots(syntax);
        let is_about = |when: &[Atom]| {
            let Some(when) = self.known_condition(&slots, when) else { return false };
            let both: Condition = condition.iter().chain(&when).copied().collect();
            can_hold(&both) && !earlier.iter().any(|each| covers(&each.when, &when))
        };
        let (mut minus, mut plus) = (0, 0);
        for (index, narrowing) in self.narrowings(syntax).iter().enumerate() {
            for located in narrowing.clauses.iter().filter(|_| syntax.narrowed >> index & 1 != 0) {
                let Clause::Gate { operands, classes: words, marks, line, when, .. } = located.clause else {
                    continue;
                };
                if operands.iter().any(|each| each == name) && is_about(when) {
                    minus |= classes(located.file, *line, words)?;
                    plus |= classes(located.file, *line, marks)?;
                }
            }
        }
        Ok((minus, plus))
    }

    /// Whether a line is one without what brings a requirement.
    pub(super) fn lacks(&self, syntax: &Syntax, clause: &Clause) -> bool {
        syntax.narrowed != 0
            && self.narrowings(syntax).iter().enumerate().any(|(index, narrowing)| {
                syntax.narrowed >> index & 1 != 0
                    && narrowing.clauses.iter().any(|located| std::ptr::eq(located.clause, clause))
            })
    }
}
