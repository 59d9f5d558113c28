//! Columns of small texts.

use super::super::{Layout, Options, format_with};

const OPTIONS: Options = Options { layout: Layout::Aligned, indent: None, width: 100 };

fn aligned_as(source: &str, options: &Options) -> String {
    let formatted = format_with(source, options).unwrap_or_else(|reason| panic!("{reason}\n{source}"));
    let again = format_with(&formatted.text, options).unwrap();
    assert!(!again.changed, "{}\nbecomes\n{}", formatted.text, again.text);
    formatted.text
}

/// The lines of a body that are made from `body`.
fn body(body: &str) -> String {
    let text = aligned_as(&format!(".version 8.0\n.target sm_90\n.entry k() {{\n{body}\n}}\n"), &OPTIONS);
    let inner = text.split_once("\n{\n").expect("a body").1;
    inner.strip_suffix("\n}\n").expect("an end").to_owned()
}

/// A body that its author wrote as it should be.
fn stays(text: &str) {
    assert_eq!(body(text), text);
}

#[test]
fn operands_and_comments_of_neighbours_are_in_columns() {
    assert_eq!(
        body(
            "    mov.u32 %r1, %tid.x; // thread\n    mad.lo.s32 %r2, %r1, 4, %r3;\n    ret; // done\n\n    add.u32 a, b, c; // d"
        ),
        "    mov.u32    %r1, %tid.x; // thread\n    mad.lo.s32 %r2, %r1, 4, %r3;\n    ret;                    // done\n\n    add.u32 a, b, c; // d"
    );
    // Comments, labels and braces end a run.
    assert_eq!(
        body(
            "    mov.u32 a, 1;\n    // c\n    cvta.to.global.u64 a, b;\nL:\n    not.b32 a, b;\n    {\n        setp.ne.u32 p, a, b;\n    }"
        ),
        "    mov.u32 a, 1;\n    // c\n    cvta.to.global.u64 a, b;\nL:\n    not.b32 a, b;\n    {\n        setp.ne.u32 p, a, b;\n    }"
    );
}

#[test]
fn an_outlier_moves_nobody() {
    let mma = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
    let long = format!("    mov.u32 a, 1;\n    {mma} {{a}}, {{b}}, {{c}}, {{d}};\n    setp.ne.u32 p, a, b;");
    assert_eq!(body(&long), long.replace("mov.u32 a", "mov.u32     a"));
    // Where most are long, the column is theirs.
    let most = format!("    {mma} {{a}}, b;\n    mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {{a}}, b;");
    assert_eq!(body(&most), most.replace("k8.row.col.f32.f16.f16.f32 {", "k8.row.col.f32.f16.f16.f32  {"));
    let comment = format!("    ret; // a\n    add.u32 a, b, {}; // b", "c".repeat(40));
    assert_eq!(body(&comment), comment);
}

#[test]
fn the_columns_of_authors_stay() {
    // A wide column, one that skips a longer opcode, second operands, comments, statements in rows.
    stays(
        "    ld.param.u64    %pw,    [w];    // weights\n    ld.param.u32    %count, [n];    // rooms\n    mov.u32         %tid,   %tid.x; // thread",
    );
    stays(
        "    mov.u32         %r1, 1;\n    cvta.to.global.u64 %rd1, %rd2;\n    add.s64         %rd1, %rd2, 4;",
    );
    stays("    mov.f32 a0,  0.0;  mov.f32 a1,  0.0;\n    mov.f32 a10, 0.0;  mov.f32 a11, 0.0;");
    stays("    mov.u32         %r1, 1;");
    // What is in no column is not.
    assert_eq!(body("    mov.u32  %r1,  1;"), "    mov.u32 %r1, 1;");
}

#[test]
fn statements_of_a_line_are_parted_unless_they_are_a_row() {
    assert_eq!(body("    mov.u32 a, 1; add.u32 b, c, d;"), "    mov.u32 a, 1;\n    add.u32 b, c, d;");
    assert_eq!(
        body("    ret; mov.u32 a, 1; mov.u32 b, 2;"),
        "    ret;\n    mov.u32 a, 1;\n    mov.u32 b, 2;"
    );
    let long = "    mov.u32 a, 1; ".repeat(9);
    assert_eq!(body(long.trim_end()).lines().count(), 2);
}

