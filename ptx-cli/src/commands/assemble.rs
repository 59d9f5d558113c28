//! `assemble`: PTX to a cubin.

use std::io::{self, Write};
use std::num::NonZeroU32;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use ptx_emit::assemble::{self, Error, Options, Source as Text};

use crate::foreign;
use crate::input::single_input;
use crate::outcome::Exit;
use crate::render;
use crate::report::{self, Backend};
use crate::source::{Kind, plain};
use crate::terminal::Terminal;
use crate::write;

const AFTER_HELP: &str = "\
The driver keeps its machine code to itself; `auto` therefore means ptxas here.

Exit status:
  0  assembled
  1  the file was refused, for the reasons printed; nothing is written
  2  a file could not be read or written, the back end is missing or gave no verdict, or wrong usage

Examples:
  ptx-cli assemble kernel.ptx -o kernel.cubin
  ptx-cli assemble --target sm_90a - -o kernel.cubin <kernel.ptx";

/// Arguments of `assemble`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct AssembleArgs {
    /// PTX file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Where to write the cubin
    #[arg(long, short, value_name = "OUT")]
    output: PathBuf,

    /// What assembles
    #[arg(long, value_enum, value_name = "BACKEND", default_value = "auto")]
    backend: Backend,

    /// Assemble for this target instead of the file's own
    #[arg(long, value_name = "TARGET", value_parser = one_target)]
    target: Option<String>,

    /// Give up after this many seconds
    #[arg(long, value_name = "SECONDS", default_value = "600")]
    timeout: NonZeroU32,
}

/// A cubin is for one target.
fn one_target(text: &str) -> Result<String, String> {
    match text {
        "" => Err("a target is wanted, such as `sm_90`".to_owned()),
        list if list.contains(',') => {
            Err("a cubin is for one target; run `assemble` once for each".to_owned())
        }
        one => Ok(one.to_owned()),
    }
}

/// Runs `assemble`.
pub fn run(args: &AssembleArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let backend = match args.backend {
        Backend::Auto | Backend::Ptxas => Backend::Ptxas,
        Backend::Library => Backend::Library,
        Backend::Driver => {
            let error = Error::Unsupported { backend: assemble::Backend::Driver, what: "write a cubin" };
            bail!(report::failure(&error));
        }
    };
    let input = single_input(&args.file)?;
    if input.kind != Kind::Ptx {
        bail!("cannot assemble `{}`: it is {}, not PTX", input.name, input.kind.name());
    }
    let source = input.read()?;
    let style = terminal.stderr.style();
    if let Some(found) = source.not_text() {
        io::stderr().lock().write_all(&render::file(style, &source, &[found]))?;
        return Ok(Exit::Findings);
    }
    let options = Options {
        target: args.target.clone(),
        timeout: Duration::from_secs(args.timeout.get().into()),
        ..Options::default()
    };
    let _compiler = report::end_with_us()?;
    let assembler = report::open(backend, std::slice::from_ref(&options.target))?;
    let text = Text { file: &input.name.exact(), text: source.bytes() };
    let assembly = match assembler.assemble(&text, &options) {
        Ok(assembly) => assembly,
        Err(error) => bail!("cannot assemble `{}`: {}", input.name, report::failure(&error)),
    };
    let messages = report::diagnostics(&source, &assembly.report);
    io::stderr().lock().write_all(&render::file(style, &source, &messages))?;
    let Some(cubin) = assembly.cubin else { return Ok(Exit::Findings) };
    write::create(&args.output, &cubin).map_err(|error| {
        anyhow::anyhow!("cannot write `{}`: {}", foreign::path(&args.output), plain(&error))
    })?;
    Ok(Exit::Clean)
}
