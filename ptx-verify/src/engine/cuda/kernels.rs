//! Kernels as a whole: what their asm statements and the C++ around them do together.

use ptx_syntax::cuda::body::{self, Function};
use ptx_syntax::cuda::{CudaFile, Truths};
use ptx_syntax::{Class, Diagnostic, Label};

use crate::engine::check;
use crate::engine::levels::{Config, Levels};
use crate::rule::{Level, Rule};
use crate::rules::asynchronous::protocol_not_analysed;
use crate::rules::{self};
use crate::subject::fragment::kernel::{self, Aim, Kernel};
use crate::subject::fragment::unit;

/// Kernels of a file that are looked at.
const MAX_KERNELS: usize = 200;
/// Expressions and statements that are read for them.
const MAX_WORK: usize = 2_000_000;

/// The findings about the protocols of the kernels of a file, for the target of one of its statements.
pub(super) fn findings(
    source: &str,
    file: &CudaFile,
    truths: &Truths,
    aim: unit::Aim,
    levels: &Levels,
) -> Vec<Diagnostic> {
    let wanted = levels_of_protocols(levels);
    let program = body::program(source, file, truths);
    let kernels = program.functions.iter().filter(|function| function.is_kernel);
    let aim = Aim { source, file, program: &program, target: aim.target, version: aim.version };
    let (mut found, mut left) = (Vec::new(), MAX_WORK);
    for function in kernels.take(MAX_KERNELS) {
        of_kernel(aim, function, &wanted, &mut left, &mut found);
    }
    found
}

fn of_kernel(
    aim: Aim<'_, '_>,
    function: &Function<'_>,
    wanted: &Levels,
    left: &mut usize,
    found: &mut Vec<Diagnostic>,
) {
    let kernel = match kernel::kernel(aim, function, left) {
        Ok(kernel) => kernel,
        Err(place) => {
            let rule = &protocol_not_analysed::RULE;
            let missing = rule.at(function.span, "the protocol of this kernel is not followed");
            found.push(missing.with_secondary(place, "what happens here is not known"));
            return;
        }
    };
    if std::env::var_os("DUMPK").is_some() {
        eprintln!("{}", kernel.text);
    }
    let config = Config { levels: wanted.clone(), ..Config::default() };
    let (all, broken) = check::all_findings(&kernel.text, &config);
    // The asm statement says that itself, or the translation is at fault.
    if broken || all.iter().any(|each| each.class == Class::Invalid) {
        return;
    }
    found.extend(all.into_iter().filter_map(|each| moved(aim.file, &kernel, each)));
}

/// The levels at which only the rules about protocols, and what is wrong with the translation, are asked.
fn levels_of_protocols(levels: &Levels) -> Levels {
    let mut wanted = Levels::default();
    for class in ["hazard", "style"] {
        // The classes have these names.
        let _ = wanted.set(class, Level::Allow);
    }
    for rule in of_protocols() {
        let level = levels.of(rule.info.name, rule.info.class).unwrap_or(rule.info.default_level);
        let _ = wanted.set(rule.info.name, level);
    }
    wanted
}

fn of_protocols() -> impl Iterator<Item = &'static Rule> {
    rules::all()
        .iter()
        .copied()
        .filter(|rule| rule.info.code.starts_with("P09") && rule.info.class == Class::Hazard)
}

/// A finding with its places in the source.
fn moved(file: &CudaFile, kernel: &Kernel, found: Diagnostic) -> Option<Diagnostic> {
    let (span, instruction) = kernel.place(file, found.span)?;
    let mut labels: Vec<Label> = Vec::new();
    if let Some(instruction) = instruction {
        labels.push(Label { span: instruction, message: "by this instruction".to_owned() });
    }
    for label in found.labels {
        let place = kernel.place(file, label.span);
        let label = place.map(|(span, _)| Label { span, message: label.message });
        labels.extend(label.filter(|label| !labels.contains(label)));
    }
    Some(Diagnostic { span, labels, fix: None, ..found })
}
