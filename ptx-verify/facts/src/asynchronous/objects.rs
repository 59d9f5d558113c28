//! The life of objects that instructions make and release: `mbarrier` objects, and tensor memory.
//!
//! PTX ISA manual, sections "mbarrier.init", "mbarrier.inval" and "tcgen05.alloc". An object is known by a variable and a
//! distance from its start; what is not known may be any object. Another thread may make or release an object,
//! and tells so at a barrier: what is said here holds on every path of the thread itself.

use crate::FunctionFacts;
use crate::reach::{Ends, Reach};
use ptx_ir::ir::{Handle, Variable};
use rustc_hash::{FxHashMap, FxHashSet};

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

/// Objects of which it is said in what order they are made, used and released. No function needs so many.
const MAX_OBJECTS: usize = 64;

/// What happens to the objects of a function, in order of the text.
pub struct Lives<'f, 'm> {
    facts: &'f FunctionFacts<'m>,
    events: Vec<Event>,
}

/// Where something happens, for a look at whether it happens to an object.
#[derive(Default)]
struct Places {
    anywhere: bool,
    /// Of each variable whether it happens at an unknown place, and the known ones.
    within: FxHashMap<Handle<Variable>, (bool, FxHashSet<u64>)>,
}

impl Places {
    /// Whether one of the places may be another one of a known variable.
    fn may_be(&self, place: Place) -> bool {
        let within = place.variable.and_then(|variable| self.within.get(&variable));
        let here = within.is_some_and(|(unknown, known)| {
            *unknown || place.offset.is_none_or(|offset| known.contains(&offset))
        });
        self.anywhere || here
    }
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

    /// Where something happens.
    fn places(&self, life: Life) -> Places {
        let mut places = Places::default();
        for event in self.events.iter().filter(|event| event.life == life) {
            let Some(variable) = event.place.variable else {
                places.anywhere = true;
                continue;
            };
            let (unknown, known) = places.within.entry(variable).or_default();
            match event.place.offset {
                Some(offset) => _ = known.insert(offset),
                None => *unknown = true,
            }
        }
        places
    }

