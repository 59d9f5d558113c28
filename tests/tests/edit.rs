//! Editing functions: an edit that changes nothing gives the same module and the same machine code, and what edits at
//! random make is what NVIDIA's assembler takes.

use std::path::PathBuf;

use arbtest::arbitrary::Unstructured;
use ptx_emit::assemble::Ptxas;
use ptx_ir::build::{BuildError, Declaration, FunctionBuilder, ModuleBuilder, Reg, Value};
use ptx_ir::edit::FunctionEditor;
use ptx_ir::ir::{Module, Statement};
use ptx_ir::lower::lower;
use ptx_ir::space::StateSpace;
use ptx_ir::types::Type;
use ptx_syntax::edits::{EditError, Edits};
use ptx_syntax::names::NameKind;
use ptx_syntax::{Class, Span};
use ptx_tests::case::files;
use ptx_tests::same_code::{assemble, canonical};
use ptx_tests::tools::{corpus, needed_ptxas, on_all_cores, root};
use ptx_tests::{machine_code, random_kernel, same_ir};

fn module_of(source: &str) -> Module {
    lower(&ptx_syntax::parse(source).tree, source).module
}

/// Every function edited without a change, or with a change that is taken back.
fn unchanged(module: &Module, back_and_forth: bool) -> Result<Module, BuildError> {
    let handles: Vec<_> = module.functions.iter().filter(|(_, each)| each.body.is_some()).collect();
    let mut builder = ModuleBuilder::extend(module.clone());
    for (handle, _) in handles {
        let function = builder.function_at(handle)?;
        let mut editor = builder.edit(function)?;
        if back_and_forth {
            for at in editor.instructions() {
                let inserted = editor.before(at)?.push("bar.warp.sync", [(-1).into()]);
                if inserted.is_ok() {
                    let all = editor.instructions();
                    let index = all.iter().position(|each| *each == at).unwrap();
                    editor.remove(all[index - 1])?;
                }
                editor.map_operands(at, |_, value| value).or_else(|error| match error {
                    // What only the assembler takes, or what was wrong before.
                    BuildError::NotInManual { .. }
                    | BuildError::Operands { .. }
                    | BuildError::Spelling { .. }
                    | BuildError::Call { .. }
                    | BuildError::Unavailable { .. }
                    | BuildError::OutOfScope { .. } => Ok(()),
                    other => Err(other),
                })?;
            }
        }
        editor.finish()?;
    }
    Ok(builder.finish())
}

fn sample() -> Vec<PathBuf> {
    let small = |path: &PathBuf| path.metadata().is_ok_and(|metadata| metadata.len() <= 60_000);
    let mut all: Vec<PathBuf> = files(corpus(), "ptx").into_iter().filter(small).step_by(4).collect();
    all.extend(files(&root().join("tests/kernels"), "ptx"));
    all.extend(files(&root().join("tests/cases"), "ptx"));
    all
}

