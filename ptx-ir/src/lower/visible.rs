//! Which names of a module a body may refer to: those that were declared before it.
//!
//! When bodies are lowered after all declarations, the module has more names than a body sees, and a name may have been
//! declared again. Hence each change of a name has a time.

use crate::arena::Symbol;
use crate::ir::{Definition, Module};
use rustc_hash::FxHashMap;

/// A time between two changes of the names of a module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Time(u32);

/// When the names of a module got their meanings.
#[derive(Clone, Debug, Default)]
pub(super) struct History {
    now: Time,
    /// When each name was first defined, in the order of the names.
    first: Vec<Time>,
    /// All definitions of the names that were defined more than once, with their times.
    changed: FxHashMap<Symbol, Vec<(Time, Definition)>>,
}

impl History {
    /// The time after the last change.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Gives a name a meaning and returns the one that it had.
    pub fn define(
        &mut self,
        module: &mut Module,
        name: Symbol,
        definition: Definition,
    ) -> Option<Definition> {
        self.now.0 += 1;
        let earlier = module.names.insert(name, definition);
        match earlier {
            None => self.first.push(self.now),
            Some(earlier) => {
                let first = module.names.get_index_of(&name).and_then(|index| self.first.get(index));
                let first = (first.copied().unwrap_or_default(), earlier);
                self.changed.entry(name).or_insert_with(|| vec![first]).push((self.now, definition));
            }
        }
        earlier
    }
}

/// The names of a module that were defined before a time.
#[derive(Clone, Copy, Debug)]
pub(super) struct Visible<'h> {
    history: &'h History,
    until: Time,
}

impl<'h> Visible<'h> {
    pub fn new(history: &'h History, until: Time) -> Self {
        Self { history, until }
    }

    /// What a name stands for.
    pub fn definition(&self, module: &Module, name: Symbol) -> Option<Definition> {
        let (index, _, &last) = module.names.get_full(&name)?;
        if self.history.first[index] > self.until {
            return None;
        }
        let Some(changes) = self.history.changed.get(&name) else { return Some(last) };
        changes.iter().rev().find(|(time, _)| *time <= self.until).map(|(_, definition)| *definition)
    }

    /// How many of the names of the module there are; they are the first of them.
    pub fn count(&self) -> usize {
        self.history.first.partition_point(|first| *first <= self.until)
    }
}
