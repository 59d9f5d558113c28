//! The reader of plain statements and the grammar make the same trees.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use crate::ast::Tree;
use crate::builder::Builder;
use crate::lexer::Lexer;
use crate::parser::{Terminal, grammar};
use crate::statement::Terminals;

/// The tree that the grammar makes alone.
fn by_grammar(source: &str) -> Option<Tree> {
    let builder = RefCell::new(Builder::default());
    let terminals = Lexer::new(source).filter_map(|token| {
        let terminal = Terminal::new(token.kind, token.span)?;
        Some(Ok((token.span.start, terminal, token.span.end)))
    });
    grammar::ModuleParser::new().parse(&builder, terminals).ok()?;
    Some(builder.into_inner().tree)
}

fn with_reader(source: &str) -> Option<Tree> {
    let builder = RefCell::new(Builder::default());
    let terminals = Terminals::new(Lexer::new(source), &builder);
    grammar::ModuleParser::new().parse(&builder, terminals).ok()?;
    Some(builder.into_inner().tree)
}

#[track_caller]
fn same(source: &str) {
    let (grammar, reader) = (by_grammar(source), with_reader(source));
    assert_eq!(format!("{grammar:?}"), format!("{reader:?}"), "\n{source}");
}

fn body(statements: &str) -> String {
    format!(".version 8.0\n.target sm_90\n.entry k()\n{{\n;first;\n{statements}\nret;\n}}\n.global .u32 x;\n")
        .replace(";first;", "first;")
}

#[test]
fn each_form_of_statement() {
    for statement in [
        "ret;",
        "label:",
        "label: other: ret;",
        "@%p1 bra label;",
        "@!%p1 bra.uni label;",
        "@!p.x bra label;",
        "add.s32 %r1, %r2, -4;",
        "add .s32 %r1, %r2, 4;",
        "add.f32 %f1, -0f3F800000, 1.5e3;",
        "ld.global.v2.u32 {%r1, _}, [%rd1+-16];",
        "ld.u32 %r1, [x-4];",
        "ld.u32 %r1, [x+4+4];",
        "ld.u32 %r1, [x+4].unified;",
        "ld.u32 %r1, [];",
        "mov.b64 {}, %rd1;",
        "setp.eq.s32 %p1|%p2, %r1, %r2, !%p3;",
        "setp.eq.s32 %p1|%p2|%p3, %r1, %r2, !%p3;",
        "tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [t, s, {%f5, %f6}];",
        "call (r), f, (a, b), proto;",
        "call f, ();",
        "mov.u32 %r1, 1 ? 2 : ret;",
        "mov.u32 %r1, a(b);",
        "mov.u32 %r1, a[1];",
        "mov.u32 %r1, 1(b);",
        "mov.u32 %r1, (.s64) 4;",
        "mov.u32 %r1, -(4);",
        "mov.u32 %r1, - -4;",
        "mov.u32 %r1, !4;",
        "mov.u32 %r1, {{{{1}}}};",
        "mov.u32 %r1, (1) + 2;",
        "mov.b32 %r1, {a = b};",
        "mov.u32 %r1, v.x;",
        ".loc 1 2 3",
        ".loc 1 2 3 ret;",
        ".loc 1 2 3 .loc 1 2 4 { .reg .u32 r; ret; ret; }",
        ".loc 1 2 3, function_name $L, inlined_at 1 2 3",
        ".loc 1 2 3, function_name $L+12, inlined_at 1 2 3 ret;",
        ".loc 1 2",
        "{ ret; { ret; a: } ret; }",
        "{ { mov.u32 %r1, - -4; } { ret; } }",
        "{ { { ret; .pragma \"nounroll\"; { } } ret; } mov.u32 %r1, -(4); }",
        "{ .reg .b32 t; { .reg .b32 t, u; mov.u32 t, 1 ? {1} : {2}; } ret; }",
        "{ a: { .loc 1 2 } }",
        "@ ! %p1 bra /* here */ label // there\n;",
        "ld.global.L1::no_allocate.v2.u32 {%r1,%r2},[%rd1];",
        "mov.u32 %r1, %;",
        "mov.u32 %r1, %.x;",
        "mov.u32 %r1, a..b;",
        "mov.u32 %r1, a.;",
        "mov.u32 %r1, a||b;",
        "mov.u32 %r1, !=b;",
        "mov.u32 %r1, 12U, .5, 1.e3, 0x1F, 09;",
        ".reg .b32 %r<4>, %x;",
        ".reg .b32 %r<4>, %x<0x2>, %y <3> ;",
        ".reg .v4 .f32 v; .reg .pred p, q;",
        ".shared .align 8 .b8 x[4][2];",
        ".local .b8 y[];",
        ".param .align 8 .b8 p[16]; .param .b32 q;",
        ".const .global .u32 z;",
        ".visible .global .u32 z;",
        ".param .b32 p = 1;",
        ".reg .b32 %r<a>;",
        ".reg .b32 %r<4>>;",
        ".reg .b32 %r<4>=;",
        ".reg .b32 %r<<4>;",
        ".reg .b32 %r<>;",
        ".reg .b32 %r<4;",
        ".reg .b32 ;",
        ".reg .b32 a b;",
        ".reg .b32 a.x;",
        ".shared .align .b8 x;",
        ".shared .b8 x[4;",
        ".reg;",
        "ts: .branchtargets a, b; ret;",
        "p: .callprototype (.param .u32 _) _ (.param .u32 _); ret;",
        ".pragma \"nounroll\"; ret;",
        // Not statements.
        "ret",
        "ret; ;",
        "@ ret;",
        "add.s32 %r1 %r2;",
        "add.s32 %r1, ;",
        "add.s32 , %r1;",
        "ld.u32 %r1, [a;",
        "}",
        "{",
        "ret; } ret;",
        "ret; } ret; ret;",
        "ret; } .section .debug_info { a: .b8 1 b: .b8 2 } .entry l() { ret; ret; ",
        "ret; .entry l() { ret; ret; }",
    ] {
        same(&body(statement));
        same(&body(&format!("{statement} {statement}\n{statement}")));
        same(&format!(
            ".func f() {{{statement}}} .entry k(.param .u32 x) .maxntid 1, 2 {{ {statement} ret; }}"
        ));
    }
}

