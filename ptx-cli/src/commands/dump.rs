//! `dump`: what each step makes of a file.

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use clap::Args;
use ptx_ir::ir::Module;
use ptx_ir::lower::lower;
use ptx_syntax::Severity;
use ptx_verify::{lowering_findings, syntax_findings};

use crate::dump;
use crate::foreign::Lines;
use crate::input::single_input;
use crate::outcome::Exit;
use crate::render;
use crate::terminal::Terminal;

const AFTER_HELP: &str = "\
The output is for reading and for tests; its form may change.

Exit status:
  0  shown
  1  shown as far as the errors of the file, which are printed, allow
  2  the file could not be read, or wrong usage

Examples:
  ptx-cli dump --tokens kernel.ptx
  ptx-cli dump --cfg kernel.ptx
  ptx-cli dump --needs kernel.ptx
  ptx-cli dump --cfg --dot kernel.ptx | dot -Tsvg >kernel.svg";

/// Arguments of `dump`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct DumpArgs {
    #[command(flatten)]
    step: Step,

    /// With --cfg: print it in the language of Graphviz
    #[arg(long, requires = "cfg")]
    dot: bool,

    /// PTX file; `-` is standard input
    #[arg(value_name = "FILE")]
    file: PathBuf,
}

/// Which step.
#[derive(Args, Debug)]
#[group(required = true, multiple = false)]
struct Step {
    /// Tokens, comments and white space
    #[arg(long)]
    tokens: bool,

    /// The syntax tree
    #[arg(long)]
    ast: bool,

    /// The typed representation
    #[arg(long)]
    ir: bool,

    /// The control flow graph of each function
    #[arg(long)]
    cfg: bool,

    /// What the analyses know at each instruction
    #[arg(long)]
    facts: bool,

    /// The lowest PTX version and the targets that the file needs, and what asks for them
    #[arg(long)]
    needs: bool,
}

/// Runs `dump`.
pub fn run(args: &DumpArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let source = single_input(&args.file)?.read()?;
    if let Some(found) = source.not_text() {
        let style = terminal.stderr.style();
        io::stderr().lock().write_all(&render::file(style, &source, &[found]))?;
        return Ok(Exit::Findings);
    }
    let mut out = Lines::new(BufWriter::new(io::stdout().lock()));
    let mut found = Vec::new();
    if args.step.tokens {
        dump::tokens(&mut out, &source.text)?;
    } else if args.step.ast {
        let parse = ptx_syntax::parse(&source.text);
        dump::ast(&mut out, &source.text, &parse.tree)?;
        found = syntax_findings(&parse);
    } else {
        let parse = ptx_syntax::parse(&source.text);
        let lowered = lower(&parse.tree, &source.text);
        found = [syntax_findings(&parse), lowering_findings(&lowered)].concat();
        if args.step.needs {
            dump::needs(&mut out, &source.text, &lowered.module)?;
        } else {
            dump_module(&mut out, &lowered.module, args)?;
        }
    }
    out.flush()?;
    // What was found is told beside the dump, never within it.
    let style = terminal.stderr.style();
    io::stderr().lock().write_all(&render::file(style, &source, &found))?;
    Ok(Exit::findings(found.iter().any(|found| found.severity == Severity::Error)))
}

fn dump_module(out: &mut dyn Write, module: &Module, args: &DumpArgs) -> io::Result<()> {
    if args.step.ir {
        dump::ir(out, module)
    } else if args.step.cfg && args.dot {
        dump::dot(out, module)
    } else if args.step.cfg {
        dump::cfg(out, module)
    } else {
        dump::facts(out, module)
    }
}
