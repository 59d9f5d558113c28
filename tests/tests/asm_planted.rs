//! Functions with asm statements of known faults, and their twins without, judged by what nvcc makes of them. It needs
//! no GPU: the emitted PTX is executed here, or given to ptxas.
//!
//! * What we report has a wrong result in the emitted PTX, or a register or label that is declared twice, or is
//!   refused.
//! * What is right there is not reported: the twins, and everything that NVIDIA's tools take.
//!
//! Without nvcc the plants and their twins are still held against what we report. `ASM_FUNCTIONS=500` makes so many of
//! each kind, instead of 20. `cargo test -p ptx-tests asm_planted:: -- --nocapture` prints the table.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use ptx_ir::target::Target;
use ptx_syntax::{Class, LineIndex, Severity};
use ptx_tests::emulate::{self, Memory};
use ptx_tests::planted::refused::{self, Refusal};
use ptx_tests::planted::{Function, Kind, Planted, Random, WORDS};
use ptx_tests::tools::{needed_nvcc, needed_ptxas};
use ptx_verify::{CudaConfig, check_cuda};

/// The two generations of nvcc's optimiser: it changed with sm_100.
const TARGETS: [&str; 2] = ["sm_90", "sm_100"];

fn count() -> usize {
    std::env::var("ASM_FUNCTIONS").ok().and_then(|count| count.parse().ok()).unwrap_or(20)
}

fn planted() -> Vec<Planted> {
    let mut random = Random(20_261_121);
    Kind::ALL
        .iter()
        .flat_map(|kind| (0..count()).map(|_| *kind))
        .map(|kind| kind.plant(&mut random))
        .collect()
}

/// The rules that warn of a function or find an error in it.
fn reported(function: &Function) -> HashSet<&'static str> {
    let found = check_cuda(&function.source("k"), &CudaConfig::default());
    found.iter().filter(|found| found.severity >= Severity::Warning).map(|found| found.rule).collect()
}

#[test]
fn every_plant_is_found_and_every_twin_is_silent() {
    for Planted { kind, faulty, twin } in planted() {
        assert!(reported(&faulty).contains(kind.rule()), "{kind:?} is not found:\n{}", faulty.source("k"));
        let said = reported(&twin);
        assert!(said.is_empty(), "{kind:?}, without the fault: {said:?}\n{}", twin.source("k"));
    }
}

/// What memory may hold before a kernel runs; predicates are true for some of them and false for others.
fn memories() -> Vec<[u32; WORDS]> {
    let mut random = Random(7);
    let mut memory = || std::array::from_fn(|_| (random.below(1 << 16) << 16 | random.below(1 << 16)) as u32);
    (0..6).map(|_| memory()).collect()
}

/// Whether the emitted kernel does something else than is meant, for some memory, or nvcc declared a name twice.
fn is_wrong(kernel: &emulate::Kernel, function: &Function) -> bool {
    const START: u64 = 0x1000;
    let address = |index: usize| START + 4 * index as u64;
    !kernel.duplicates.is_empty()
        || memories().iter().any(|before| {
            let memory: Memory = (0..WORDS).map(|index| (address(index), Some(before[index]))).collect();
            let meant = function.meaning(before);
            match emulate::run(kernel, &[START], memory) {
                Ok(after) => (0..WORDS).any(|index| after[&address(index)] != Some(meant[index])),
                Err(emulate::Trouble::Unknown(what)) => {
                    panic!("`{what}` is not known:\n{}", function.source("k"))
                }
                Err(_) => true,
            }
        })
}

