//! `isa`: the instruction table.

use std::io::{self, Write};

use clap::{Args, ValueEnum};
use ptx_ir::target::Target;
use serde_json::json;

use crate::foreign;
use crate::manual::{self, Entry};
use crate::outcome::Exit;

const AFTER_HELP: &str = "\
With a target, forms that it does not have are left out; what single modifiers need is told with each form.
As JSON, a word that is none gives one object with \"error\", \"help\" and \"alike\" (names that are spelled \
like it).

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

/// Why nothing is shown.
struct Refusal {
    message: String,
    help: Vec<String>,
    /// Names that are spelled like the one that was asked about.
    alike: Vec<String>,
    status: Exit,
}

impl Refusal {
    fn new(message: String) -> Self {
        Self { message, help: Vec::new(), alike: Vec::new(), status: Exit::Findings }
    }

    fn tell(&self, is_json: bool) -> io::Result<Exit> {
        let Self { message, help, alike, .. } = self;
        if is_json {
            writeln!(io::stdout(), "{}", json!({"error": message, "help": help, "alike": alike}))?;
        } else {
            let mut err = io::stderr().lock();
            writeln!(err, "error: {}", foreign::line(message))?;
            help.iter().try_for_each(|help| writeln!(err, "help: {}", foreign::line(help)))?;
        }
        Ok(self.status)
    }
}

/// Runs `isa`.
pub fn run(args: &IsaArgs) -> anyhow::Result<Exit> {
    let target = args.target.as_deref().map(ptx_project::target).transpose()?;
    let is_json = args.json || args.message_format == IsaFormat::Json;
    let entries = match args.opcode.as_deref().map(str::trim) {
        Some(word) => entries(word, target, args.tolerance),
        None if is_json => {
            let all = manual::all_forms();
            Ok(all.filter(|entry| has(target, entry) && (args.tolerance || entry.is_in_manual())).collect())
        }
        None => {
            io::stdout().write_all(manual::list(target).as_bytes())?;
            return Ok(Exit::Clean);
        }
    };
    let entries = match entries {
        Ok(entries) => entries,
        Err(refusal) => return Ok(refusal.tell(is_json)?),
    };
    let mut out = io::stdout().lock();
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

/// What a word is.
fn entries(word: &str, target: Option<Target>, tolerance: bool) -> Result<Vec<Entry>, Refusal> {
    if let Some(found) = manual::misspelled(word) {
        let opcode = word.split('.').next().unwrap_or(word);
        let fix = found.fix.as_ref().map(|fix| fix.message.clone());
        let mut help: Vec<String> = found.help.iter().cloned().chain(fix).collect();
        help.push(format!("`ptx-cli isa {opcode}` shows all forms of `{opcode}`"));
        let message = format!("there is no instruction `{word}`: {}", found.message);
        return Err(Refusal { help, ..Refusal::new(message) });
    }
    let mut entries = manual::entries(word);
    if entries.is_empty() {
        return Err(unknown(word));
    }
    let mut needed: Vec<String> = entries.iter().map(|entry| entry.targets().to_string()).collect();
    entries.retain(|entry| has(target, entry));
    if let Some(target) = target.filter(|_| entries.is_empty()) {
        needed.sort();
        needed.dedup();
        let needed = needed.join("; or ");
        return Err(Refusal::new(format!("`{word}` is not on {target}: it needs {needed}")));
    }
    if !tolerance {
        entries.retain(Entry::is_in_manual);
        if entries.is_empty() {
            let help = "`--tolerance` shows what ptxas makes of it".to_owned();
            let message = format!("the manual does not have `{word}`");
            return Err(Refusal { help: vec![help], ..Refusal::new(message) });
        }
    }
    Ok(entries)
}

/// What is wrong with a word that nothing has: which part of it, and what is spelled alike.
fn unknown(word: &str) -> Refusal {
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
    let alike = manual::alike(word);
    let quoted: Vec<String> = alike.iter().map(|name| format!("`{name}`")).collect();
    let said = format!("there is no {what} `{word}`{part}");
    let message = match quoted.split_last() {
        None => format!("{said}; `ptx-cli isa{list}` lists them"),
        Some((last, [])) => format!("{said}; did you mean {last}?"),
        Some((last, rest)) => format!("{said}; did you mean {} or {last}?", rest.join(", ")),
    };
    Refusal { alike, status: Exit::Failed, ..Refusal::new(message) }
}

fn has(target: Option<Target>, entry: &Entry) -> bool {
    target.is_none_or(|target| entry.targets().contains(target))
}

fn write_json(out: &mut impl Write, entries: &[Entry], tolerance: bool) -> io::Result<()> {
    let json = |entry: &Entry| if tolerance { entry.json_with_tolerances() } else { entry.json() };
    entries.iter().try_for_each(|entry| writeln!(out, "{}", json(entry)))
}
