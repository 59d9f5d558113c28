//! The properties of `ptx_tests::properties`, each for a moment.
//!
//! A failure prints a seed; `arbtest(…).seed(…)` runs it again.

use std::time::{Duration, Instant};

use arbtest::arbtest;
use ptx_tests::case::files;
use ptx_tests::properties::{self, generate};
use ptx_tests::tools::{corpus, root};

#[test]
fn any_bytes() {
    arbtest(|u| {
        let bytes: Vec<u8> = u.arbitrary()?;
        properties::bytes(&bytes);
        Ok(())
    });
}

#[test]
fn any_order_of_tokens() {
    arbtest(|u| {
        properties::text(&generate::soup(u)?);
        Ok(())
    })
    .budget_ms(3000);
}

#[test]
fn damaged_programs() {
    let mut programs: Vec<String> = files(&root().join("tests"), "ptx")
        .iter()
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    // A few of each compiler's, the smaller ones.
    let all = files(corpus(), "ptx");
    let small = all.iter().filter(|path| path.metadata().is_ok_and(|data| data.len() < 60_000));
    programs.extend(small.step_by(16).filter_map(|path| std::fs::read_to_string(path).ok()));
    assert!(programs.len() > 10, "{}", programs.len());
    arbtest(|u| {
        let program = u.choose(&programs)?;
        properties::text(&generate::damaged(program, u)?);
        Ok(())
    })
    .budget_ms(3000);
}

/// A property of the fuzzer's targets, over what a fuzzer has kept and over parts and mixtures of that. The same
/// inputs in every run: what is new is for `tests/fuzz.sh`.
fn holds_for_the_corpus(target: &str, property: fn(&[u8])) {
    let folder = root().join("tests/fuzz/corpus").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let inputs: Vec<Vec<u8>> = paths.iter().map(|path| std::fs::read(path).unwrap()).collect();
    assert!(!inputs.is_empty(), "{}", folder.display());
    inputs.iter().for_each(|input| property(input));
    let mut random = 0x9e37_79b9_7f4a_7c15_u64;
    let mut below = |limit: usize| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        (random % limit.max(1) as u64) as usize
    };
    for _ in 0..200 {
        let (first, second) = (&inputs[below(inputs.len())], &inputs[below(inputs.len())]);
        let mut mixed = [&first[..below(first.len() + 1)], &second[below(second.len() + 1)..]].concat();
        if !mixed.is_empty() {
            let at = below(mixed.len());
            mixed[at] = below(256) as u8;
        }
        property(&mixed);
    }
}

/// A property of texts, as one of bytes.
macro_rules! of_text {
    ($property:path) => {
        |bytes| $property(&String::from_utf8_lossy(bytes))
    };
}

#[test]
fn sessions_of_the_language_server() {
    holds_for_the_corpus("session", properties::session);
}

#[test]
fn cuda_sources_and_their_fixes() {
    holds_for_the_corpus("cuda", of_text!(properties::cuda));
}

#[test]
fn logs_of_the_assembler() {
    holds_for_the_corpus("log", of_text!(properties::log));
}

#[test]
fn machine_code() {
    holds_for_the_corpus("cubin", properties::cubin);
}

#[test]
fn containers() {
    holds_for_the_corpus("container", properties::container);
}

#[test]
fn other_languages_with_inline_ptx() {
    holds_for_the_corpus("hosts", properties::hosts);
}

#[test]
fn baselines() {
    holds_for_the_corpus("baseline", of_text!(properties::baseline));
}

#[test]
fn configurations() {
    holds_for_the_corpus("configuration", of_text!(properties::configuration));
}

const KERNEL: &str = "\
.version 8.0
.target sm_90, debug
.address_size 64
.file 1 \"a.cu\", 1, 2
.global .align 4 .b8 table[4] = {1, 0x2, generic(x)+4, -1}; // table
.visible .entry k(.param .u64 a, /* b */ .param .align 8 .b8 b[16]) .maxntid 32, 1, 1
{
	.reg .b32 %r<4>;
	.loc 1 2 3, function_name $L + 4, inlined_at 1 2 3
	@!%p1 bra L1;
L1:	ld.global.v2.f32 {%f1, _}, [%rd1+-4];
	{ call (r), f, (%r1, 1 ? 2 : ~3), P; }
P: .callprototype (.param .b32 _) _ (.param .b64 _);
	mov.f32 %f1, 0f3F800000;
	ret;
}
.section .debug_str { $L: .b8 1, 2 }
";

