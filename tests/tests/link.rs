//! Linking: what `nvlink` does with machine code, and what NVIDIA's assembler takes.

use std::path::Path;
use std::process::Command;

use ptx_emit::assemble::Ptxas;
use ptx_ir::ir::{Definition, FunctionKind, Module};
use ptx_ir::link::{LinkError, Linked, exported, link, remove_unused};
use ptx_ir::lower::lower;
use ptx_syntax::Class;
use ptx_tests::same_code::assemble;
use ptx_tests::tools::{needed_ptxas, on_all_cores, tool};
use ptx_verify::Config;

const HEADER: &str = ".version 8.0\n.target sm_80\n.address_size 64\n";

fn module_of(source: &str) -> Module {
    let parse = ptx_syntax::parse(source);
    assert!(parse.errors.is_empty(), "{source}");
    lower(&parse.tree, source).module
}

fn linked(first: &str, second: &str) -> Result<(String, Linked), LinkError> {
    let mut module = module_of(first);
    let linked = link(&mut module, module_of(second))?;
    Ok((sound(&module), linked))
}

/// A module in which nothing is invalid, as a text that gives the same again.
fn sound(module: &Module) -> String {
    let text = ptx_emit::canonical(module);
    let found = ptx_verify::check(&text, &Config::default());
    let invalid: Vec<_> = found.iter().filter(|found| found.class == Class::Invalid).collect();
    assert!(invalid.is_empty(), "{invalid:?}\n{text}");
    assert_eq!(ptx_emit::canonical(&module_of(&text)), text);
    text
}

/// One thing called `x`, and a kernel that uses it.
fn one(kernel: &str, declaration: &str, use_of_it: &str) -> String {
    format!(
        "{HEADER}{declaration}\n.visible .entry {kernel}(.param .u64 out) {{\n.reg .b64 %o;\n.reg .b64 %v;\n\
         ld.param.u64 %o, [out];\n{use_of_it}\nst.global.u64 [%o], %v;\nret;\n}}\n"
    )
}

/// Declarations of a variable `x` and of a function `x`, of all linkages and two shapes, with a use of each.
fn declarations() -> Vec<(String, &'static str)> {
    let mut all = Vec::new();
    for linkage in ["", ".visible ", ".extern ", ".weak ", ".common "] {
        for ty in [".u32", ".u64"] {
            all.push((format!("{linkage}.global {ty} x;"), "mov.u64 %v, x;"));
        }
    }
    for (parameter, call) in [
        (".param .b32 a", "{ .param .b32 p; st.param.b32 [p], 1; call x, (p); } mov.u64 %v, 1;"),
        (".param .b64 a", "{ .param .b64 p; st.param.b64 [p], 1; call x, (p); } mov.u64 %v, 1;"),
    ] {
        for linkage in ["", ".visible ", ".weak "] {
            all.push((format!("{linkage}.func x({parameter}) {{ trap; ret; }}"), call));
        }
        all.push((format!(".extern .func x({parameter});"), call));
    }
    all
}

/// Whether `nvlink` takes the machine code of two modules; none where it crashes.
fn nvlink_takes(nvlink: &Path, folder: &Path, first: usize, second: usize) -> Option<bool> {
    let mut command = Command::new(nvlink);
    let output = format!("{first}-{second}.cubin");
    command.current_dir(folder).args(["-arch", "sm_80"]);
    command.args([format!("a{first}.o"), format!("b{second}.o"), "-o".to_owned(), output]);
    let output = command.output().unwrap();
    let text =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    output.status.code()?;
    // That a name is defined nowhere is no matter of these two.
    let undefined = text.contains("Undefined reference");
    Some(output.status.success() || (undefined && !text.contains("Multiple") && !text.contains("match")))
}

