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

fn judge(u: &mut Unstructured<'_>) -> arbitrary::Result<bool> {
    let statements = statements(u, 0)?;
    let (source, nodes) = program(&statements);
    let Some(truth) = truth(&nodes) else { return Ok(false) };
    let reported = reported(&source);
    assert_eq!(reported, truth, "left: reported, right: true\n{source}");
    Ok(truth != Undefined::default())
}

/// The same programs every time.
#[test]
fn what_reads_something_undefined_is_reported_and_nothing_else() {
    let mut faulty = 0;
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
        faulty += usize::from(judge(&mut Unstructured::new(&bytes)).unwrap_or(false));
    }
    // Both kinds of programs have to be there in numbers.
    assert!(
        (PROGRAMS / 10..PROGRAMS).contains(&faulty),
        "{faulty} of {PROGRAMS} programs read something undefined"
    );
}

/// Other programs every time; a failure prints the seed that repeats it.
#[test]
fn random_programs_agree_with_the_interpreter() {
    arbtest::arbtest(|u| judge(u).map(|_| ())).budget_ms(2000);
}
