//! The verifier against executions of kernels that are made at random, and NVIDIA's assembler on the same kernels.

use std::collections::HashMap;

use ptx_ir::ir::{Body, Module, Register};
use ptx_syntax::Severity;
use ptx_tests::judge::{Effort, Family, Judgement, Shown, facts_hold, judge};
use ptx_tests::random_kernel::{HEADER, kernel, module};
use ptx_tests::same_code::on_all_cores;
use ptx_tests::tools::{assemble, needed_ptxas};
use ptx_verify::facts::FunctionFacts;
use ptx_verify::facts::values::{Graph, Values};

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

fn register_name(module: &Module, body: &Body, register: Register) -> String {
    let group = body.group(register).unwrap();
    let name = module.name(group.name);
    match group.range {
        Some(_) => format!("{name}{}", register.0 - group.first.0),
        None => name.to_owned(),
    }
}

/// Whatever a thread writes has the bits and lies between the limits that are known of the value, as far as it is
/// defined, and is written where control can come.
fn graph_holds(text: &str) -> Result<usize, String> {
    let parse = ptx_syntax::parse(text);
    let module = ptx_ir::lower::lower(&parse.tree, text).module;
    let kernel = module.functions.iter().find(|(_, function)| function.body.is_some());
    let facts = FunctionFacts::new(&module, kernel.unwrap().0).unwrap();
    let graph = Graph::new(&facts);
    let values = Values::new(&facts, &graph);
    let mut instructions = HashMap::new();
    for handle in facts.body.instructions.handles() {
        let before = &text[..facts.body.span(handle).start as usize];
        let line = before.matches('\n').count() as u32 + 1;
        instructions.entry(line).or_insert_with(Vec::new).push(handle.index() as u32);
    }
    let mut known = 0;
    let mut defined = true;
    let held = facts_hold(text, 3, |program, write| {
        let (line, _) = program.position(write.function, write.statement);
        let written = instructions.get(&line).into_iter().flatten().flat_map(|&instruction| {
            let uses = facts.uses();
            uses.range(instruction).filter(move |&at| uses.all()[at].access().writes())
        });
        let at: Vec<usize> = written
            .filter(|&at| {
                register_name(&module, facts.body, facts.uses().all()[at].register) == write.register
            })
            .collect();
        // Of several statements in a line it is not told which one it was.
        let [at] = at[..] else { return Ok(()) };
        // What a branch on an undefined predicate leads to is not looked at.
        defined &= write.width != 1 || write.undefined == 0;
        let fact = graph.written(at).and_then(|value| values.of(value));
        let Some(number) = fact.map(|fact| fact.number).filter(|_| defined) else { return Ok(()) };
        known += usize::from(number.known() << (64 - write.width) != 0);
        let wrong = (write.bits & number.zeros | !write.bits & number.ones) & !write.undefined;
        let outside = write.undefined == 0 && !(number.low..=number.high).contains(&write.bits);
        if wrong != 0 || outside { Err(format!("{number:?}")) } else { Ok(()) }
    });
    held.map(|()| known)
}

#[test]
fn what_the_graph_knows_holds_in_every_execution() {
    let known: Result<Vec<usize>, String> =
        on_all_cores(&texts(), |text| graph_holds(text).map_err(|wrong| format!("{wrong}\n{text}")))
            .into_iter()
            .collect();
    let known: usize = known.unwrap_or_else(|wrong| panic!("{wrong}")).iter().sum();
    assert!(known > 1000, "{known}");
}
