//! Compares the instruction table with NVIDIA's assembler.
//!
//! `oracle [--seed N] [--count PROBES-PER-PAIR] [--pair sm_90a,8.3]… [--only TEXT] [--all | --list] [--spec | --lines FILE]`: random
//! instances of the table's forms and mutants of them. `--only` takes the forms whose place in the table's files or
//! whose opcode contains a text; `--all` prints every disagreement rather than one of each kind; `--list` prints
//! every probe with both verdicts. `--spec` takes the probes from `tests/spec.txt` instead, which knows nothing of the
//! table: with a big `--count`, all 100,000 of them for each pair. `--lines` asks about the statements of a file. Ends with status 1 where the two disagree more often
//! than allowed.

use std::process::ExitCode;

use ptx_tests::oracle::{PAIRS, Pair, Probe, Report, Run, compare};
use ptx_tests::tools::{ptxas, skipped};

/// How much is printed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Detail {
    Summary,
    All,
    List,
}

/// What the arguments ask for.
struct Options {
    run: Run,
    detail: Detail,
    /// The statements that are asked about in place of random ones.
    lines: Option<Vec<Probe>>,
}

fn main() -> ExitCode {
    let options = match options(std::env::args().skip(1)) {
        Ok(options) => options,
        Err(argument) => {
            eprintln!("unknown argument `{argument}`");
            return ExitCode::from(2);
        }
    };
    let Some(ptxas) = ptxas() else {
        skipped("the comparison with ptxas; tests/install-toolkit.sh installs it");
        return ExitCode::SUCCESS;
    };
    let mut report = Report { keep_all: options.detail == Detail::List, ..Report::default() };
    let judged = match &options.lines {
        Some(lines) => options.run.pairs.iter().try_for_each(|pair| compare(ptxas, pair, lines, &mut report)),
        None => options.run.judge(ptxas, &mut report),
    };
    if let Err(error) = judged {
        eprintln!("{error}");
        return ExitCode::from(2);
    }
    match options.detail {
        Detail::Summary => println!("{report}"),
        Detail::All => print!("{}", report.every_disagreement()),
        Detail::List => print!("{}", report.every_probe()),
    }
    ExitCode::from(u8::from(!report.is_good()))
}

fn options(mut arguments: impl Iterator<Item = String>) -> Result<Options, String> {
    let mut options = Options { run: Run::default(), detail: Detail::Summary, lines: None };
    let mut pairs = Vec::new();
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or_else(|| argument.clone());
        match argument.as_str() {
            "--seed" => options.run.seed = value()?.parse().map_err(|_| argument)?,
            "--count" => options.run.count = value()?.parse().map_err(|_| argument)?,
            "--spec" => options.run.spec = true,
            "--only" => options.run.only = Some(value()?),
            "--all" => options.detail = Detail::All,
            "--list" => options.detail = Detail::List,
            "--lines" => {
                let name = value()?;
                let text = std::fs::read_to_string(&name).map_err(|_| name.clone())?;
                let probe = |line: &str| Probe {
                    line: line.to_owned(),
                    kind: "given",
                    place: name.clone(),
                    form: None,
                };
                options.lines = Some(text.lines().map(probe).collect());
            }
            "--pair" => {
                let text = value()?;
                let pair = text.split_once(',').and_then(|(target, version)| Pair::parse(target, version));
                pairs.push(pair.ok_or(text)?);
            }
            _ => return Err(argument),
        }
    }
    if pairs.is_empty() {
        pairs.extend(PAIRS.iter().filter_map(|(target, version)| Pair::parse(target, version)));
    }
    options.run.pairs = pairs;
    Ok(options)
}
