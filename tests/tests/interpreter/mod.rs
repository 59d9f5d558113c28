//! Carry and initialisation findings against the truth: small programs are run with all values of their
//! predicates and all ways that their open branches and loops can take, and what reads something undefined on
//! one of them is exactly what is reported.

mod program;
mod run;

use arbtest::arbitrary::{self, Unstructured};
use program::{program, statements};
use ptx_verify::Config;
use run::{Undefined, truth};

fn reported(source: &str) -> Undefined {
    let mut found = Undefined::default();
    let config = Config::default();
    for diagnostic in ptx_verify::check(source, &config) {
        match diagnostic.rule {
            "carry-undefined" | "carry-across-call" => {
                let line = source[..diagnostic.span.start as usize].matches('\n').count() as u32 + 1;
                found.carries.insert(line);
            }
            "uninitialized-register" | "maybe-uninitialized-register" => {
                let register = diagnostic.message.split("%r").nth(1).and_then(|rest| rest.chars().next());
                found.registers.insert(register.and_then(|digit| digit.to_digit(10)).unwrap() as u8);
            }
            "uninitialized-predicate" => panic!("{source}\n{diagnostic:?}"),
            rule => {
                assert!(diagnostic.class != ptx_syntax::Class::Invalid, "{rule}\n{source}\n{diagnostic:?}");
            }
        }
    }
    found
}

/// How many faults programs have, are found, and are reported though no execution has them.
#[derive(Debug, Default)]
struct Counts {
    faulty_programs: usize,
    faults: usize,
    found: usize,
    never: usize,
}

fn judge(u: &mut Unstructured<'_>, counts: &mut Counts) -> arbitrary::Result<()> {
    let statements = statements(u, 0)?;
    let (source, nodes) = program(&statements);
    let Some(truth) = truth(&nodes) else { return Ok(()) };
    let reported = reported(&source);
    counts.faulty_programs += usize::from(truth != Undefined::default());
    counts.faults += truth.carries.len() + truth.registers.len();
    let found = reported.carries.intersection(&truth.carries).count()
        + reported.registers.intersection(&truth.registers).count();
    counts.found += found;
    counts.never += reported.carries.len() + reported.registers.len() - found;
    Ok(())
}

/// The same programs every time. Paths contradict themselves here far more often than in programs that anybody writes:
/// whoever makes the analyses better makes the bounds tighter.
#[test]
fn what_reads_something_undefined_is_reported_and_little_else() {
    let mut counts = Counts::default();
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    const PROGRAMS: usize = 3000;
    for _ in 0..PROGRAMS {
        let bytes: Vec<u8> = (0..400)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8
            })
            .collect();
        let _ = judge(&mut Unstructured::new(&bytes), &mut counts);
    }
    println!("{counts:?}");
    // Both kinds of programs have to be there in numbers.
    assert!(
        (PROGRAMS / 10..PROGRAMS).contains(&counts.faulty_programs),
        "{} of {PROGRAMS} programs read something undefined",
        counts.faulty_programs
    );
    let Counts { faults, found, never, .. } = counts;
    assert!((faults - found) * 1000 <= faults * MAX_MISSED, "{counts:?}");
    assert!(never * 1000 <= (found + never) * MAX_FALSE, "{counts:?}");
}

/// Of 1000 faults, so many may be missed,
const MAX_MISSED: usize = 0;
/// and of 1000 findings, so many may be shown by no execution.
const MAX_FALSE: usize = 6;
