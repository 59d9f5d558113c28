//! Holds the verifier against executions of kernels made at random.
//!
//! ```text
//! judge [--count N] [--seed S] [--examples N] [--executions N] [--out FOLDER] [--print] [FILE…]
//! ```
//!
//! Prints for each rule how many findings an execution shows, by severity, and for each family how many kernels have a
//! fault that nothing is said of. `--examples 3` prints three small kernels of each kind of disagreement, or writes them
//! into the folder. `--print` only prints the kernels, as one module. Files are judged instead of kernels made here; each has one kernel with the parameters
//! `in, out, a, b, c`.

use std::collections::BTreeMap;
use std::process::ExitCode;

use ptx_syntax::Severity;
use ptx_tests::judge::{Effort, Family, Judgement, Shown, judge, reduced};
use ptx_tests::random_kernel::{module, text as random_text};
use ptx_tests::tools::on_all_cores;

struct Options {
    count: u64,
    seed: u64,
    examples: usize,
    print: bool,
    effort: Effort,
    out: Option<String>,
    files: Vec<String>,
}

fn options() -> Option<Options> {
    let mut options = Options {
        count: 200,
        seed: 0,
        examples: 0,
        print: false,
        effort: Effort::default(),
        out: None,
        files: Vec::new(),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--count" => options.count = arguments.next()?.parse().ok()?,
            "--seed" => options.seed = arguments.next()?.parse().ok()?,
            "--examples" => options.examples = arguments.next()?.parse().ok()?,
            "--executions" => options.effort.most = arguments.next()?.parse().ok()?,
            "--print" => options.print = true,
            "--out" => options.out = Some(arguments.next()?),
            flag if flag.starts_with("--") => return None,
            file => options.files.push(file.to_owned()),
        }
    }
    Some(options)
}

/// How a kernel and its findings disagree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Disagreement {
    False(&'static str, Severity),
    Missed(Family),
}

fn disagreements(judgement: &Judgement) -> Vec<Disagreement> {
    let never = judgement.findings.iter().filter(|judged| judged.shown == Shown::Never);
    let mut found: Vec<Disagreement> =
        never.map(|judged| Disagreement::False(judged.finding.rule, judged.finding.severity)).collect();
    found.extend(judgement.missed.iter().map(|family| Disagreement::Missed(*family)));
    found.sort();
    found.dedup();
    found
}

/// Whether a text still is a kernel, and shows the disagreement.
fn disagrees(text: &str, wanted: Disagreement, before: &Judgement) -> bool {
    let effort = match wanted {
        Disagreement::False(..) => Effort { first: 4, most: 60 },
        Disagreement::Missed(_) => Effort { first: 16, most: 16 },
    };
    if !text.contains(".visible .entry") || !text.trim_end().ends_with('}') {
        return false;
    }
    let judgement = judge(text, effort);
    // Without the line that sets a register, every read of it is a disagreement of another kind.
    let count = |judgement: &Judgement, rule: &str| {
        judgement.findings.iter().filter(|judged| judged.finding.rule == rule).count()
    };
    let no_more = |rule| count(&judgement, rule) <= count(before, rule);
    judgement.invalid.is_empty()
        && judgement.unknown.is_empty()
        && judgement.findings.iter().all(|each| no_more(each.finding.rule))
        && judgement.faulty.is_subset(&before.faulty)
        && disagreements(&judgement).contains(&wanted)
}

fn main() -> ExitCode {
    let Some(options) = options() else {
        eprintln!(
            "usage: judge [--count N] [--seed S] [--examples N] [--executions N] [--out FOLDER] [--print] [FILE...]"
        );
        return ExitCode::from(2);
    };
    let mut texts: Vec<(String, String)> = Vec::new();
    for file in &options.files {
        match std::fs::read_to_string(file) {
            Ok(text) => texts.push((file.clone(), text)),
            Err(error) => {
                eprintln!("{file}: {error}");
                return ExitCode::from(2);
            }
        }
    }
    if texts.is_empty() {
        let seeds = options.seed..options.seed + options.count;
        texts = seeds.map(|seed| (format!("seed {seed}"), random_text(seed))).collect();
    }
    // Before the work of minutes, not after it.
    if let Some(folder) = &options.out
        && let Err(error) = std::fs::create_dir_all(folder)
    {
        eprintln!("{folder}: {error}");
        return ExitCode::from(2);
    }
    if options.print {
        let seeds = options.seed..options.seed + options.count;
        print!("{}", module(seeds));
        return ExitCode::SUCCESS;
    }
    let all: Vec<(String, String, Judgement)> =
        on_all_cores(&texts, |(name, text)| (name.clone(), text.clone(), judge(text, options.effort)));
    if !options.files.is_empty() {
        for (name, _, judgement) in &all {
            println!("{name}");
            for fault in &judgement.described {
                println!("  shown: {fault}");
            }
            for judged in &judgement.findings {
                println!(
                    "  {:?}: {} line {}: {}",
                    judged.shown, judged.finding.rule, judged.lines[0], judged.finding.message
                );
            }
        }
    }
    table(&all);
    examples(&all, &options);
    ExitCode::SUCCESS
}