#[test]
fn an_edit_that_changes_nothing_gives_the_same_module() {
    let files = sample();
    assert!(files.len() > 500, "{}", files.len());
    let failures: Vec<String> = on_all_cores(&files, |path| {
        let source = String::from_utf8_lossy(&std::fs::read(path).unwrap()).into_owned();
        let module = module_of(&source);
        // What stays is compared without the names and spellings that were tried.
        let of = |module: &Module| ptx_emit::canonical(module);
        let edited = unchanged(&module, false).map_err(|error| error.to_string());
        let edited = match edited {
            Err(error) => return Some(format!("{}: {error}", path.display())),
            Ok(edited) => edited,
        };
        if let Some(difference) = same_ir::difference(&module, &edited) {
            return Some(format!("{}:\n{difference}", path.display()));
        }
        match unchanged(&module, true) {
            Err(error) => Some(format!("{}: {error}", path.display())),
            Ok(edited) if of(&edited) != of(&module) => Some(format!("{} prints otherwise", path.display())),
            Ok(_) => None,
        }
    })
    .into_iter()
    .flatten()
    .collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), files.len(), failures[0]);
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn an_edit_that_changes_nothing_gives_the_same_machine_code() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    let kernels = files(&root().join("tests/kernels"), "ptx");
    let failures = on_all_cores(&kernels, |path| {
        let source = std::fs::read_to_string(path).unwrap();
        let edited = ptx_emit::canonical(&unchanged(&module_of(&source), true).unwrap());
        let (before, after) = (assemble(&ptxas, &source).unwrap(), assemble(&ptxas, &edited).unwrap());
        machine_code::difference(&before.unwrap(), &after.unwrap())
            .map(|difference| format!("{}: {difference}", path.display()))
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert_eq!(failures, [] as [String; 0]);
}

/// Inserts something that is right wherever it stands.
fn insert(
    random: &mut Unstructured<'_>,
    f: &mut FunctionBuilder<'_>,
    known: &[Reg],
) -> Result<(), BuildError> {
    let value = |random: &mut Unstructured<'_>| -> Value {
        match random.choose(known) {
            Ok(register) if random.ratio(1, 2).unwrap_or(false) => (*register).into(),
            _ => 7.into(),
        }
    };
    match random.int_in_range(0..=6).unwrap_or(0) {
        0 => {
            let fresh = f.reg(Type::B32);
            f.push("add.u32", [fresh.into(), value(random), value(random)])
        }
        1 => {
            let (predicate, fresh) = (f.reg(Type::Pred), f.reg(Type::U32));
            f.push("setp.lt.u32", [predicate.into(), value(random), 3.into()])?;
            f.guard_not(predicate).push("mov.u32", [fresh.into(), Value::special("%laneid")?])
        }
        2 => {
            let label = f.fresh_label("over")?;
            let predicate = f.reg(Type::Pred);
            f.push("setp.ne.u32", [predicate.into(), value(random), 0.into()])?;
            f.guard(predicate).push("bra", [label.into()])?;
            f.push("membar.cta", [])?;
            f.place(label)
        }
        3 => f.scope(|f| {
            let name = f.fresh_name("buffer")?;
            let local = f.variable(Declaration::new(name, StateSpace::Local, Type::U32))?;
            let fresh = f.vector_reg(Type::U32, 2);
            f.push("mov.u32", [fresh.element(1), value(random)])?;
            f.push("st.local.u32", [local.at(0), fresh.element(1)])
        }),
        4 => {
            let name = f.fresh_name("named")?;
            let named = f.named_reg(&name, Type::B64)?;
            f.push("mov.u64", [named.into(), 1.into()])
        }
        5 => f.pragma("nounroll"),
        _ => {
            let pair = f.vector_reg(Type::B32, 2);
            f.push("mov.b64", [pair.into(), 77.into()])
        }
    }
}

fn edit_at_random(random: &mut Unstructured<'_>, editor: &mut FunctionEditor<'_>) -> Result<(), BuildError> {
    for _ in 0..random.int_in_range(1..=12).unwrap_or(1) {
        let instructions = editor.instructions();
        let Ok(&at) = random.choose(&instructions) else { return Ok(()) };
        let known: Vec<Reg> =
            ["%r0", "%r1", "%r2"].iter().filter_map(|name| editor.find_register(name)).collect();
        match random.int_in_range(0..=5).unwrap_or(0) {
            0 => insert(random, editor.before(at)?, &known)?,
            1 => insert(random, editor.at_start(), &known)?,
            2 if editor.instance(at).is_some_and(|each| each.effects.control.falls_through()) => {
                insert(random, editor.after(at)?, &known)?;
            }
            3 if editor.spelling(at) == "add.u32" => {
                let operands = editor.operands(at);
                editor.replace(at, "sub.u32", operands)?;
            }
            4 if editor.spelling(at) == "membar.cta" => editor.remove(at)?,
            _ => {
                let statements = editor.statements();
                let labels = statements.into_iter().filter_map(|each| match each {
                    Statement::Label(label) => editor.label(label),
                    _ => None,
                });
                let labels: Vec<_> = labels.collect();
                if let Ok(&label) = random.choose(&labels) {
                    insert(random, editor.at_label(label)?, &known)?;
                }
            }
        }
    }
    Ok(())
}

