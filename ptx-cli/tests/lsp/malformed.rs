//! Parameters that are wrong, places that are none, and documents that are anything.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{GOOD, Scratch};
use crate::editor::{Editor, URI};

/// Requests about a place.
const ABOUT_PLACES: [&str; 8] = [
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentHighlight",
    "textDocument/prepareRename",
    "textDocument/rename",
    "textDocument/completion",
    "textDocument/signatureHelp",
];

/// Requests about a document.
const ABOUT_DOCUMENTS: [&str; 10] = [
    "textDocument/diagnostic",
    "textDocument/inlayHint",
    "textDocument/semanticTokens/full",
    "textDocument/semanticTokens/full/delta",
    "textDocument/semanticTokens/range",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/formatting",
    "textDocument/rangeFormatting",
    "textDocument/codeAction",
];

fn params(uri: &str, line: u32, character: u32) -> Value {
    let position = json!({"line": line, "character": character});
    json!({
        "textDocument": {"uri": uri},
        "position": position,
        "newName": "%other",
        "context": {"includeDeclaration": true, "diagnostics": []},
        "range": {"start": position, "end": position},
        "options": {"tabSize": 8, "insertSpaces": false},
        "previousResultId": "7",
    })
}

#[test]
fn wrong_parameters_are_refused_and_the_server_goes_on() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    editor.open(URI, GOOD);
    for method in ABOUT_PLACES.iter().chain(&ABOUT_DOCUMENTS).chain(&["workspace/symbol"]) {
        for wrong in [
            Value::Null,
            json!([]),
            json!("text"),
            json!({"textDocument": 1, "position": []}),
            json!({"textDocument": {"uri": URI}, "position": {"line": -1, "character": 0}, "range": 5}),
            json!({"textDocument": {"uri": 5}, "position": {"line": 1, "character": 0.5}}),
            json!({"textDocument": {"uri": "no address\u{7f}"}, "position": {"line": 1, "character": 1}}),
        ] {
            // What a request does not read cannot be wrong.
            let answer = editor.request(method, wrong.clone());
            let code = answer["error"]["code"].as_i64();
            let reads_document_only = ABOUT_DOCUMENTS.contains(method) && answer["error"].is_null();
            assert!(
                code == Some(-32602) || code == Some(-32803) || reads_document_only,
                "{method} {wrong}: {answer}"
            );
        }
        if *method != "workspace/symbol" {
            let closed = editor.request(method, params("file:///closed.ptx", 0, 0));
            assert_eq!(closed["error"]["code"], -32803, "{method}: {closed}");
        }
    }
    editor.end();
}

#[test]
fn any_document_is_asked_anywhere() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &[]);
    let asm = "asm(\"\\x41 %0 %[x] %% %= {\" \"\u{1d11e} \\n mov.\" : \"=r\"(x) [ : );\nasm volatile(\"";
    let documents = [
        ("file:///a.ptx", GOOD.replace('\n', "\r\n")),
        ("file:///b.ptx", format!("\u{1d11e}é{}", GOOD.replace("mov", "\u{1d11e}"))),
        ("file:///c.ptx", "\u{0}\u{1}{{{{;;@@!.reg .reg %r<99999999999> , .entry .func ( ( } :".to_owned()),
        ("file:///d.cu", asm.to_owned()),
        ("file:///e.cu", format!("#define A \"add.s32 %0, \" B\nvoid f() {{ {asm} }}")),
        ("file:///ptx.toml", "[rules\n= \u{1d11e}\n[[[\n\"".to_owned()),
        ("untitled:Untitled-1", String::new()),
    ];
    for (uri, text) in &documents {
        let language = if uri.ends_with(".cu") { "cuda-cpp" } else { "ptx" };
        editor.open_as(uri, language, text);
        let lines = text.split('\n').count() as u32;
        for line in (0..lines).chain([lines + 7, u32::MAX]) {
            for character in (0..24).step_by(3).chain([u32::MAX]) {
                for method in ABOUT_PLACES {
                    let answer = editor.request(method, params(uri, line, character));
                    let code = answer["error"]["code"].as_i64();
                    assert!(
                        code.is_none() || code == Some(-32803),
                        "{method} {uri} {line}:{character}: {answer}"
                    );
                }
            }
        }
        for method in ABOUT_DOCUMENTS {
            let answer = editor.request(method, params(uri, 1, 1));
            assert!(answer["error"].is_null(), "{method} {uri}: {answer}");
        }
    }
    editor.end();
}

#[test]
fn answers_about_a_large_document_come_soon() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let body = "\tadd.s32 %r1, %r1, 0x10;\n\tmov.u32 %r1, %tid.x;\n".repeat(2000);
    let kernel =
        |name: usize| GOOD.replace("\tmov.u32 %r1, 7;\n", &body).replace(" k(", &format!(" k{name}("));
    let header = GOOD.split("\n\n").next().unwrap();
    let mut text = header.to_owned() + "\n";
    for name in 0..20 {
        text.push_str(kernel(name).strip_prefix(header).unwrap());
    }
    assert!(text.len() > 1_800_000, "{}", text.len());
    editor.open(URI, &text);
    // The first question reads the names; and the program is not optimised as a release is.
    for method in ABOUT_PLACES.iter().chain(&ABOUT_DOCUMENTS) {
        let started = Instant::now();
        let answer = editor.request(method, params(URI, 30_000, 12));
        assert!(answer["error"].is_null() || *method == "textDocument/rename", "{method}: {answer}");
        let took = started.elapsed();
        assert!(took < Duration::from_secs(3), "{method} took {took:?}");
    }
    editor.end();
}
