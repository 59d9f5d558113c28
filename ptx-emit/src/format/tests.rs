//! Layouts of small texts, the markers, and the contract on texts that are hard.

use super::{Options, Unformatted, check, format, metrics, plan, render, tokens};

const HEADER: &str = ".version 8.0\n.target sm_90\n";

/// Formats a text that has to keep the contract.
fn formatted(source: &str) -> String {
    match format(source) {
        Ok(formatted) => formatted.text,
        Err(reason) => panic!("{reason:?}\n{}", unchecked(source)),
    }
}

/// The layout without the check, for messages.
fn unchecked(source: &str) -> String {
    let tokens = tokens(source);
    let parse = ptx_syntax::parse(source);
    render::to_string(
        source,
        &tokens,
        &plan::Plan::new(
            source,
            &tokens,
            &parse.tree,
            metrics::Metrics::new(&Options::default(), source, &parse.tree),
        ),
    )
}

/// The lines of a body that are made from `body`.
fn body(body: &str) -> String {
    let text = formatted(&format!("{HEADER}.entry k() {{\n{body}\n}}\n"));
    let inner = text.split_once("\n{\n").expect("a body").1;
    let end = if inner == "}\n" { "}\n" } else { "\n}\n" };
    inner.strip_suffix(end).expect("an end").to_owned()
}

/// The width of a line, where a tab ends at a multiple of eight.
fn columns(line: &str) -> usize {
    line.chars().fold(0, |column, char| if char == '\t' { metrics::after_tab(column) } else { column + 1 })
}

/// The lines of a module after its header.
fn module(items: &str) -> String {
    let text = formatted(&format!("{HEADER}{items}"));
    text.strip_prefix(HEADER).expect("a header").trim_start_matches('\n').to_owned()
}

#[test]
fn a_statement_has_a_line_and_a_tab_behind_its_opcode() {
    assert_eq!(body("ret;ret ;"), "\tret;\n\tret;");
    assert_eq!(body("  add.u32   %r1,%r2 , %r3 ;"), "\tadd.u32\t%r1, %r2, %r3;");
    assert_eq!(body("@ ! %p1 bra L;"), "\t@!%p1 bra\tL;");
    assert_eq!(body("@%p1\nbra.uni\nL;"), "\t@%p1 bra.uni\tL;");
    assert_eq!(body("ld.global .u32 %r1,[ %rd1 + 4 ];"), "\tld.global .u32\t%r1, [%rd1+4];");
    assert_eq!(body("mov.b64 {a,b},{ c , d };"), "\tmov.b64\t{a, b}, {c, d};");
    assert_eq!(body("call ( r ) , f , ( a , b );"), "\tcall\t(r), f, (a, b);");
    assert_eq!(body("setp.eq.u32 p | q, a, b;"), "\tsetp.eq.u32\tp|q, a, b;");
    assert_eq!(body(".pragma   \"nounroll\" ;"), "\t.pragma\t\"nounroll\";");
    assert_eq!(body(".loc 1 2\n3"), "\t.loc\t1 2 3");
    assert_eq!(
        body(".loc 1 2 3 , function_name $L + 4, inlined_at 1 2 3"),
        "\t.loc\t1 2 3, function_name $L+4, inlined_at 1 2 3"
    );
}

#[test]
fn a_declaration_may_lack_its_semicolon() {
    assert_eq!(
        module(
            ".visible .func (.param .s32 r)  f (.param .s32 x)\n .visible .func g // c\n.func h\n.func i;.func j"
        ),
        ".visible .func (.param .s32 r) f(\n\t.param .s32 x\n)\n.visible .func g                        // c\n.func h\n.func i;\n.func j\n"
    );
}

#[test]
fn operators_have_spaces_outside_of_addresses() {
    assert_eq!(body("mov.u32 a, 1+2*(3-4);"), "\tmov.u32\ta, 1 + 2 * (3 - 4);");
    assert_eq!(body("mov.u32 a, - 1;"), "\tmov.u32\ta, -1;");
    assert_eq!(body("mov.u32 a, 2 - - 1;"), "\tmov.u32\ta, 2 - -1;");
    assert_eq!(body("mov.u32 a, ( .s64 ) - 1;"), "\tmov.u32\ta, (.s64) -1;");
    assert_eq!(body("mov.u32 a, ( b ) - 1;"), "\tmov.u32\ta, (b) - 1;");
    assert_eq!(body("mov.u32 a, 7 % b;"), "\tmov.u32\ta, 7 % b;");
    assert_eq!(body("mov.u32 a, b?! c:~ d;"), "\tmov.u32\ta, b ? !c : ~d;");
    assert_eq!(body("ld.u32 a, [ b + - 4 + 7 % c ];"), "\tld.u32\ta, [b+-4+7 % c];");
}