#[test]
fn guards_have_the_indentation_or_a_column() {
    // All guards have room before the mnemonics.
    assert_eq!(
        body("\tsetp.ne.u32 %p1, a, 0;\n\t@%p1 bra L;\n\t@!%p1 mov.u32 a, 1;\nL:\n\tret;"),
        "        setp.ne.u32 %p1, a, 0;\n   @%p1 bra         L;\n  @!%p1 mov.u32     a, 1;\nL:\n        ret;"
    );
    stays("    setp.ne.u32 p, a, 0;\n @p bra         L;\n@!p mov.u32     a, 1;\nL:\n    ret;");
    // One has not, so guards are where authors have them then, and neighbours' mnemonics are in a column.
    assert_eq!(
        body(
            "    setp.ne.u32 %p1, a, 0;\n    @%p1 bra L;\n\n    @%p1 ld.u32 a, [b];\n    @!%p1 mov.u32 a, 1;\nL:\n    ret;"
        ),
        "    setp.ne.u32 %p1, a, 0;\n    @%p1 bra    L;\n\n    @%p1  ld.u32  a, [b];\n    @!%p1 mov.u32 a, 1;\nL:\n    ret;"
    );
}

#[test]
fn declarations_and_parameters_are_in_columns() {
    assert_eq!(
        body(
            "    .reg .pred %p<2>;\n    .reg .b64 %rd<4>;\n    .shared .align 4 .b8 s[4];\n    mov.u32 a, 1;"
        ),
        "    .reg .pred %p<2>;\n    .reg .b64  %rd<4>;\n    .shared .align 4 .b8 s[4];\n    mov.u32 a, 1;"
    );
    let source = ".entry k(.param .u64 x, // in\n.param .pred longer // out\n)\n{\n  ret;\n}\n";
    let expected = ".entry k(\n  .param .u64  x,     // in\n  .param .pred longer // out\n)\n{\n  ret;\n}\n";
    assert_eq!(aligned_as(source, &OPTIONS), expected);
}

#[test]
fn indentation_is_the_authors_unless_it_is_given() {
    let source = |indent: &str| format!(".entry k()\n{{\n{indent}ret;\n}}\n");
    assert_eq!(aligned_as(&source("   "), &OPTIONS), source("   "));
    assert_eq!(aligned_as(&source("\t"), &OPTIONS), source("        "));
    assert_eq!(aligned_as(&source(""), &OPTIONS), source("        "));
    assert_eq!(aligned_as(&source("  "), &Options { indent: Some(4), ..OPTIONS }), source("    "));
}

#[test]
fn vectors_that_fit_on_no_line_have_their_own() {
    let options = Options { width: 40, ..OPTIONS };
    let long: Vec<String> = (100..109).map(|n| format!("a{n}")).collect();
    let source = format!(".entry k()\n{{\n    x {{{}}}, [y], 1;\n}}\n", long.join(", "));
    let text = aligned_as(&source, &options);
    assert_eq!(text.lines().count(), 7, "{text}");
    assert!(text.contains("    x {\n        a100,") && text.contains("\n    }, [y], 1;\n"), "{text}");
    // The author's rows and columns stay.
    let rows =
        ".entry k()\n{\n    x {\n        a1000000, a1, b1000000,\n        c1,       d1, e1\n    }, y;\n}\n";
    assert_eq!(aligned_as(rows, &options), rows);
}

#[test]
fn what_is_kept_is_kept() {
    stays("    mov.u32     a, 1;\n    // ptx-format off\n  add.u32   a,b , c ;\n // ptx-format on\n    setp.ne.u32 p, a, b;".replace("mov.u32     a", "mov.u32 a").as_str());
    // Tabs of what is kept are in no column, and neither is what is kept.
    assert!(
        body("\tret; ret;\n\tadd.u32\ta,b ;  // ptx-format skip\n\tret; // d")
            .contains("\tadd.u32\ta,b ; // ptx-format skip\n")
    );
    stays("    // ptx-format skip\n  add.u32   a,b , c ;\n    setp.ne.u32 p, a, b;");
}

#[test]
fn lines_end_as_they_did() {
    let text = ".entry k()\r\n{\r\n    mov.u32 a, 1; // b\r\n    ret;\r\n}\r\n";
    assert_eq!(aligned_as(text, &OPTIONS), text);
}

/// Time and room are in proportion to the text, whatever its lines are like.
#[test]
fn long_texts_take_linear_time() {
    let start = std::time::Instant::now();
    let many = 20_000;
    let texts = [
        format!(".entry k() {{ {} }}", "mov.u32 a,1; ".repeat(many)),
        format!(".entry k()\n{{\n{}}}\n", "    mov.u32 a, 1; // c\n    setp.ne.u32 p, a, b;\n".repeat(many)),
        format!(
            ".entry k()\n{{\n    call f, ({}a);\n    x {}a;\n}}\n",
            "a, ".repeat(many),
            "a, ".repeat(many)
        ),
        format!(".entry k()\n{{\n    x {{{}a}}, b;\n}}\n", "a, ".repeat(many)),
        format!(".entry k()\n{{\n    @{} bra L;\n}}\n", "p".repeat(many)),
    ];
    for text in texts {
        let made = aligned_as(&text, &OPTIONS);
        assert!(made.len() < 4 * text.len() + 400, "{} becomes {}", text.len(), made.len());
    }
    assert!(start.elapsed().as_secs() < 10, "{:?}", start.elapsed());
}
