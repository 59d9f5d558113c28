//! Choosing the assembler.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::sync::OnceLock;

use clap::ValueEnum;
use ptx_emit::assemble::{Assembler, Choice, Error, Helper, Options, abandon};

use crate::interrupt::{self, Pending};

/// The subcommand that users do not see.
pub const DRIVER_PROCESS: &str = "driver-process";

/// What compiles PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The driver where there is a GPU for the target, else ptxas
    Auto,
    /// The CUDA driver, on this machine's GPU
    Driver,
    /// The program ptxas, found through $PTXAS, $CUDA_HOME/bin and $PATH
    Ptxas,
    /// NVIDIA's compiler library, where it exists as a shared object
    Library,
}

/// Finds the back end, one for all `targets`: figures of two compilers are not comparable.
pub fn open(backend: Backend, targets: &[Option<String>]) -> anyhow::Result<Assembler> {
    let choice = match backend {
        Backend::Auto => Choice::Auto,
        Backend::Driver => Choice::Driver,
        Backend::Ptxas => Choice::Ptxas,
        Backend::Library => Choice::Library,
    };
    let open = |choice, target: Option<&String>| {
        let options = Options { target: target.cloned(), driver: helper(), ..Options::default() };
        Assembler::open(choice, &options).map_err(|error| anyhow::anyhow!(failure(&error)))
    };
    let assembler = open(choice, targets.first().and_then(Option::as_ref))?;
    let is_unfit = |target: &Option<String>| assembler.require_target(target.as_deref()).is_err();
    if choice == Choice::Auto && targets.iter().any(is_unfit) {
        // The driver compiles for its own GPU only.
        return open(Choice::Ptxas, None);
    }
    Ok(assembler)
}

/// How this program is started, where it is not the running executable.
static PROGRAM: OnceLock<(PathBuf, Vec<OsString>)> = OnceLock::new();

/// Has the driver's process be started with `program` and `arguments`. The first call counts.
pub fn set_program(program: PathBuf, arguments: Vec<OsString>) {
    let _ = PROGRAM.set((program, arguments));
}

/// This program in the role of the driver's process.
fn helper() -> Option<Helper> {
    let (program, mut arguments) = match PROGRAM.get() {
        Some(started) => started.clone(),
        None => (std::env::current_exe().ok()?, Vec::new()),
    };
    arguments.push(DRIVER_PROCESS.into());
    Some(Helper { program, arguments })
}

/// Has compilers and their temporary folders end with this program where a signal ends it, as long as the
/// value lives.
pub fn end_with_us() -> io::Result<Pending> {
    interrupt::begin(|| Ok(((), Box::new(abandon) as _))).map(|((), pending)| pending)
}

/// What happened and, where it is known, what to do about it.
pub fn failure(error: &Error) -> String {
    match error.help() {
        Some(help) => format!("{error}\nhelp: {help}"),
        None => error.to_string(),
    }
}