type Kernels = [(String, String, Judgement)];

fn table(all: &Kernels) {
    let mut rules: BTreeMap<(&str, &str), [usize; 6]> = BTreeMap::new();
    let mut others: BTreeMap<&str, usize> = BTreeMap::new();
    for (name, text, judgement) in all {
        for judged in &judgement.findings {
            let counts = rules.entry((judged.finding.rule, judged.finding.severity.as_str())).or_default();
            counts[judged.shown as usize] += 1;
        }
        for rule in &judgement.others {
            *others.entry(rule).or_default() += 1;
        }
        if !judgement.invalid.is_empty() || !judgement.unknown.is_empty() {
            println!("{name} is no kernel: {:?} {:?}\n{text}", judgement.invalid, judgement.unknown);
        }
    }
    println!("{} kernels\n", all.len());
    println!(
        "{:<32} {:<8} {:>6} {:>9} {:>8} {:>5} {:>9} {:>6}  false",
        "findings of", "level", "shown", "elsewhere", "doubtful", "open", "unreached", "never"
    );
    for ((rule, level), [here, elsewhere, doubtful, open, unreached, never]) in &rules {
        let decided = here + elsewhere + doubtful + never;
        let percent = *never as f64 * 100.0 / decided.max(1) as f64;
        println!(
            "{rule:<32} {level:<8} {here:>6} {elsewhere:>9} {doubtful:>8} {open:>5} {unreached:>9} {never:>6}  {percent:.1} %"
        );
    }
    for (rule, count) in others {
        println!("{rule:<32} not judged: {count}");
    }
    println!("\n{:<32} {:>6} {:>7}", "kernels that show a fault of", "faulty", "missed");
    for family in Family::ALL {
        let faulty = all.iter().filter(|each| each.2.faulty.contains(&family)).count();
        let missed = all.iter().filter(|each| each.2.missed.contains(&family)).count();
        let percent = missed as f64 * 100.0 / faulty.max(1) as f64;
        println!("{:<32} {faulty:>6} {missed:>7}  {percent:.1} %", format!("{family:?}"));
    }
}

fn examples(all: &Kernels, options: &Options) {
    let mut wanted: BTreeMap<Disagreement, Vec<&(String, String, Judgement)>> = BTreeMap::new();
    for kernel in all {
        for disagreement in disagreements(&kernel.2) {
            let taken = wanted.entry(disagreement).or_default();
            if taken.len() < options.examples {
                taken.push(kernel);
            }
        }
    }
    let jobs: Vec<(Disagreement, &(String, String, Judgement))> = wanted
        .into_iter()
        .flat_map(|(what, kernels)| kernels.into_iter().map(move |kernel| (what, kernel)))
        .collect();
    on_all_cores(&jobs, |(what, (name, text, judgement))| {
        let small = reduced(text, |candidate| disagrees(candidate, *what, judgement));
        let title = match what {
            Disagreement::False(rule, severity) => format!("false-{}-{rule}", severity.as_str()),
            Disagreement::Missed(family) => format!("missed-{family:?}").to_lowercase(),
        };
        let judgement = judge(&small, Effort::default());
        let mut about = format!("// {title}, {name}\n");
        for fault in judgement.described.iter().take(4) {
            about += &format!("// shown: {fault}\n");
        }
        for judged in &judgement.findings {
            about += &format!(
                "// {:?}: {} line {}: {}\n",
                judged.shown, judged.finding.rule, judged.lines[0], judged.finding.message
            );
        }
        match &options.out {
            None => println!("\n{about}{small}"),
            Some(folder) => {
                let file = format!("{folder}/{title}-{}.ptx", name.replace(' ', ""));
                // The lines that the comments name are those of the kernel alone, so they come last.
                if let Err(error) = std::fs::write(&file, format!("{small}{about}")) {
                    eprintln!("{file}: {error}");
                }
            }
        }
    });
}
