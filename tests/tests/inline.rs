//! Inlining and outlining: kernels compute the same with calls and without, and NVIDIA's assembler takes both.

use std::path::PathBuf;

use ptx_emit::assemble::Ptxas;
use ptx_ir::build::ModuleBuilder;
use ptx_ir::edit::{InlineError, OutlineError};
use ptx_ir::ir::Module;
use ptx_ir::isa::Control;
use ptx_ir::lower::lower;
use ptx_syntax::{Class, Severity};
use ptx_tests::case::files;
use ptx_tests::emulate::{End, Program, Schedule};
use ptx_tests::judge::{Inputs, run};
use ptx_tests::planted::Random;
use ptx_tests::random_kernel;
use ptx_tests::same_code::{assemble, canonical};
use ptx_tests::tools::{corpus, needed_ptxas, on_all_cores, root};

fn module_of(source: &str) -> Module {
    lower(&ptx_syntax::parse(source).tree, source).module
}

/// The module with all calls inlined that can be, and how many those are. Functions that call themselves are not followed.
fn inlined(module: Module) -> Result<(Module, usize, Vec<InlineError>), String> {
    let handles: Vec<_> =
        module.functions.iter().filter(|(_, each)| each.body.is_some()).map(|(handle, _)| handle).collect();
    let mut builder = ModuleBuilder::extend(module);
    let (mut count, mut refused) = (0, Vec::new());
    for handle in handles {
        let function = builder.function_at(handle).map_err(|error| error.to_string())?;
        let mut editor = builder.edit(function).map_err(|error| error.to_string())?;
        for at in editor.instructions() {
            if editor.instance(at).is_some_and(|instance| instance.effects.control == Control::Call) {
                match editor.inline(at) {
                    Ok(()) => count += 1,
                    Err(InlineError::Build(error)) => return Err(error.to_string()),
                    Err(error) => refused.push(error),
                }
            }
        }
        editor.finish().map_err(|error| error.to_string())?;
    }
    Ok((builder.finish(), count, refused))
}

/// Nothing is invalid that was not before, and the print is canonical.
fn print(source: &str, module: &Module) -> Result<String, String> {
    let text = ptx_emit::canonical(module);
    let invalid = |text: &str| {
        let found = ptx_verify::check(text, &ptx_verify::Config::default());
        found.into_iter().find(|found| found.class == Class::Invalid)
    };
    if let (None, Some(found)) = (invalid(source), invalid(&text)) {
        let line = ptx_syntax::LineIndex::new(&text).position(found.span.start).line as usize;
        return Err(format!("{}: {}\n", found.message, text.lines().nth(line - 1).unwrap_or_default()));
    }
    if canonical(&text)? != text {
        return Err(format!("not canonical:\n{text}"));
    }
    Ok(text)
}

/// Executes two texts of a kernel, and tells how many executions without a fault have the same result. Strictly, the second
/// has no fault either: what is passed as a parameter is observed, though nobody may look at it.
fn compare(before: &str, after: &str, executions: usize, is_strict: bool) -> Result<usize, String> {
    let mut compared = 0;
    let programs = (Program::read(before), Program::read(after));
    for input in Inputs::new(before).take(executions) {
        let one = run(&programs.0, &input, Schedule::Lockstep, None);
        if one.end != End::Finished || !one.faults.is_empty() {
            continue;
        }
        // What threads write to one place depends on their order, which is not that of a call.
        let memory = format!("{:?}", one.memory);
        let in_order =
            |turn| format!("{:?}", run(&programs.0, &input, Schedule::Random(turn), None).memory) == memory;
        if !(1..4).all(in_order) {
            continue;
        }
        let other = run(&programs.1, &input, Schedule::Lockstep, None);
        compared += 1;
        let same = other.end == End::Finished && format!("{:?}", other.memory) == memory;
        if !same || (is_strict && !other.faults.is_empty()) {
            return Err(format!("with {input}: {:?} {:?}\n{before}\n{after}", other.end, other.faults));
        }
    }
    Ok(compared)
}

#[test]
fn kernels_compute_the_same_without_calls() {
    let seeds: Vec<u64> = (0..300).map(|seed| seed * 4 + 3).collect();
    let results = on_all_cores(&seeds, |&seed| -> Result<(usize, usize), String> {
        let source = random_kernel::text(seed);
        let (module, count, refused) = inlined(module_of(&source))?;
        if !refused.is_empty() {
            return Err(format!("{refused:?}"));
        }
        let text = print(&source, &module)?;
        let compared = compare(&source, &text, if count == 0 { 0 } else { 6 }, true)?;
        Ok((count, compared))
    });
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures[0]);
    let (calls, compared) = results.iter().flatten().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    assert!(calls > 100 && compared > 300, "{calls} calls, {compared} executions");
}

