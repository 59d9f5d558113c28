//! `loads`: who takes a file, and for which devices.

use std::io::{self, BufWriter, Write};

use anyhow::bail;
use clap::{Args, ValueEnum};
use ptx_ir::lower::lower;
use ptx_ir::target::Target;
use ptx_ir::version::{Release, Version};
use ptx_syntax::LineIndex;
use ptx_verify::{Config, Loader, Refusal, refusal};
use serde_json::{Value, json};

use crate::foreign::{self, write_json};
use crate::input::{Found, InputArgs, Wanted};
use crate::outcome::Exit;
use crate::source::{Input, Kind, Source};
use crate::terminal::Terminal;
use crate::work;
use ptx_project::counted;

const AFTER_HELP: &str = "\
A driver loads PTX of its own version and of all older ones, for the devices that it knows; the assembler of \
a CUDA release takes the same as its driver. Every combination of a driver or release and a device is judged. \
Without --cuda and --driver the newest driver that is known is asked, and without --target the device is what \
the file itself is for.

Exit status:
  0  every file loads everywhere
  1  one does not
  2  a file could not be read, or wrong usage

Examples:
  ptx-cli loads kernel.ptx --cuda 12.4                would the toolkit of the build server take it?
  ptx-cli loads *.ptx --driver 535,580 --target sm_90,sm_120
  ptx-cli verify --cuda 12.4 --fix kernel.ptx         lower a .version that nothing needs";

/// Arguments of `loads`.
#[derive(Args, Debug)]
#[command(after_help = AFTER_HELP)]
pub struct LoadsArgs {
    #[command(flatten)]
    input: InputArgs,

    /// CUDA releases, such as 12.4, separated by commas
    #[arg(long, value_name = "RELEASES", value_delimiter = ',')]
    cuda: Vec<String>,

    /// Drivers, such as 580 or 535.104.05, separated by commas
    #[arg(long, value_name = "DRIVERS", value_delimiter = ',')]
    driver: Vec<String>,

    /// Devices, such as sm_90 or sm_90a, separated by commas
    #[arg(long, value_name = "TARGETS", value_delimiter = ',')]
    target: Vec<String>,

    /// How to print
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "full")]
    message_format: LoadsFormat,
}

/// How the answers are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LoadsFormat {
    /// Below each file a line for each driver or release and device
    Full,
    /// JSON Lines, one object an answer
    Json,
}

/// A driver or a CUDA release.
struct Asked {
    /// What it is called.
    name: String,
    /// The newest version that it takes.
    version: Version,
}

/// What became of a file.
#[derive(Default)]
struct Outcome {
    shown: Vec<u8>,
    refused: usize,
    failure: Option<String>,
}

/// Runs `loads`.
pub fn run(args: &LoadsArgs, terminal: &Terminal) -> anyhow::Result<Exit> {
    let Found { inputs, failures } = args.input.find(Wanted::PtxOnly)?;
    failures.iter().for_each(|failure| terminal.error(failure));
    let (asked, targets) = (asked(args)?, ptx_project::targets(&args.target)?);
    let mut out = BufWriter::new(io::stdout().lock());
    let (mut failed, mut refused) = (!failures.is_empty(), 0);
    let work = |input: &Input| judge(input, &asked, &targets, args.message_format);
    work::in_order(&inputs, args.input.jobs(inputs.len()), terminal, work, |input, outcome| {
        let outcome = outcome.unwrap_or_else(|work::Panicked| Outcome {
            failure: Some(format!("cannot look at `{}`: internal error", input.name)),
            ..Outcome::default()
        });
        failed |= outcome.failure.is_some();
        refused += usize::from(outcome.refused > 0);
        outcome.failure.iter().for_each(|failure| terminal.error(failure));
        out.write_all(&outcome.shown)
    })?;
    out.flush()?;
    if args.message_format == LoadsFormat::Full && !inputs.is_empty() && !failed {
        let files = counted(inputs.len(), "file");
        let verdict = if refused == 0 {
            "all load".to_owned()
        } else {
            format!("{refused} {} not load everywhere", if refused == 1 { "does" } else { "do" })
        };
        terminal.note(&format!("{files}: {verdict}"));
    }
    Ok(if failed { Exit::Failed } else { Exit::findings(refused > 0) })
}

