//! `isa`: the instruction table.

use std::io::{self, Write};

use anyhow::bail;
use clap::{Args, ValueEnum};
use ptx_ir::target::Target;

use crate::manual::{self, Entry};
use crate::outcome::Exit;

const AFTER_HELP: &str = "\
With a target, forms that it does not have are left out; what single modifiers need is told with each form.

Exit status:
  0  shown
  1  there is such an instruction, but not with these modifiers, or not on that target
  2  there is no such instruction

Examples:
  ptx-cli isa                     list all instructions
  ptx-cli isa --target sm_80      those that sm_80 has
  ptx-cli isa add                 all forms of add, with versions and targets
  ptx-cli isa add.cc.u32          the forms that have this spelling, and the types of their operands
  ptx-cli isa --tolerance add.f32 and what ptxas takes beyond the manual
  ptx-cli isa %tid                a special register; all for %
  ptx-cli isa .maxnreg            a directive; all for .
  ptx-cli isa --json mma | jq -r .syntax";

/// Arguments of `isa`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct IsaArgs {
    /// Opcode, spelling, special register or directive, such as `add`, `ld.global.b32`, `%tid` or `.reg`; all instructions
    /// without it
    #[arg(value_name = "OPCODE")]
    opcode: Option<String>,

    /// Show only what this target has, such as sm_90a
    #[arg(long, value_name = "TARGET")]
    target: Option<String>,

    /// Show also what NVIDIA's assembler takes beyond the manual, refuses, ignores or misreads
    #[arg(long)]
    tolerance: bool,

    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "full")]
    message_format: IsaFormat,

    /// The same as `--message-format json`
    #[arg(long)]
    json: bool,
}

/// How the table is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum IsaFormat {
    /// As the manual prints it
    Full,
    /// JSON Lines, one object a form, special register or directive
    Json,
}

/// Runs `isa`.
pub fn run(args: &IsaArgs) -> anyhow::Result<Exit> {
    let target = args.target.as_deref().map(ptx_project::target).transpose()?;
    let word = args.opcode.as_deref().map(str::trim);
    if let Some(word) = word
        && let Some(found) = manual::misspelled(word)
    {
        let opcode = word.split('.').next().unwrap_or(word);
        let mut err = io::stderr().lock();
        writeln!(err, "error: there is no instruction `{word}`: {}", found.message)?;
        let fix = found.fix.as_ref().map(|fix| &fix.message);
        for help in found.help.iter().chain(fix) {
            writeln!(err, "help: {help}")?;
        }
        writeln!(err, "`ptx-cli isa {opcode}` shows all forms of `{opcode}`")?;
        return Ok(Exit::Findings);
    }
    let is_json = args.json || args.message_format == IsaFormat::Json;
    let mut out = io::stdout().lock();
    let Some(word) = word else {
        if is_json {
            write_json(
                &mut out,
                &manual::all_forms()
                    .filter(|entry| has(target, entry) && (args.tolerance || entry.is_in_manual()))
                    .collect::<Vec<_>>(),
                args.tolerance,
            )?;
        } else {
            out.write_all(manual::list(target).as_bytes())?;
        }
        out.flush()?;
        return Ok(Exit::Clean);
    };
    let mut entries = manual::entries(word);
    if entries.is_empty() {
        bail!("{}", unknown(word));
    }
    let needed: Vec<String> = entries.iter().map(|entry| entry.targets().to_string()).collect();
    entries.retain(|entry| has(target, entry));
    if let Some(target) = target.filter(|_| entries.is_empty()) {
        let mut needed = needed;
        needed.sort();
        needed.dedup();
        writeln!(io::stderr(), "error: `{word}` is not on {target}: it needs {}", needed.join("; or "))?;
        return Ok(Exit::Findings);
    }
    if !args.tolerance {
        entries.retain(Entry::is_in_manual);
        if entries.is_empty() {
            writeln!(
                io::stderr(),
                "error: the manual does not have `{word}`; `--tolerance` shows what ptxas makes of it"
            )?;
            return Ok(Exit::Findings);
        }
    }
    if is_json {
        write_json(&mut out, &entries, args.tolerance)?;
    } else if args.tolerance {
        out.write_all(manual::text_with_tolerances(&entries).as_bytes())?;
    } else {
        out.write_all(manual::text_of(&entries).as_bytes())?;
    }
    out.flush()?;
    Ok(Exit::Clean)
}

/// What is wrong with a word that nothing has: which part of it, and what is spelled alike.
fn unknown(word: &str) -> String {
    let (what, list) = match word.chars().next() {
        Some('.') => ("directive", " ."),
        Some('%') => ("special register", " %"),
        _ => ("instruction", ""),
    };
    let opcode = word.split(['.', ' ']).next().unwrap_or(word);
    let part = match what == "instruction" && opcode != word {
        true => format!(": no opcode is called `{opcode}`"),
        false => String::new(),
    };
    let quoted: Vec<String> = manual::alike(word).iter().map(|name| format!("`{name}`")).collect();
    let meant = match quoted.split_last() {
        None => return format!("there is no {what} `{word}`{part}; `ptx-cli isa{list}` lists them"),
        Some((last, [])) => last.clone(),
        Some((last, rest)) => format!("{} or {last}", rest.join(", ")),
    };
    format!("there is no {what} `{word}`{part}; did you mean {meant}?")
}

fn has(target: Option<Target>, entry: &Entry) -> bool {
    target.is_none_or(|target| entry.targets().contains(target))
}

fn write_json(out: &mut impl Write, entries: &[Entry], tolerance: bool) -> io::Result<()> {
    let json = |entry: &Entry| if tolerance { entry.json_with_tolerances() } else { entry.json() };
    entries.iter().try_for_each(|entry| writeln!(out, "{}", json(entry)))
}
