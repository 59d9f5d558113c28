//! `schema`: the JSON schema of `ptx.toml`.

use std::io::{self, Write};

use clap::Args;

use crate::outcome::Exit;
use crate::schema;

const AFTER_HELP: &str = "\
Editors complete and check ptx.toml with it. Those that use taplo or tombi take it from a first line

  #:schema ./ptx.schema.json

Exit status:
  0  printed

Examples:
  ptx-cli schema >ptx.schema.json";

/// Arguments of `schema`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct SchemaArgs {}

/// Runs `schema`.
pub fn run() -> anyhow::Result<Exit> {
    let mut out = io::stdout().lock();
    writeln!(out, "{:#}", schema::schema())?;
    out.flush()?;
    Ok(Exit::Clean)
}
