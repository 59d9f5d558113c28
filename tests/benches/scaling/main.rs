//! Whether time and memory grow as the input does.
//!
//! ```text
//! cargo build --release -p ptx-cli
//! cargo bench -p ptx-tests --bench scaling [-- OPTION…] [PART OF A NAME…]
//!     --size N           stop at texts of N bytes (default 512k)
//!     --full             up to 16M, with every command; takes hours
//!     --commands A,B     only these: verify, full, concise, json, sarif, github, fix, format, canonicalize, ast, ir,
//!                        needs, facts, cfg
//!     --every            every command for every construct, and not only those that `constructs.txt` names
//!     --program PATH     measure this program (default target/release/ptx-cli)
//!     --flagged          print only what grows too fast
//!     --jobs N           measure N at once (default 1); more than there are cores disturb each other
//!     --part I/N         only every Nth measurement, from the Ith on: N machines or runs share the work
//! ```
//!
//! The program of the bench has the constructs in it: with `--program` it runs on a machine without the repository.
//!
//! `constructs.txt` lists what a text may have many of. Each is made with n and with 2n repetitions. A process of its
//! own works on each text; its time on the processor and its peak memory are what the system says of a process that
//! ended. Up to 512 kB the text doubles until the time is long enough to compare; a larger size is reached in any case.
//! There is one line for each construct and command: of all pairs that were compared, the one that grew most. A cost
//! that grows by more than [`MAX_RATIO`] per doubling is flagged with `!`, and the exit status is 1.
//!
//! What grows too fast is measured again, n and 2n in turns, and the least of each counts. A time that still does may be
//! due to the machine: what does not fit into a cache any more takes longer. So where `valgrind` is installed the
//! instructions are counted, too, which come last in the line. Where they grow as they should, the mark is `~`, which is
//! no fault.

mod construct;
mod measure;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};

use construct::Construct;
use measure::{Cost, instructions, run};
use ptx_tests::tools::root;

/// A cost that is linear grows by 2; allocation in powers of two and noise explain a bit more.
const MAX_RATIO: f64 = 2.3;

/// Below this a time is mostly noise.
const MIN_SECONDS: f64 = 0.15;

/// Below this the peak memory is mostly that of the program itself, and the steps of the allocator, which are of a few
/// megabytes, count as much as what the text takes.
const MIN_MEMORY: u64 = 48 << 20;

/// How often a pair that seems to grow too fast is measured again.
const MAX_REPETITIONS: usize = 10;

/// How often one of which a text takes [`LONG_SECONDS`].
const MAX_LONG_REPETITIONS: usize = 3;

/// Counting instructions takes fifty times as long. A text that takes longer is made shorter for it.
const MAX_COUNTED_SECONDS: f64 = 1.0;

/// What disturbs a process for so long disturbs both.
const LONG_SECONDS: f64 = 3.0;

/// The first text of each construct has about this many bytes.
const FIRST_BYTES: usize = 16 << 10;

/// Texts up to this size are enough where they take long enough.
const QUICK_BYTES: usize = 512 << 10;

/// The largest texts of `--full`.
const FULL_BYTES: usize = 16 << 20;

struct Options {
    max_bytes: usize,
    every: bool,
    commands: Option<Vec<String>>,
    program: Option<PathBuf>,
    flagged: bool,
    jobs: usize,
    /// Which part of how many.
    part: (usize, usize),
    names: Vec<String>,
}

fn main() -> ExitCode {
    let options = options();
    let program = options.program.clone().unwrap_or_else(|| root().join("target/release/ptx-cli"));
    assert!(
        program.is_file(),
        "{} is missing; `cargo build --release -p ptx-cli` builds it",
        program.display()
    );
    println!(
        "  {:<58} {:<12} {:>9} {:>10} {:>8} {:>8} {:>5} {:>7} {:>7} {:>5} instructions",
        "construct", "command", "n", "bytes", "s, n", "s, 2n", "ratio", "MB, n", "MB, 2n", "ratio"
    );
    let constructs: Vec<Construct> = construct::all().collect();
    let asked = constructs.iter().flat_map(|construct| {
        construct.commands(options.every).into_iter().map(move |command| (construct, command))
    });
    let (part, parts) = options.part;
    let asked: Vec<_> = asked
        .filter(|(construct, command)| options.wants(construct, command))
        .enumerate()
        .filter_map(|(index, asked)| (index % parts == part - 1).then_some(asked))
        .collect();
    let (next, flagged) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let folder = tempfile::tempdir().expect("a temporary folder");
        while let Some((construct, command)) = asked.get(next.fetch_add(1, Ordering::Relaxed)) {
            let growth = growth(&program, folder.path(), construct, command, options.max_bytes);
            flagged.fetch_add(usize::from(growth.is_flagged()), Ordering::Relaxed);
            if growth.is_flagged() || !options.flagged {
                growth.print(construct, command);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..options.jobs {
            scope.spawn(work);
        }
    });
    let flagged = flagged.into_inner();
    println!("{flagged} flagged");
    if flagged == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn options() -> Options {
    let mut options = Options {
        max_bytes: QUICK_BYTES,
        every: false,
        commands: None,
        program: None,
        flagged: false,
        jobs: 1,
        part: (1, 1),
        names: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().unwrap_or_else(|| panic!("{argument} needs a value"));
        match argument.as_str() {
            "--size" => options.max_bytes = bytes(&value()),
            "--full" => (options.max_bytes, options.every) = (FULL_BYTES, true),
            "--every" => options.every = true,
            "--commands" => options.commands = Some(value().split(',').map(str::to_owned).collect()),
            "--program" => options.program = Some(value().into()),
            "--flagged" => options.flagged = true,
            "--jobs" => options.jobs = value().parse().expect("a number of jobs"),
            "--part" => options.part = part(&value()),
            // Cargo's own.
            "--bench" => {}
            name if !name.starts_with('-') => options.names.push(name.into()),
            other => panic!("no option {other}"),
        }
    }
    options
}

impl Options {
    fn wants(&self, construct: &Construct, command: &str) -> bool {
        let named = |name: &String| construct.name.contains(name.as_str());
        (self.names.is_empty() || self.names.iter().any(named))
            && self.commands.as_ref().is_none_or(|only| only.iter().any(|each| each == command))
    }
}

/// As in `2/3`.
fn part(text: &str) -> (usize, usize) {
    let numbers = text.split_once('/').map(|(part, parts)| (part.parse(), parts.parse()));
    match numbers {
        Some((Ok(part), Ok(parts))) if (1..=parts).contains(&part) => (part, parts),
        _ => panic!("no part {text}"),
    }
}

fn bytes(text: &str) -> usize {
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" => 0,
        "k" => 10,
        "M" => 20,
        other => panic!("no unit {other}"),
    };
    digits.parse::<usize>().expect("a number of bytes") << shift
}

