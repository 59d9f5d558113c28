//! Parts of a module that its copies share.
//!
//! The bodies of a text are lowered and judged by several threads, each with a copy of the module. What the text
//! declares at module level is stored once, and a copy only stores what the body adds to it.

use std::ops::{Deref, DerefMut, Index, IndexMut};
use std::sync::Arc;

use crate::arena::Handle;

/// An arena of which the first elements may be shared between copies.
#[derive(Clone, Debug)]
pub struct Layered<T> {
    shared: Arc<[T]>,
    own: Vec<T>,
}

impl<T> Default for Layered<T> {
    fn default() -> Self {
        Self { shared: Arc::default(), own: Vec::new() }
    }
}

impl<T> Layered<T> {
    /// Adds an element.
    pub fn push(&mut self, element: T) -> Handle<T> {
        self.own.push(element);
        Handle::new(self.len() as u32 - 1)
    }

    /// How many elements there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.len() + self.own.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The elements with their handles, in the order they were added.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (Handle<T>, &T)> + ExactSizeIterator {
        self.handles().map(|handle| (handle, &self[handle]))
    }

    /// The elements that are not shared, with their handles.
    pub fn own(&self) -> impl DoubleEndedIterator<Item = (Handle<T>, &T)> + ExactSizeIterator {
        let first = self.shared.len();
        self.own
            .iter()
            .enumerate()
            .map(move |(index, element)| (Handle::new((first + index) as u32), element))
    }

    /// The handles, in the order the elements were added.
    pub fn handles(&self) -> impl DoubleEndedIterator<Item = Handle<T>> + ExactSizeIterator + use<T> {
        (0..self.len() as u32).map(Handle::new)
    }

    /// The element of a handle that may come from elsewhere.
    #[must_use]
    pub fn get(&self, handle: Handle<T>) -> Option<&T> {
        match handle.index().checked_sub(self.shared.len()) {
            None => self.shared.get(handle.index()),
            Some(index) => self.own.get(index),
        }
    }

    /// Forgets the elements that are not shared.
    pub(crate) fn forget_own(&mut self) {
        self.own.clear();
    }
}

impl<T: Clone> Layered<T> {
    /// Lets copies share the elements that there are.
    pub(crate) fn share(&mut self) {
        let own = std::mem::take(&mut self.own);
        self.shared = match self.shared.is_empty() {
            true => own.into(),
            false => self.shared.iter().cloned().chain(own).collect(),
        };
    }
}

impl<T> Index<Handle<T>> for Layered<T> {
    type Output = T;

    #[inline]
    fn index(&self, handle: Handle<T>) -> &T {
        match handle.index().checked_sub(self.shared.len()) {
            None => &self.shared[handle.index()],
            Some(index) => &self.own[index],
        }
    }
}

impl<T: Clone> IndexMut<Handle<T>> for Layered<T> {
    /// A shared element becomes one of this copy, with all others.
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        match handle.index().checked_sub(self.shared.len()) {
            None => &mut Arc::make_mut(&mut self.shared)[handle.index()],
            Some(index) => &mut self.own[index],
        }
    }
}

impl<T: PartialEq> PartialEq for Layered<T> {
    fn eq(&self, other: &Self) -> bool {
        self.len() == other.len() && self.iter().zip(other.iter()).all(|(a, b)| a.1 == b.1)
    }
}

/// A value that copies share until one of them changes it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shared<T>(Arc<T>);

impl<T> Deref for Shared<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: Clone> DerefMut for Shared<T> {
    fn deref_mut(&mut self) -> &mut T {
        Arc::make_mut(&mut self.0)
    }
}

impl<'a, T> IntoIterator for &'a Shared<Vec<T>> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl<'a, T: Clone> IntoIterator for &'a mut Shared<Vec<T>> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter_mut()
    }
}
