//! Linking: what `nvlink` does with machine code, and what NVIDIA's assembler takes.

use std::path::Path;
use std::process::Command;

use ptx_emit::assemble::Ptxas;
use ptx_ir::ir::{Definition, FunctionKind, Module};
use ptx_ir::link::{LinkError, Linked, exported, link, remove_unused};
use ptx_ir::lower::lower;
use ptx_syntax::Class;
use ptx_tests::same_code::{assemble, on_all_cores};
use ptx_tests::tools::{needed_ptxas, tool};
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