#[test]
fn each_form_of_section_line() {
    for line in [
        "",
        "a:",
        ".b8 1",
        ".b8 1, 2 .b16 -3",
        ".b32 a .b64 a+4, 5, b-a .b64 .debug_info+4 .b64 .debug_info",
        ".b32 a+4+4 .b8 1",
        ".b32 4 - -4",
        ".b8 \"text\" a: b: .b8 0x12",
        ".b8 1.5",
        ".b8",
        ".b8 1,",
        ".b8 a.b",
        "a",
        "a: ret;",
        "}",
        "} .entry k() { ret; ret; } .section .x { .b8 1",
    ] {
        same(&format!(".section .debug_info\n{{\n{line}\n}}\n"));
        same(&format!(".entry k() {{ ret; ret; }} .section .debug_info\n{{\n.b8 1\n{line}\n.b8 2, 3}}\n"));
        same(&format!(".entry k() {{ ret; .section .debug_info {{ {line} }} ret; }}"));
    }
}

#[test]
fn each_form_of_initial_value() {
    for value in [
        "1",
        "{}",
        "{1}",
        "{1, 2}",
        "{1, /* 2, */ 2, // 3,\n 3}",
        "{0f3F800000, 1.5, 1U, 0x2, 2}",
        "{1, 2, a, 3, 4, b+4, 5, 6, 7}",
        "{1, 2, -3, 4, 5, ~6, 7, 8}",
        "{1, 2, 3 + 4, 5, 6}",
        "{1, 2, 0xff(a), 3, 4, 5}",
        "{{1, 2, 3}, {4, 5, 6}, {7}, {}}",
        "{1, {2, 3}, 4, 5}",
        "{{a = 1, b = c}, 2, 3}",
        "{1, 2, 3}, y[2] = {4, 5}",
        "(1), y = 2",
        "{(1, 2), 3, 4}",
        // No initial values.
        "{1, 2,}",
        "{1, 2, 3",
        "{1,, 2}",
        "{1 2, 3}",
        "{1, 2; 3}",
        "{,}",
        "1, 2",
    ] {
        same(&format!(".global .u32 x[] = {value};"));
        same(&format!(
            ".visible .const .b8 x[4] = {value};\n.entry k() {{ ret; }} .global .u32 z = {value};"
        ));
        same(&format!(".entry k() {{ .global .u32 x[] = {value}; }} .source_section a {{ {value} }}"));
        same(&format!(".func f(.param .u32 a, .param .u32 b);\n.global .u32 x = {value};\n"));
    }
}

