//! How fast the toolkit is, beside `ptxas` on the same files in the same run.
//!
//! ```text
//! cargo bench -p ptx-tests --bench speed [-- [--stages] [--threads] [MEGABYTES] [FILE…]]
//! ```
//!
//! First the PTX of popular libraries (see `ptx_tests::wheels`), then three texts of 20 MB (see
//! `ptx_tests::workload`); or the given files. Each step runs in a process of its own, on one core where `taskset` is
//! there, some times; shown is the best time on the processor (the time on the clock where the system does not tell),
//! which other programs disturb least, and the most memory the process of `verify` had, as bytes for each byte of the text (the
//! text itself is one of them). `ptxas -arch=compute_…` only parses and checks, as `verify` does; it is compared with the
//! whole program, from its start to its end.
//!
//! `--stages` shows for each file where the time goes, and which rules cost most. `--threads` shows how long `verify`
//! takes on the clock with more and more threads.

#[cfg(unix)]
#[path = "common/process.rs"]
mod process;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use ptx_ir::lower;
use ptx_syntax::BodyParser;
use ptx_tests::tools::{ptxas, root, skipped};
use ptx_tests::wheels;
use ptx_tests::workload::{self, Manner};
use ptx_verify::{Config, Level};

/// That of the program, which is measured, too.
#[global_allocator]
static ALLOCATOR: ptx_cli::memory::LargePages = ptx_cli::memory::LargePages;

/// What is measured; each step includes what it needs of the ones before.
const STEPS: [&str; 6] = ["lex", "parse", "lower", "verify", "format", "canonical"];

/// What is the whole program, from its start to its end.
const PROGRAM: &str = "program";

/// How often a step runs in one process, and how often the program runs.
const TIMES: usize = 5;

/// How often `ptxas` runs.
const JUDGEMENTS: usize = 2;

/// How many rules `--stages` shows.
const SHOWN_RULES: usize = 10;

/// Set in the process that measures one step.
const STEP: &str = "PTX_BENCH_STEP";

fn main() {
    let (flags, arguments): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|argument| argument.starts_with("--"));
    if let Ok(step) = std::env::var(STEP) {
        if step == PROGRAM {
            let arguments = ["ptx-cli", "verify", "--jobs", "1", &arguments[0]];
            let exit = ptx_cli::main_with(arguments.into_iter().map(Into::into));
            assert!(!matches!(exit, ptx_cli::Exit::Failed), "findings are no failure");
            return;
        }
        return measure(&step, Path::new(&arguments[0]));
    }
    let has = |flag: &str| flags.iter().any(|each| each == flag);
    let megabytes = arguments.first().and_then(|number| number.parse().ok());
    let given: Vec<PathBuf> =
        arguments.iter().skip(usize::from(megabytes.is_some())).map(PathBuf::from).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    let (real, made) = if given.is_empty() {
        let real = wheels::files(|what| skipped(&what));
        (real, made(folder.path(), megabytes.unwrap_or(20)))
    } else {
        (given, Vec::new())
    };
    if ptxas().is_none() {
        skipped("the comparison with ptxas; tests/install-toolkit.sh installs it");
    }
    let both = || real.iter().chain(&made);
    if has("--stages") {
        both().for_each(|file| stages(file));
        return;
    }
    if has("--threads") {
        both().for_each(|file| threads(file));
        return;
    }
    if !real.is_empty() {
        table(&real);
    }
    for file in &made {
        report(file);
    }
    small(folder.path());
}

/// The texts that are made for the benchmark.
fn made(folder: &Path, megabytes: usize) -> Vec<PathBuf> {
    let make = |manner: Manner| {
        let file = folder.join(format!("{}.ptx", manner.name()));
        std::fs::write(&file, workload::text(manner, megabytes * 1_000_000, 1)).expect("room");
        file
    };
    Manner::ALL.map(make).into()
}

/// Runs one step of the library some times and prints the best seconds and the peak memory in bytes.
fn measure(step: &str, file: &Path) {
    let text = read(file);
    let best = best_of(|| run(step, &text));
    println!("{best} {}", peak_memory("self").unwrap_or(0));
}

fn read(file: &Path) -> String {
    std::fs::read_to_string(file).expect("the file is readable")
}

