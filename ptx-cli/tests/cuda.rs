//! `verify` of CUDA sources: what it reads, what it tells of what it did not, and how much it bears.

mod common;

use std::fmt::Write as _;

use common::{Scratch, slashes};

const UNSEEN: &str = "#if 0\nvoid off() { asm(\"add.u32 a, b, c;\"); }\n#endif\n\
    __device__ void on(unsigned a) { asm(\"add.u32 %0, %0, 1;\" : \"+r\"(a)); }\n\
    __device__ void part(unsigned a) { asm(OTHER \".u32 %0, %0, 1;\" : \"+r\"(a)); }\n\
    inline void host() { asm(\"cpuid\" ::: \"eax\"); }\n";

#[test]
fn statements_that_are_not_verified_are_told() {
    let scratch = Scratch::new();
    scratch.file("a.cu", UNSEEN);
    let answer = scratch.run(&["verify", "a.cu"]);
    assert_eq!(
        answer.stderr,
        "no findings in 1 file\n4 asm statements: 1 verified, 1 verified around parts that are not known \
         here, 1 excluded by `#if 0`, 1 of other assemblers\n"
    );
    let answer = scratch.run(&["verify", "--verbose", "a.cu"]);
    let lines: Vec<&str> = answer.stderr.lines().collect();
    assert_eq!(lines[0], "a.cu:2:14: not verified: excluded by `#if 0`");
    assert_eq!(
        lines[1],
        "a.cu:5:36: verified around parts of the template that only macros of other files tell"
    );
    assert_eq!(lines[2], "a.cu:6:22: not verified: assembler of the host, or of another device");
    let answer = scratch.run(&["verify", "--message-format", "json", "a.cu"]);
    assert_eq!((answer.stdout.as_str(), answer.stderr.as_str()), ("", ""));
}

#[test]
fn choices_of_branches_that_are_not_read_are_told() {
    let scratch = Scratch::new();
    let branches = |count: usize| {
        let others: String =
            (1..count).map(|index| format!("#elif X == {index}\n\"add.u32 %0, %0, {index};\"\n")).collect();
        format!("#if X == 0\n\"add.u32 %0, %0, 0;\"\n{others}")
    };
    let function = |text: &str| format!("__device__ void f(unsigned a) {{ asm({text} : \"+r\"(a)); }}\n");
    // The choice of none of the branches is one too.
    let few = function(&format!("\"\"\n{}#endif\n", branches(7)));
    let many = function(&format!("\"\"\n{}#else\n\"x\"\n#endif\n", branches(12)));
    scratch.file("a.cu", format!("{few}{many}"));
    let answer = scratch.run(&["verify", "a.cu"]);
    let summary = "2 asm statements: 2 verified, 1 of them in only 8 choices of the `#if` branches inside\n";
    assert!(answer.stderr.ends_with(summary), "{}", answer.stderr);
    let answer = scratch.run(&["verify", "--verbose", "a.cu"]);
    let line = "a.cu:18:33: read in 8 of the 13 choices that the `#if` branches inside it give";
    assert_eq!(answer.stderr.lines().next(), Some(line), "{}", answer.stderr);
}

#[test]
fn registers_of_included_headers_are_known() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join(".git")).unwrap();
    std::fs::create_dir_all(scratch.path().join("src")).unwrap();
    std::fs::create_dir_all(scratch.path().join("include/deep")).unwrap();
    let use_it =
        "__device__ __forceinline__ void add(unsigned &a) { asm(\"add.u32 %0, %0, %%c2;\" : \"+r\"(a)); }\n";
    let declare = "__device__ __forceinline__ void head() { asm(\".reg .u32 %c2; mov.u32 %c2, 1;\"); }\n";
    scratch.file("include/deep/declare.h", declare);
    scratch.file("include/head.h", "#include \"deep/declare.h\"\n");
    scratch.file("src/good.cu", format!("#include \"head.h\"\n{use_it}"));
    scratch.file("src/missing.cu", format!("#include \"gone.h\"\n{use_it}"));
    scratch.file("src/bad.cu", format!("#include <cstdint>\n{use_it}"));
    let concise = |name: &str| scratch.run(&["verify", "--message-format", "concise", name]);
    assert_eq!(concise("src/good.cu").stdout, "");
    let missing = concise("src/missing.cu").stdout;
    assert!(missing.contains("warning[P0301]"), "{missing}");
    let bad = concise("src/bad.cu").stdout;
    assert!(bad.contains("error[P0301]"), "{bad}");
}

