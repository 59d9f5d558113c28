//! Choosing the assembler.

use clap::ValueEnum;
use ptx_emit::assemble::{Assembler, Choice, Error, Options};

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
        let options = Options { target: target.cloned(), ..Options::default() };
        Assembler::open(choice, &options).map_err(|error| anyhow::anyhow!(failure(&error)))
    };
    let assembler = open(choice, targets.first().and_then(Option::as_ref))?;
    match &assembler {
        // The driver compiles for its own GPU only.
        Assembler::Driver(driver)
            if choice == Choice::Auto
                && targets.iter().any(|target| driver.require_target(target.as_deref()).is_err()) =>
        {
            open(Choice::Ptxas, None)
        }
        _ => Ok(assembler),
    }
}

/// What happened and, where it is known, what to do about it.
pub fn failure(error: &Error) -> String {
    match error.help() {
        Some(help) => format!("{error}\nhelp: {help}"),
        None => error.to_string(),
    }
}