/// The drivers and releases of the command line; the newest without any.
fn asked(args: &LoadsArgs) -> anyhow::Result<Vec<Asked>> {
    let mut all = Vec::new();
    for release in &args.cuda {
        all.push(Asked { name: format!("CUDA {}", release.trim()), version: cuda(release)? });
    }
    for driver in &args.driver {
        all.push(Asked { name: format!("driver {}", driver.trim()), version: of_driver(driver)? });
    }
    if all.is_empty() {
        all.push(Asked { name: "the newest driver".to_owned(), version: Version::LATEST });
    }
    Ok(all)
}

/// The PTX version of a CUDA release.
pub fn cuda(release: &str) -> anyhow::Result<Version> {
    Ok(toolkit(release)?.1)
}

/// The numbers of a CUDA release, and its PTX version.
pub fn toolkit(release: &str) -> anyhow::Result<((u32, u32), Version)> {
    let parts: Vec<&str> = release.trim().split('.').collect();
    let numbers = match parts.as_slice() {
        [major] => major.parse().ok().zip(Some(0)),
        [major, minor, ..] => major.parse().ok().zip(minor.parse().ok()),
        [] => None,
    };
    let newest = Release::all().filter_map(|release| release.cuda).max().unwrap_or_default();
    let known = numbers.filter(|numbers| *numbers <= newest);
    let version = known.and_then(|(major, minor)| Release::of_cuda(major, minor));
    match known.zip(version) {
        Some((numbers, version)) => Ok(((u32::from(numbers.0), u32::from(numbers.1)), version)),
        None => bail!(
            "there is no CUDA release `{}`; the newest that is known is {}.{}",
            foreign::line(release),
            newest.0,
            newest.1
        ),
    }
}

/// The PTX version of a driver, of which the number before the first dot counts.
fn of_driver(driver: &str) -> anyhow::Result<Version> {
    let branch = driver.trim().split('.').next().and_then(|branch| branch.parse().ok());
    match branch.and_then(Release::of_driver) {
        Some(version) => Ok(version),
        None => {
            bail!("there is no driver `{}`; drivers are numbered as in 535.104.05", foreign::line(driver))
        }
    }
}

fn judge(input: &Input, asked: &[Asked], targets: &[Target], format: LoadsFormat) -> Outcome {
    let fail = |failure: String| Outcome { failure: Some(failure), ..Outcome::default() };
    if input.kind != Kind::Ptx {
        let language = input.kind.name();
        return fail(format!("`{}` is {language}, and only PTX is loaded: compile it first", input.name));
    }
    let source = match input.read() {
        Ok(source) => source,
        Err(error) => return fail(error.to_string()),
    };
    if let Some(found) = source.not_text() {
        return fail(format!("`{}`: {}", input.name, found.message));
    }
    let parse = ptx_syntax::parse(&source.text);
    let module = lower(&parse.tree, &source.text).module;
    let found = ptx_verify::check(&source.text, &Config::default());
    let devices: Vec<Option<Target>> = match targets {
        [] => vec![None],
        targets => targets.iter().copied().map(Some).collect(),
    };
    let mut answers = Vec::new();
    for each in asked {
        for &device in &devices {
            let loader = Loader { version: each.version, device };
            let device = device.unwrap_or(module.header.target);
            answers.push((each, device, refusal(&module, &found, loader)));
        }
    }
    let header = (module.header.version, module.header.target);
    let refused = answers.iter().filter(|(_, _, refusal)| refusal.is_some()).count();
    let mut outcome = Outcome { refused, ..Outcome::default() };
    match format {
        LoadsFormat::Full => full(&mut outcome.shown, &source, header, &answers),
        LoadsFormat::Json => answers.iter().for_each(|answer| {
            // Writing to memory cannot fail.
            let _ = write_json(&mut outcome.shown, &to_json(&source, header, answer));
            outcome.shown.push(b'\n');
        }),
    }
    outcome
}

