//! The asynchronous rules on kernels of CUDA C++, which are translated for them, and on those of PTX that call functions:
//! `tests/protocols` with the faults that the heads list, each one replaced text.

use std::fs;
use std::path::Path;

use ptx_ir::target::Target;
use ptx_syntax::{Diagnostic, Severity};
use ptx_tests::tools::on_all_cores;
use ptx_verify::{Config, CudaConfig, check, check_cuda};

/// A finding has to name a place so near to what was changed.
const NEAR: usize = 3;
/// Hostile input is read with this much stack.
const STACK: usize = 512 << 10;

struct Sample {
    name: String,
    text: String,
    /// What is replaced by what.
    faults: Vec<(String, String)>,
}

fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("protocols");
    let mut samples = Vec::new();
    for entry in fs::read_dir(folder).expect("the samples are there") {
        let path = entry.expect("the folder can be read").path();
        let text = fs::read_to_string(&path).expect("a sample can be read");
        let faults = text.lines().filter_map(|line| line.strip_prefix("// fault: ")).map(fault).collect();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        samples.push(Sample { name, text, faults });
    }
    samples.sort_by(|a, b| a.name.cmp(&b.name));
    assert!(samples.len() >= 8, "{} samples", samples.len());
    samples
}

/// `"old" => "new"`.
fn fault(line: &str) -> (String, String) {
    let mut strings = serde_json::Deserializer::from_str(line).into_iter::<String>();
    let old = strings.next().expect("what is replaced").expect("a string");
    let rest = line[strings.byte_offset()..].trim_start().strip_prefix("=>").expect("an arrow");
    (old, serde_json::from_str(rest.trim()).expect("a string"))
}

/// What a sample is verified for: one with tensor memory for a target that has it.
fn config_of(text: &str) -> CudaConfig {
    let targets = match text.contains("tcgen05") {
        true => vec![Target::parse("sm_100a").expect("a target")],
        false => Vec::new(),
    };
    CudaConfig { targets, ..CudaConfig::default() }
}

/// What all rules say of a sample, or of a change of it.
fn all_findings(name: &str, text: &str) -> Vec<Diagnostic> {
    match name.ends_with(".ptx") {
        true => check(text, &Config::default()),
        false => check_cuda(text, &config_of(text)),
    }
}

/// What the rules say about protocols, infos left out.
fn findings(name: &str, text: &str) -> Vec<Diagnostic> {
    let mut found = all_findings(name, text);
    found.retain(|each| each.code.starts_with("P09") && each.severity > Severity::Info);
    found
}

fn line(text: &str, at: u32) -> usize {
    text[..at as usize].matches('\n').count()
}

#[test]
fn clean_kernels_are_silent() {
    for sample in samples() {
        let found = findings(&sample.name, &sample.text);
        assert!(found.is_empty(), "{}: {found:#?}", sample.name);
        // Silent since it is followed, and not since it is not understood.
        let is_partial = |each: &&Diagnostic| {
            each.message.contains("is not followed")
                || sample.name.ends_with(".ptx") && each.rule == "protocol-not-analysed"
        };
        let all = all_findings(&sample.name, &sample.text);
        let unknown = all.iter().find(is_partial);
        assert!(unknown.is_none(), "{}: {unknown:#?}", sample.name);
    }
}

#[test]
fn faults_are_found_where_they_are() {
    let mut cases = Vec::new();
    for sample in samples() {
        let head = sample
            .text
            .rfind("// fault: ")
            .map_or(0, |last| last + sample.text[last..].find('\n').unwrap_or(0));
        for (old, new) in &sample.faults {
            let places: Vec<_> = sample.text[head..].match_indices(old.as_str()).collect();
            assert_eq!(places.len(), 1, "{}: {old:?} stands there {} times", sample.name, places.len());
            let at = head + places[0].0;
            let changed = format!("{}{new}{}", &sample.text[..at], &sample.text[at + old.len()..]);
            let lines = line(&sample.text, at as u32)..=line(&sample.text, (at + old.len()) as u32);
            cases.push((sample.name.clone(), old.clone(), changed, lines));
        }
    }
    assert!(cases.len() >= 150, "{} faults", cases.len());
    let near = on_all_cores(&cases, |(name, _, text, lines)| {
        let mut places = Vec::new();
        for found in findings(name, text) {
            places.push(line(text, found.span.start));
            places.extend(found.labels.iter().map(|label| line(text, label.span.start)));
        }
        places.iter().any(|place| place + NEAR >= *lines.start() && *place <= lines.end() + NEAR)
    });
    let missed: Vec<_> =
        cases.iter().zip(near).filter(|(_, near)| !near).map(|((name, old, ..), _)| (name, old)).collect();
    assert!(missed.len() * 20 <= cases.len(), "{} of {}: {missed:#?}", missed.len(), cases.len());
}

#[test]
fn broken_kernels_are_no_danger() {
    let samples = samples();
    let work = move || {
        let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: usize| {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            (seed % below.max(1) as u64) as usize
        };
        for sample in &samples {
            for _ in 0..60 {
                let mut text = sample.text.clone();
                for _ in 0..=random(3) {
                    let (from, length) = (random(text.len()), random(40));
                    let to = (from + length).min(text.len());
                    if random(2) == 0 {
                        text.replace_range(from..to, "");
                    } else {
                        let copied = text[from..to].to_owned();
                        text.insert_str(random(text.len()), &copied);
                    }
                }
                let _ = all_findings(&sample.name, &text);
            }
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    thread.join().expect("no text makes it fail");
}

#[test]
fn deep_nesting_is_no_danger() {
    let repeated = |open: &str, inner: &str, close: &str| {
        let count = 5_000;
        format!("{}{inner}{}", open.repeat(count), close.repeat(count))
    };
    let bodies = [
        repeated("int y = (", "x", ");"),
        repeated("{", "", "}"),
        repeated("-", "x", ";"),
        repeated("x + ", "x", ";"),
        repeated("x ? ", "x", " : x"),
        repeated("if (x) ", ";", ""),
        repeated("x[", "x", "]"),
        repeated("a<", "x", ">(1)"),
        repeated("a.b(", "x", ").c()"),
        repeated("for (int i = 0; i < 30; i++) {", "x++;", "}"),
        repeated("f(&x[", "1", "])"),
    ];
    let work = move || {
        for body in bodies {
            let text =
                format!("__global__ void k(int x) {{ asm volatile(\"cp.async.commit_group;\"); {body} }}\n");
            let _ = check_cuda(&text, &CudaConfig::default());
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(work).expect("a thread");
    thread.join().expect("no text makes it fail");
}
