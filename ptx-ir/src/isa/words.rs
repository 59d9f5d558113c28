//! Words of the table that are asked for by what they are or do, so that nothing else has to spell them.

use super::effects::{AsyncAction, AsyncGroup, Computation};
use super::form::forms;
use super::instance::Instance;
use super::table::{Effect, FORMS};

pub use super::table::{CTA_GROUPS, NEAREST, VECTORS};

/// How many elements a word before a type says that there are: 2 for `.v2`.
#[must_use]
pub fn vector_length(word: &str) -> Option<u8> {
    let word = VECTORS.iter().find(|each| **each == word)?;
    word.trim_start_matches(|letter: char| !letter.is_ascii_digit()).parse().ok()
}

/// An instruction that waits for all operations of a group.
#[must_use]
pub fn waiting_for_all(group: AsyncGroup) -> Option<Instance> {
    first_with(Effect::Async(group, AsyncAction::WaitAll), &[])
}

/// An instruction that computes something, with these modifiers where it may have them.
#[must_use]
pub fn computing(computation: Computation, modifiers: &[&str]) -> Option<Instance> {
    first_with(Effect::Computes(computation), modifiers)
}

/// The first form with an effect, with the modifiers that bring it and of the others those that are wanted or needed.
fn first_with(effect: Effect, wanted: &[&str]) -> Option<Instance> {
    forms().find_map(|id| {
        let form = &FORMS[id.index()];
        let (when, _) = form.effects.iter().find(|(_, effects)| effects.contains(&effect))?;
        let choice: Vec<Option<usize>> = form
            .slots
            .iter()
            .enumerate()
            .map(|(index, slot)| {
                let of_slot = when.iter().find(|(each, _)| usize::from(*each) == index);
                let brings = |value: usize| of_slot.is_none_or(|(_, mask)| mask >> value & 1 != 0);
                let mut values = (0..slot.values.len()).filter(|&value| brings(value));
                let is_wanted = |value: &usize| wanted.contains(&slot.values[*value].as_str());
                let needed = of_slot.is_some() || !slot.optional;
                values.clone().find(is_wanted).or_else(|| values.next().filter(|_| needed))
            })
            .collect();
        id.instance(&choice)
    })
}

impl Instance {
    /// The modifier that makes the instruction set the carry flag; none where the form does so without one.
    #[must_use]
    pub fn carry_modifier(&self) -> Option<&'static str> {
        let form = &FORMS[self.form.index()];
        let (when, _) = form.effects.iter().find(|(_, effects)| effects.contains(&Effect::CarryOut))?;
        let &(slot, mask) = when.first()?;
        let values = form.slots[slot as usize].values.iter().enumerate();
        let mut present = values.filter(|(index, value)| mask >> index & 1 != 0 && self.has(value));
        present.next().map(|(_, value)| value.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::{computing, vector_length, waiting_for_all};
    use crate::isa::{AsyncGroup, Computation, resolve};

    #[test]
    fn words_are_found_by_what_they_do() {
        assert_eq!(
            [vector_length(".v2"), vector_length(".v4"), vector_length(".v8")],
            [Some(2), Some(4), None]
        );
        let wait = waiting_for_all(AsyncGroup::Tcgen05Store).unwrap();
        assert_eq!(&*wait.canonical, "tcgen05.wait::st.sync.aligned");
        let conversion = computing(Computation::FromGeneric, &[".shared", ".u64"]).unwrap();
        assert_eq!(&*conversion.canonical, "cvta.to.shared.u64");
        let carry = |spelling: &str| resolve(spelling).instances[0].carry_modifier();
        assert_eq!((carry("addc.cc.u32"), carry("addc.u32")), (Some(".cc"), None));
    }
}
