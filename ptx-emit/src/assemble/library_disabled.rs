//! Stands in for the library back end in builds without the feature `cuda`: the same functions,
//! which say that the back end was left out.

use std::convert::Infallible;

use super::report::Backend;
use super::{Assembly, Error, Options, Source};

/// The library back end, which this build does not have: no value of this type exists.
#[derive(Debug)]
pub struct Library(Infallible);

impl Library {
    /// Says that this build has no library back end.
    ///
    /// # Errors
    /// Always [`Error::Missing`].
    pub fn open() -> Result<Self, Error> {
        let reason = "this program was built without the feature `cuda`".to_owned();
        Err(Error::Missing { backend: Some(Backend::Library), looked_for: vec![reason] })
    }

    /// Says the same of any file.
    ///
    /// # Errors
    /// Always [`Error::Missing`].
    pub fn at(_file: &std::path::Path) -> Result<Self, Error> {
        Self::open()
    }

    /// The library's version.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        match self.0 {}
    }

    /// Compiles `source`.
    ///
    /// # Errors
    /// Never: no value of this type exists.
    pub fn assemble(&self, _source: &Source<'_>, _options: &Options) -> Result<Assembly, Error> {
        match self.0 {}
    }
}
