//! Words that NVIDIA's assembler takes besides the modifiers of a form, and that do nothing.

use super::class::ClassSet;
use super::expand;
use super::instance::{Gate, Instance, Pattern};
use super::table::{Form, Spare, holds, texts};
use crate::target::TargetSet;
use crate::version::Version;

/// The modifiers of a spelling, and which of them went to slots of a form.
pub(super) struct Leftover<'a> {
    pub id: u16,
    pub form: &'static Form,
    pub values: &'a [u8],
    /// Each modifier, and whether a slot has it.
    pub modifiers: &'a [(&'a str, bool)],
    pub is_type: fn(&str) -> bool,
}

impl Leftover<'_> {
    /// The clause by which the modifier at this index does nothing.
    pub fn clause(&self, at: usize) -> Option<&'static Spare> {
        let (word, _) = self.modifiers[at];
        let mut clauses = self.form.spare.into_iter();
        clauses.find(|spare| {
            texts(spare.words).any(|each| each == word)
                && holds(spare.when, self.values)
                && self.fits(spare, at)
        })
    }

    /// A type has to be after those that count; of other words there may be one.
    fn fits(&self, spare: &Spare, at: usize) -> bool {
        let (word, _) = self.modifiers[at];
        let fits = if (self.is_type)(word) {
            let behind = self.modifiers[at..].iter().filter(|(other, used)| *used && (self.is_type)(other));
            behind.count() <= spare.ahead.into()
        } else {
            let left = self.modifiers.iter().filter(|(other, used)| !used && !(self.is_type)(other));
            left.filter(|(other, _)| {
                self.form.spare.iter().any(|spare| texts(spare.words).any(|each| each == *other))
            })
            .count()
                == 1
        };
        fits && (!spare.length || self.lists_have(word))
    }

    /// Whether the number in a word is the length of every brace list.
    fn lists_have(&self, word: &str) -> bool {
        let length = expand::first_number(word);
        expand::instance(self.id, self.values).is_some_and(|instance| {
            let lengths = instance.operands.iter().filter_map(|operand| match operand.pattern {
                Pattern::Vector { count } => Some(count),
                _ => None,
            });
            lengths.clone().next().is_some() && lengths.clone().all(|each| Some(each) == length)
        })
    }
}

/// Adds to an instance what a word that does nothing asks of version and target.
pub(super) fn require(instance: &mut Instance, word: &str, spare: &'static Spare) {
    let targets = TargetSet::from_bits(spare.targets);
    if spare.version == Version::OLDEST && targets == TargetSet::ALL {
        return;
    }
    let modifiers = texts(spare.words).filter(|each| *each == word).collect();
    let gate = Gate {
        modifiers,
        min_version: spare.version,
        max_version: Version::LATEST,
        targets,
        operands: Box::default(),
        classes: ClassSet::NONE,
    };
    instance.min_version = instance.min_version.max(spare.version);
    instance.targets = instance.targets.intersect(targets);
    instance.gates = instance.gates.iter().cloned().chain([gate]).collect();
}