#[test]
fn macros_and_types_of_included_headers_are_known() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join(".git")).unwrap();
    std::fs::create_dir_all(scratch.path().join("third/deep")).unwrap();
    std::fs::create_dir_all(scratch.path().join("build")).unwrap();
    scratch.file("ops.h", "#pragma once\n#define OP \"add.s32\"\n#define OUT(x) \"=r\"(x)\n");
    scratch
        .file("third/deep/types.h", "#ifndef T\n#define T\nnamespace n { typedef double real; }\n#endif\n");
    let source = "#include \"ops.h\"\n#include <deep/types.h>\nnamespace n {\n\
                  __device__ int f(int a, real b) {\n  int d;\n  asm(OP \" %0, %1, %1, %1;\" : OUT(d) : \"r\"(a));\n\
                  \x20 asm(\"mov\" SUFFIX \" %0, %1;\" : OUT(d) : \"r\"(b));\n  return d;\n}\n}\n";
    scratch.file("a.cu", source);
    let concise = || scratch.run(&["verify", "--message-format", "concise", "--verbose", "a.cu"]);
    let plain = concise();
    assert!(plain.stdout.contains("a.cu:6:24: error[P0209]"), "{}", plain.stdout);
    assert_eq!(plain.stdout.lines().count(), 1, "{}", plain.stdout);
    assert!(plain.stderr.contains("a.cu:7:3: verified around"), "{}", plain.stderr);
    let commands = r#"[{"directory": ".", "file": "../a.cu", "command": "nvcc -I../third '-DSUFFIX=\".b32\"' -c ../a.cu"}]"#;
    scratch.file("build/compile_commands.json", commands);
    let known = concise();
    assert!(known.stdout.contains("a.cu:7:46: error[P1009]"), "{}", known.stdout);
    assert!(!known.stderr.contains("verified around"), "{}", known.stderr);
    assert!(
        slashes(&known.stderr).contains("includes are looked for as `build/compile_commands.json` says"),
        "{}",
        known.stderr
    );
    scratch.file("build/compile_commands.json", "[");
    let broken = scratch.run(&["verify", "a.cu"]);
    let note = "includes are looked for without `build/compile_commands.json`: EOF while parsing";
    assert!(slashes(&broken.stderr).contains(note), "{}", broken.stderr);
}

#[test]
fn statements_in_macros_of_headers_are_verified_where_they_are_used() {
    let scratch = Scratch::new();
    let header = "#ifndef OPS_H\n#define OPS_H\n\
                  #define MOVE(to, from) asm(\"mov.b32 %0, %1;\" : \"=r\"(to) : \"r\"(from))\n\
                  #define WRONG(to) asm(\"mov.q32 %0, 1;\" : \"=r\"(to))\n\
                  #define LOAD(to, type, from) asm volatile(\"ld.global.\" #type \" %0, [%1];\" : \"=r\"(to) : \"l\"(from))\n\
                  #ifdef NEWER\n#define SOMETIMES(to) asm(\"mov.q32 %0, 1;\" : \"=r\"(to))\n#endif\n\
                  __device__ inline int f(int a) { int b; MOVE(b, a); return b; }\n#endif\n";
    scratch.file("ops.h", header);
    // There is no `asm` in it.
    let source = "#include \"ops.h\"\n#define TWICE(to, from) MOVE(to, from); MOVE(to, from)\n\
                  __device__ void g(int a, int b, double c, int* p) {\n  MOVE(a, b);\n  MOVE(a, c);\n  WRONG(a);\n\
                  \x20 LOAD(a, q32, p);\n  TWICE(a, b);\n  SOMETIMES(a);\n}\n";
    scratch.file("a.cu", source);
    let answer = scratch.run(&["verify", "--message-format", "concise", "a.cu"]);
    let lines: Vec<&str> = answer.stdout.lines().collect();
    assert!(
        matches!(&*lines, [first, second] if first.starts_with("a.cu:5:11: error[P1009]")
        && second.starts_with("a.cu:7:3: error[P0204] `ld` has no modifier `.q32`")),
        "{lines:#?}"
    );
    let answer = scratch.run(&["verify", "a.cu"]);
    assert!(answer.stdout.contains("`MOVE` is defined in ops.h, line 3\n"), "{}", answer.stdout);
    assert!(answer.stderr.contains("6 asm statements: 6 verified"), "{}", answer.stderr);
    // What is wrong whatever the arguments is told in the header alone.
    let answer = scratch.run(&["verify", "--message-format", "concise", "a.cu", "ops.h"]);
    assert_eq!(answer.stdout.matches("`mov` has no modifier `.q32`").count(), 2, "{}", answer.stdout);
    assert!(!answer.stdout.contains("a.cu:6"), "{}", answer.stdout);
    // No edit of this file changes the header.
    let fixed = scratch.run(&["verify", "--fix", "--unsafe-fixes", "a.cu"]);
    assert_eq!(scratch.read("a.cu"), source, "{}", fixed.stdout);
}

