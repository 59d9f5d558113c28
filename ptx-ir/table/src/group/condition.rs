//! Conditions of clauses, as masks of the values of a form's modifiers.

use super::Group;
use crate::check::all_values;
use crate::clauses::Atom;
use crate::fault::Fault;
use crate::model::{ABSENT, Condition, Slot};

impl Group<'_> {
    /// The masks of a condition; `None` where it can never hold for this syntax line, because it is about
    /// modifiers of another line of the group.
    pub(super) fn condition(&self, slots: &[Slot], atoms: &[Atom]) -> Result<Option<Condition>, Fault> {
        let mut masks = Vec::new();
        for atom in atoms {
            match self.atom(slots, atom)? {
                Some(mask) => masks.push(mask),
                None if atom.values.is_empty() => {}
                None => return Ok(None),
            }
        }
        match atoms.first() {
            Some(atom) if !can_hold(&masks) => Err(self
                .fault(atom.line, "this holds for no value: two tests of one modifier exclude each other")),
            _ => Ok(Some(masks)),
        }
    }

    /// The masks of a condition without the values that this form does not have; `None` where nothing is left.
    pub(super) fn known_condition(&self, slots: &[Slot], atoms: &[Atom]) -> Option<Condition> {
        let mut masks = Vec::new();
        for atom in atoms {
            let mut rest = atom.clone();
            let known = |slot: &Slot, value: &String| {
                atom.slot.as_ref().is_none_or(|name| *name == slot.name) && slot.values.contains(value)
            };
            rest.values.retain(|value| slots.iter().any(|slot| known(slot, value)));
            if rest.values.is_empty() && !atom.values.is_empty() {
                return None;
            }
            masks.push(self.atom(slots, &rest).ok()??);
        }
        Some(masks)
    }

    /// The slot that a test is about and the values that pass, as a mask; `None` where this form has none of them.
    fn atom(&self, slots: &[Slot], atom: &Atom) -> Result<Option<(usize, u64)>, Fault> {
        let mut found = slots.iter().enumerate().filter(|(_, slot)| self.is_about(slot, atom));
        let Some((index, slot)) = found.next() else {
            let is_known = self.lenient.get() || self.all_slots.iter().any(|slot| self.is_about(slot, atom));
            let is_known =
                is_known || atom.slot.is_none() && atom.values.iter().all(|value| self.known_value(value));
            let what = atom.slot.as_deref().map_or_else(|| atom.values.join("|"), |name| format!(".{name}"));
            return if is_known {
                Ok(None)
            } else {
                Err(self.fault(atom.line, format!("the form has no `{what}`")))
            };
        };
        if let (None, Some((_, other))) = (&atom.slot, found.next()) {
            let message =
                format!("`{}` may be `{}` or `{}`: say which", atom.values.join("|"), slot.name, other.name);
            return Err(self.fault(atom.line, message));
        }
        if atom.values.is_empty() {
            return Ok(Some((index, ABSENT)));
        }
        let mut mask = 0;
        for word in &atom.values {
            let values = self.values_in(slot, word);
            if values == 0 && !self.lenient.get() {
                return Err(self.fault(atom.line, format!("`.{}` has no `{word}`", slot.name)));
            }
            mask |= values;
        }
        if atom.others {
            mask = !mask & ((1 << slot.values.len()) - 1);
        }
        if mask == 0 {
            return Ok(None);
        }
        Ok(Some((index, mask)))
    }

    /// Whether a slot is the one of a test: the one that is named, else one that has all values, of each set some. The
    /// name of a slot stands for its own values.
    fn is_about(&self, slot: &Slot, atom: &Atom) -> bool {
        let named = |word: &String| word[1..] == slot.name || self.slot(&word[1..]).is_none();
        match &atom.slot {
            Some(name) => slot.name == *name,
            None => atom.values.iter().all(|word| {
                let literal = slot.values.contains(word);
                let is_slot = self.all_slots.iter().any(|each| each.name == word[1..]);
                literal || (named(word) || !is_slot) && self.values_in(slot, word) != 0
            }),
        }
    }

    /// The values of a slot that a word stands for: itself, or those of the set that it names.
    fn values_in(&self, slot: &Slot, word: &String) -> u64 {
        let mask = |wanted: &dyn Fn(&String) -> bool| {
            let indices = slot.values.iter().enumerate().filter(|(_, value)| wanted(value));
            indices.fold(0_u64, |mask, (index, _)| mask | 1 << index)
        };
        match mask(&|value| value == word) {
            0 if word[1..] == slot.name => mask(&|_| true),
            0 => self.slot(&word[1..]).map_or(0, |set| mask(&|value| set.values.contains(value))),
            literal => literal,
        }
    }

    fn known_value(&self, word: &String) -> bool {
        self.all_slots.iter().any(|slot| self.values_in(slot, word) != 0)
    }
}

/// Whether a condition holds for all values of the slots.
pub(super) fn holds_always(slots: &[Slot], condition: &Condition) -> bool {
    condition.iter().all(|(slot, mask)| slots.get(*slot).is_some_and(|slot| all_values(slot) & !mask == 0))
}

/// Whether each slot has a value that passes all tests of it.
pub(super) fn can_hold(condition: &Condition) -> bool {
    condition.iter().all(|(slot, _)| {
        let tests = condition.iter().filter(|(each, _)| each == slot);
        tests.fold(u64::MAX, |mask, (_, each)| mask & each) != 0
    })
}