/// Files with calls: a part of what compilers made, and data files.
fn sample() -> Vec<PathBuf> {
    let small = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.len() <= 40_000);
    let calls = [&b"call "[..], b"call.", b"call("];
    let has_call = |path: &PathBuf| {
        std::fs::read(path).is_ok_and(|text| text.windows(5).any(|word| calls.contains(&word)))
    };
    let cases = files(&root().join("tests/cases"), "ptx");
    let all = files(corpus(), "ptx").into_iter().filter(small).step_by(3).chain(cases);
    all.filter(has_call).collect()
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_takes_compilers_output_without_calls() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    let files = sample();
    let results = on_all_cores(&files, |path| -> Result<usize, String> {
        let source = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let parse = ptx_syntax::parse(&source);
        let before = ptx_emit::canonical(&module_of(&source));
        if !parse.errors.is_empty() || assemble(&ptxas, &before)?.is_none() {
            return Ok(0);
        }
        let about = |what: String| format!("{}: {what}", path.display());
        let (module, count, _) = inlined(module_of(&source)).map_err(about)?;
        let text = print(&source, &module).map_err(about)?;
        // What ptxas refuses in one function only, as two sizes of groups, it takes in two that call each other, while they
        // are not linked. Then the verifier says so of both texts.
        let is_found = |text: &str| {
            let found = ptx_verify::check(text, &ptx_verify::Config::default());
            found.iter().any(|found| found.severity == Severity::Error)
        };
        match assemble(&ptxas, &text)? {
            None if is_found(&text) && is_found(&source) => Ok(0),
            None => Err(about(format!("ptxas refuses\n{text}"))),
            Some(_) => Ok(count),
        }
    });
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(
        failures.is_empty(),
        "{} of {} fail:\n{}",
        failures.len(),
        files.len(),
        failures.iter().map(|each| each.as_str()).collect::<Vec<_>>().join("\n")
    );
    let count: usize = results.iter().flatten().sum();
    assert!(count > 100, "{count} calls were inlined in {} files", files.len());
}

#[test]
fn what_cannot_be_inlined_says_why() {
    let head = ".version 8.0\n.target sm_80\n.address_size 64\n";
    let why = |functions: &str, call: &str| {
        let source =
            format!("{head}{functions}\n.visible .entry k() {{ .reg .b64 %r; .reg .b32 %v; {call} ret; }}\n");
        let (_, _, refused) = inlined(module_of(&source)).unwrap();
        refused.into_iter().next()
    };
    let function = |name: &str| name.to_owned();
    assert_eq!(why(".extern .func f();", "call f;"), Some(InlineError::NoBody { function: function("f") }));
    assert_eq!(
        why(".weak .func f() { ret; }", "call f;"),
        Some(InlineError::NoBody { function: function("f") })
    );
    assert_eq!(
        why(".func f() { .shared .b32 s; st.shared.b32 [s], 1; ret; }", "call f;"),
        Some(InlineError::OwnMemory { variable: function("s") })
    );
    assert_eq!(
        why(
            ".func f(.param .b32 a) { .reg .b64 %a; mov.u64 %a, a; ret; }",
            "{ .param .b32 p; st.param.b32 [p], 1; call f, (p); }"
        ),
        Some(InlineError::AddressTaken { variable: function("a") })
    );
    assert_eq!(
        why(
            ".func f(.param .b32 a) { ret; }",
            "{ .param .b32 p; st.param.b32 [p], 1; call f, (p); call f, (p); }"
        ),
        Some(InlineError::AddressTaken { variable: function("p") })
    );
    assert_eq!(
        why(".func f() { ret; }", "{ P: .callprototype _ (); mov.u64 %r, f; call %r, (), P; }"),
        Some(InlineError::NotDirect)
    );
    assert_eq!(why(".func (.reg .b32 r) f(.reg .b32 a) { mov.u32 r, a; ret; }", "call (%v), f, (7);"), None);
}

/// A kernel with parts of it as functions, and how many those are.
fn outlined(module: Module, seed: u64) -> Result<(Module, usize), String> {
    let mut builder = ModuleBuilder::extend(module);
    let mut random = Random(seed ^ 0x1234_5678);
    let mut count = 0;
    for turn in 0..6 {
        let kernel = builder.find_function("k").unwrap();
        let mut editor = builder.edit(kernel).map_err(|error| error.to_string())?;
        let all = editor.instructions();
        let first = random.below(all.len());
        let last = (first + random.below(8)).min(all.len() - 1);
        match editor.outline(&format!("part{turn}"), all[first], all[last]) {
            Ok(_) => count += 1,
            Err(OutlineError::Build(error)) => return Err(error.to_string()),
            Err(_) => {}
        }
        editor.finish().map_err(|error| error.to_string())?;
    }
    Ok((builder.finish(), count))
}

#[test]
fn kernels_compute_the_same_with_parts_as_functions() {
    let seeds: Vec<u64> = (0..300).collect();
    let results = on_all_cores(&seeds, |&seed| -> Result<(usize, usize), String> {
        let source = random_kernel::text(seed);
        let (module, count) = outlined(module_of(&source), seed)?;
        let text = print(&source, &module)?;
        Ok((count, compare(&source, &text, if count == 0 { 0 } else { 6 }, false)?))
    });
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures[0]);
    let (parts, compared) = results.iter().flatten().fold((0, 0), |all, one| (all.0 + one.0, all.1 + one.1));
    assert!(parts > 200 && compared > 300, "{parts} parts, {compared} executions");
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_takes_parts_as_functions() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    let seeds: Vec<u64> = (1000..1040).collect();
    let failures = on_all_cores(&seeds, |&seed| {
        let source = random_kernel::text(seed);
        let (module, _) = outlined(module_of(&source), seed).unwrap();
        let text = ptx_emit::canonical(&module);
        assemble(&ptxas, &text).unwrap().is_none().then_some(text)
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures[0]);
}