/// What a text of n and one of 2n repetitions cost.
struct Growth {
    n: usize,
    bytes: usize,
    once: Cost,
    twice: Cost,
    /// What an almost empty text costs.
    least: Cost,
    /// How the instructions grow, where the time grows too fast.
    instructions: Option<f64>,
}

impl Growth {
    fn time_ratio(&self) -> f64 {
        let least = self.least.seconds;
        (self.twice.seconds - least).max(0.0) / (self.once.seconds - least).max(1e-3)
    }

    fn memory_ratio(&self) -> f64 {
        let least = self.least.memory;
        self.twice.memory.saturating_sub(least) as f64
            / self.once.memory.saturating_sub(least).max(1 << 18) as f64
    }

    /// Whether the times are long enough to compare.
    fn is_measured(&self) -> bool {
        self.twice.seconds - self.least.seconds > MIN_SECONDS
    }

    fn is_slow(&self) -> bool {
        self.time_ratio() > MAX_RATIO && self.is_measured()
    }

    /// Whether no more than the machine's memory makes it slow.
    fn is_explained(&self) -> bool {
        self.instructions.is_some_and(|ratio| ratio <= MAX_RATIO)
    }

    fn is_large(&self) -> bool {
        self.memory_ratio() > MAX_RATIO && self.twice.memory.saturating_sub(self.least.memory) > MIN_MEMORY
    }

    fn is_flagged(&self) -> bool {
        self.is_slow() && !self.is_explained() || self.is_large() || self.twice.failed
    }

    /// How bad it is, for comparison.
    fn rank(&self) -> (bool, bool, f64) {
        (self.is_flagged(), self.is_measured(), self.time_ratio().max(self.memory_ratio()))
    }

    fn print(&self, construct: &Construct, command: &str) {
        let mark = match () {
            () if self.is_flagged() => '!',
            () if self.is_slow() => '~',
            () => ' ',
        };
        let instructions = self.instructions.map_or(String::new(), |ratio| format!("{ratio:>6.2}"));
        let megabytes = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        println!(
            "{mark} {:<58} {command:<12} {:>9} {:>10} {:>8.3} {:>8.3} {:>5.2} {:>7.1} {:>7.1} {:>5.2}{instructions}{}",
            construct.name,
            self.n,
            self.bytes,
            self.once.seconds,
            self.twice.seconds,
            self.time_ratio(),
            megabytes(self.once.memory),
            megabytes(self.twice.memory),
            self.memory_ratio(),
            if self.twice.failed { "  FAILED" } else { "" },
        );
    }
}

/// The pair that grew most.
fn growth(program: &Path, folder: &Path, construct: &Construct, command: &str, max_bytes: usize) -> Growth {
    let cost = |n: usize| run(program, folder, construct, n, command);
    let least = cost(1).1;
    let mut n = construct.repetitions(FIRST_BYTES.min(max_bytes));
    let (_, mut once) = cost(n);
    let mut worst: Option<Growth> = None;
    loop {
        let (bytes, twice) = cost(2 * n);
        let mut growth = Growth { n: 2 * n, bytes, once, twice, least, instructions: None };
        // Other programs on the machine may have disturbed one of the two.
        let is_long = twice.seconds > LONG_SECONDS;
        for _ in 0..if is_long { MAX_LONG_REPETITIONS } else { MAX_REPETITIONS } {
            if !growth.is_slow() && !growth.is_large() || twice.failed {
                break;
            }
            growth.once = growth.once.least(cost(n).1);
            growth.twice = growth.twice.least(cost(2 * n).1);
        }
        if growth.is_slow() && !twice.failed {
            let halved = (growth.twice.seconds / MAX_COUNTED_SECONDS).log2().ceil().max(0.0) as u32;
            let count = |n: usize| instructions(program, folder, construct, n, command);
            let counted =
                || Some((count(1)?, count((n >> halved).max(1))?, count(((2 * n) >> halved).max(2))?));
            growth.instructions = counted().map(|(least, once, twice)| {
                twice.saturating_sub(least) as f64 / once.saturating_sub(least).max(1) as f64
            });
        }
        let long_enough = twice.seconds - least.seconds >= 2.0 * MIN_SECONDS;
        let last = twice.failed || 2 * bytes > max_bytes || (long_enough && max_bytes <= QUICK_BYTES);
        // Later pairs are larger, and so more precise.
        if worst.as_ref().is_none_or(|worst| worst.rank() <= growth.rank() || !worst.is_measured()) {
            worst = Some(growth);
        }
        match worst {
            Some(worst) if last => return worst,
            _ => (n, once) = (2 * n, twice),
        }
    }
}
