//! `report`: compile and tell what came of it.

use std::path::PathBuf;

use anyhow::bail;
use clap::{Args, ValueEnum};

use crate::outcome::Exit;
use crate::terminal::Terminal;

/// Arguments of `report`.
#[derive(Args, Debug)]
pub struct ReportArgs {
    /// PTX files and directories
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,

    /// What compiles
    #[arg(long, value_enum, value_name = "BACKEND", default_value = "auto")]
    backend: Backend,

    /// Compile for this target instead of the file's own
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,

    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "full")]
    message_format: ReportFormat,

    /// Compare with the numbers in this file
    #[arg(long, value_name = "FILE")]
    baseline: Option<PathBuf>,

    /// Save the numbers to this file
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
}

/// How a report is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReportFormat {
    /// For people
    Full,
    /// One JSON object a file
    Json,
}

/// What compiles PTX.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Backend {
    /// The first of the others that is there
    Auto,
    /// The CUDA driver, on this machine's GPU
    Driver,
    /// The program ptxas, found through $PTXAS, $CUDA_HOME/bin and $PATH
    Ptxas,
    /// NVIDIA's compiler library
    Library,
}

/// Runs `report`.
pub fn run(args: &ReportArgs, _: &Terminal) -> anyhow::Result<Exit> {
    bail!("`report` is not there yet: no back end is linked into this build ({args:?})")
}