#[test]
fn declarations_may_lack_their_semicolon() {
    for (text, functions) in [
        (".func f\n.func g\n.func h", 3),
        (".visible .func (.reg .s32 r) f (.reg .s32 x)\n.visible .func g (.reg .s32 y)\n.global .u32 z;", 2),
        (".extern .func f (.reg .s32 x) .noreturn // comment\n.entry k { ret; }", 2),
        (".func f (.reg .s32 x)", 1),
        (".func f; .func g\n\t.file 1 \"a\"\n.func h {ret;}", 3),
    ] {
        let parse = crate::parse(text);
        assert_eq!(parse.errors, [], "{text}");
        assert_eq!(parse.tree.functions.len(), functions, "{text}");
        let broken = crate::parse(&format!("{text}\n.func end {{ ret; }} ]"));
        assert_eq!(broken.errors.len(), 1, "{text}: {:?}", broken.errors);
        assert_eq!(broken.tree.functions.len(), functions + 1, "{text}");
    }
    for text in
        [".entry k\n.global .u32 x;", ".func f (.reg .u32 x\n.func g;", ".func\n.func g;", ".func f 3"]
    {
        assert_ne!(crate::parse(text).errors, [], "{text}");
    }
}

#[test]
fn every_file_of_the_repository() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests");
    let mut count = 0;
    for folder in ["kernels", "cases", "syntax", "format"] {
        visit(&root.join(folder), &mut |file| {
            let Ok(text) = std::fs::read(&file) else { return };
            same(&String::from_utf8_lossy(&text));
            count += 1;
        });
    }
    assert!(count > 100, "{count} files");
}

fn visit(folder: &Path, each: &mut impl FnMut(PathBuf)) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            visit(&path, each);
        } else if path.extension().is_some_and(|extension| extension == "ptx") {
            each(path);
        }
    }
}

#[test]
fn statements_of_random_tokens() {
    const TOKENS: [&str; 43] = [
        "{ .reg .b32 t;",
        ".shared .b8 x[4]",
        "%r<4>",
        "ret",
        "add.s32",
        "%r1",
        "%r2",
        "$L",
        "v.x",
        "4",
        "0f3F800000",
        "1.5",
        ",",
        ",",
        ",",
        ",",
        ";",
        ";",
        ";",
        ";",
        ":",
        "[",
        "]",
        "{",
        "}",
        "(",
        ")",
        "+",
        "-",
        "!",
        "|",
        "@",
        "@%p1",
        ".loc 1 2 3",
        "function_name",
        "inlined_at 4 5 6",
        ".reg .u32 r;",
        ".x",
        "=",
        "?",
        "[%rd1+4]",
        "{%r1, %r2}",
        "(a, b)",
    ];
    // A linear congruential generator serves; the same texts come on every run.
    let mut state: u64 = 1;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut accepted = 0;
    for _ in 0..30_000 {
        let mut text = String::new();
        for _ in 0..=random(10) {
            text += TOKENS[random(TOKENS.len())];
            text.push(' ');
        }
        let source = body(&format!("add.s32 %r1, {text}; ret;"));
        accepted += usize::from(by_grammar(&source).is_some());
        same(&source);
    }
    assert!(accepted > 300, "{accepted} of the texts are statements");
}

#[test]
fn initial_values_of_random_tokens() {
    const TOKENS: [&str; 16] =
        ["1", "2", "0f3F800000", "a", ",", ",", ",", ", 3, 4,", "{", "}", "+", "-", "= {", "};", "(", ")"];
    let mut state: u64 = 1;
    let mut random = |below: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize % below
    };
    let mut accepted = 0;
    for _ in 0..60_000 {
        let tokens: Vec<&str> = (0..=random(7)).map(|_| TOKENS[random(TOKENS.len())]).collect();
        let source = format!(".global .u32 x[] = {{1, {} }}; .global .u32 y = {{5, 6}};", tokens.join(" "));
        accepted += usize::from(by_grammar(&source).is_some());
        same(&source);
    }
    assert!(accepted > 300, "{accepted} of the texts are initial values");
}
