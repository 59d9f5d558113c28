//! `format`: its layouts, and where they are chosen.

mod common;

use common::Scratch;

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