#[test]
fn a_text_cut_anywhere() {
    assert!(ptx_syntax::parse(KERNEL).errors.is_empty(), "{:?}", ptx_syntax::parse(KERNEL).errors);
    for end in 0..KERNEL.len() {
        properties::text(&KERNEL[..end]);
        properties::text(&KERNEL[end..]);
    }
}

#[test]
fn a_text_with_one_byte_changed() {
    for at in 0..KERNEL.len() {
        for byte in ["\0", "{", "}", ";", "\"", "/*", "\n", ".", "é", ""] {
            properties::text(&format!("{}{byte}{}", &KERNEL[..at], &KERNEL[at + 1..]));
        }
    }
}

/// Nesting, repetition and missing ends: each text is done in time, whatever it is.
#[test]
fn hostile_texts_are_done_in_time() {
    const TIMES: usize = 100_000;
    let pieces = [
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "-",
        "!",
        "~",
        "@",
        ",",
        ";",
        ":",
        "\"",
        "/*",
        "*/",
        "/",
        "*",
        "?",
        "=",
        "<",
        "a ",
        "a: ",
        "1 ",
        "1+",
        "1?",
        ".5 ",
        ".a ",
        "a\n",
        "ret\n",
        "ret;",
        "add.u32 a\n",
        "{\n",
        "}\n",
        "a, ",
        ".reg ",
        ".entry k ",
        ".entry k (",
        ".entry k () {",
        ".entry k () {\n",
        ".func f\n",
        ".section .s {",
        ".loc 1 ",
        "\"a\n",
        ".visible ",
        ".global .u32 a = {",
        ".global .u32 a\n",
        ".version 8.0\n",
        ".file 1 ",
        ".source_begin ",
        "\0",
        "// a\n",
        "// ptx-format skip\n",
        "// ptx-format off\n",
        "a.b.c::d",
        "\u{feff}",
        ".param .u32 a, ",
    ];
    let bodies = [
        ("", ""),
        (".entry k () {\n", "\n}\n"),
        (".entry k () { mov.u32 a, ", "; }"),
        (".global .u32 a = ", ";"),
    ];
    for piece in pieces {
        for (before, after) in bodies {
            let text = format!("{before}{}{after}", piece.repeat(TIMES / piece.len().min(4)));
            let start = Instant::now();
            let parse = ptx_syntax::parse(&text);
            assert!(parse.errors.len() <= 1002, "{}", parse.errors.len());
            let parsed = start.elapsed();
            let _formatted = ptx_emit::format(&text);
            let formatted = start.elapsed() - parsed;
            assert!(parsed < Duration::from_secs(4), "{before}{piece}…{after} is parsed in {parsed:?}");
            assert!(
                formatted < Duration::from_secs(4),
                "{before}{piece}…{after} is formatted in {formatted:?}"
            );
        }
    }
}

/// A list with 2 to the power of 16 elements more than wanted is as wrong as any other.
#[test]
fn lists_of_any_length_are_counted() {
    for (before, wanted, after) in [("mov.b64 %rd1, ", 2, ";"), ("ld.global.v4.u32 ", 4, ", [%rd1];")] {
        for count in [65_536, 65_537, 65_536 + wanted, 131_072 + wanted] {
            let list = vec!["%r1"; count].join(",");
            let text = format!(
                ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k() {{\n.reg .b32 %r<2>;\n\
                 .reg .b64 %rd<2>;\n{before}{{{list}}}{after}\nret;\n}}\n"
            );
            let found = ptx_verify::check(&text, &ptx_verify::Config::default());
            assert!(found.iter().any(|found| found.rule == "vector-length"), "{before}{count}");
        }
    }
}