#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn modules_go_together_where_nvlink_takes_them() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    let nvlink = tool("nvlink").expect("nvlink is beside ptxas");
    let folder = tempfile::tempdir().unwrap();
    let declarations = declarations();
    let source = |prefix: &str, index: usize| {
        let (declaration, use_of_it) = &declarations[index];
        one(&format!("{prefix}{index}"), declaration, use_of_it)
    };
    for (prefix, index) in
        ["a", "b"].iter().flat_map(|prefix| (0..declarations.len()).map(move |each| (prefix, each)))
    {
        let name = format!("{prefix}{index}");
        std::fs::write(folder.path().join(format!("{name}.ptx")), source(prefix, index)).unwrap();
        let mut command = Command::new(needed_ptxas());
        command.current_dir(folder.path()).args(["-c", "-arch", "sm_80", &format!("{name}.ptx"), "-o"]);
        assert!(command.arg(format!("{name}.o")).status().unwrap().success(), "{}", source(prefix, index));
    }
    let pairs: Vec<(usize, usize)> = (0..declarations.len())
        .flat_map(|first| (0..declarations.len()).map(move |second| (first, second)))
        .collect();
    let failures = on_all_cores(&pairs, |&(first, second)| {
        let (one, other) = (source("a", first), source("b", second));
        let ours = linked(&one, &other);
        let about = format!("{} and {}", declarations[first].0, declarations[second].0);
        if let Ok((text, _)) = &ours
            && assemble(&ptxas, text).unwrap().is_none()
        {
            return Some(format!("{about}: ptxas refuses\n{text}"));
        }
        let theirs = nvlink_takes(&nvlink, folder.path(), first, second)?;
        (ours.is_ok() != theirs)
            .then(|| format!("{about}: {:?}, nvlink: {theirs}", ours.map(|(_, linked)| linked)))
    });
    let failures: Vec<String> = failures.into_iter().flatten().collect();
    assert!(failures.is_empty(), "{} of {}:\n{}", failures.len(), pairs.len(), failures.join("\n"));
}

#[test]
fn locals_of_both_are_told_apart() {
    let first = format!(
        "{HEADER}.global .u32 x = 1;\n.func f() {{ ret; }}\n.visible .entry a() {{ .reg .b64 %x_<3>;\n\
         mov.u64 %x_1, x; call f; ret; }}\n"
    );
    let second = format!(
        "{HEADER}.global .u32 x = 2;\n.global .u64 p = x;\n.visible .func f() {{ ret; }}\n\
         .visible .entry b() {{ .reg .b64 %r; mov.u64 %r, p; call f; ret; }}\n"
    );
    let (text, linked) = linked(&first, &second).unwrap();
    assert_eq!(linked.renamed_in_first, [("f".to_owned(), "f_1".to_owned())]);
    assert_eq!(linked.renamed_in_second, [("x".to_owned(), "x_1".to_owned())]);
    assert!(text.contains(".global .u64 p = x_1;") && text.contains(".global .u32 x_1 = 2;"), "{text}");
    assert!(text.contains("call\tf_1;") && text.contains("call\tf;"), "{text}");
}

#[test]
fn definitions_take_the_place_of_declarations() {
    let first = format!(
        "{HEADER}.extern .global .u32 x;\n.extern .func (.param .b32 r) f(.param .b32 a);\n.extern .func none();\n\
         .extern .shared .align 16 .b8 dynamic[];\n\
         .visible .entry a() {{ .reg .b64 %r; .reg .b32 %v; mov.u64 %r, x;\nmov.u64 %r, dynamic;\n\
         {{ .param .b32 p; .param .b32 q; st.param.b32 [p], 1; call (q), f, (p); ld.param.b32 %v, [q]; }}\n\
         call none; ret; }}\n"
    );
    let second = format!(
        "{HEADER}.const .u32 c = 3;\n.extern .shared .align 32 .b8 dynamic[];\n\
         .visible .func (.param .b32 r) f(.param .b32 a) {{ .reg .b32 %v; ld.param.b32 %v, [a];\n\
         st.param.b32 [r], %v; ret; }}\n.visible .global .u64 y = f;\n.visible .global .u32 x = 5;\n\
         .visible .func g() {{ .reg .b64 %r; mov.u64 %r, y; mov.u64 %r, c; mov.u64 %r, dynamic; ret; }}\n"
    );
    let (text, linked) = linked(&first, &second).unwrap();
    assert_eq!(linked.undefined, ["none", "dynamic"]);
    assert!(text.contains(".visible .global .u32 x = 5;") && !text.contains(".extern .global"), "{text}");
    assert!(text.contains(".extern .shared .align 32 .b8 dynamic[];"), "{text}");
    assert!(
        !text.contains(".extern .func (") && text.matches(".visible .func (.param .b32 r) f(").count() == 2,
        "{text}"
    );
    if let Some(ptxas) = ptx_tests::tools::ptxas() {
        assert!(assemble(&Ptxas::at(ptxas).unwrap(), &text).unwrap().is_some(), "{text}");
    }
}

