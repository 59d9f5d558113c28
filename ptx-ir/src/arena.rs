//! Typed handles into arenas: an index says what it is an index of.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

pub use crate::symbols::{Symbol, Symbols};

/// The place of a `T` in its [`Arena`].
pub struct Handle<T> {
    index: u32,
    marker: PhantomData<fn() -> T>,
}

impl<T> Handle<T> {
    /// The handle of the element at `index`.
    #[must_use]
    pub const fn new(index: u32) -> Self {
        Self { index, marker: PhantomData }
    }

    /// The index, for tables that lie beside the arena.
    #[must_use]
    pub const fn index(self) -> usize {
        self.index as usize
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.index == other.index
    }
}

impl<T> Eq for Handle<T> {}

impl<T> PartialOrd for Handle<T> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Handle<T> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.index.cmp(&other.index)
    }
}

impl<T> Hash for Handle<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.index.hash(state);
    }
}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "#{}", self.index)
    }
}

/// Elements that are only ever added; a [`Handle`] stays good for the life of the arena.
#[derive(Clone, Debug, PartialEq)]
pub struct Arena<T> {
    elements: Vec<T>,
}

impl<T> Default for Arena<T> {
    fn default() -> Self {
        Self { elements: Vec::new() }
    }
}

impl<T> Arena<T> {
    /// Adds an element.
    #[inline]
    pub fn push(&mut self, element: T) -> Handle<T> {
        self.elements.push(element);
        Handle::new(self.elements.len() as u32 - 1)
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The elements with their handles, in the order they were added.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Handle<T>, &T)> + ExactSizeIterator {
        self.elements.iter().enumerate().map(|(index, element)| (Handle::new(index as u32), element))
    }

    /// The handles, in the order the elements were added.
    pub fn handles(&self) -> impl DoubleEndedIterator<Item = Handle<T>> + ExactSizeIterator + use<T> {
        (0..self.elements.len() as u32).map(Handle::new)
    }

    /// The element of a handle that may come from elsewhere.
    #[must_use]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        self.elements.get(handle.index())
    }

    /// Forgets all elements and keeps the memory.
    pub(crate) fn clear(&mut self) {
        self.elements.clear();
    }

    /// Makes room for `count` more elements.
    pub fn reserve(&mut self, count: usize) {
        self.elements.reserve_exact(count);
    }
}

impl<T> Index<Handle<T>> for Arena<T> {
    type Output = T;

    fn index(&self, handle: Handle<T>) -> &T {
        &self.elements[handle.index()]
    }
}

impl<T> IndexMut<Handle<T>> for Arena<T> {
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        &mut self.elements[handle.index()]
    }
}