/// The text of a random kernel after random edits in two sessions.
fn random_edit(seed: u64) -> Result<String, String> {
    let source = random_kernel::text(seed);
    let bytes: Vec<u8> = (0..2000_u64)
        .map(|index| {
            (seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(index.wrapping_mul(0xd1b5_4a32_d192_ed03))
                >> 29) as u8
        })
        .collect();
    let mut random = Unstructured::new(&bytes);
    let mut builder = ModuleBuilder::extend(module_of(&source));
    let edit = |builder: &mut ModuleBuilder, random: &mut Unstructured<'_>| -> Result<(), BuildError> {
        let kernel = builder.find_function("k").unwrap();
        let mut editor = builder.edit(kernel)?;
        edit_at_random(random, &mut editor)?;
        let first = editor.instructions()[0];
        let spelling = editor.spelling(first).to_owned();
        let renumbered = editor.finish()?;
        let now = renumbered.instruction(first).unwrap();
        let body = builder.module().functions[kernel.handle()].body.as_ref().unwrap();
        assert_eq!(&*builder.module().spellings[body.instructions[now].spelling].text, spelling);
        Ok(())
    };
    edit(&mut builder, &mut random)
        .and_then(|()| edit(&mut builder, &mut random))
        .map_err(|error| error.to_string())?;
    let module = builder.finish();
    let text = ptx_emit::canonical(&module);
    if canonical(&text)? != text {
        return Err(format!("not canonical:\n{text}"));
    }
    if let Some(difference) = same_ir::difference_in_bodies(&module, &module_of(&text)) {
        return Err(format!("the print is another module:\n{difference}\n{text}"));
    }
    let found = ptx_verify::check(&text, &ptx_verify::Config::default());
    match found.iter().find(|found| found.class == Class::Invalid) {
        Some(found) => Err(format!("{}\n{text}", found.message)),
        None => Ok(text),
    }
}

