//! How fast the toolkit is, beside `ptxas` on the same files in the same run.
//!
//! ```text
//! cargo bench -p ptx-tests [-- [MEGABYTES] [FILE…]]
//! ```
//!
//! Three texts of 20 MB (see `ptx_tests::workload`), or the given files. Each step runs in a process of its own, on
//! one core where `taskset` is there, five times; shown is the best time on the processor (the time on the clock
//! where the system does not tell), which other programs disturb least, and the most memory the process had, as bytes
//! for each byte of the text (the text itself is one of them).
//! `ptxas -arch=compute_…` only parses and checks, as `verify` does.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use ptx_tests::tools::{ptxas, root, skipped};
use ptx_tests::workload::{self, Manner};

/// What is measured; each step includes what it needs of the ones before.
const STEPS: [&str; 6] = ["lex", "parse", "lower", "verify", "format", "canonical"];

/// How often a step runs in one process, and how often `ptxas` runs.
const TIMES: usize = 5;

/// Set in the process that measures one step.
const STEP: &str = "PTX_BENCH_STEP";

fn main() {
    let arguments: Vec<String> =
        std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    if let Ok(step) = std::env::var(STEP) {
        return measure(&step, Path::new(&arguments[0]));
    }
    let megabytes = arguments.first().and_then(|number| number.parse().ok());
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut files: Vec<PathBuf> =
        arguments.iter().skip(usize::from(megabytes.is_some())).map(PathBuf::from).collect();
    if files.is_empty() {
        for manner in Manner::ALL {
            let file = folder.path().join(format!("{}.ptx", manner.name()));
            std::fs::write(&file, workload::text(manner, megabytes.unwrap_or(20) * 1_000_000, 1))
                .expect("room");
            files.push(file);
        }
    }
    if ptxas().is_none() {
        skipped("the comparison with ptxas; tests/install-toolkit.sh installs it");
    }
    for file in &files {
        report(file);
    }
    small(folder.path());
}

/// Runs one step of the library some times and prints the best seconds and the peak memory in bytes.
fn measure(step: &str, file: &Path) {
    let text = std::fs::read_to_string(file).expect("the file is readable");
    let mut best = f64::INFINITY;
    for _ in 0..TIMES {
        let (start, before) = (Instant::now(), processor_time("self"));
        run(step, &text);
        let elapsed = start.elapsed().as_secs_f64();
        best = best.min(processor_time("self").zip(before).map_or(elapsed, |(after, before)| after - before));
    }
    println!("{best} {}", peak_memory("self").unwrap_or(0));
}

fn run(step: &str, text: &str) {
    use std::hint::black_box;
    match step {
        "lex" => drop(black_box(ptx_syntax::lexer::Lexer::new(text).count())),
        "parse" => drop(black_box(ptx_syntax::parse(text))),
        "lower" => {
            let parse = ptx_syntax::parse(text);
            drop(black_box(ptx_ir::lower::lower(&parse.tree, text)));
        }
        "verify" => drop(black_box(ptx_verify::check(text, &ptx_verify::Config::default()))),
        "format" => drop(black_box(ptx_emit::format(text))),
        "canonical" => {
            let parse = ptx_syntax::parse(text);
            let lowered = ptx_ir::lower::lower(&parse.tree, text);
            drop(parse);
            drop(black_box(ptx_emit::canonical(&lowered.module)));
        }
        _ => panic!("no step `{step}`"),
    }
}

/// What a step took.
#[derive(Clone, Copy)]
struct Cost {
    seconds: f64,
    memory: u64,
}

fn report(file: &Path) {
    let bytes = file.metadata().expect("the file is there").len();
    let name = file
        .file_name()
        .map_or_else(|| file.display().to_string(), |name| name.to_string_lossy().into_owned());
    println!("\n{name}, {:.1} MB", bytes as f64 / 1e6);
    let judge = ptxas_cost(file);
    let costs: BTreeMap<&str, Cost> = STEPS.into_iter().map(|step| (step, step_cost(step, file))).collect();
    println!("  {:<10} {:>9} {:>9} {:>9} {:>12}", "step", "seconds", "MB/s", "bytes/B", "times ptxas");
    let line = |step: &str, cost: Cost| {
        let ratio = judge.map_or_else(String::new, |judge| format!("{:.1}", judge.seconds / cost.seconds));
        let (rate, memory) = (bytes as f64 / 1e6 / cost.seconds, cost.memory as f64 / bytes as f64);
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
    let mut best: Option<Cost> = None;
    for _ in 0..2 {
        let child = on_one_core(ptxas()?).arg("-arch=compute_80").arg(file).spawn();
        let cost = wait(child.ok()?)?;
        if best.is_none_or(|best| cost.seconds < best.seconds) {
            best = Some(cost);
        }
    }
    best
}

/// Waits for a process that succeeds; time and memory as they were seen last, some milliseconds before its end.
fn wait(mut child: Child) -> Option<Cost> {
    let start = Instant::now();
    let id = child.id().to_string();
    let mut cost = Cost { seconds: 0.0, memory: 0 };
    loop {
        let elapsed = start.elapsed().as_secs_f64();
        cost.seconds = processor_time(&id).unwrap_or(elapsed).max(cost.seconds);
        cost.memory = peak_memory(&id).unwrap_or(0).max(cost.memory);
        if let Some(status) = child.try_wait().ok()? {
            return status.success().then_some(cost);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
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