#[test]
fn one_header_comes_of_two_or_a_reason_why_not() {
    let with = |version: &str, target: &str, rest: &str| {
        let address = if rest.contains("32bit") { 32 } else { 64 };
        let rest = rest.replace("32bit", "");
        format!(".version {version}\n.target {target}\n.address_size {address}\n{rest}\n")
    };
    let header = |first: String, second: String| {
        let mut module = module_of(&first);
        link(&mut module, module_of(&second)).map(|linked| {
            let header = &module.header;
            (
                format!("{} {}", header.version, header.target),
                linked.version_from_second,
                linked.target_from_second,
            )
        })
    };
    let ok = |text: &str, version, target| Ok((text.to_owned(), version, target));
    assert_eq!(header(with("7.0", "sm_80", ""), with("8.0", "sm_90", "")), ok("8.0 sm_90", true, true));
    assert_eq!(header(with("8.0", "sm_90a", ""), with("7.0", "sm_80", "")), ok("8.0 sm_90a", false, false));
    assert_eq!(header(with("8.0", "sm_90", ""), with("8.0", "sm_90a", "")), ok("8.0 sm_90a", false, true));
    assert!(matches!(
        header(with("8.6", "sm_90a", ""), with("8.6", "sm_100a", "")),
        Err(LinkError::Targets { .. })
    ));
    assert!(matches!(
        header(with("8.0", "sm_80", "32bit"), with("8.0", "sm_80", "")),
        Err(LinkError::Header { what: ".address_size" })
    ));
    // A vote without `.sync` is no instruction of sm_70 any more.
    let vote = ".func f() { .reg .pred %p; vote.all.pred %p, %p; ret; }";
    assert!(matches!(
        header(with("6.0", "sm_60", vote), with("7.0", "sm_70", "")),
        Err(LinkError::Withdrawn { .. })
    ));
}

#[test]
fn files_have_one_list_of_numbers() {
    let source = |name: &str, files: &str| {
        format!("{HEADER}.file 1 {files}\n.visible .func {name}() {{ .loc 1 7 3\nret; }}\n")
    };
    let text = linked(&source("f", "\"a.cu\""), &source("g", "\"b.cu\"")).unwrap().0;
    assert!(text.contains(".file 2 \"b.cu\"") && text.contains(".loc\t2 7 3"), "{text}");
    let text = linked(&source("f", "\"a.cu\""), &source("g", "\"a.cu\"")).unwrap().0;
    assert!(text.matches(".file").count() == 1 && text.matches(".loc\t1 7 3").count() == 2, "{text}");
}