/// What nests deeply and is right parses, formats and is verified, without recursion.
#[test]
fn deep_nesting() {
    const DEPTH: usize = 100_000;
    /// ptxas reads brackets that are nested up to about so deep, and blocks up to exactly so deep.
    const BRACKETS: usize = 9_900;
    const BLOCKS: usize = 1_663;
    let module = |body: &str| format!(".version 8.0\n.target sm_90\n.address_size 64\n{body}");
    let kernel = |body: &str| module(&format!(".entry k () {{ .reg .u32 a; {body} }}"));
    let pairs = |open: &str, inner: &str, close: &str| {
        let depth = if matches!(open, "{" | "(" | "[") { BRACKETS } else { DEPTH };
        format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
    };
    let texts = [
        kernel(&format!("{}{}", "{".repeat(BLOCKS), "}".repeat(BLOCKS))),
        kernel(&format!("mov.u32 a, {};", pairs("(", "1", ")"))),
        kernel(&format!("mov.u32 a, {};", pairs("-", "1", ""))),
        kernel(&format!("mov.u32 a, {};", pairs("~", "1", ""))),
        kernel(&format!("mov.u32 a, {};", pairs("1+", "1", ""))),
        kernel(&format!("mov.u32 a, {};", pairs("1?2:", "1", ""))),
        kernel(&format!("mov.u32 a, {};", pairs("{", "a", "}"))),
        kernel(&format!("mov.u32 a, {};", pairs("[", "a", "]"))),
        module(&format!(".global .u32 a = {};", pairs("{", "1", "}"))),
    ];
    for text in texts {
        let shown = &text[..90.min(text.len())];
        let parse = ptx_syntax::parse(&text);
        assert!(parse.errors.is_empty(), "{shown}: {:?}", parse.errors);
        let formatted = ptx_emit::format(&text).unwrap_or_else(|reason| panic!("{shown}: {reason}"));
        assert!(formatted.text.len() < 40 * DEPTH, "{shown} becomes {} bytes", formatted.text.len());
        // What it finds is another test's; here it must come to an end.
        let _findings = ptx_verify::check(&text, &ptx_verify::Config::default());
    }
}

/// Constant expressions and blocks nest as deep as the assembler's parser follows them, and no deeper: measured with
/// ptxas 13.5, for which the target makes no difference.
#[test]
fn expressions_nest_as_deep_as_the_assembler_follows() {
    let is_refused = |text: String| {
        let text = format!(".version 8.0\n.target sm_90\n.address_size 64\n{text}\n");
        let found = ptx_verify::check(&text, &ptx_verify::Config::default());
        let errors: Vec<&str> = found
            .iter()
            .filter(|found| found.severity == ptx_syntax::Severity::Error)
            .map(|found| found.message.as_str())
            .collect();
        assert!(errors.len() <= 1, "{errors:?}");
        let too_deep = |message: &str| message.contains("too deeply") || message.contains("more deeply than");
        errors.first().is_some_and(|message| too_deep(message))
    };
    let refused = |value: String| is_refused(format!(".global .u32 a = {value};"));
    let kinds: [(&str, &str, usize); 8] = [
        ("(", ")", 9988),
        ("(0+", ")", 3329),
        ("- ", "", 4994),
        ("+ ", "", 4994),
        ("~", "", 4994),
        ("!", "", 4994),
        ("0?1:", "", 2497),
        ("(.s64)", "", 2497),
    ];
    for (open, close, most) in kinds {
        let nested = |depth: usize| format!("{}0{}", open.repeat(depth), close.repeat(depth));
        assert!(!refused(nested(most)), "{most} × `{open}`");
        assert!(refused(nested(most + 1)), "{} × `{open}`", most + 1);
    }
    assert!(!refused("1+".repeat(50_000) + "1"));

    let within = |blocks: usize, inner: &str| {
        let (open, close) = ("{".repeat(blocks), "}".repeat(blocks));
        is_refused(format!(".entry k() {{ .reg .u32 %r1; {open}{inner}{close} }}"))
    };
    // Each block leaves less for what is in it.
    for (blocks, (open, close), most) in [
        (0, ("(", ")"), 9978),
        (1, ("(", ")"), 9972),
        (1000, ("(", ")"), 3978),
        (1660, ("(", ")"), 18),
        (1663, ("(", ")"), 0),
        (0, ("-", ""), 4989),
        (1000, ("-", ""), 1989),
    ] {
        let nested = |depth| format!("mov.u32 %r1, {}1{};", open.repeat(depth), close.repeat(depth));
        assert!(!within(blocks, &nested(most)), "{most} × `{open}` in {blocks} blocks");
        assert!(within(blocks, &nested(most + 1)), "{} × `{open}` in {blocks} blocks", most + 1);
    }
    assert!(!within(1663, "ret;") && within(1664, "ret;") && within(1664, ""));
    // What is behind a block has the room that was before it.
    let behind = "mov.u32 %r1, ".to_owned() + &"(".repeat(9978) + "1" + &")".repeat(9978) + ";";
    assert!(!within(0, &format!("{}{}{behind}", "{".repeat(1663), "}".repeat(1663))));
}
