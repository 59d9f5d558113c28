//! The `ptx-cli` program: commands, output formats, configuration.
//!
//! A library only so that the workspace's root package and the Python module can be the same program;
//! there is nothing here to call but [`main`] and what the Python module is made of, [`service`].
//!
//! This crate does all the writing and printing of the toolkit; what a library user could want lives in the crates below it,
//! what files and their findings have to do with each other in `ptx_project`. Four rules hold everywhere here:
//!
//! * The exit status is 0 where nothing is wrong, 1 for findings, 2 where the work could not be done.
//! * Results go to standard output, everything else to standard error, and a closed pipe is no error.
//! * What strangers wrote (names, sources, messages of other programs) is shown through `foreign`.
//! * No input ends in a panic. Should one happen all the same, it is caught for the file it happened
//!   on, told as an internal error, and the other files are still worked on.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod adopt;
mod cli;
mod commands;
mod config;
mod container;
mod coverage;
mod diff;
mod dump;
#[doc(hidden)]
pub mod example;
mod formatting;
#[doc(hidden)]
pub mod fuzz;
mod input;
mod interrupt;
mod levels;
mod lsp;
mod manual;
pub mod memory;
mod options;
mod outcome;
mod report;
mod schema;
#[doc(hidden)]
pub mod service;
mod source;
mod terminal;
mod usage;
mod work;
mod write;

use std::ffi::OsString;
use std::io::Write;
use std::panic::AssertUnwindSafe;
use std::process::ExitCode;

use clap::Parser;

use ptx_project::{foreign, render};

pub use outcome::Exit;
use outcome::exit_of;
use terminal::Terminal;

/// Runs the program with the arguments and streams of this process.
#[must_use]
pub fn main() -> ExitCode {
    main_with(std::env::args_os()).into()
}

/// Runs the program with these arguments, of which the first is its name, and the streams of this process. Whoever
/// calls it more than once, or goes on afterwards, has its handlers for signals and panics, and its allocator's limits.
pub fn main_with(arguments: impl Iterator<Item = OsString>) -> Exit {
    let cli = match cli::Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return wrong_usage(error),
    };
    std::panic::set_hook(Box::new(tell_panic));
    memory::keep_apart(!matches!(cli.command, cli::Command::Lsp(_)));
    std::panic::catch_unwind(AssertUnwindSafe(|| run(&cli))).unwrap_or(Exit::Failed)
}

/// Runs the command and turns its result into an exit status; errors are told on standard error.
fn run(cli: &cli::Cli) -> Exit {
    let terminal = Terminal::new(cli.color);
    exit_of(commands::run(&cli.command, &terminal), &terminal)
}

/// Prints what clap has to say: help and version succeed, wrong usage is exit status 2.
fn wrong_usage(error: clap::Error) -> Exit {
    let exit = if error.use_stderr() { Exit::Failed } else { Exit::Clean };
    usage::print(error);
    exit
}

/// Tells a panic in one sentence; the caller of the panicking code goes on with the next file.
fn tell_panic(info: &std::panic::PanicHookInfo<'_>) {
    let payload = info.payload();
    let what = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("unknown cause");
    let place = info.location().map_or_else(String::new, |location| format!(" at {location}"));
    let _ = writeln!(std::io::stderr(), "internal error{place}: {}", foreign::line(what));
}