#[test]
fn what_nothing_uses_is_removed() {
    let source = format!(
        "{HEADER}.extern .func never();\n.global .u32 a;\n.global .u64 b = a;\n.global .u32 c;\n\
         .func leaf() {{ .reg .b64 %r; mov.u64 %r, b; ret; }}\n.func middle() {{ call leaf; ret; }}\n\
         .func loop() {{ call loop; ret; }}\n.visible .func open() {{ ret; }}\n.entry k() {{ call middle; ret; }}\n"
    );
    let mut module = module_of(&source);
    let removed = remove_unused(&mut module, exported);
    assert_eq!(
        (removed.functions, removed.variables),
        (vec!["never".into(), "loop".into()], vec!["c".to_owned()])
    );
    sound(&module);
    let kernel = |module: &Module, definition| match definition {
        Definition::Function(function) => module.functions[function].kind == FunctionKind::Entry,
        Definition::Variable(_) => false,
    };
    assert_eq!(remove_unused(&mut module, kernel).functions, ["open"]);
    assert_eq!(remove_unused(&mut module, kernel), Default::default());
    let text = sound(&module);
    assert!(text.contains("leaf()") && text.contains(".global .u64 b = a;"), "{text}");
}

/// A module with a function, a line of it, and debugging information: a unit with the function, its file, where it begins, and
/// a label in another section.
fn debugged(name: &str, file: &str, local: &str) -> String {
    format!(
        "{HEADER}{local}.visible .func {name}() {{\n.local .b8 depot[8];\n.reg .b64 %r;\nmov.u64 %r, depot;\n\
         $L_begin:\n.loc 1 3 0\nret;\n}}\n.file 1 \"{file}\"\n.section .debug_abbrev {{\n\
         .b8 1, 17, 1, 3, 8, 16, 6, 0, 0\n.b8 2, 46, 0, 3, 8, 58, 11, 17, 1, 2, 10, 64, 6, 0, 0\n.b8 0\n}}\n\
         .section .debug_info {{\n.b32 41\n.b8 2, 0\n.b32 .debug_abbrev\n.b8 8\n.b8 1\n.b8 117, 0\n.b32 .debug_line\n\
         .b8 2\n.b8 102, 0\n.b8 1\n.b64 $L_begin\n.b8 9, 3\n.b64 depot\n.b32 .debug_loc+2\n.b8 0\n}}\n\
         .section .debug_loc {{\n.b8 7, 7\n$L_place:\n.b64 $L_begin\n.b64 $L_place\n}}\n"
    )
}

#[test]
fn sections_of_one_name_become_one() {
    let local = ".global .u32 hidden;\n";
    let (text, linked) = linked(&debugged("f", "a.cu", local), &debugged("g", "b.cu", local)).unwrap();
    assert_eq!(linked.renamed_in_second, [("hidden".to_owned(), "hidden_1".to_owned())]);
    assert_eq!(text.matches(".section .debug_info").count(), 1, "{text}");
    let sections: String = text[text.find(".section").unwrap()..].split_whitespace().collect();
    // The second unit: after the bytes of the first abbreviations and places, of its own file, with its own names.
    let second = ".b3241.b82,0.b32.debug_abbrev+25.b88.b81.b8117,0.b32.debug_line.b82.b8102,0.b82.b64$L_begin_1\
        .b89,3.b64depot_1.b32.debug_loc+20.b80";
    let first = second
        .replace(".debug_abbrev+25", ".debug_abbrev")
        .replace("102,0.b82.b64$L_begin_1", "102,0.b81.b64$L_begin")
        .replace("depot_1", "depot")
        .replace("+20", "+2");
    assert!(sections.contains(&format!("{first}{second}")), "{first}{second}\n{sections}");
    let places = ".b87,7$L_place:.b64$L_begin.b64$L_place.b87,7$L_place_1:.b64$L_begin_1.b64$L_place_1";
    assert!(sections.contains(places), "{sections}");
    assert!(text.contains("$L_begin_1:") && text.contains("depot_1[8]"), "{text}");
    if let Some(ptxas) = ptx_tests::tools::ptxas() {
        assert!(assemble(&Ptxas::at(ptxas).unwrap(), &text).unwrap().is_some(), "{text}");
    }
}

