//! Files of other languages with inline PTX, from the command line.

mod common;

use common::{Scratch, slashes};

const PURE: &str = "\
def load(a):
    return llvm.inline_asm(T.i32(), [a], \"ld.shared.u32 $0, [$1];\", \"=r,r\")


def count():
    return llvm.inline_asm(T.i32(), [], \"mov.u64 $0, 1;\", \"=r\", has_side_effects=True)
";

#[test]
fn folders_are_searched_for_them() {
    let scratch = Scratch::new();
    scratch.file("src/a.py", PURE);
    scratch.file("src/b.rs", "fn f(y: u32) { unsafe { asm!(\"mov.u64 {}, 1;\", out(reg32) y) } }\n");
    scratch
        .file("src/c.ll", "define void @f() {\n  call void asm \"bar.sync $0;\", \"r\"()\n  ret void\n}\n");
    scratch.file("src/d.mlir", "%0 = llvm.inline_asm \"mov.u64 $0, 1;\", \"=r\" : () -> i32\n");
    scratch.file("src/main.rs", "fn main() { unsafe { core::arch::asm!(\"mov {}, 1\", out(reg) _) } }\n");
    let answer = scratch.run(&["verify", "--message-format", "concise", "src"]);
    assert_eq!(answer.status, 1, "{answer:?}");
    let at = |line: &str| line.splitn(3, ' ').take(2).collect::<Vec<_>>().join(" ");
    let found: Vec<String> = slashes(&answer.stdout).lines().map(at).collect();
    assert_eq!(
        found,
        [
            "src/a.py:2:43: warning[P1006]",
            "src/a.py:6:50: error[P1009]",
            "src/b.rs:1:39: error[P1009]",
            "src/c.ll:2:34: error[P1030]",
            "src/d.mlir:1:31: error[P1009]"
        ],
        "{answer:?}"
    );
}

#[test]
fn comments_suppress_and_are_written() {
    let scratch = Scratch::new();
    scratch.file("a.py", PURE);
    let added = scratch.run(&["verify", "--add-suppressions", "a.py"]);
    assert_eq!(added.status, 0, "{added:?}");
    let text = scratch.read("a.py");
    assert!(text.contains("\"=r,r\")  # ptx-allow: asm-side-effect-not-volatile\n"), "{text}");
    assert_eq!(scratch.run(&["verify", "a.py"]).status, 0);
    // One that suppresses nothing is told.
    scratch.file("b.py", "x = inline_asm(1)  # ptx-allow: dead-store\n");
    let unused = scratch.run(&["verify", "--message-format", "json", "b.py"]);
    assert!(unused.stdout.contains("unused-suppression"), "{unused:?}");
}

#[test]
fn they_are_not_ptx() {
    let scratch = Scratch::new();
    scratch.file("a.py", PURE);
    for command in [&["loads"][..], &["report", "--backend", "ptxas"]] {
        let answer = scratch.run(&[command, &["a.py"]].concat());
        assert_eq!(answer.status, 2, "{answer:?}");
    }
    let answer = scratch.run(&["format", "--check", "a.py"]);
    assert_eq!(scratch.read("a.py"), PURE, "{answer:?}");
    assert_eq!(scratch.run_with(&["verify", "--stdin-filename", "x.py", "-"], PURE.as_bytes()).status, 1);
}

#[test]
fn help_is_in_the_words_of_the_host() {
    let scratch = Scratch::new();
    scratch.file(
        "a.rs",
        "fn f(x: u32, y: u32) {\n\
         asm!(\"add.u32 {0}, {0}, 1;\", out(reg32) y);\n\
         asm!(\"mov.u32 {0}, 1;\", in(reg32) x);\n\
         asm!(\"mov.u32 {0}, %laneid\", \"add.u32 {0}, {0}, 1;\", out(reg32) y);\n\
         asm!(\"mul.lo.u32 {0}, {2}, 3;\", \"add.u32 {1}, {2}, 3;\", lateout(reg32) x, lateout(reg32) y, in(reg32) x);\n\
         asm!(\"mov.u64 {0}, 1;\", out(reg32) y);\n}\n",
    );
    scratch.file(
        "b.py",
        "llvm.inline_asm(T.i32(), [], \"add.u32 $0, $0, 1;\", \"=r\")\n\
         llvm.inline_asm(T.i32(), [a], \"add.u32 $1, $1, 1; mov.b32 $0, $1;\", \"=r,r\")\n",
    );
    let of = |file: &str| scratch.run(&["verify", file]).stdout;
    let (rust, python) = (of("a.rs"), of("b.py"));
    for text in [
        "`out`: the old value is not passed in",
        "help: write `inout` instead of `out`: the operand is read and written",
        "help: the template never reads it: pass it as `out`",
        "note: rustc joins the strings of a template with line ends, which separate no instructions",
        "help: write `out` instead of `lateout`",
        "note: the class `reg32` makes `{0}` a `.b32` register",
    ] {
        assert!(rust.contains(text), "{text}\n{rust}");
    }
    for text in [
        "help: pass the old value in, as an input whose constraint is the output's number",
        "help: copy it to a register of the template's own, and work on that",
    ] {
        assert!(python.contains(text), "{text}\n{python}");
    }
}
