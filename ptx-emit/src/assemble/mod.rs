//! Assembler back ends: NVIDIA's own verdict on a PTX text, and what its functions cost.
//!
//! | back end | needs | tells |
//! |---|---|---|
//! | [`ptxas`] | the program `ptxas` | log, registers, barriers, stack, spills, shared and constant memory; writes cubins |
//! | [`driver`] | NVIDIA's driver and a GPU; feature `cuda` | the same, local memory and the largest block; can launch |
//! | [`library`] | a shared PTX compiler library; feature `cuda` | as `ptxas` |
//!
//! [`Assembler::open`] finds a back end once; [`Assembler::assemble`] takes a text and returns a
//! [`Report`] (and the cubin, where the back end makes one). A program that is refused is a report;
//! an [`Error`] means that nobody gave a verdict. Only the back ends do IO: nothing here prints, and
//! a [`Baseline`] is read from and written to text.
//!
//! Nothing here checks PTX; that is the work of `ptx-verify`.
//!
//! ```no_run
//! use ptx_emit::assemble::{Assembler, Choice, Options, Source};
//!
//! # fn main() -> Result<(), ptx_emit::assemble::Error> {
//! let text = b".version 7.0\n.target sm_80\n.address_size 64\n.entry k() { ret; }\n";
//! let assembler = Assembler::open(Choice::Ptxas, &Options::default())?;
//! let assembly = assembler.assemble(&Source { file: "k.ptx", text }, &Options::default())?;
//! assert!(assembly.report.accepted);
//! assert_eq!(assembly.report.functions[0].name, "k");
//! # Ok(())
//! # }
//! ```

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

mod baseline;
mod budget;
mod cubin;
#[cfg(all(feature = "cuda", target_os = "linux"))]
pub mod driver;
#[cfg(not(all(feature = "cuda", target_os = "linux")))]
#[path = "driver_disabled.rs"]
pub mod driver;
mod error;
#[cfg(feature = "cuda")]
pub mod library;
#[cfg(not(feature = "cuda"))]
#[path = "library_disabled.rs"]
pub mod library;
mod locate;
mod log;
pub mod nvcc;
mod outline;
mod process;
pub mod ptxas;
mod report;
mod search;
mod target;

pub use baseline::{Baseline, BaselineError, Change, Comparison, Figure, Note, Record, UnknownFigure};
pub use budget::{Budget, Excess};
pub use cubin::{is_cubin, kernels_of_cubin};
pub use driver::{Driver, DriverProcess};
pub use error::Error;
pub use library::Library;
pub use locate::Locator;
pub use log::parse_log;
pub use nvcc::{Compiled, Nvcc, NvccError, NvccMessage};
pub use process::abandon;
pub use ptxas::Ptxas;
pub use report::{Backend, FunctionKind, FunctionUsage, LogLine, LogSeverity, Report};

/// A text to assemble.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// The name for reports and messages.
    pub file: &'a str,
    /// The bytes as they are in the file: comments may hold anything.
    pub text: &'a [u8],
}

/// How to assemble.
#[derive(Clone, Debug)]
pub struct Options {
    /// The target, such as `sm_90a`. `None`: the text's own `.target`, raised to `sm_75` where it is
    /// older, for the driver the GPU of this machine.
    pub target: Option<String>,
    /// Highest number of registers per thread; the compiler spills what does not fit.
    pub max_registers: Option<u32>,
    /// Optimization level, 0 to 4; the compiler's own default is 3.
    pub optimization: Option<u8>,
    /// Whether the code keeps the line numbers of the text for profilers.
    pub line_info: bool,
    /// How long a compiler may run. The library, and a driver without [`Options::driver`], cannot be stopped.
    pub timeout: Duration,
    /// The program that the driver runs in. `None`: the driver runs in this process, which a text that
    /// makes its compiler hang or crash takes along.
    pub driver: Option<Helper>,
}

/// A program that calls [`driver::serve`] with its standard streams and does nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Helper {
    /// The program, as for [`std::process::Command::new`].
    pub program: PathBuf,
    /// Its arguments.
    pub arguments: Vec<OsString>,
}

impl Default for Options {
    /// The file's own target, the compiler's defaults, ten minutes.
    fn default() -> Self {
        Self {
            target: None,
            max_registers: None,
            optimization: None,
            line_info: false,
            timeout: Duration::from_secs(600),
            driver: None,
        }
    }
}