type Answer<'a> = (&'a Asked, Target, Option<Refusal>);

fn full(out: &mut Vec<u8>, source: &Source, (version, target): (Version, Target), answers: &[Answer<'_>]) {
    let index = LineIndex::new(&source.text);
    let wide = |text: &dyn Fn(&Answer<'_>) -> usize| answers.iter().map(text).max().unwrap_or(0);
    let names = wide(&|(asked, _, _)| asked.name.len());
    let devices = wide(&|(_, device, _)| device.as_str().len());
    // What a broken header does not say is made up by lowering.
    let is_known = answers.iter().all(|(_, _, refusal)| !matches!(refusal, Some(Refusal::Invalid(_))));
    let header = if is_known { format!(": PTX {version} for {target}") } else { ":".to_owned() };
    let mut text = format!("{}{header}\n", source.name);
    for (asked, device, refusal) in answers {
        let verdict = match refusal {
            None => "loads".to_owned(),
            Some(refusal) => {
                let place = refusal.span().map(|span| index.position(span.start));
                let place = place.map_or_else(String::new, |at| format!("{}:{}: ", at.line, at.column));
                format!("{place}{}", reason(refusal, asked))
            }
        };
        text.push_str(&format!("  {:names$}  {:devices$}  {verdict}\n", asked.name, device.as_str()));
    }
    out.extend_from_slice(foreign::text(&text).as_bytes());
}

/// The reason, with what the driver or release has.
fn reason(refusal: &Refusal, asked: &Asked) -> String {
    let Asked { name, version } = asked;
    match refusal {
        Refusal::Needs(_) | Refusal::Version { .. } | Refusal::UnknownDevice(_) => {
            format!("{refusal}; {name} has {version}")
        }
        Refusal::Target { .. } | Refusal::Invalid(_) => refusal.to_string(),
    }
}

fn to_json(
    source: &Source,
    (version, target): (Version, Target),
    (asked, device, refusal): &Answer<'_>,
) -> Value {
    let index = LineIndex::new(&source.text);
    let place = refusal.as_ref().and_then(Refusal::span).map(|span| index.position(span.start));
    let needs = match refusal {
        Some(Refusal::Needs(requirement)) => Some(requirement.version),
        Some(Refusal::Version { enough, .. }) => Some(*enough),
        Some(Refusal::UnknownDevice(device)) => Some(device.min_version()),
        _ => None,
    };
    json!({
        "file": source.name.to_string(),
        "version": version.to_string(),
        "target": target.as_str(),
        "asked": asked.name,
        "asked_version": asked.version.to_string(),
        "device": device.as_str(),
        "loads": refusal.is_none(),
        "reason": refusal.as_ref().map(|refusal| reason(refusal, asked)),
        "needs": needs.map(|version| version.to_string()),
        "line": place.map(|at| at.line),
        "column": place.map(|at| at.column),
    })
}

#[cfg(test)]
mod tests {
    use super::{cuda, of_driver};

    #[test]
    fn releases_and_drivers_have_versions() {
        assert_eq!(cuda("12.8").unwrap().to_string(), "8.7");
        assert_eq!(cuda("12.8.1").unwrap().to_string(), "8.7");
        assert_eq!(cuda("13").unwrap().to_string(), "9.0");
        assert_eq!(of_driver("535.104.05").unwrap().to_string(), "8.2");
        for wrong in ["", "x", "99.1", "0.5", "12.x"] {
            assert!(cuda(wrong).is_err(), "{wrong}");
        }
        assert!(of_driver("x").is_err() && of_driver("1").is_err());
    }
}