#[test]
fn random_edits_make_sound_modules() {
    let seeds: Vec<u64> = (0..400).collect();
    let failures: Vec<String> =
        on_all_cores(&seeds, |seed| random_edit(*seed).err()).into_iter().flatten().collect();
    assert!(failures.is_empty(), "{} fail:\n{}", failures.len(), failures[0]);
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn ptxas_accepts_what_random_edits_make() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    let seeds: Vec<u64> = (1000..1060).collect();
    let failures = on_all_cores(&seeds, |seed| {
        let text = random_edit(*seed).unwrap();
        assemble(&ptxas, &text).unwrap().is_none().then_some(text)
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}", failures[0]);
}

#[test]
fn what_does_not_fit_is_refused_and_nothing_changes() {
    let source = ".version 8.0\n.target sm_80\n.address_size 64\n.func callee(.param .b32 a) { ret; }\n\
                  .visible .entry k(.param .b32 p) {\n.reg .b32 %r<2>;\n{\n.reg .b32 %inner;\nmov.u32 %inner, 1;\n}\n\
                  mov.u32 %r1, 1;\nL:\nret;\n}\n";
    let module = module_of(source);
    let mut builder = ModuleBuilder::extend(module.clone());
    let kernel = builder.find_function("k").unwrap();
    let mut editor = builder.edit(kernel).unwrap();
    let [inner, outer, end] = editor.instructions()[..] else { panic!("three instructions") };
    let local = editor.operands(inner)[0].clone();
    let out_of_scope = Err(BuildError::OutOfScope { what: "register" });
    assert_eq!(editor.before(outer).unwrap().push("mov.u32", [local, 1.into()]), out_of_scope);
    assert!(editor.replace(outer, "mov.f32", [1.into(), 2.into()]).is_err());
    assert!(editor.before(end).unwrap().named_reg("%r1", Type::B32).is_err());
    assert!(editor.before(end).unwrap().label("L").is_err());
    assert!(editor.before(end).unwrap().label("%inner").is_err());
    editor.remove(end).unwrap();
    assert!(editor.remove(end).is_err() && editor.before(end).is_err());
    assert!(matches!(editor.finish(), Err(BuildError::MissingEnd { .. })));

    // A register of an earlier edit is none of a later one.
    let mut editor = builder.edit(kernel).unwrap();
    let stale = editor.find_register("%r1").unwrap();
    editor.at_start().param("q", Type::U64).unwrap();
    drop(editor);
    let mut editor = builder.edit(kernel).unwrap();
    assert_eq!(editor.at_start().push("mov.u32", [stale.into(), 1.into()]), out_of_scope);
    editor.finish().unwrap();
    let callee = builder.find_function("callee").unwrap();
    assert_eq!(ptx_emit::canonical(builder.module()), ptx_emit::canonical(&module));

    // Parameters of a function that nothing refers to may change, and of one that is called they may not.
    let mut editor = builder.edit(callee).unwrap();
    editor.at_start().param("b", Type::B64).unwrap();
    editor.finish().unwrap();
    let mut editor = builder.edit(kernel).unwrap();
    editor.at_start().call(callee, &[], &[1.into(), 2.into()]).unwrap();
    editor.finish().unwrap();
    let mut editor = builder.edit(callee).unwrap();
    editor.at_start().param("c", Type::B64).unwrap();
    assert!(matches!(editor.finish(), Err(BuildError::Call { .. })));
    let text = ptx_emit::canonical(&builder.finish());
    let found = ptx_verify::check(&text, &ptx_verify::Config::default());
    assert!(found.iter().all(|found| found.class == Class::Style), "{found:?}\n{text}");
}

/// Changes at places that the tree and the names tell, and what they leave alone.
#[test]
fn changes_of_a_text_keep_every_byte_around_them() {
    let files = sample();
    let failures = on_all_cores(&files, |path| {
        let bytes = std::fs::read(path).unwrap();
        let Ok(source) = std::str::from_utf8(&bytes) else { return None };
        let mut edits = Edits::new(source);
        if edits.apply() != source {
            return Some(format!("{}: no change changes it", path.display()));
        }
        let names: Vec<(String, u32)> = edits
            .names()
            .declared_of(0)
            .filter(|each| matches!(each.kind, NameKind::Kernel | NameKind::Function))
            .map(|each| (each.name.text(source).to_owned(), each.name.start))
            .collect();
        for (index, (name, _)) in names.iter().enumerate() {
            // Declared twice, or renamed with an earlier one of the name.
            let _again = edits.rename(name, &format!("renamed_by_a_test_{index}"));
        }
        let renamed = edits.apply();
        let mut kept = renamed.clone();
        for (index, (name, _)) in names.iter().enumerate().rev() {
            kept = kept.replace(&format!("renamed_by_a_test_{index}"), name);
        }
        if kept != source {
            return Some(format!("{}: other bytes changed", path.display()));
        }
        let (before, after) = (module_of(source), module_of(&renamed));
        let sizes = |module: &Module| {
            (module.functions.len(), module.variables.len(), module.items.len(), module.names.len())
        };
        (sizes(&before) != sizes(&after)).then(|| format!("{}: another module\n{renamed}", path.display()))
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{}:\n{}", failures.len(), failures[0]);
}

#[test]
fn changes_of_a_text_do_not_overlap() {
    let source = ".version 8.0\n.target sm_80\n.func f() {\n\tadd.u32 a, b, c; // sum\n\tret;\n}\n";
    let span = |text: &str| {
        let start = source.find(text).unwrap() as u32;
        Span::new(start, start + text.len() as u32)
    };
    let mut edits = Edits::new(source);
    edits.replace(span("add"), "sub").unwrap();
    assert!(matches!(edits.replace(span("dd.u"), "x"), Err(EditError::Overlap { .. })));
    assert!(matches!(edits.replace(span("add"), "x"), Err(EditError::Overlap { .. })));
    assert!(matches!(edits.insert(span("dd.u").start, "x"), Err(EditError::Overlap { .. })));
    assert_eq!(edits.insert(1000, "x"), Err(EditError::OutOfText));
    edits.insert(span("add").start, "@p ").unwrap();
    edits.insert_statement(span("ret").start, "exit;").unwrap();
    edits.insert_statement(span("ret").start, "trap;").unwrap();
    edits.remove_statement(span("ret;")).unwrap();
    edits.replace(span("c; "), "d;").unwrap();
    let wanted =
        source.replace("add", "@p sub").replace("\tret;\n", "\texit;\n\ttrap;\n\t\n").replace("c; ", "d;");
    assert_eq!(edits.apply(), wanted);
}
