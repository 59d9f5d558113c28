//! `canonicalize`: print PTX anew from its typed representation.

use std::io::{self, Write};
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;

use crate::foreign;
use crate::input::single_input;
use crate::outcome::Exit;
use crate::render;
use crate::source::plain;
use crate::terminal::Terminal;
use crate::write;

const AFTER_HELP: &str = "\
The output means the same and assembles to the same machine code; comments are not kept.

Exit status:
  0  done
  1  the file has errors, which are printed; nothing is written
  2  a file could not be read or written, or wrong usage

Examples:
  ptx-cli canonicalize kernel.ptx
  ptx-cli canonicalize kernel.ptx -o canonical.ptx";

/// Arguments of `canonicalize`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct CanonicalizeArgs {
    /// PTX file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where to write instead of standard output
    #[arg(long, short, value_name = "OUT")]
    output: Option<PathBuf>,
}

/// Runs `canonicalize`.
pub fn run(args: &CanonicalizeArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let source = single_input(&args.file)?.read()?;
    let text = match ptx_project::canonical(&source) {
        Ok(text) => text,
        Err(diagnostics) => {
            let style = terminal.stderr.style();
            io::stderr().lock().write_all(&render::file(style, &source, &diagnostics))?;
            terminal.error(&format!("`{}` has errors and no canonical form", source.name));
            return Ok(Exit::Findings);
        }
    };
    match &args.output {
        Some(path) => write::create(path, text.as_bytes())
            .map_err(|error| anyhow::anyhow!("cannot write `{}`: {}", foreign::path(path), plain(&error)))?,
        None => {
            let mut out = io::stdout().lock();
            out.write_all(&terminal.document(text.as_bytes()))
                .and_then(|()| out.flush())
                .context("cannot write")?;
        }
    }
    Ok(Exit::Clean)
}
