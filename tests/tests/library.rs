//! The facade and its example programs.

use ptx_toolkit::{Config, Module};

#[path = "../../examples/build.rs"]
#[expect(dead_code, reason = "the example's `main` reads arguments and prints")]
mod build;
#[path = "../../examples/count.rs"]
#[expect(dead_code, reason = "the example's `main` reads arguments and prints")]
mod count;
#[path = "../../examples/inline.rs"]
#[expect(dead_code, reason = "the example's `main` reads arguments and prints")]
mod inline;
#[path = "../../examples/inspect.rs"]
#[expect(dead_code, reason = "the example's `main` reads arguments and prints")]
mod inspect;
#[path = "../../examples/instrument.rs"]
#[expect(dead_code, reason = "the example's `main` reads arguments and prints")]
mod instrument;
#[path = "../../examples/link.rs"]
#[expect(dead_code, reason = "the example's `main` reads arguments and prints")]
mod link;
#[path = "../../examples/rename.rs"]
#[expect(dead_code, reason = "the example's `main` reads arguments and prints")]
mod rename;
#[path = "../../examples/sarif.rs"]
#[expect(dead_code, reason = "the example's `main` reads arguments and prints")]
mod sarif;

const SOURCE: &str = "\
.version 5.0
.target sm_70
.address_size 64
.visible .entry copy(.param .u64 from, .param .u64 to, .param .align 4 .b8 pad[12]) {
    .reg .pred %p<2>;
    .reg .b32 %r<5>;
    .reg .b64 %rd<3>;
    ld.param.u64 %rd1, [from];
    ld.param.u64 %rd2, [to];
    ld.param.u32 %r1, [pad+8];
    setp.ne.u32 %p1, %r1, 0;
    @!%p1 ld.global.v2.u32 {%r2, %r3}, [%rd1];
    @%p1 ld.global.nc.u32 %r4, [%rd1+4];
    @%p1 st.global.u32 [%rd2], %r4;
    ret;
}
";

fn source() -> Module {
    Module::parse(SOURCE).ok().unwrap()
}