#[test]
fn labels_stand_one_level_further_left() {
    assert_eq!(body("L1 : L2:ret;{ L3: ret; }"), "L1:\nL2:\n\tret;\n\t{\n\tL3:\n\t\tret;\n\t}");
    assert_eq!(body("T: .branchtargets A,B;"), "T: .branchtargets\tA, B;");
    assert_eq!(
        body("P :\n.callprototype ( .param .b32 _ )_( .param .b64 _[4] );"),
        "P: .callprototype (.param .b32 _) _ (.param .b64 _[4]);"
    );
}

#[test]
fn blank_lines() {
    assert_eq!(body("\n\nret;\n\n\n\nret;\n\n"), "\tret;\n\n\tret;");
    assert_eq!(body("// a\n\n\nret;\n\n// b\n\n"), "// a\n\n\tret;\n\n// b");
    assert_eq!(module(".global .u32 a;\n\n\n.global .u32 b;"), ".global .u32 a;\n\n.global .u32 b;\n");
    let functions = ".func f()\n{\n\tret;\n}\n\n// about g\n.func g()\n{\n\tret;\n}\n\n.global .u32 a;\n";
    assert_eq!(module(".func f(){ret;}\n// about g\n.func g(){ret;} .global .u32 a;"), functions);
    assert_eq!(formatted(""), "");
    assert_eq!(formatted(" \n\n "), "");
    assert_eq!(formatted("\n\n// only this"), "// only this\n");
}

#[test]
fn functions() {
    let expected = "\
.visible .func (.param .b32 r) f(
\t.param .b32 a,
\t.param .align 8 .b8 b[16]
)
.noreturn
{
\tret;
}
";
    assert_eq!(
        module(".visible .func(.param .b32 r)f(.param .b32 a,.param .align 8 .b8 b[16])\n\n.noreturn{ret;}"),
        expected
    );
    assert_eq!(module(".extern .func f ( ) ;"), ".extern .func f();\n");
    assert_eq!(module(".func f(.reg .b32 a)\n;"), ".func f(\n\t.reg .b32 a\n);\n");
    let directives = ".entry k\n.maxntid 128, 1, 1\n.minnctapersm 2\n{\n}\n";
    assert_eq!(module(".entry k .maxntid 128,1,1 .minnctapersm 2 { }"), directives);
}

#[test]
fn declarations() {
    assert_eq!(body(".reg.u32 a,b<4> , c;"), "\t.reg .u32\ta, b<4>, c;");
    assert_eq!(body(".reg .v4 .b32 v;"), "\t.reg .v4 .b32\tv;");
    assert_eq!(body(".shared .align 4 .b8 s[ 4 ][8];"), "\t.shared .align 4 .b8 s[4][8];");
    assert_eq!(module(".global .u64 p=g+4;"), ".global .u64 p = g + 4;\n");
    assert_eq!(
        module(".global .u64 p[]={generic ( g )+8,0xff( g )};"),
        ".global .u64 p[] = {generic(g) + 8, 0xff(g)};\n"
    );
    let attribute = ".global .attribute(.unified(1, 2), .managed) .u32 g;\n";
    assert_eq!(module(".global .attribute ( .unified(1,2),.managed ).u32 g;"), attribute);
    let sampler = ".global .samplerref s = {addr_mode_0 = clamp_to_edge};\n";
    assert_eq!(module(".global .samplerref s={addr_mode_0=clamp_to_edge};"), sampler);
}

#[test]
fn lists() {
    assert_eq!(module(".global .u32 a[2][2]={{1,2},{ 3,4 }};"), ".global .u32 a[2][2] = {{1, 2}, {3, 4}};\n");
    assert_eq!(module(".global .u32 a[] = { };"), ".global .u32 a[] = {};\n");
    let rows = ".global .u32 a[4] = {\n\t1, 2,\n\t3, 4\n};\n";
    assert_eq!(module(".global .u32 a[4] = { 1,2,\n3,4 };"), rows, "the author's rows");
    let nested = ".global .u32 a[2][2] = {\n\t{1, 2},\n\t{\n\t\t3,\n\t\t4\n\t}\n};\n";
    assert_eq!(module(".global .u32 a[2][2] = {{1,2}, {3,\n4}};"), nested);
    let commented =
        ".global .u32 a[3] = {\n\t1,                              // one\n\t/* two */ 2, /* three */ 3\n};\n";
    assert_eq!(module(".global .u32 a[3] = {1, // one\n/* two */ 2, /* three */ 3};"), commented);
    let long: Vec<String> = (0..60).map(|n| n.to_string()).collect();
    let text = module(&format!(".global .b8 a[60] = {{{}}};", long.join(",")));
    assert!(text.lines().count() > 3, "{text}");
    assert!(text.lines().all(|line| columns(line) <= 100), "{text}");
}

