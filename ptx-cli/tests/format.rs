//! `format`: its layouts, and where they are chosen.

mod common;

use common::{Scratch, slashes};

const UNALIGNED: &str = "\
.version 8.0
.target sm_90

.entry k()
{
    .reg .b32 a;
    .reg .pred p;

    mov.u32 a, 1; // one
    setp.ne.u32 p, a, 2; // not two
    ret;
}
";

const ALIGNED: &str = "\
.version 8.0
.target sm_90

.entry k()
{
    .reg .b32  a;
    .reg .pred p;

    mov.u32     a, 1;    // one
    setp.ne.u32 p, a, 2; // not two
    ret;
}
";

#[test]
fn the_layout_is_chosen_by_a_flag_or_the_configuration() {
    let scratch = Scratch::new();
    let asked = |arguments: &[&str]| {
        let answer = scratch.run_with(&[&["format"], arguments].concat(), UNALIGNED.as_bytes());
        assert_eq!((answer.status, answer.stderr.as_str()), (0, ""));
        answer.stdout
    };
    assert_eq!(asked(&["--layout", "aligned", "-"]), ALIGNED);
    assert!(asked(&["-"]).contains("\tmov.u32\ta, 1;"));
    scratch.file("ptx.toml", "[format]\nlayout = \"aligned\"\n");
    assert_eq!(asked(&["-"]), ALIGNED);
    assert!(asked(&["--layout", "compiler", "-"]).contains("\tmov.u32\ta, 1;"));
    assert!(asked(&["--indent", "2", "-"]).contains("\n  mov.u32     a, 1;    // one\n"));
    // What holds for some files only, and what is left out.
    scratch.file(
        "ptx.toml",
        "exclude = [\"old/\"]\n[[overrides]]\nfiles = [\"hand/\"]\nformat = { layout = \"aligned\", indent = 8 }\n",
    );
    for name in ["hand/k.ptx", "old/k.ptx", "k.ptx"] {
        scratch.file(name, UNALIGNED);
    }
    assert_eq!(scratch.run(&["format", "."]).status, 0);
    assert_eq!(scratch.read("hand/k.ptx"), ALIGNED.replace("\n    ", "\n        "));
    assert_eq!(scratch.read("old/k.ptx"), UNALIGNED);
    assert!(scratch.read("k.ptx").contains("\tmov.u32\ta, 1;"));
    assert_eq!(scratch.run(&["format", "--check", "."]).status, 0, "formatted twice is formatted once");
}

#[test]
fn widths_that_are_not_sensible_are_refused() {
    let scratch = Scratch::new();
    scratch.file("k.ptx", UNALIGNED);
    for (arguments, expected) in [
        (["--indent", "0"], "the indentation has 1 to 16 columns, not 0"),
        (["--width", "10"], "the width is 40 to 400 columns, not 10"),
    ] {
        let answer = scratch.run(&[&["format"][..], &arguments, &["k.ptx"]].concat());
        assert_eq!(answer.status, 2);
        assert!(answer.stderr.contains(expected), "{}", answer.stderr);
    }
    scratch.file("ptx.toml", "[format]\nlayout = \"aligned\"\nwidth = 10\n");
    let answer = scratch.run(&["format", "k.ptx"]);
    assert_eq!(answer.status, 2);
    assert!(answer.stderr.contains("in line 3: the width is"), "{}", answer.stderr);
    assert_eq!(scratch.read("k.ptx"), UNALIGNED);
}

const ASM: &str = r#"
__device__ void f(unsigned &a, unsigned b) {
  asm volatile("add.cc.u32   %0,%0 , %1;\n\t"
               "madc.lo.u32 %0, %0,%1, 0;\n\t" : "+r"( a ) : "r"(b));
  asm("add.u32 %0 %1;" : "+r"(a) : "r"(b));   // a comma is missing
}
"#;

