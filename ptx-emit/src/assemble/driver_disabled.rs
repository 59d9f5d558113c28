//! The driver back end of builds without the feature `cuda`, and of systems other than Linux: the same functions, which
//! say that it was left out.

use std::convert::Infallible;
use std::io::{self, Read, Write};

use super::report::Backend;
use super::{Assembly, Error, Helper, Options, Source};

const WHY: &str = if cfg!(feature = "cuda") {
    "the CUDA driver is asked on Linux only"
} else {
    "this program was built without the feature `cuda`"
};

/// The driver back end, which this build does not have: no value of this type exists.
#[derive(Debug)]
pub struct Driver(Infallible);

impl Driver {
    /// Says that this build has no driver back end.
    ///
    /// # Errors
    /// Always [`Error::Missing`].
    pub fn open() -> Result<Self, Error> {
        Err(Error::Missing { backend: Some(Backend::Driver), looked_for: vec![WHY.to_owned()] })
    }

    /// The driver's version.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        match self.0 {}
    }

    /// Whether the driver compiles for `target`.
    ///
    /// # Errors
    /// Never: no value of this type exists.
    pub fn require_target(&self, _target: Option<&str>) -> Result<(), Error> {
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

/// The driver back end in a process of its own, which this build does not have: no value of this type exists.
#[derive(Debug)]
pub struct DriverProcess(Infallible);

impl DriverProcess {
    /// Says that this build has no driver back end.
    ///
    /// # Errors
    /// Always [`Error::Missing`].
    pub fn open(_helper: Helper) -> Result<Self, Error> {
        Driver::open().map(|driver| match driver.0 {})
    }

    /// The driver's version.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        match self.0 {}
    }

    /// Whether the driver compiles for `target`.
    ///
    /// # Errors
    /// Never: no value of this type exists.
    pub fn require_target(&self, _target: Option<&str>) -> Result<(), Error> {
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

/// Serves nothing: this build has no driver back end.
///
/// # Errors
/// Always.
pub fn serve(_input: impl Read + Send + 'static, _output: impl Write) -> io::Result<()> {
    Err(io::Error::other(WHY))
}
