//! The life of objects that instructions make and release: `mbarrier` objects, and tensor memory.
//!
//! PTX ISA manual, sections "mbarrier.init", "mbarrier.inval" and "tcgen05.alloc". An object is known by a variable and a
//! distance from its start; what is not known may be any object. Another thread may make or release an object,
//! and tells so at a barrier: what is said here holds on every way of the thread itself.

use crate::dataflow::facts::FunctionFacts;
use crate::dataflow::ways::{Ends, Ways};
use ptx_ir::ir::{Handle, Variable};

/// Where an object is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Place {
    /// The variable that it is in; none where that is not known.
    pub variable: Option<Handle<Variable>>,
    /// How many bytes behind its start; none where that is not known.
    pub offset: Option<u64>,
}

impl Place {
    /// Any place.
    pub const UNKNOWN: Self = Self { variable: None, offset: None };

    /// Whether it is one place.
    #[must_use]
    pub const fn is_known(self) -> bool {
        self.variable.is_some() && self.offset.is_some()
    }

    /// Whether both may be the same place.
    #[must_use]
    pub fn may_be(self, other: Self) -> bool {
        let (Some(one), Some(another)) = (self.variable, other.variable) else { return true };
        let same_offset = || self.offset.is_none() || other.offset.is_none() || self.offset == other.offset;
        one == another && same_offset()
    }
}

/// What happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// It is made.
    Made,
    /// It is used.
    Used,
    /// It is released.
    Released,
}

/// Something that happens to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The instruction.
    pub instruction: u32,
    /// What it does.
    pub life: Life,
    /// To which object.
    pub place: Place,
}

/// What happens to the objects of a function, in order of the text.
pub struct Lives<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    events: Vec<Event>,
}

impl<'f, 'm> Lives<'f, 'm> {
    /// The lives that consist of these events.
    #[must_use]
    pub fn new(facts: &'f FunctionFacts<'m>, mut events: Vec<Event>) -> Self {
        events.sort_by_key(|event| event.instruction);
        Self { facts, events }
    }

    /// The instructions that do something to what may be an object, ascending.
    fn doing(&self, life: Life, place: Place) -> Vec<u32> {
        let does = |event: &&Event| event.life == life && event.place.may_be(place);
        self.events.iter().filter(does).map(|event| event.instruction).collect()
    }

    /// The events of one kind at known places.
    pub fn known(&self, life: Life) -> impl Iterator<Item = Event> + '_ {
        self.events.iter().copied().filter(move |event| event.life == life && event.place.is_known())
    }

    /// The first use of an object of a known variable that nothing in the function may make.
    #[must_use]
    pub fn never_made(&self) -> Option<Event> {
        let in_variable = self.events.iter().filter(|event| event.place.variable.is_some());
        let mut used = in_variable.filter(|event| event.life != Life::Made);
        used.find(|event| self.doing(Life::Made, event.place).is_empty()).copied()
    }

    /// The first use of an object to which no way leads from where it is made, nor from any of `others`: instructions
    /// that may wait for another thread which makes it.
    #[must_use]
    pub fn used_before_made(&self, others: &[u32]) -> Option<(Event, u32)> {
        let mut judged: Option<(Place, Vec<u32>, Ways<'_, '_>)> = None;
        for event in self.known(Life::Used) {
            if judged.as_ref().is_none_or(|(place, ..)| *place != event.place) {
                let made = self.doing(Life::Made, event.place);
                let mut ends = [&made, others].concat();
                ends.sort_unstable();
                let ways = Ways::from(self.facts, Ends::Instructions(&ends), &[]);
                judged = Some((event.place, made, ways));
            }
            if let Some((_, made, ways)) = &judged
                && let Some(&made) = made.first()
                && ways.at(event.instruction).is_none()
            {
                return Some((event, made));
            }
        }
        None
    }

    /// The first use of an object that all threads come to, where only some have made it, and none of `others` lies
    /// between: instructions that may wait for another thread. `is_divergent` tells whether only some threads come to an
    /// instruction.
    #[must_use]
    pub fn made_by_some(
        &self,
        others: &[u32],
        mut is_divergent: impl FnMut(u32) -> bool,
    ) -> Option<(Event, u32)> {
        let mut judged: Option<(Place, Vec<u32>, Ways<'_, '_>)> = None;
        for event in self.known(Life::Used) {
            if judged.as_ref().is_none_or(|(place, ..)| *place != event.place) {
                let made = self.doing(Life::Made, event.place);
                let from_made = Ways::from(self.facts, Ends::Instructions(&made), &[]);
                let behind = |other: &u32| from_made.at(*other).is_some();
                let between: Vec<u32> = others.iter().copied().filter(behind).collect();
                let from_others = Ways::from(self.facts, Ends::Instructions(&between), &[]);
                judged = Some((event.place, made, from_others));
            }
            let Some((_, made, from_others)) = &judged else { continue };
            if from_others.at(event.instruction).is_none()
                && let Some(&first) = made.first()
                && !is_divergent(event.instruction)
                && made.iter().all(|&made| is_divergent(made))
            {
                return Some((event, first));
            }
        }
        None
    }

    /// Uses and releases of an object that every way comes to from a release of it, and not from where it is made anew:
    /// each with the release. The first of each object.
    #[must_use]
    pub fn behind_release(&self) -> Vec<(Event, u32)> {
        let mut found = Vec::new();
        let mut judged: Vec<Place> = Vec::new();
        for released in self.known(Life::Released) {
            if judged.contains(&released.place) {
                continue;
            }
            judged.push(released.place);
            let at_place = |life: Life| {
                let events = self.known(life).filter(|event| event.place == released.place);
                events.map(|event| event.instruction).collect::<Vec<u32>>()
            };
            let (made, releases) = (self.doing(Life::Made, released.place), at_place(Life::Released));
            let certain: Vec<u32> =
                releases.iter().copied().filter(|&release| !self.facts.is_guarded(release)).collect();
            let from_made = Ways::from(self.facts, Ends::Instructions(&made), &certain);
            let from_release = Ways::from(self.facts, Ends::Instructions(&releases), &made);
            let mut uses = [at_place(Life::Used), releases.clone()].concat();
            uses.sort_unstable();
            let late = uses.into_iter().find_map(|each| {
                let release = from_release.at(each)?;
                from_made.at(each).is_none().then_some((each, release))
            });
            if let Some((instruction, release)) = late
                && let Some(event) = self.events.iter().find(|event| event.instruction == instruction)
            {
                found.push((*event, release));
            }
        }
        found
    }

    /// The first object that is made again on some way without having been released: where, and where before. A way
    /// that passes one of `others`, which may release it, does not count.
    #[must_use]
    pub fn made_again(&self, others: &[u32]) -> Option<(Event, u32)> {
        self.known(Life::Made).find_map(|event| {
            let same = self.known(Life::Made).filter(|other| other.place == event.place);
            let made: Vec<u32> = same.map(|other| other.instruction).collect();
            let mut stops = [&self.doing(Life::Released, event.place), others].concat();
            stops.sort_unstable();
            let from = Ways::from(self.facts, Ends::Instructions(&made), &stops);
            Some((event, from.at(event.instruction)?))
        })
    }

    /// What is made and what nothing in the function may release.
    #[must_use]
    pub fn never_released(&self) -> Vec<u32> {
        let made = self.events.iter().filter(|event| event.life == Life::Made);
        let open = made.filter(|event| self.doing(Life::Released, event.place).is_empty());
        open.map(|event| event.instruction).collect()
    }
}
