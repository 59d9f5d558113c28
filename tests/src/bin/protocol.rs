//! Holds the asynchronous rules against kernels whose protocol has one fault, and against their clean twins.
//!
//! ```text
//! protocol [--dump FOLDER] [--only TEXT] [--print]
//! ```
//!
//! Prints for each fault how many kernels with it have a finding within three lines of it, and each clean kernel with a
//! finding. `--dump` writes the kernels into a folder, `--print` what is missed or found elsewhere.

use std::collections::BTreeMap;
use std::process::ExitCode;

use ptx_tests::protocol::{Planted, Verdict, all, verdict};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| {
        let at = arguments.iter().position(|argument| argument == name)?;
        arguments.get(at + 1).cloned()
    };
    let only = value("--only").unwrap_or_default();
    let print = arguments.iter().any(|argument| argument == "--print");
    let mut rows: BTreeMap<&str, [u32; 3]> = BTreeMap::new();
    let (mut clean, mut false_ones) = (0, 0);
    let kernels: Vec<Planted> = all().into_iter().filter(|kernel| kernel.title().contains(&only)).collect();
    for (index, kernel) in kernels.iter().enumerate() {
        if let Some(folder) = value("--dump") {
            let path = format!("{folder}/{index:03}.ptx");
            if let Err(error) =
                std::fs::write(&path, format!("// {}, line {}\n{}", kernel.title(), kernel.line, kernel.text))
            {
                eprintln!("{path}: {error}");
                return ExitCode::from(2);
            }
        }
        let verdict = verdict(kernel);
        match (kernel.fault, &verdict) {
            (None, Verdict::Silent) => clean += 1,
            (None, _) => {
                (clean, false_ones) = (clean + 1, false_ones + 1);
                println!("FALSE {}: {verdict}", kernel.title());
            }
            (Some(fault), verdict) => {
                let column = match verdict {
                    Verdict::Found => 0,
                    Verdict::Elsewhere(_) => 1,
                    Verdict::Silent => 2,
                };
                rows.entry(fault).or_default()[column] += 1;
                if print && column > 0 {
                    println!("{index:03} {}, line {}: {verdict}", kernel.title(), kernel.line);
                }
            }
        }
    }
    let mut sums = [0; 3];
    for (fault, counts) in &rows {
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        println!("{:4} near {:4} elsewhere {:4} silent  {fault}", counts[0], counts[1], counts[2]);
    }
    println!(
        "{:4} near {:4} elsewhere {:4} silent; {false_ones} of {clean} clean kernels with findings",
        sums[0], sums[1], sums[2]
    );
    ExitCode::SUCCESS
}