/// The least seconds that a run was on the processor. Short runs are measured together: the system counts in steps of
/// some milliseconds.
fn best_of(run: impl Fn()) -> f64 {
    const LEAST: f64 = 0.05;
    let start = Instant::now();
    run();
    let together = (LEAST / start.elapsed().as_secs_f64().max(1e-6)).ceil().max(1.0);
    let once = |_| {
        let (start, before) = (Instant::now(), processor_time("self"));
        (0..together as usize).for_each(|_| run());
        let elapsed = start.elapsed().as_secs_f64();
        let used = processor_time("self").zip(before).map_or(elapsed, |(after, before)| after - before);
        used / together
    };
    (0..TIMES).map(once).fold(f64::INFINITY, f64::min)
}

fn run(step: &str, text: &str) {
    use std::hint::black_box;
    match step {
        "lex" => drop(black_box(ptx_syntax::lexer::Lexer::new(text).count())),
        "parse" => parse_in_pieces(text),
        "lower" => lower_in_pieces(text),
        "verify" => drop(black_box(ptx_verify::check(text, &Config::default()))),
        "format" => drop(black_box(ptx_emit::format(text))),
        "canonical" => {
            let parse = ptx_syntax::parse(text);
            let lowered = lower::lower(&parse.tree, text);
            drop(parse);
            drop(black_box(ptx_emit::canonical(&lowered.module)));
        }
        _ => panic!("no step `{step}`"),
    }
}

/// Parses a text as `verify` does: its items, then each body in the same memory.
fn parse_in_pieces(text: &str) {
    let tree = ptx_syntax::outline(text).expect("the text parses");
    let mut parser = BodyParser::default();
    for body in tree.functions.iter().filter_map(|function| function.body) {
        std::hint::black_box(parser.parse(text, body.span).expect("the body parses"));
    }
}

/// Parses and lowers a text as `verify` does.
fn lower_in_pieces(text: &str) {
    let tree = ptx_syntax::outline(text).expect("the text parses");
    let declared = lower::declarations(&tree, text).expect("the header is at the head");
    drop(tree);
    let mut parser = BodyParser::default();
    let mut lowering = lower::BodyLowering::new(&declared, text);
    for (index, function) in declared.functions().enumerate() {
        let body = declared.module().functions[function].body.as_ref().expect("it has a body");
        let parsed = parser.parse(text, body.span).expect("the body parses");
        std::hint::black_box(lowering.lower(index, parsed));
    }
}

/// What a step took.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    memory: u64,
}

fn size(file: &Path) -> f64 {
    file.metadata().expect("the file is there").len() as f64
}

fn name(file: &Path) -> String {
    file.file_name().map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned())
}

/// One line for each file: nanoseconds a byte of each stage by itself, and how much faster than `ptxas` all are.
fn table(files: &[PathBuf]) {
    println!(
        "\n{:<22} {:>6} {:>7} {:>7} {:>7} {:>7} {:>8} {:>8} {:>8} {:>7} {:>12}",
        "ns/B",
        "MB",
        "tokens",
        "parse",
        "lower",
        "rules",
        "verify",
        "program",
        "ptxas",
        "bytes/B",
        "times ptxas"
    );
    let mut ratios = Vec::new();
    for file in files {
        let bytes = size(file);
        let [lex, parse, lower, verify] =
            ["lex", "parse", "lower", "verify"].map(|step| step_cost(step, file));
        let per_byte = |seconds: f64| seconds * 1e9 / bytes;
        let rest = |whole: Cost, part: Cost| per_byte((whole.seconds - part.seconds).max(0.0));
        let judge = ptxas_cost(file);
        let program = program_cost(file);
        let ratio = judge.map(|judge| judge.seconds / program.seconds);
        ratios.extend(ratio);
        let shown =
            |number: Option<f64>| number.map_or_else(|| "-".to_owned(), |number| format!("{number:.1}"));
        println!(
            "{:<22} {:>6.1} {:>7.2} {:>7.2} {:>7.2} {:>7.2} {:>8.2} {:>8.2} {:>8} {:>7.1} {:>12}",
            name(file),
            bytes / 1e6,
            per_byte(lex.seconds),
            rest(parse, lex),
            rest(lower, parse),
            rest(verify, lower),
            per_byte(verify.seconds),
            per_byte(program.seconds),
            shown(judge.map(|judge| per_byte(judge.seconds))),
            // Linux counts for a program what the process that starts it had before.
            verify.memory as f64 / bytes,
            shown(ratio),
        );
    }
    if !ratios.is_empty() {
        let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
        let worst = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        println!("times ptxas: geometric mean {mean:.1}, least {worst:.1}, {} files", ratios.len());
    }
}

