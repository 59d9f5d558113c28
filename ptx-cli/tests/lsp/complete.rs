//! Completion, signature help and hover.

use serde_json::{Value, json};

use crate::common::{GOOD, Scratch};
use crate::editor::{Editor, URI, edited};

/// The labels that are offered where `|` stands in a text.
fn offered(editor: &mut Editor, uri: &str, marked: &str) -> Vec<String> {
    items(editor, uri, marked).iter().map(|item| item["label"].as_str().unwrap().to_owned()).collect()
}

fn items(editor: &mut Editor, uri: &str, marked: &str) -> Vec<Value> {
    let at = marked.find('|').unwrap();
    let text = marked.replacen('|', "", 1);
    editor.open_as(uri, if uri.ends_with(".cu") { "cuda-cpp" } else { "ptx" }, &text);
    let answer = editor.ask("textDocument/completion", uri, &text, "", at);
    answer.as_array().unwrap_or_else(|| panic!("{answer}")).clone()
}

fn has(all: &[String], name: &str) -> bool {
    all.iter().any(|each| each == name)
}

/// [`GOOD`] with another instruction in place of `mov`.
fn with(instruction: &str) -> String {
    GOOD.replace("\tmov.u32 %r1, 7;", instruction)
}

#[test]
fn what_can_follow_is_offered() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let mut at = |text: &str| offered(&mut editor, URI, &with(text));
    let opcodes = at("\tmo|");
    assert!(has(&opcodes, "mov") && has(&opcodes, "ld") && has(&opcodes, ".reg") && !has(&opcodes, "%r1"));
    let guarded = at("\t@%p1 b|");
    assert!(has(&guarded, "bra") && !has(&guarded, ".reg"));
    let modifiers = at("\tld.global.v4.|");
    assert!(
        has(&modifiers, ".f32") && !has(&modifiers, ".global") && !has(&modifiers, "mov"),
        "{modifiers:?}"
    );
    let modifiers = at("\tadd.cc.u|");
    assert!(has(&modifiers, ".u32") && !has(&modifiers, ".f32"), "{modifiers:?}");
    let operands = at("\tmov.u32 %r1, |");
    assert!(has(&operands, "%tid.x") && has(&operands, "%rd1") && has(&operands, "p") && has(&operands, "k"));
    assert!(has(&at("\tmov.u32 %r1, %ti|;"), "%tid.x"));
    assert!(has(&at("\tld.param.u64 %rd1, [|"), "p"));
    assert!(has(&at("\t.reg .|"), ".pred"));
    assert!(at("\tmov.u32 %r1, 7; // a| comment").iter().all(|each| each.starts_with("ptx-allow")));
    let rules = at("\tmov.u32 %r1, 7; // ptx-allow: dead|");
    assert!(has(&rules, "dead-store") && has(&rules, "carry-unused"));
    assert!(at("\tmov.u32 %r1, 7; /* mov.| */").iter().all(|each| each.starts_with("ptx-allow")));
    editor.end();
}

#[test]
fn what_is_offered_replaces_what_is_written() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    for (written, choice, expected) in [
        ("\tadd.cc.u|", ".u32", "\tadd.cc.u32"),
        ("\tmov.u32 %r1, %ti|;", "%tid.x", "\tmov.u32 %r1, %tid.x;"),
        ("\tst.gl|", ".global", "\tst.global"),
        (
            "ret; // ptx-allow: dead-store, carr|",
            "carry-unused",
            "ret; // ptx-allow: dead-store, carry-unused",
        ),
    ] {
        let marked = with(written);
        let all = items(&mut editor, URI, &marked);
        let item = all.iter().find(|item| item["label"] == choice).unwrap_or_else(|| panic!("{written}"));
        let text = edited(&marked.replacen('|', "", 1), &json!([item["textEdit"]]));
        assert_eq!(text, with(expected));
    }
    editor.end();
}

#[test]
fn asm_statements_and_configuration_are_completed() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let cuda = |line: &str| {
        format!("__device__ void f(int a, int b) {{ asm volatile(\"{line}\" : \"=r\"(a) : \"r\"(b)); }}\n")
    };
    let mut at = |text: &str| offered(&mut editor, "file:///k.cu", text);
    assert!(has(&at(&cuda("add.|")), ".s32"));
    let operands = at(&cuda("add.s32 %0, %1, |"));
    assert!(has(&operands, "%0") && has(&operands, "%1") && has(&operands, "%laneid"));
    assert_eq!(at("int main() { retu|rn 0; }"), Vec::<String>::new());
    let mut toml = |text: &str| offered(&mut editor, "file:///scratch/ptx.toml", text);
    assert!(has(&toml("ex|"), "exclude"));
    assert!(has(&toml("[ru|"), "rules"));
    let rules = toml("[rules]\ndead|");
    assert!(has(&rules, "dead-store") && has(&rules, "style"));
    assert!(has(&toml("[rules]\ndead-store = |"), "\"warn\""));
    assert!(has(&toml("[rules]\ndead-store = \"|\""), "warn"));
    assert!(has(&toml("[ptx]\ntarget = \"|"), "sm_90a"));
    assert!(has(&toml("[overrides.cuda]\nversion = |"), "\"8.6\""));
    assert_eq!(toml("[format]\nasm = |"), ["true", "false"]);
    assert_eq!(toml("# a com|ment"), Vec::<String>::new());
    editor.end();
}