#[test]
fn sections_that_cannot_be_one_say_why() {
    let good = debugged("f", "a.cu", "");
    let second = debugged("g", "b.cu", "");
    let why = |second: String| match linked(&good, &second) {
        Err(LinkError::Section { name, reason }) => format!("{name}: {reason}"),
        other => panic!("{other:?}"),
    };
    assert_eq!(
        why(second.replace(".b8 2, 0\n", ".b8 5, 0\n")),
        ".debug_info: it is neither DWARF 2, 3 nor 4"
    );
    assert_eq!(
        why(second.replace(".b8 1\n.b8 117", ".b8 9\n.b8 117")),
        ".debug_info: its entries cannot be read"
    );
    assert!(why(second.replace(".debug_loc+2\n", "2\n")).contains("by a number instead of a name"));
    let unknown = ".section .own { .b8 1 }\n";
    let error = linked(&format!("{good}{unknown}"), &format!("{second}{unknown}")).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the sections `.own` cannot be one: nothing is known of what refers into it"
    );
}

/// What compilers write for a debugger goes together two by two, and `ptxas` takes it.
#[test]
#[cfg_attr(no_ptxas, ignore = "needs ptxas, which tests/install-toolkit.sh installs")]
fn debugging_information_of_compilers_is_linked() {
    let ptxas = Ptxas::at(needed_ptxas()).unwrap();
    let small = |path: &std::path::PathBuf| path.metadata().is_ok_and(|metadata| metadata.len() < 200_000);
    let read = |path: &std::path::PathBuf| {
        std::fs::read_to_string(path).ok().filter(|text| text.contains(".debug_info"))
    };
    let files = ptx_tests::case::files(ptx_tests::tools::corpus(), "ptx");
    let is_good = |text: &String| ptx_syntax::parse(text).errors.is_empty();
    let texts: Vec<String> =
        files.iter().filter(|path| small(path)).filter_map(read).filter(is_good).collect();
    // A part of them, for each pair is assembled.
    let pairs: Vec<(usize, usize)> = (0..texts.len())
        .step_by(texts.len() / 12 + 1)
        .flat_map(|first| [(first, (first + 7) % texts.len()), (first, first)])
        .collect();
    let results = on_all_cores(&pairs, |&(first, second)| -> Result<usize, String> {
        let (one, mut other) = (module_of(&texts[first]), module_of(&texts[second]));
        if first == second {
            // The same functions under other names, as if they were of another file.
            let functions: Vec<_> = other.functions.handles().collect();
            for handle in functions {
                let name = format!("{}_again", other.name(other.functions[handle].name));
                if other.functions[handle].body.is_some() {
                    let symbol = other.symbols.intern(&name);
                    let old = std::mem::replace(&mut other.functions[handle].name, symbol);
                    let definition = other.names.shift_remove(&old).unwrap();
                    other.names.insert(symbol, definition);
                }
            }
        }
        let mut module = one;
        match link(&mut module, other) {
            Ok(_) => {}
            Err(LinkError::Section { name, reason }) => return Err(format!("{name}: {reason}")),
            Err(_) => return Ok(0),
        }
        let is_taken = |index: usize| assemble(&ptxas, &texts[index]).unwrap().is_some();
        if !is_taken(first) || !is_taken(second) {
            return Ok(0);
        }
        let text = ptx_emit::canonical(&module);
        let sections = text.matches("\n.section .debug_info").count();
        match assemble(&ptxas, &text).unwrap() {
            Some(_) if sections == 1 => Ok(1),
            _ => Err(format!("{sections} sections, ptxas refuses: {first} {second}")),
        }
    });
    let failures: Vec<&String> = results.iter().filter_map(|result| result.as_ref().err()).collect();
    // `ptxas` 13.5 ends on one pair with "Attempted to Dereference Out of Bounds" and names no line.
    assert!(failures.len() <= 1, "{} of {}:\n{failures:?}", failures.len(), pairs.len());
    let linked: usize = results.iter().flatten().sum();
    assert!(linked > 8, "{linked} of {}", pairs.len());
}