#[test]
fn long_statements_are_broken_behind_commas() {
    let registers = |from: u32| {
        let names: Vec<String> = (from..from + 8).map(|n| format!("%r{n}")).collect();
        format!("{{{}}}", names.join(", "))
    };
    let text =
        body(&format!("wgmma.mma_async.sync.aligned.m64n8k16 {}, {}, [x], 1;", registers(10), registers(20)));
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines.len(), 2, "{text}");
    assert_eq!(lines[1], format!("\t\t{}, [x], 1;", registers(20)));
    // One operand that is longer than a line is broken within.
    let all: Vec<String> = (100..160).map(|n| format!("%f{n}")).collect();
    let text = body(&format!("wgmma.x {{{}}}, 1;", all.join(",")));
    assert!(text.lines().all(|line| columns(line) <= 100), "{text}");
    // A long name does not get shorter on another line.
    let name = "n".repeat(200);
    assert_eq!(body(&format!("ld.u32 %r1, [{name}];")), format!("\tld.u32\t%r1, [{name}];"));
}

#[test]
fn comments() {
    assert_eq!(body("ret; // a"), "\tret;                            // a");
    assert_eq!(body("ret; /* a */ // b  "), "\tret;                            /* a */ // b");
    assert_eq!(body("{ // a\n} // b"), "\t{ // a\n\t} // b");
    assert_eq!(body("  // a\n// b\nret;"), "\t// a\n// b\n\tret;");
    assert_eq!(body("ret; /* a */ ret;"), "\tret;\n\t/* a */ ret;");
    assert_eq!(body("add a, /* x */ b /* y */ , c;"), "\tadd\ta, /* x */ b /* y */, c;");
    assert_eq!(body("add a, // x\n b\n // y\n , c;"), "\tadd\ta, // x\n\t\tb\n\t\t// y\n\t\t, c;");
    assert_eq!(body("ret\n// last\n;"), "\tret\n\t\t// last\n\t\t;");
    assert_eq!(body("L: // a\nret;"), "L:                                      // a\n\tret;");
    assert_eq!(body("\t/* a\n\t\t * b\n  */ret;"), "\t/* a\n\t * b\n\t */ ret;");
    assert_eq!(body("\t/* a\n   +--+  \n */\nret;"), "\t/* a\n   +--+\n */\n\tret;");
    let parameters = ".entry k( // a\n\t// b\n\t.param .u32 x, // c\n\t/* d */ .param .u32 y\n\t// e\n)\n";
    let parameters = parameters.replace("x, // c", "x,                  // c");
    let text = module(".entry k( // a\n // b\n.param .u32 x, // c\n /* d */ .param .u32 y\n// e\n) {}");
    assert_eq!(text, parameters.replace("\t// e", "// e") + "{\n}\n");
}

#[test]
fn sections() {
    let expected = "\
.section .debug_info
{
$L:
\t.b8 1, 2
\t.b32 $a-$b                      // c
\t.b64 .debug_abbrev+4
}
";
    assert_eq!(
        module(".section .debug_info {\n$L: .b8 1,2 .b32 $a - $b // c\n.b64 .debug_abbrev+4 }"),
        expected
    );
    let source = "\
.nv_intermediate_source_section
{
\t.code_block
\t{
\t\t.ir_name: \"TileIR\"
\t\t.sourceFileName: 2
\t\t.source_begin
 any  text
 .source_end
\t}
}
";
    assert_eq!(
        module(
            ".nv_intermediate_source_section {.code_block { .ir_name : \"TileIR\" .sourceFileName:2 .source_begin\n any  text\n .source_end } }"
        ),
        source
    );
}