#[test]
fn signatures_tell_the_operands_with_their_types() {
    let scratch = Scratch::new();
    let (mut editor, capabilities) = Editor::start(&scratch, &["utf-8"]);
    assert_eq!(capabilities["signatureHelpProvider"]["triggerCharacters"], json!([" ", ","]));
    let mut at = |instruction: &str| {
        let marked = with(instruction);
        let at = marked.find('|').unwrap();
        let text = marked.replacen('|', "", 1);
        editor.open_as(URI, "ptx", &text);
        editor.ask("textDocument/signatureHelp", URI, &text, "", at)
    };
    let help = at("\tadd.u32 %r1, |");
    assert_eq!(help["signatures"][0]["label"], "add.u32 d: .u32, a: .u32, b: .u32");
    assert_eq!(help["activeParameter"], 1);
    assert_eq!(help["signatures"][0]["parameters"][1]["label"], json!([17, 24]));
    let help = at("\tld.global.v2.f32 {%f1, %f2}, [%rd1|];");
    assert_eq!(help["activeParameter"], 1);
    let label = help["signatures"][0]["label"].as_str().unwrap();
    assert!(label.contains("{d}: 2 × .f32") && label.contains("address in .global, 8 bytes"), "{label}");
    assert_eq!(at("\tmov.u32 %r1, 7;|"), Value::Null);
    assert_eq!(at("\tmov|"), Value::Null);
    assert!(at("\tadd.q99 %r1, |")["signatures"][0]["label"].as_str().unwrap().starts_with("add"));
    editor.end();
}

#[test]
fn hover_tells_what_registers_constants_and_directives_are() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let text = with("\tmov.u32 %r1, 12;\n\tadd.u32 %r1, %r1, 0x1F; // 3");
    let text = text
        .replace(".entry k(", ".entry k(.param .f32 q, ")
        .replace("ret;", "mov.f32 %f1, 0f3F800000;\n\tret;");
    editor.open(URI, &text);
    let mut told = |at: &str, plus| {
        let hover = editor.ask("textDocument/hover", URI, &text, at, plus);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    let register = told("%r1, %r1", 1);
    assert!(
        register.contains(".reg .b32 %r1;") && register.contains("set in lines 12, 13; read in lines 13, 14"),
        "{register}"
    );
    assert!(register.contains("after this: 43"), "{register}");
    let read = told("%r1, 0x1F", 1);
    assert!(read.contains("here: 12"), "{read}");
    assert!(told("%r<2>", 1).contains("used at 4 places"));
    assert!(told("0x1F", 1).contains("31 = 0x1F"));
    assert!(told("0f3F800000", 1).contains("**1.0**"));
    assert!(told(".address_size", 3).contains("32 or 64"));
    assert!(told("[p]", 1).contains(".param .u64 p;"));
    assert!(told("k(", 0).contains(".visible .entry k("));
    assert!(told("mov.u32", 2).contains("mov"));
    assert_eq!(told("// 3", 3), "");
    let cuda = "__device__ int f(int a) { asm(\"{ .reg .b32 %%t; mov.b32 %%t, %1; mov.b32 %0, %%t; }\" : \"=r\"(a) : \"r\"(a + 1)); return a; }\n";
    editor.open_as("file:///k.cu", "cuda-cpp", cuda);
    let mut told = |at: &str, plus| {
        let hover = editor.ask("textDocument/hover", "file:///k.cu", cuda, at, plus);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    assert!(told("%1;", 1).contains("\"r\"(a + 1)") && told("%1;", 1).contains("input, a 32-bit register"));
    assert!(told("mov.b32", 1).contains("mov"));
    assert!(told("%t, %1", 1).contains("set in line 1; read in line 1"), "{}", told("%t, %1", 1));
    assert!(told("\"=r\"", 1).contains("output"));
    let known = "__device__ int g(int a) { asm(\"{ .reg .b32 %%t; and.b32 %%t, %1, 3; shl.b32 %0, %%t, 2; }\" : \"=r\"(a) : \"r\"(a)); return a; }\n";
    editor.open_as("file:///g.cu", "cuda-cpp", known);
    let mut told = |at: &str, plus| {
        let hover = editor.ask("textDocument/hover", "file:///g.cu", known, at, plus);
        hover["contents"]["value"].as_str().unwrap_or_default().to_owned()
    };
    assert!(told("%t, 2", 1).contains("here: 0 to 3"), "{}", told("%t, 2", 1));
    assert!(
        told("%0, ", 1).contains("output") && told("%0, ", 1).contains("after this: 0 modulo 2^2, 0 to 12"),
        "{}",
        told("%0, ", 1)
    );
    assert!(!told("%1, 3", 1).contains("here: "), "{}", told("%1, 3", 1));
    assert_eq!(told("return", 1), "");
    editor.end();
}