#[test]
fn macros_that_double_each_other_are_bounded() {
    let scratch = Scratch::new();
    let mut source =
        format!("#define A0 asm volatile(\"{}\" : \"+r\"(a));\n", "add.u32 %0, %0, 1;".repeat(200));
    for level in 1..=16 {
        let _ = writeln!(source, "#define A{level} A{} A{}", level - 1, level - 1);
    }
    source.push_str("__device__ void f(unsigned a) { A16 }\n");
    scratch.file("bomb.cu", &source);
    let answer = scratch.run(&["verify", "--message-format", "concise", "bomb.cu"]);
    assert_eq!(answer.stdout.lines().count(), 1, "{}", answer.stdout);
    assert!(answer.stdout.contains("P1026"), "{}", answer.stdout);
}

#[test]
fn what_many_uses_of_a_macro_have_in_common_is_told_once() {
    let scratch = Scratch::new();
    let uses = "OP(\"add\", a, b); OP(\"sub\", b, c); OP(\"min\", c, a);";
    let source = format!(
        "#define OP(op, d, s) asm(op \".u32 %0, %1, 1.5;\" : \"=r\"(d) : \"r\"(s))\n\
         __device__ void f(unsigned a, unsigned b, unsigned c) {{ {uses} }}\n"
    );
    scratch.file("a.cu", source);
    let answer = scratch.run(&["verify", "--message-format", "concise", "a.cu"]);
    assert_eq!(answer.stdout.matches("error[").count(), 1, "{}", answer.stdout);
    let answer = scratch.run(&["verify", "a.cu"]);
    assert!(answer.stdout.contains("and in 2 other expansions of the macro"), "{}", answer.stdout);
}

/// Wrappers of a kernel whose own file has no asm statement, in two headers, one with a macro.
const WRAPPERS: &str = "#pragma once\n#include \"sizes.h\"\n\
    __device__ inline unsigned shared(const void* p) { return __cvta_generic_to_shared(p); }\n\
    __device__ inline void copy(void* to, const void* from) {\n\
    asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16;\" :: \"r\"(shared(to)), \"l\"(from));\n}\n\
    __device__ inline void commit() { asm volatile(\"cp.async.commit_group;\"); }\n\
    template <int N> __device__ void wait() { asm volatile(\"cp.async.wait_group %0;\" :: \"n\"(N)); }\n";

#[test]
fn protocols_are_followed_through_wrappers_of_included_files() {
    let scratch = Scratch::new();
    std::fs::create_dir_all(scratch.path().join("include")).unwrap();
    std::fs::create_dir_all(scratch.path().join("src")).unwrap();
    scratch.file("include/wrappers.cuh", WRAPPERS);
    scratch.file("include/sizes.h", "#ifndef SIZES_H\n#define SIZES_H\n#define THREADS 128\n#endif\n");
    let kernel = |waited: &str| {
        format!(
            "#include \"../include/wrappers.cuh\"\n\
             __global__ void __launch_bounds__(THREADS) k(const int4* in, int4* out) {{\n\
             __shared__ int4 tile[THREADS];\n\
             copy(&tile[threadIdx.x], in + threadIdx.x);\n\
             commit();\n\
             {waited}\n\
             __syncthreads();\n\
             out[threadIdx.x] = tile[THREADS - 1 - threadIdx.x];\n}}\n"
        )
    };
    scratch.file("src/good.cu", kernel("wait<0>();"));
    scratch.file("src/bad.cu", kernel("wait<1>();"));
    let answer = scratch.run(&["verify", "--level", "info", "--message-format", "concise", "src/good.cu"]);
    assert_eq!(answer.stdout, "");
    let answer = scratch.run(&["verify", "--message-format", "concise", "src/bad.cu"]);
    assert!(answer.stdout.contains("P0901"), "{}", answer.stdout);
    // Where the wrapper is called, and not where it stands.
    assert!(answer.stdout.starts_with("src/bad.cu:6:1:"), "{}", answer.stdout);
    // The same file without its headers is left alone.
    std::fs::remove_dir_all(scratch.path().join("include")).unwrap();
    let answer = scratch.run(&["verify", "--message-format", "concise", "src/bad.cu"]);
    assert_eq!(answer.stdout, "");
}