/// Where the time of a file goes.
fn stages(file: &Path) {
    let text = read(file);
    let per_byte = |seconds: f64| seconds * 1e9 / text.len() as f64;
    println!("\n{}, {:.1} MB, ns/B", name(file), text.len() as f64 / 1e6);
    let line = |stage: &str, seconds: f64| println!("  {stage:<40} {:>7.2}", per_byte(seconds));
    let of_step = |step: &str| best_of(|| run(step, &text));
    let (lex, parse, lower, verify) = (of_step("lex"), of_step("parse"), of_step("lower"), of_step("verify"));
    let with = |config: &Config| best_of(|| drop(std::hint::black_box(ptx_verify::check(&text, config))));
    let mut none = Config::default();
    for rule in ptx_verify::rules() {
        none.levels.set(rule.name, Level::Allow).expect("the rule is there");
    }
    let without = with(&none);
    line("tokens", lex);
    line("tree, without the tokens", parse - lex);
    line("lowering", lower - parse);
    line("instructions, suppressions", without - lower);
    line("rules, with their analyses", verify - without);
    line("all", verify);
    let mut alone: Vec<(f64, &str)> = Vec::new();
    for rule in ptx_verify::rules() {
        let mut one = none.clone();
        one.levels.set(rule.name, Level::Error).expect("the rule is there");
        alone.push((with(&one) - without, rule.name));
    }
    alone.sort_by(|one, other| other.0.total_cmp(&one.0));
    println!("  alone, with the analyses that it needs:");
    for (seconds, rule) in alone.into_iter().take(SHOWN_RULES) {
        line(&format!("  {rule}"), seconds);
    }
}

/// How long `verify` takes on the clock, by the number of threads.
fn threads(file: &Path) {
    let text = read(file);
    println!("\n{}, {:.1} MB", name(file), text.len() as f64 / 1e6);
    println!("  {:>7} {:>9} {:>9} {:>9}", "threads", "seconds", "MB/s", "times one");
    let most = std::thread::available_parallelism().map_or(1, usize::from);
    let mut first = None;
    for threads in (0..).map(|power| 1 << power).take_while(|&threads| threads <= most) {
        let config = Config { threads, ..Config::default() };
        let once = |_| {
            let start = Instant::now();
            drop(std::hint::black_box(ptx_verify::check(&text, &config)));
            start.elapsed().as_secs_f64()
        };
        let seconds = (0..TIMES).map(once).fold(f64::INFINITY, f64::min);
        let times = *first.get_or_insert(seconds) / seconds;
        println!("  {threads:>7} {seconds:>9.3} {:>9.1} {times:>9.1}", text.len() as f64 / 1e6 / seconds);
    }
}

fn report(file: &Path) {
    let bytes = size(file);
    println!("\n{}, {:.1} MB", name(file), bytes / 1e6);
    let judge = ptxas_cost(file);
    let costs: BTreeMap<&str, Cost> = STEPS.into_iter().map(|step| (step, step_cost(step, file))).collect();
    println!("  {:<10} {:>9} {:>9} {:>9} {:>12}", "step", "seconds", "MB/s", "bytes/B", "times ptxas");
    let line = |step: &str, cost: Cost| {
        let ratio = judge.map_or_else(String::new, |judge| format!("{:.1}", judge.seconds / cost.seconds));
        let (rate, memory) = (bytes / 1e6 / cost.seconds, cost.memory as f64 / bytes);
        println!("  {step:<10} {:>9.3} {rate:>9.1} {memory:>9.1} {ratio:>12}", cost.seconds);
    };
    for step in STEPS {
        line(step, costs[step]);
    }
    if let Some(judge) = judge {
        line("ptxas", judge);
    }
}