#[test]
fn line_ends() {
    assert_eq!(formatted(".version 8.0\r\n.target sm_90\r\n"), ".version 8.0\r\n.target sm_90\r\n");
    assert_eq!(formatted(".version 8.0\r\n.target sm_90\n"), ".version 8.0\n.target sm_90\n");
    assert_eq!(formatted("// a\r\n/* b\r\n * c */\r\n"), "// a\r\n/* b\r\n * c */\r\n");
    assert_eq!(formatted("// a\r\n/* b\n * c */\r\n"), "// a\n/* b\n * c */\n");
}

#[test]
fn regions_are_kept() {
    let off = "\t// ptx-format off\n  add   a,b ;\n\n\n ret;\n   // ptx-format on\n\tret;";
    assert_eq!(
        body("// ptx-format off\n  add   a,b ;\n\n\n ret;\n   // ptx-format on\nret ;").trim_start(),
        off.trim_start()
    );
    let rest = format!("{HEADER}/* ptx-format off */ .global   .u32 a ;  \n\n");
    assert_eq!(formatted(&rest), rest, "to the end of the text");
    assert_eq!(
        body(" // ptx-format skip\n  add   a,b ;\n add   a,b ;"),
        "\t// ptx-format skip\n  add   a,b ;\n\tadd\ta, b;"
    );
    assert_eq!(
        body("  add   a,b ; // ptx-format skip\n add   a,b ;"),
        "  add   a,b ;                           // ptx-format skip\n\tadd\ta, b;"
    );
    assert_eq!(
        body(" // ptx-format skip\n  { add   a,b ;\n}\n ret ;"),
        "\t// ptx-format skip\n  { add   a,b ;\n}\n\tret;"
    );
    let table = "// ptx-format skip\n.global .u32 a[2]  =\n {1,\n  2};\n";
    assert_eq!(module(table), table);
    let kernel = "// ptx-format skip\n.entry k() {ret;}\n";
    assert_eq!(module(kernel), kernel);
    let within = ".global .u32 a[4] = { // ptx-format off\n1,2,\n   3,   // ptx-format on\n\t4\n};\n";
    assert_eq!(module(within), within);
    // Words that only resemble the markers change nothing.
    assert_eq!(body(" // ptx-format of\n  ret ;"), "\t// ptx-format of\n\tret;");
}

#[test]
fn errors_leave_the_text_alone() {
    let result = format(".entry k() { add.u32 a b; ret }");
    let Err(Unformatted::Syntax(errors)) = result else { panic!("{result:?}") };
    assert_eq!(errors.len(), 2, "{errors:?}");
}

#[test]
fn the_check_sees_every_change() {
    let source = ".version 8.0\n.target sm_90\n\n// c\n.entry k()\n{\n\tret;\n}\n";
    let tokens = tokens(source);
    let parse = ptx_syntax::parse(source);
    let plan = plan::Plan::new(
        source,
        &tokens,
        &parse.tree,
        metrics::Metrics::new(&Options::default(), source, &parse.tree),
    );
    let checked = |text: &str| check::check(source, &tokens, &plan, text);
    assert_eq!(checked(source), Ok(()));
    let changed = |from: &str, to: &str| checked(&source.replace(from, to)).unwrap_err();
    assert!(matches!(changed("sm_90", "sm_80"), Unformatted::TokenChanged { .. }));
    assert!(matches!(changed("ret;", "ret;;"), Unformatted::TokenChanged { .. }));
    assert!(matches!(changed("}\n", ""), Unformatted::TokenChanged { .. }));
    assert!(matches!(changed("// c", "// d"), Unformatted::CommentChanged { .. }));
    assert!(matches!(
        changed("// c\n", ""),
        Unformatted::CommentChanged { .. } | Unformatted::TokenChanged { .. }
    ));
    assert_eq!(changed("\tret", " ret"), Unformatted::NotIdempotent);
    assert_eq!(changed("}\n", "}"), Unformatted::NotIdempotent);
}

#[test]
fn deep_nesting_takes_linear_room() {
    // As deep as blocks may be nested, and as other brackets may.
    let blocks = 1_600;
    let text = body(&("{".repeat(blocks) + &"}".repeat(blocks)));
    assert!(text.len() < 40 * blocks, "{}", text.len());
    let deep = 9_900;
    let list = format!(".global .u32 a = {}1{};", "{".repeat(deep), "}".repeat(deep));
    assert!(module(&list).len() < 40 * deep);
    let address = format!("ld.u32 a, [{}1{}];", "(".repeat(deep), ")".repeat(deep));
    assert!(body(&address).len() < 4 * deep);
}
