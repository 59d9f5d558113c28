//! Templates in small sources.

use super::{Reason, format_asm};

/// The source that is made, which formatting again leaves as it is.
fn formatted(source: &str) -> String {
    let formatted = format_asm(source);
    assert_eq!(formatted.left_alone, [], "{source}");
    let again = format_asm(&formatted.text);
    assert!(!again.changed, "{}\nbecomes\n{}", formatted.text, again.text);
    formatted.text
}

fn stays(source: &str) {
    assert_eq!(formatted(source), source);
}

fn left_alone(source: &str, reason: Reason) {
    let made = format_asm(source);
    assert_eq!(made.text, source);
    assert_eq!(made.left_alone.iter().map(|each| each.reason).collect::<Vec<_>>(), [reason], "{source}");
}

#[test]
fn blanks_within_statements_are_those_of_ptx() {
    assert_eq!(
        formatted(r#"void f() { asm volatile ( "add.u32   %0,%1 , %2 ;" :"=r"(a): "r" (b),"r"(c) ); }"#),
        r#"void f() { asm volatile ( "add.u32 %0, %1, %2;" :"=r"(a): "r" (b),"r"(c) ); }"#
    );
    assert_eq!(
        formatted(r#"asm("{.reg .pred p;setp.ne.u32 p,%0,0;\n\t@ !p bra  L%= ;\n L%=: }" :: "r"(a));"#),
        r#"asm("{ .reg .pred p; setp.ne.u32 p, %0, 0;\n\t@!p bra L%=;\n L%=: }" :: "r"(a));"#
    );
    assert_eq!(
        formatted(
            r#"asm("ld.global.v2.u32 { %[a],%[b]} ,[ %[p] + 4 ] ;" : [a] "=r"(a), [b] "=r"(b) : [p] "l"(p));"#
        ),
        r#"asm("ld.global.v2.u32 {%[a], %[b]}, [%[p]+4];" : [a] "=r"(a), [b] "=r"(b) : [p] "l"(p));"#
    );
    assert_eq!(
        formatted(r#"asm("mov.u32 %0,%%laneid;" : "=r"(a));"#),
        r#"asm("mov.u32 %0, %%laneid;" : "=r"(a));"#
    );
    assert_eq!(formatted(r#"asm("mov.u32 %r1,%laneid;");"#), r#"asm("mov.u32 %r1, %laneid;");"#);
}

#[test]
fn statements_with_lines_of_their_own_are_in_columns() {
    let source = r#"
    asm volatile(
        "{\n\t"
        ".reg .pred p;\n\t"
        ".reg .u32 a,b;\n\t"
        "WAIT_%=:\n\t"
        "mad.lo.cc.u32 a,%0,%0,%1;\n\t"
        "addc.u32 %0, a , %0;\n\t"
        "@p bra WAIT_%=;\n\t"
        "}\n" : "+r"(x) : "r"(y));
"#;
    let expected = source
        .replace(".reg .u32 a,b", ".reg .u32  a, b")
        .replace("a,%0,%0,%1", "a, %0, %0, %1")
        .replace("addc.u32 %0, a , %0", "addc.u32      %0, a, %0")
        .replace("@p bra WAIT", "@p bra        WAIT");
    assert_eq!(formatted(source), expected);
    // Columns of authors stay, and so does their white space at the beginnings of lines.
    stays(
        "asm(\"  mov.u32         %0, 1;\\n\\t\"\n    \"  setp.ne.u32     p, %0, 1;\\n\\t\" : \"=r\"(a));\n",
    );
    // A statement of several literals has the author's columns.
    stays(
        "asm(\"mma.sync \"\n    \" {%0,  %1},\"\n    \" {%10, %11},\"\n    \" {%12, %13};\\n\" : \"+r\"(a));\n",
    );
    stays(
        "asm(\"mma.sync \"\n    \"{%0,  %1},\"\n    \"{%2,  %3},\"\n    \"{%10, %11};\\n\" : \"+r\"(a));\n",
    );
    // So do those of statements that share a line.
    stays(
        "asm(\"mul.lo.u32    %0, %1, %2;     mul.hi.u32  %3, %1, %2;\\n\\t\"\n    \"mad.lo.cc.u32 %0, %1, %2, %0; madc.hi.u32 %3, %1, %2, %3;\\n\\t\"\n    \"setp.ne.u32   p, %0, 1;\\n\" : \"=r\"(a));\n",
    );
    // Line ends in a column stay there.
    stays("asm(\"mov.u32 %0, 1;   \\n\"\n    \"add.u32 %0, 1, 2;\\n\" : \"=r\"(a));\n");
    assert_eq!(
        formatted(
            "asm(\"mov.u32 %0,1;    \\n\"\n    \"add.u32 %0, 1, 2;\\n\"\n    \"ret;  \\n\" : \"=r\"(a));\n"
        ),
        "asm(\"mov.u32 %0, 1;   \\n\"\n    \"add.u32 %0, 1, 2;\\n\"\n    \"ret;\\n\" : \"=r\"(a));\n"
    );
}

#[test]
fn raw_strings_and_macros_keep_their_lines() {
    assert_eq!(
        formatted("asm(R\"(\n  mov.u32 %0,1;  \n  setp.ne.u32 p,%0,1;\n\n  ret ;\n)\" : \"=r\"(a));\r\n"),
        "asm(R\"(\n  mov.u32     %0, 1;\n  setp.ne.u32 p, %0, 1;\n\n  ret;\n)\" : \"=r\"(a));\r\n"
    );
    assert_eq!(
        formatted(
            "#define F(a) asm(\"mov.u32 %0,1;\\n\" \\\n    \"not.b32  %0,%0;\" : \"=r\"(a))\nint x = 'a';\n"
        ),
        "#define F(a) asm(\"mov.u32 %0, 1;\\n\" \\\n    \"not.b32 %0, %0;\" : \"=r\"(a))\nint x = 'a';\n"
    );
    stays("asm(\"mov.u32 %0, 1; // one  , two\\n\" : \"=r\"(a)); // \"add  a\"\n/* asm(\"x  y;\") */\n");
}

#[test]
fn what_is_not_understood_is_left_alone() {
    left_alone("asm(\"add.u32  %0 %1;\" : \"=r\"(a) : \"r\"(b));", Reason::Syntax);
    left_alone("#define T(x) asm(\"add.\" #x \"  %0, 1,2;\" : \"=r\"(a))\n", Reason::Macro);
    left_alone("#define OP \"add.u32\"\nvoid f() { asm(OP \"  %0, 1,2;\" : \"=r\"(a)); }", Reason::Macro);
    left_alone(
        "asm(\"add.u32  %0, \"\n#if A\n\"1 , 2;\"\n#else\n\"2,3;\"\n#endif\n: \"=r\"(a));",
        Reason::Branches,
    );
    // Blocks may begin and end in other statements.
    assert_eq!(
        formatted("asm(\"{ .reg .b32  a ;\"); asm(\"mov.u32 a,1; }\"); asm(\"}\");"),
        "asm(\"{ .reg .b32 a;\"); asm(\"mov.u32 a, 1; }\"); asm(\"}\");"
    );
    stays("int asm_volatile = 1;\n");
    stays("");
}

#[test]
fn long_templates_take_linear_time() {
    let start = std::time::Instant::now();
    let many = 5_000;
    let sources = [
        format!("asm({} : \"=r\"(a));", "\"add.u32 %0,1, 2;\\n\"\n".repeat(many)),
        format!("asm(\"{}\" : \"=r\"(a));", "add.u32 %0,1, 2;\\n".repeat(many)),
        format!("asm(\"call f, ({}%0);\" : \"=r\"(a));", "%0,".repeat(many)),
        "asm(\"add.u32 %0,1, 2;\" : \"=r\"(a));\n".repeat(many),
    ];
    for source in sources {
        let made = format_asm(&source);
        assert!(made.changed && made.left_alone.is_empty());
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}

#[test]
fn statements_without_an_end_are_left_alone() {
    // Each of these has a literal that two statements may have.
    let sources = [
        "asm(\n#if\n#elif \nasm(\"a\\x0c.l.a;\"",
        "#if\nasm (\n#else\nasm (\"d.l.u32[1];\"",
        "#if X\nasm (\n#else\nasm (\"d.l.u32[1];\" :: );\n#endif\n",
        "asm (asm (\"d.l.u32[1];\" :: );",
        "#if X\nasm (\n#endif\nasm (\"d.l.u32[1];\" :: );",
        "asm (\n#if X\nasm (\"d.l.u32[1];\" :: );\n#else\n\"d.l.u32[1];\" :: );\n#endif\n",
    ];
    for source in sources {
        let formatted = format_asm(source);
        let mistakes = [Reason::TokenChanged, Reason::NotIdempotent];
        let left_alone = &formatted.left_alone;
        assert!(left_alone.iter().all(|each| !mistakes.contains(&each.reason)), "{source}: {left_alone:?}");
        assert!(!format_asm(&formatted.text).changed, "{source}");
    }
}