/// What assembling one text gave.
#[derive(Clone, Debug, PartialEq)]
pub struct Assembly {
    /// Verdict, log and figures.
    pub report: Report,
    /// The machine code, where the program was accepted and the back end hands it out.
    pub cubin: Option<Vec<u8>>,
}

/// Which back end the user wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Choice {
    /// The driver where there is a GPU, else `ptxas`.
    #[default]
    Auto,
    /// The CUDA driver.
    Driver,
    /// The program `ptxas`.
    Ptxas,
    /// The compiler library.
    Library,
}

/// A back end that is ready to work.
#[derive(Debug)]
pub enum Assembler {
    /// The CUDA driver in this process.
    Driver(Driver),
    /// The CUDA driver in a process of its own.
    DriverProcess(DriverProcess),
    /// The program `ptxas`.
    Ptxas(Ptxas),
    /// The compiler library.
    Library(Library),
}

impl Assembler {
    /// Finds the back end.
    ///
    /// # Errors
    /// [`Error::Missing`] says what was looked for and not found.
    pub fn open(choice: Choice, options: &Options) -> Result<Self, Error> {
        match choice {
            Choice::Driver => Self::open_driver(options),
            Choice::Ptxas => Ptxas::from_environment().map(Self::Ptxas),
            Choice::Library => Library::open().map(Self::Library),
            Choice::Auto => Self::open_any(options),
        }
    }

    fn open_driver(options: &Options) -> Result<Self, Error> {
        match &options.driver {
            Some(helper) => DriverProcess::open(helper.clone()).map(Self::DriverProcess),
            None => Driver::open().map(Self::Driver),
        }
    }

    /// The driver where there is a GPU and it compiles for the target, else `ptxas`.
    fn open_any(options: &Options) -> Result<Self, Error> {
        let target = options.target.as_deref();
        let driver = Self::open_driver(options);
        let no_driver = match driver.and_then(|driver| driver.require_target(target).map(|()| driver)) {
            Ok(driver) => return Ok(driver),
            Err(error) => error,
        };
        match Ptxas::from_environment() {
            Ok(ptxas) => Ok(Self::Ptxas(ptxas)),
            Err(Error::Missing { looked_for: no_ptxas, .. }) => {
                let mut looked_for = match no_driver {
                    Error::Missing { looked_for, .. } => looked_for,
                    other => vec![other.to_string()],
                };
                looked_for.extend(no_ptxas);
                Err(Error::Missing { backend: None, looked_for })
            }
            Err(error) => Err(error),
        }
    }

    /// Whether the back end compiles for `target` as far as it can tell without a text: the driver compiles
    /// for its own GPU only.
    ///
    /// # Errors
    /// [`Error::TargetUnsupported`] where it does not.
    pub fn require_target(&self, target: Option<&str>) -> Result<(), Error> {
        match self {
            Self::Driver(driver) => driver.require_target(target),
            Self::DriverProcess(driver) => driver.require_target(target),
            Self::Ptxas(_) | Self::Library(_) => Ok(()),
        }
    }

    /// Which back end this is.
    #[must_use]
    pub const fn backend(&self) -> Backend {
        match self {
            Self::Driver(_) | Self::DriverProcess(_) => Backend::Driver,
            Self::Ptxas(_) => Backend::Ptxas,
            Self::Library(_) => Backend::Library,
        }
    }

    /// The compiler's version, where it tells.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        match self {
            Self::Driver(driver) => driver.version(),
            Self::DriverProcess(driver) => driver.version(),
            Self::Ptxas(ptxas) => ptxas.version(),
            Self::Library(library) => library.version(),
        }
    }

    /// Assembles `source`. A refused program is a report with `accepted: false`.
    ///
    /// # Errors
    /// Whatever keeps the back end from giving a verdict; see [`Error`].
    pub fn assemble(&self, source: &Source<'_>, options: &Options) -> Result<Assembly, Error> {
        match self {
            Self::Driver(driver) => driver.assemble(source, options),
            Self::DriverProcess(driver) => driver.assemble(source, options),
            Self::Ptxas(ptxas) => ptxas.assemble(source, options),
            Self::Library(library) => library.assemble(source, options),
        }
    }
}
