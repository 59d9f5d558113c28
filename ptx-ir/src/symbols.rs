//! The names of a module.

use std::sync::Arc;

use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// A name, as an index into [`Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

impl Symbol {
    /// The symbol of a number that may come from elsewhere.
    #[cfg(feature = "serde")]
    pub(crate) const fn new(index: u32) -> Self {
        Self(index)
    }

    /// The number, for tables beside the names.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }
}

type Set = IndexSet<Box<str>, FxBuildHasher>;

/// The names of a module, each stored once, in order of first appearance.
///
/// Copies of a module may share names, as in [`Layered`](crate::layered::Layered).
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    shared: Arc<Set>,
    own: Set,
}

impl Symbols {
    /// The symbol of `name`, which is added where it is new.
    pub fn intern(&mut self, name: &str) -> Symbol {
        if let Some(symbol) = self.get(name) {
            return symbol;
        }
        Symbol((self.shared.len() + self.own.insert_full(name.into()).0) as u32)
    }

    /// The symbol of `name`, where the module has it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<Symbol> {
        let own = || self.own.get_index_of(name).map(|index| self.shared.len() + index);
        self.shared.get_index_of(name).or_else(own).map(|index| Symbol(index as u32))
    }

    /// All names, in order of first appearance.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.shared.iter().chain(&self.own).map(|name| &**name)
    }

    /// The name of a symbol of this module.
    #[must_use]
    pub fn name(&self, symbol: Symbol) -> &str {
        let index = symbol.0 as usize;
        let name = match index.checked_sub(self.shared.len()) {
            None => self.shared.get_index(index),
            Some(index) => self.own.get_index(index),
        };
        name.map_or("", |name| name)
    }

    /// Lets copies share the names that there are.
    pub(crate) fn share(&mut self) {
        let own = std::mem::take(&mut self.own);
        Arc::make_mut(&mut self.shared).extend(own);
    }

    /// Forgets the names that are not shared.
    pub(crate) fn forget_own(&mut self) {
        // Clearing costs what there is room for, which one large body must not make all small ones after it pay.
        if self.own.capacity() > 8 * self.own.len() + 64 {
            self.own = Set::default();
        } else {
            self.own.clear();
        }
    }
}

impl PartialEq for Symbols {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}