#[test]
fn asm_templates_are_formatted_where_that_is_asked_for() {
    let scratch = Scratch::new();
    let expected = ASM
        .replace("add.cc.u32   %0,%0 , %1", "add.cc.u32  %0, %0, %1")
        .replace("%0, %0,%1, 0", "%0, %0, %1, 0");
    scratch.file("d/k.cu", ASM);
    scratch.file("d/k.ptx", UNALIGNED);
    let check = scratch.run(&["format", "--asm", "--check", "--layout", "aligned", "d"]);
    assert_eq!((check.status, slashes(&check.stdout)), (1, "d/k.cu\nd/k.ptx\n".to_owned()));
    let diff = scratch.run(&["format", "--asm", "--diff", "d/k.cu"]);
    assert!(diff.stdout.contains("+  asm volatile(\"add.cc.u32  %0, %0, %1;"), "{}", diff.stdout);
    assert_eq!(scratch.read("d/k.cu"), ASM, "--check and --diff change nothing");
    let answer = scratch.run(&["format", "--asm", "--verbose", "--layout", "aligned", "d"]);
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    assert!(
        slashes(&answer.stderr)
            .contains("d/k.cu:5: the asm statement is left as it is: its template has a syntax error"),
        "{}",
        answer.stderr
    );
    assert_eq!(scratch.read("d/k.cu"), expected);
    assert_eq!(scratch.read("d/k.ptx"), ALIGNED);
    let again = scratch.run(&["format", "--asm", "--check", "--layout", "aligned", "d"]);
    assert_eq!((again.status, again.stdout.as_str()), (0, ""));
    // Standard input is CUDA C++ then, or what its name says.
    let filter = scratch.run_with(&["format", "--asm", "-"], ASM.as_bytes());
    assert_eq!((filter.status, filter.stdout, filter.stderr.as_str()), (0, expected, ""));
    let named = ["format", "--asm", "--layout", "aligned", "--stdin-filename", "k.ptx", "-"];
    assert_eq!(scratch.run_with(&named, UNALIGNED.as_bytes()).stdout, ALIGNED);
}

#[test]
fn a_configuration_may_ask_for_asm_templates() {
    let scratch = Scratch::new();
    scratch.file(
        "ptx.toml",
        "[format]\nasm = true\n[[overrides]]\nfiles = [\"old/\"]\nformat = { asm = false }\n",
    );
    scratch.file("k.cu", ASM);
    scratch.file("old/k.cu", ASM);
    let listed = |arguments: &[&str]| {
        let answer = scratch.run(&[&["format", "--check"], arguments].concat());
        (answer.status, slashes(&answer.stdout))
    };
    assert_eq!(listed(&["."]), (1, "k.cu\n".to_owned()));
    assert_eq!(listed(&["--asm", "."]), (1, "k.cu\nold/k.cu\n".to_owned()), "a flag counts before the file");
    assert_eq!(listed(&["--asm", "--no-asm", "k.cu", "old/k.cu"]), (0, String::new()));
    let diff = scratch.run(&["format", "--check", "--diff", "k.cu", "old/k.cu"]);
    assert_eq!(diff.status, 1);
    assert!(diff.stdout.contains("+  asm volatile(\"add.cc.u32  %0, %0, %1;"), "{}", diff.stdout);
    assert!(!diff.stdout.contains("old/"), "{}", diff.stdout);
    let filter = ["format", "--stdin-filename", "k.cuh", "-"];
    assert!(scratch.run_with(&filter, ASM.as_bytes()).stdout.contains("add.cc.u32  %0, %0, %1;"));
    assert_eq!(scratch.run(&["format", "."]).status, 0);
    assert_ne!(scratch.read("k.cu"), ASM);
    assert_eq!(scratch.read("old/k.cu"), ASM);
}

#[test]
fn cuda_sources_that_nobody_asked_for_are_left_alone() {
    let scratch = Scratch::new();
    scratch.file("d/k.cu", ASM);
    // pre-commit names whatever has changed.
    let named = scratch.run(&["format", "d/k.cu"]);
    let left = "1 CUDA source left alone; --asm formats their asm templates\n";
    assert_eq!((named.status, named.stderr.as_str()), (0, left));
    let folder = scratch.run(&["format", "d"]);
    assert_eq!((folder.status, folder.stderr), (2, format!("error: there is no PTX file; {left}")));
    let filter = scratch.run_with(&["format", "--stdin-filename", "k.cu", "-"], ASM.as_bytes());
    assert_eq!((filter.status, filter.stdout.as_str(), filter.stderr.as_str()), (0, ASM, ""));
    scratch.file("d/k.ptx", ALIGNED);
    let both = scratch.run(&["format", "--check", "--layout", "aligned", "d"]);
    assert_eq!((both.status, both.stderr.as_str()), (0, "0 files would change, 1 as it should be\n"));
    assert_eq!(scratch.read("d/k.cu"), ASM);
}

#[test]
fn nothing_but_blanks_of_templates_changes_in_a_source() {
    let scratch = Scratch::new();
    // Bytes that are no UTF-8, and line ends of two kinds.
    let source = b"// caf\xe9   ;\r\nasm(\"mov.u32  %0,1;\" : \"=r\"(a));\nint   x;";
    let answer = {
        scratch.file("k.cu", source);
        scratch.run(&["format", "--asm", "k.cu"])
    };
    assert_eq!(answer.status, 0, "{}", answer.stderr);
    let made = std::fs::read(scratch.path().join("k.cu")).unwrap();
    assert_eq!(made, b"// caf\xe9   ;\r\nasm(\"mov.u32 %0, 1;\" : \"=r\"(a));\nint   x;");
}