/// Measures a step in a process of its own.
fn step_cost(step: &str, file: &Path) -> Cost {
    let this = std::env::current_exe().expect("the path of this program");
    let output = on_one_core(&this).env(STEP, step).arg(file).output().expect("this program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let mut numbers = text.split_whitespace();
    let seconds = numbers.next().and_then(|number| number.parse().ok());
    let memory = numbers.next().and_then(|number| number.parse().ok());
    let (Some(seconds), Some(memory)) = (seconds, memory) else {
        panic!("`{step}` of {} failed: {}", file.display(), String::from_utf8_lossy(&output.stderr));
    };
    Cost { seconds, memory }
}

/// The command, held on one core where that can be asked for.
fn on_one_core(program: &Path) -> Command {
    let pinned = Command::new("taskset").args(["-c", "0", "true"]).stderr(Stdio::null()).status();
    if pinned.is_ok_and(|status| status.success()) {
        let mut command = Command::new("taskset");
        command.args(["-c", "0"]).arg(program);
        return command;
    }
    Command::new(program)
}

/// Parses and checks the file with `ptxas`; none where there is none, or where it refuses the file.
fn ptxas_cost(file: &Path) -> Option<Cost> {
    let target = target(&read(file)).replace("sm_", "compute_");
    let ptxas = ptxas()?;
    best_process(JUDGEMENTS, || {
        let mut command = on_one_core(ptxas);
        command.arg(format!("-arch={target}")).arg(file);
        command
    })
}

/// Verifies the file with the program.
fn program_cost(file: &Path) -> Cost {
    let this = std::env::current_exe().expect("the path of this program");
    let run = || {
        let mut command = on_one_core(&this);
        command.env(STEP, PROGRAM).arg(file);
        command
    };
    best_process(TIMES, run).unwrap_or_else(|| panic!("{} cannot be verified", file.display()))
}

/// The least that a process took of some like it; none where it fails.
fn best_process(times: usize, command: impl Fn() -> Command) -> Option<Cost> {
    let mut best: Option<Cost> = None;
    for _ in 0..times {
        let child = command().stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let cost = wait(child)?;
        if best.is_none_or(|best| cost.seconds < best.seconds) {
            best = Some(cost);
        }
    }
    best
}

/// The target that a text names.
fn target(text: &str) -> String {
    let rest = text.split_once(".target").map_or("", |(_, rest)| rest);
    let end = |letter: char| !letter.is_ascii_alphanumeric() && letter != '_';
    rest.trim_start().split(end).next().unwrap_or("").to_owned()
}

/// Waits for a process that succeeds.
#[cfg(unix)]
fn wait(child: Child) -> Option<Cost> {
    let usage = process::ended(&child, true)?;
    (usage.status == 0).then_some(Cost { seconds: usage.seconds, memory: usage.memory })
}

/// Elsewhere only the time on the clock is known.
#[cfg(not(unix))]
fn wait(mut child: Child) -> Option<Cost> {
    let start = Instant::now();
    child.wait().ok()?.success().then(|| Cost { seconds: start.elapsed().as_secs_f64(), memory: 0 })
}

/// Seconds that the first thread of a process was on a processor, where the system tells.
fn processor_time(process: &str) -> Option<f64> {
    let times = std::fs::read_to_string(format!("/proc/{process}/schedstat")).ok()?;
    Some(times.split_whitespace().next()?.parse::<u64>().ok()? as f64 / 1e9)
}

/// The most memory that a process had, in bytes, where the system tells.
fn peak_memory(process: &str) -> Option<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().strip_suffix(" kB")?.trim().parse::<u64>().ok()? * 1024)
}

/// A file of 2 kB from the start of the program to its end.
fn small(folder: &Path) {
    let file = folder.join("small.ptx");
    std::fs::write(&file, workload::text(Manner::Kernels, 1_000, 1)).expect("room");
    let bytes = file.metadata().expect("it was written").len();
    println!("\nstart to finish, {bytes} bytes");
    let release = root().join("target/release/ptx-cli");
    if release.is_file() {
        start_to_finish("ptx-cli", Command::new(release).arg("verify").arg(&file));
    } else {
        skipped("the start of ptx-cli; `cargo build --release -p ptx-cli` builds it");
    }
    if let Some(ptxas) = ptxas() {
        start_to_finish("ptxas", Command::new(ptxas).arg("-arch=compute_80").arg(&file));
    }
}

fn start_to_finish(name: &str, command: &mut Command) {
    let run = |_| {
        let start = Instant::now();
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
        status.is_ok_and(|status| status.success()).then(|| start.elapsed().as_secs_f64() * 1e3)
    };
    match (0..20).map(run).collect::<Option<Vec<f64>>>() {
        Some(times) => println!("  {name:<10} {:>9.1} ms", times.into_iter().fold(f64::INFINITY, f64::min)),
        None => println!("  {name:<10} failed"),
    }
}
