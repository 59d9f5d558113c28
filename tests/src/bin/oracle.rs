//! Compares the instruction table with NVIDIA's assembler: `oracle [--seed N] [--count PROBES-PER-PAIR]
//! [--pair sm_90a,8.3]…`. Ends with status 1 where the two disagree more often than allowed.

use std::process::ExitCode;

use ptx_tests::oracle::{PAIRS, Pair, run};
use ptx_tests::tools::{ptxas, skipped};

fn main() -> ExitCode {
    let (mut seed, mut count, mut pairs) = (1, 20_000, Vec::new());
    let mut arguments = std::env::args().skip(1);
    while let Some(argument) = arguments.next() {
        let value = arguments.next().unwrap_or_default();
        match argument.as_str() {
            "--seed" => seed = value.parse().unwrap_or(seed),
            "--count" => count = value.parse().unwrap_or(count),
            "--pair" => {
                pairs
                    .extend(value.split_once(',').and_then(|(target, version)| Pair::parse(target, version)));
            }
            _ => {
                eprintln!("unknown argument `{argument}`");
                return ExitCode::from(2);
            }
        }
    }
    if pairs.is_empty() {
        pairs.extend(PAIRS.iter().filter_map(|(target, version)| Pair::parse(target, version)));
    }
    let Some(ptxas) = ptxas() else {
        skipped("the comparison with ptxas; tests/install-toolkit.sh installs it");
        return ExitCode::SUCCESS;
    };
    match run(ptxas, seed, count, &pairs) {
        Ok(report) => {
            println!("{report}");
            ExitCode::from(u8::from(
                report.accepted.len() * 1000 > report.illegal || !report.refused.is_empty(),
            ))
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(2)
        }
    }
}