/// What nvcc says of a source, and the PTX if its front end took it; that ptxas takes it is not asked here.
fn compile(nvcc: &Path, source: &str, target: &str) -> (String, Option<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (file, ptx) = (folder.path().join("planted.cu"), folder.path().join("planted.ptx"));
    std::fs::write(&file, source).unwrap();
    let output = Command::new(nvcc)
        .args(["-ptx", "-w", "-Xcudafe", "--error_limit=100000"])
        .arg(format!("-arch={target}"))
        .arg("-o")
        .args([&ptx, &file])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    (said, std::fs::read_to_string(ptx).ok())
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn what_is_reported_is_wrong_in_the_emitted_ptx_and_the_reverse() {
    let nvcc = needed_nvcc();
    let planted = planted();
    let mut source = String::new();
    for (index, Planted { faulty, twin, .. }) in planted.iter().enumerate() {
        source.push_str(&faulty.source(&format!("faulty{index}")));
        source.push_str(&twin.source(&format!("twin{index}")));
    }
    let emitted: Vec<HashMap<String, emulate::Kernel>> = std::thread::scope(|scope| {
        let one = |target| {
            let (said, ptx) = compile(&nvcc, &source, target);
            emulate::kernels(&ptx.unwrap_or_else(|| panic!("{target}: {said}")))
        };
        let workers: Vec<_> = TARGETS.iter().map(|target| scope.spawn(move || one(target))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).collect()
    });
    let mut wrong: HashMap<Kind, usize> = HashMap::new();
    for (index, Planted { kind, faulty, twin }) in planted.iter().enumerate() {
        for (target, kernels) in TARGETS.iter().zip(&emitted) {
            let name = format!("twin{index}");
            assert!(
                !is_wrong(&kernels[&name], twin),
                "{kind:?}, without the fault, {target}:\n{}",
                twin.source(&name)
            );
        }
        let name = format!("faulty{index}");
        let shows: Vec<bool> = emitted.iter().map(|kernels| is_wrong(&kernels[&name], faulty)).collect();
        *wrong.entry(*kind).or_default() += usize::from(shows.contains(&true));
        let all = shows.iter().all(|wrong| *wrong);
        assert!(all || !kind.always_shows(), "{kind:?} does nothing wrong:\n{}", faulty.source(&name));
    }
    let count = count();
    for kind in Kind::ALL {
        println!(
            "{kind:<20?} planted {count}, found {count}, wrong in the PTX {}, twins silent and right {count}",
            wrong[&kind]
        );
        assert!(wrong[&kind] * 3 > count, "{kind:?} shows in {} of {count}", wrong[&kind]);
    }
}

/// Lines, from 1, of a text with one function a line, after the prelude.
fn lines(refusal: Refusal) -> String {
    let mut random = Random(42);
    let mut source = format!("{}\n", refused::PRELUDE);
    for index in 0..count() * 5 {
        writeln!(source, "{}", refused::line(refusal, &format!("f{index}"), &mut random)).unwrap();
    }
    source
}

/// The lines in which we say that NVIDIA's tools refuse something.
fn refused_by_us(source: &str, target: &str) -> HashSet<u32> {
    let index = LineIndex::new(source);
    let config = CudaConfig { targets: vec![Target::parse(target).unwrap()], ..CudaConfig::default() };
    let found = check_cuda(source, &config);
    let invalid =
        found.iter().filter(|found| found.class == Class::Invalid && found.severity == Severity::Error);
    invalid.map(|found| index.position(found.span.start).line).collect()
}

/// Fails where the two differ.
fn agree(refusal: Refusal, target: &str, source: &str, ours: &HashSet<u32>, theirs: &HashSet<u32>) {
    let text = |line: &u32| source.lines().nth(*line as usize - 1).unwrap_or("");
    let missed: Vec<&str> = theirs.difference(ours).map(text).collect();
    let false_ones: Vec<&str> = ours.difference(theirs).map(text).collect();
    let all = source.lines().count() - 1;
    println!(
        "{refusal:<20?} {target}: {all} functions, refused {}, found {}, the others silent",
        theirs.len(),
        ours.len()
    );
    assert!(missed.is_empty(), "{target} refuses, and we do not:\n{}", missed.join("\n"));
    assert!(false_ones.is_empty(), "{target} takes, and we do not:\n{}", false_ones.join("\n"));
    assert!(theirs.len() * 10 > all && theirs.len() < all, "{} of {all} are refused", theirs.len());
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn the_front_end_refuses_the_same_operands() {
    let nvcc = needed_nvcc();
    for refusal in [Refusal::ConstraintType, Refusal::Constant] {
        let source = lines(refusal);
        let (said, _) = compile(&nvcc, &source, "sm_90");
        // `planted.cu(12): error: …`
        let number =
            |line: &str| line.split_once(": error")?.0.rsplit_once('(')?.1.trim_end_matches(')').parse().ok();
        let theirs: HashSet<u32> = said.lines().filter_map(number).collect();
        agree(refusal, "sm_90", &source, &refused_by_us(&source, "sm_90"), &theirs);
    }
}

#[test]
#[cfg_attr(no_nvcc, ignore = "needs g++ and nvcc, which tests/install-toolkit.sh installs")]
fn the_assembler_refuses_the_same_registers() {
    let (nvcc, ptxas) = (needed_nvcc(), needed_ptxas());
    for target in TARGETS {
        let source = lines(Refusal::InstructionType);
        let (said, ptx) = compile(&nvcc, &source, target);
        let ptx = ptx.unwrap_or_else(|| panic!("{said}"));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("planted.ptx");
        std::fs::write(&file, &ptx).unwrap();
        let complaints = ptx_tests::tools::assemble(ptxas, &file, target).unwrap();
        let mut theirs = HashSet::new();
        for complaint in complaints {
            let line = complaint.line.unwrap_or_else(|| panic!("{}", complaint.message)) as usize;
            let head =
                ptx.lines().take(line).filter_map(|line| line.strip_prefix(".visible .entry f")).last();
            let digits: String = head.unwrap_or("").chars().take_while(char::is_ascii_digit).collect();
            // After the prelude, from 1.
            theirs.insert(digits.parse::<u32>().unwrap() + 2);
        }
        agree(Refusal::InstructionType, target, &source, &refused_by_us(&source, target), &theirs);
    }
}
