//! The verifier against executions of kernels that are made at random, and NVIDIA's assembler on the same kernels.

use ptx_syntax::Severity;
use ptx_tests::judge::{Effort, Family, Judgement, Shown, facts_hold, judge};
use ptx_tests::random_kernel::{HEADER, kernel, module};
use ptx_tests::tools::{assemble, needed_ptxas, on_all_cores};

/// The kernels of the tests; others than those that the program `judge` makes by default.
const SEEDS: std::ops::Range<u64> = 1_000_000..1_000_100;

fn texts() -> Vec<String> {
    SEEDS.map(|seed| HEADER.to_owned() + &kernel("k", seed)).collect()
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn the_assembler_takes_every_kernel() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("random.ptx");
    std::fs::write(&file, module(SEEDS)).unwrap();
    assert_eq!(assemble(needed_ptxas(), &file, "sm_90a").unwrap(), []);
}

/// What executions say today of findings and of kernels. Whoever makes the verifier better makes the bounds tighter; the
/// aim is no false error, 5 % of false warnings, and 2 % of missed kernels.
#[test]
fn findings_are_shown_by_executions() {
    let effort = Effort { first: 8, most: 40 };
    let all: Vec<Judgement> = on_all_cores(&texts(), |text| judge(text, effort));
    for judgement in &all {
        assert!(judgement.invalid.is_empty() && judgement.unknown.is_empty(), "{judgement:?}");
    }
    let share = |part: usize, whole: usize| part * 100 / whole.max(1);
    let judged = || {
        all.iter()
            .flat_map(|each| &each.findings)
            .filter(|each| !matches!(each.shown, Shown::Open | Shown::Unreached))
    };
    let mut failures = String::new();
    for (family, false_ones, missed_ones) in BOUNDS {
        let of_family = judged().filter(|each| each.family == family);
        let never = of_family.clone().filter(|each| each.shown == Shown::Never).count();
        let faulty = all.iter().filter(|each| each.faulty.contains(&family)).count();
        let missed = all.iter().filter(|each| each.missed.contains(&family)).count();
        let (wrong, lost) = (share(never, of_family.count()), share(missed, faulty));
        println!("{family:?}: {wrong} % of the findings false; {lost} % of {faulty} kernels missed");
        if wrong > false_ones || lost > missed_ones {
            failures += &format!("{family:?}: {wrong} % false, {lost} % of {faulty} missed\n");
        }
    }
    let false_errors: Vec<&str> = judged()
        .filter(|each| each.shown == Shown::Never && each.finding.severity == Severity::Error)
        .map(|each| each.finding.message.as_str())
        .collect();
    println!("{} false errors", false_errors.len());
    if false_errors.len() > MAX_FALSE_ERRORS {
        failures += &format!("false errors: {false_errors:#?}\n");
    }
    assert!(failures.is_empty(), "worse than before:\n{failures}");
}

/// In percent: findings that no execution shows, and kernels with a fault that nothing is said of.
const BOUNDS: [(Family, usize, usize); 3] =
    [(Family::Divergence, 10, 3), (Family::Register, 5, 2), (Family::Carry, 5, 2)];
/// Errors that no execution shows.
const MAX_FALSE_ERRORS: usize = 0;

#[test]
fn facts_are_asked_of_every_write() {
    let text = HEADER.to_owned() + &kernel("k", 3);
    let mut writes = 0;
    let holds = facts_hold(&text, 2, |program, write| {
        writes += 1;
        let line = text.lines().nth(program.position(write.function, write.statement).0 as usize - 1);
        // The register is the one that the line names, and its value fits.
        assert!(line.unwrap().contains(write.register), "{line:?}: {write:?}");
        assert!(write.width == 64 || write.bits >> write.width == 0);
        Ok(())
    });
    assert_eq!(holds, Ok(()));
    assert!(writes > 100);
    let refused = facts_hold(&text, 2, |_, write| match write.register {
        "%r4" if write.bits == 3 => Err("too large".to_owned()),
        _ => Ok(()),
    });
    let said = refused.unwrap_err();
    assert!(
        said.starts_with("line ")
            && said.contains("thread 3, ")
            && said.ends_with("%r4 = 0x3, undefined bits 0x0: too large"),
        "{said}"
    );
}