/// Nothing is found in a module besides what is found in the other.
fn assert_sound(module: &Module) -> String {
    let (text, found) = module.check(&Config::default());
    let errors: Vec<_> =
        found.iter().filter(|found| found.severity == ptx_toolkit::Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
    assert_eq!(Module::parse(&text).ok().unwrap().print(), text);
    text
}

/// NVIDIA's assembler takes a module, where it is there.
fn assert_assembles(module: &Module) {
    if let Some(ptxas) = ptx_tests::tools::ptxas() {
        let ptxas = ptx_emit::assemble::Ptxas::at(ptxas).unwrap();
        let text = module.print();
        assert!(ptx_tests::same_code::assemble(&ptxas, &text).unwrap().is_some(), "{text}");
    }
}

#[test]
fn inspect_lists_kernels_with_their_parameters() {
    assert_eq!(
        inspect::inspect(&source()),
        "copy(from: .u64, 8 bytes; to: .u64, 8 bytes; pad: .b8, 12 bytes)\n"
    );
}

#[test]
fn count_tells_opcodes_and_writes() {
    let mut count = count::Count::default();
    source().visit(&mut count);
    let opcodes: Vec<_> = count.opcodes.iter().map(|(name, number)| (name.as_str(), *number)).collect();
    assert_eq!(opcodes, [("ld", 5), ("ret", 1), ("setp", 1), ("st", 1)]);
    assert_eq!(count.writes, 7);
}

#[test]
fn instrument_puts_a_counter_before_each_load() {
    let mut module = source();
    assert_eq!(instrument::instrument(&mut module).unwrap(), 2);
    let text = assert_sound(&module);
    assert_assembles(&module);
    assert!(text.starts_with(".version 6.0\n"), "{text}");
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    let counts: Vec<usize> = (0..lines.len()).filter(|line| lines[*line].contains("red.relaxed")).collect();
    assert_eq!(counts.len(), 2, "{text}");
    assert!(lines[counts[0]].starts_with("@!%p1 red") && lines[counts[0]].ends_with(", 8;"), "{text}");
    assert!(lines[counts[1]].starts_with("@%p1 red") && lines[counts[1]].ends_with(", 4;"), "{text}");
    assert!(counts.iter().all(|line| lines[line + 1].contains("ld.global")), "{text}");
}

#[test]
fn build_makes_a_kernel_without_findings() {
    let module = build::scale().unwrap();
    assert_sound(&module);
    assert_assembles(&module);
}

#[test]
fn link_makes_one_module_of_several() {
    let header = ".target sm_80\n.address_size 64\n";
    let modules = [
        format!(".version 7.0\n{header}.extern .func f();\n.visible .entry k() {{ call f; ret; }}\n"),
        format!(".version 7.0\n{header}.func help() {{ ret; }}\n.visible .func f() {{ call help; ret; }}\n"),
        format!(".version 8.0\n{header}.func help() {{ ret; }}\n.visible .func g() {{ call help; ret; }}\n"),
    ];
    let modules = || modules.iter().map(|text| Module::parse(text).ok().unwrap()).collect();
    let (module, told) = link::link_all(modules(), false).unwrap();
    assert_sound(&module);
    assert_assembles(&module);
    assert_eq!(told, ["help is called help_1", "PTX 8.0 is needed"]);
    let (module, told) = link::link_all(modules(), true).unwrap();
    let text = assert_sound(&module);
    assert_assembles(&module);
    assert_eq!(told[2..], ["help_1 is not used", "g is not used"]);
    assert!(!text.contains("help_1") && text.contains("call\thelp;"), "{text}");
}

#[test]
fn inline_leaves_a_kernel_without_calls() {
    let mut module = Module::parse(
        ".version 8.0\n.target sm_80\n.address_size 64\n.extern .func other();\n\
         .func (.param .b32 r) one_more(.param .b32 a) {\n.reg .b32 %r<2>; ld.param.b32 %r0, [a];\n\
         add.u32 %r1, %r0, 1; st.param.b32 [r], %r1; ret;\n}\n\
         .visible .entry k(.param .u64 out) {\n.reg .b32 %r; .reg .b64 %rd;\n\
         { .param .b32 p; .param .b32 q; st.param.b32 [p], 4;\n\
         call (q), one_more, (p); ld.param.b32 %r, [q]; }\n\
         call other; ld.param.u64 %rd, [out]; st.global.u32 [%rd], %r; ret;\n}\n",
    )
    .ok()
    .unwrap();
    let (inlined, left) = inline::inline_all(&mut module).unwrap();
    assert_eq!((inlined, left.len()), (1, 1));
    let text = assert_sound(&module);
    assert_assembles(&module);
    assert!(!text.contains("one_more") && text.contains("call\tother"), "{text}");
}

#[test]
fn rename_changes_the_name_and_no_other_byte() {
    let source = "// copy\r\n.version 8.6\t// 0x1\r\n.target sm_90\r\n.func copy ( ) ;\r\n\
                  .func f() { .reg .b64 %r; { .reg .b32 copy; mov.b32 copy, 0x0A; }\r\n call  copy ; ret; }\r\n\
                  .func copy ( ) { ret; } /* copy */";
    let renamed = rename::rename(source, "copy", "duplicate").unwrap();
    let wanted = source.replace("func copy", "func duplicate").replace("call  copy", "call  duplicate");
    assert_eq!(renamed, wanted);
    let taken = rename::rename(source, "copy", "f").unwrap_err();
    assert_eq!(taken.to_string(), "`f` is no name that is free");
    assert!(rename::rename(source, "copy", "%r").is_err() && rename::rename(source, "gone", "new").is_err());
}

#[test]
fn a_log_has_the_findings_that_the_configuration_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path
    };
    write("ptx.toml", "exclude = [\"old.ptx\"]\nrules.syntax = \"warn\"\n");
    let wrong = ".version 8.6\n.target sm_90\n.func f() { ret }\n";
    let (log, failed) = sarif::sarif(&[write("a.ptx", wrong), write("old.ptx", wrong)]).unwrap();
    let log: serde_json::Value = serde_json::from_slice(&log).unwrap();
    let results = log["runs"][0]["results"].as_array().unwrap();
    assert!(
        !failed && !results.is_empty() && results.iter().all(|found| found["level"] == "warning"),
        "{results:?}"
    );
    let missing = sarif::sarif(&[folder.path().join("none.ptx")]).unwrap_err().to_string();
    assert!(
        missing.starts_with("cannot read `") && missing.ends_with("no such file or directory"),
        "{missing}"
    );
}
