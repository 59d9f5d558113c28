//! `extract`: take the PTX out of what carries it.

use std::fmt::Write as _;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use ptx_ir::ir::FunctionKind;
use ptx_ir::lower::lower;

use crate::container;
use crate::foreign;
use crate::input::any_input;
use crate::outcome::Exit;
use crate::source::{Input, Origin, Source, plain};
use crate::terminal::Terminal;
use crate::write;
use ptx_project::counted;

const AFTER_HELP: &str = "\
FILE is an ELF file (object, library, program), a fat binary, a cubin that was compiled with -lineinfo, an \
archive of objects or of PTX texts, what `cuobjdump -ptx` prints, a package that holds such files (wheel, zip, \
tar, conda, deb), or one of these compressed with gzip, bzip2, xz or zstd. The other commands take these files, too, and call a module PATH!MEMBER.

Exit status:
  0  there are modules, and each was told or written
  2  there is none, or a part of the file could not be read, or wrong usage

Examples:
  ptx-cli extract libcurand.so                       what is in it?
  ptx-cli extract libcurand.so -o ptx                write each module into a file below ptx
  ptx-cli extract cupy-14.2.0-cp312.whl              or in all libraries of a wheel?
  ptx-cli verify libcurand.so                        verify it where it is
  ptx-cli verify 'libcurand.so!2.sm_90.ptx'          or one module of it";

/// Arguments of `extract`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct ExtractArgs {
    /// File to look into; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// Write each module into a file of its own below this folder
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Runs `extract`.
pub fn run(args: &ExtractArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let input = any_input(&args.file);
    let Some((modules, failures)) = container::modules(&input) else {
        input.read()?;
        anyhow::bail!("`{}` is none of the files that carry PTX: see `ptx-cli extract --help`", input.name);
    };
    failures.iter().for_each(|failure| terminal.error(failure));
    let mut failed = !failures.is_empty();
    if let Some(folder) = args.output.as_deref().filter(|_| !modules.is_empty()) {
        std::fs::create_dir_all(folder).map_err(|error| cannot_write(folder, &error))?;
    }
    let mut out = BufWriter::new(io::stdout().lock());
    let mut written = 0;
    for module in &modules {
        let source = match module.read() {
            Ok(source) => source,
            Err(error) => {
                terminal.error(&error.to_string());
                failed = true;
                continue;
            }
        };
        match &args.output {
            None => writeln!(out, "{}", described(module, &source))?,
            Some(folder) => {
                let path = folder.join(member(module));
                // A link that lies there may lead out of the folder.
                if path.symlink_metadata().is_ok_and(|of| of.is_symlink()) {
                    std::fs::remove_file(&path).map_err(|error| cannot_write(&path, &error))?;
                }
                write::create(&path, source.bytes()).map_err(|error| cannot_write(&path, &error))?;
                written += 1;
            }
        }
    }
    out.flush()?;
    if let Some(folder) = args.output.as_deref().filter(|_| written > 0) {
        terminal.note(&format!("{} written below `{}`", counted(written, "module"), foreign::path(folder)));
    }
    Ok(if failed { Exit::Failed } else { Exit::Clean })
}

fn cannot_write(path: &Path, error: &io::Error) -> anyhow::Error {
    anyhow::anyhow!("cannot write `{}`: {}", foreign::path(path), plain(error))
}

/// The name of a module in its container.
fn member(module: &Input) -> &str {
    match &module.origin {
        Origin::Member(member) => member.name(),
        Origin::File(_) | Origin::Stdin => "",
    }
}

/// A line about a module: its name, target, version, size and kernels.
fn described(module: &Input, source: &Source) -> String {
    let parse = ptx_syntax::parse(&source.text);
    let lowered = lower(&parse.tree, &source.text).module;
    let mut line = member(module).to_owned();
    let header = &lowered.header;
    let kernels =
        lowered.functions.iter().filter(|(_, function)| function.kind == FunctionKind::Entry).count();
    // Writing to a string cannot fail.
    let _ = write!(
        line,
        "  {}  PTX {}  {}, {}",
        header.target,
        header.version,
        counted(kernels, "kernel"),
        counted(source.bytes().len(), "byte")
    );
    line
}
