//! The example that `isa` shows of each form of the table: NVIDIA's assembler accepts it, and so do we.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::io::Write as _;

use ptx_cli::example::{self, Example};
use ptx_ir::isa::{FormId, forms};
use ptx_syntax::{Class, LineIndex, Severity};
use ptx_tests::oracle::{Pair, Random, generate};
use ptx_tests::tools::{assemble, needed_ptxas};
use ptx_verify::Config;

/// The examples of all forms, those for one platform together.
fn by_platform() -> Vec<(Pair, Vec<(FormId, Example)>)> {
    together(forms().filter(|form| !form.is_narrowed()).filter_map(|form| Some((form, example::of(form)?))))
}

/// Examples of spellings at random, of the manual's forms: what `isa` shows of a spelling.
fn of_spellings() -> Vec<(Pair, Vec<(FormId, Example)>)> {
    let mut random = Random::new(20_260_101);
    let of_manual = forms().filter(|form| !form.is_narrowed() && form.beyond_manual().is_none());
    let two = of_manual.flat_map(|form| [form, form]).collect::<Vec<_>>().into_iter();
    together(two.filter_map(|form| {
        let instance = generate::instance(&mut random, form)?;
        let meant = instance.spelled_beyond_manual().is_none();
        Some((form, example::of_instance(&instance).filter(|_| meant)?))
    }))
}

fn together(examples: impl Iterator<Item = (FormId, Example)>) -> Vec<(Pair, Vec<(FormId, Example)>)> {
    let mut all: BTreeMap<String, (Pair, Vec<(FormId, Example)>)> = BTreeMap::new();
    for (form, example) in examples {
        let platform = example.platform;
        let pair =
            Pair { target: platform.target, version: platform.version, texture_mode: platform.texture_mode };
        all.entry(pair.to_string()).or_insert_with(|| (pair, Vec::new())).1.push((form, example));
    }
    all.into_values().collect()
}

fn module(pair: &Pair, examples: &[(FormId, Example)]) -> (String, usize) {
    example::module(pair.platform(), examples.iter().map(|(_, example)| example.statement.as_str()))
}

#[test]
fn every_form_has_an_example() {
    let without: Vec<&str> = forms()
        .filter(|form| !form.is_narrowed() && example::of(*form).is_none())
        .map(FormId::syntax)
        .collect();
    assert_eq!(without, Vec::<&str>::new());
}

#[test]
fn an_example_is_one_of_its_form_and_no_error() {
    let mut report = String::new();
    for (pair, examples) in by_platform() {
        let (text, first) = module(&pair, &examples);
        let index = LineIndex::new(&text);
        for found in ptx_verify::check(&text, &Config::default()) {
            if found.class == Class::Invalid && found.severity == Severity::Error {
                let line = index.position(found.span.start).line as usize;
                let shown = text.lines().nth(line - 1).unwrap_or_default();
                writeln!(report, "{pair} {}: {shown}", found.message).unwrap();
            }
        }
        for (index, (form, example)) in examples.iter().enumerate() {
            let spelling = example.statement.split([' ', ';']).next().unwrap_or_default();
            if !ptx_ir::isa::resolve(spelling).instances.iter().any(|instance| instance.form == *form) {
                writeln!(
                    report,
                    "line {}: {} is none of {}",
                    first + index,
                    example.statement,
                    form.syntax()
                )
                .unwrap();
            }
        }
    }
    assert!(report.is_empty(), "\n{report}");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_takes_every_example() {
    assert!(taken(by_platform()) > 700);
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_takes_examples_of_spellings() {
    assert!(taken(of_spellings()) > 700);
}

/// Asks the assembler about examples; how many there are.
#[track_caller]
fn taken(all: Vec<(Pair, Vec<(FormId, Example)>)>) -> usize {
    let ptxas = needed_ptxas();
    let (mut report, mut count) = (String::new(), 0);
    for (pair, examples) in all {
        let (text, _) = module(&pair, &examples);
        count += examples.len();
        let mut file = tempfile::Builder::new().suffix(".ptx").tempfile().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        for complaint in assemble(ptxas, file.path(), &pair.architecture()).unwrap() {
            let line = complaint.line.map_or(0, |line| line as usize);
            let shown = text.lines().nth(line.wrapping_sub(1)).unwrap_or_default();
            writeln!(report, "{pair}:{line} {}: {shown}", complaint.message).unwrap();
        }
    }
    assert!(report.is_empty(), "\n{report}");
    count
}

#[test]
fn what_some_operands_need_is_no_requirement_of_the_form() {
    let form = |spelling: &str| ptx_ir::isa::resolve(spelling).instances[0].form;
    let matrix = form("wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32");
    let (_, targets) = matrix.requirement();
    assert!(!matrix.is_narrowed());
    assert_eq!(targets.to_string(), "sm_75 or higher");
    assert!(matrix.tolerances().iter().any(|each| each.contains("`a`, `b` as an integer immediate")));
    // The manual's own requirements of operands are shown with the operand.
    let surface = form("suld.b.1d.b32.trap").to_string();
    assert!(surface.contains("since PTX 1.5, sm_10 or higher"), "{surface}");
    assert!(surface.contains("`a` as a `.b64` register"), "{surface}");
}