    /// The events of one kind at known places.
    pub fn known(&self, life: Life) -> impl Iterator<Item = Event> + '_ {
        self.events.iter().copied().filter(move |event| event.life == life && event.place.is_known())
    }

    /// The same by object, in the order of their first events.
    fn by_object(&self, life: Life) -> Vec<Vec<Event>> {
        let mut objects: Vec<Vec<Event>> = Vec::new();
        let mut index: FxHashMap<Place, usize> = FxHashMap::default();
        for event in self.known(life) {
            match index.get(&event.place) {
                Some(&object) => objects[object].push(event),
                None if objects.len() < MAX_OBJECTS => {
                    index.insert(event.place, objects.len());
                    objects.push(vec![event]);
                }
                None => {}
            }
        }
        objects
    }

    /// The first use of an object of a known variable that nothing in the function may make.
    #[must_use]
    pub fn never_made(&self) -> Option<Event> {
        let made = self.places(Life::Made);
        let in_variable = self.events.iter().filter(|event| event.place.variable.is_some());
        let mut used = in_variable.filter(|event| event.life != Life::Made);
        used.find(|event| !made.may_be(event.place)).copied()
    }

    /// Where objects are made, the last one first.
    pub fn made(&self) -> impl Iterator<Item = u32> + '_ {
        let made = self.events.iter().rev().filter(|event| event.life == Life::Made);
        made.map(|event| event.instruction)
    }

    /// The first use of an object to which no path leads from where it is made, nor from any of `others`: instructions
    /// that may wait for another thread which makes it.
    #[must_use]
    pub fn used_before_made(&self, others: &[u32]) -> Option<(Event, u32)> {
        let early = self.by_object(Life::Used).into_iter().filter_map(|uses| {
            let made = self.doing(Life::Made, uses.first()?.place);
            let mut ends = [&made, others].concat();
            ends.sort_unstable();
            let paths = Reach::from(self.facts, Ends::Instructions(&ends), &[]);
            let first = *made.first()?;
            let early = uses.into_iter().find(|event| paths.at(event.instruction).is_none())?;
            Some((early, first))
        });
        early.min_by_key(|(event, _)| event.instruction)
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
        let early = self.by_object(Life::Used).into_iter().filter_map(|uses| {
            let made = self.doing(Life::Made, uses.first()?.place);
            let first = *made.first()?;
            let from_made = Reach::from(self.facts, Ends::Instructions(&made), &[]);
            let after = |other: &u32| from_made.at(*other).is_some();
            let between: Vec<u32> = others.iter().copied().filter(after).collect();
            let from_others = Reach::from(self.facts, Ends::Instructions(&between), &[]);
            let mut uses = uses.into_iter().filter(|event| from_others.at(event.instruction).is_none());
            let early = uses.find(|event| !is_divergent(event.instruction))?;
            made.iter().all(|&made| is_divergent(made)).then_some((early, first))
        });
        early.min_by_key(|(event, _)| event.instruction)
    }

    /// Uses and releases of an object that every path comes to from a release of it, and not from where it is made again:
    /// each with the release. The first of each object. `can_follow` tells whether a thread that has executed one instruction
    /// can come to another.
    #[must_use]
    pub fn after_release(&self, mut can_follow: impl FnMut(u32, u32) -> bool) -> Vec<(Event, u32)> {
        let mut uses: FxHashMap<Place, Vec<Event>> = FxHashMap::default();
        for event in self.known(Life::Used) {
            uses.entry(event.place).or_default().push(event);
        }
        let late = self.by_object(Life::Released).into_iter().filter_map(|released| {
            let place = released.first()?.place;
            let made = self.doing(Life::Made, place);
            let releases: Vec<u32> = released.iter().map(|event| event.instruction).collect();
            let certain: Vec<u32> =
                releases.iter().copied().filter(|&release| !self.facts.is_guarded(release)).collect();
            let from_made = Reach::from(self.facts, Ends::Instructions(&made), &certain);
            let from_release = Reach::from(self.facts, Ends::Instructions(&releases), &made);
            let mut after: Vec<Event> = uses.remove(&place).unwrap_or_default();
            after.extend(released);
            after.sort_by_key(|event| event.instruction);
            after.into_iter().find_map(|event| {
                let release = from_release.at(event.instruction)?;
                let is_late = from_made.at(event.instruction).is_none();
                (is_late && can_follow(release, event.instruction)).then_some((event, release))
            })
        });
        late.collect()
    }

    /// The first object that is made again on some path without having been released: where, and where before. A path
    /// that passes one of `others`, which may release it, does not count.
    #[must_use]
    pub fn made_again(&self, others: &[u32]) -> Option<(Event, u32)> {
        let again = self.by_object(Life::Made).into_iter().filter_map(|events| {
            let made: Vec<u32> = events.iter().map(|event| event.instruction).collect();
            let mut stops = [&self.doing(Life::Released, events.first()?.place), others].concat();
            // Who makes an object under a condition may release it under the same one.
            if made.iter().all(|&made| self.fork_before(made).is_some()) {
                let forks: Vec<u32> = stops.iter().flat_map(|&stop| self.forks_before(stop, &made)).collect();
                stops.extend(forks);
            }
            stops.sort_unstable();
            stops.dedup();
            let from = Reach::from(self.facts, Ends::Instructions(&made), &stops);
            events.into_iter().find_map(|event| Some((event, from.at(event.instruction)?)))
        });
        again.min_by_key(|(event, _)| event.instruction)
    }

    /// The branch that decides whether control comes to the block of an instruction.
    fn fork_before(&self, instruction: u32) -> Option<u32> {
        let cfg = &self.facts.cfg;
        let mut block = cfg.block_of(Handle::new(instruction));
        loop {
            block = cfg.immediate_dominator(block)?;
            if cfg.successors(block).nth(1).is_some() {
                return cfg.instructions(block).next_back();
            }
        }
    }

    /// The branches that decide whether control comes to an instruction, up to one that all come by who come to one of some others.
    fn forks_before(&self, instruction: u32, others: &[u32]) -> Vec<u32> {
        let cfg = &self.facts.cfg;
        let (mut at, mut forks) = (instruction, Vec::new());
        while let Some(fork) = self.fork_before(at) {
            forks.push(fork);
            let block = cfg.block_of(Handle::new(fork));
            if others.iter().any(|&other| cfg.dominates(block, cfg.block_of(Handle::new(other)))) {
                break;
            }
            at = fork;
        }
        forks
    }

    /// What is made and what nothing in the function may release.
    #[must_use]
    pub fn never_released(&self) -> Vec<u32> {
        let released = self.places(Life::Released);
        let any = self.events.iter().any(|event| event.life == Life::Released);
        let is_open = |place: Place| match place.variable {
            Some(_) => !released.may_be(place),
            None => !any,
        };
        let made = self.events.iter().filter(|event| event.life == Life::Made && is_open(event.place));
        made.map(|event| event.instruction).collect()
    }
}
