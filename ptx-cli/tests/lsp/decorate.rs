//! Semantic tokens and inlay hints.

use serde_json::{Value, json};

use crate::common::{GOOD, Scratch};
use crate::editor::{Editor, URI};

/// The words of a text with what they are, as the tokens of an answer tell.
fn words(text: &str, legend: &Value, data: &Value) -> Vec<(String, String)> {
    let lines: Vec<&str> = text.split('\n').collect();
    let numbers: Vec<usize> =
        data.as_array().unwrap().iter().map(|each| each.as_u64().unwrap() as usize).collect();
    let (mut line, mut column) = (0, 0);
    let word = |token: &[usize]| {
        line += token[0];
        column = if token[0] == 0 { column + token[1] } else { token[1] };
        let kind = legend["tokenTypes"][token[3]].as_str().unwrap();
        let declares = if token[4] & 1 != 0 { " declared" } else { "" };
        // Columns are in units of UTF-16.
        let units: Vec<u16> = lines[line].encode_utf16().collect();
        (String::from_utf16(&units[column..column + token[2]]).unwrap(), format!("{kind}{declares}"))
    };
    numbers.chunks_exact(5).map(word).collect()
}

fn has(words: &[(String, String)], word: &str, kind: &str) -> bool {
    words.iter().any(|(text, of)| text == word && of == kind)
}

#[test]
fn each_word_has_its_meaning() {
    let scratch = Scratch::new();
    let (mut editor, capabilities) = Editor::start(&scratch, &[]);
    let legend = capabilities["semanticTokensProvider"]["legend"].clone();
    let text =
        GOOD.replace("mov.u32 %r1, 7;", "/* \u{1d11e} */ mov.u32 %r1, %tid.x; // \u{1d11e}\n@%p bra L;\nL:");
    editor.open(URI, &text);
    let params = json!({"textDocument": {"uri": URI}});
    let answer = editor.request("textDocument/semanticTokens/full", params.clone())["result"].clone();
    let found = words(&text, &legend, &answer["data"]);
    for (word, kind) in [
        (".version", "macro"),
        ("8.6", "number"),
        ("k", "function declared"),
        ("p", "parameter declared"),
        ("p", "parameter"),
        ("%r", "variable declared"),
        ("%r1", "variable"),
        ("%rd2", "variable"),
        ("%tid.x", "enumMember"),
        ("mov", "keyword"),
        (".u32", "type"),
        (".to", "modifier"),
        ("L", "label"),
        ("L", "label declared"),
        ("/* \u{1d11e} */", "comment"),
        ("// \u{1d11e}", "comment"),
    ] {
        assert!(has(&found, word, kind), "{word} {kind}: {found:?}");
    }
    let range = json!({"start": {"line": 9, "character": 0}, "end": {"line": 10, "character": 0}});
    let params_of_range = json!({"textDocument": {"uri": URI}, "range": range});
    let part = editor.request("textDocument/semanticTokens/range", params_of_range)["result"].clone();
    let part = words(&text, &legend, &part["data"]);
    assert_eq!(part.first().unwrap(), &("ld".to_owned(), "keyword".to_owned()));
    assert_eq!(part.last().unwrap(), &("p".to_owned(), "parameter".to_owned()));
    editor.end();
}

#[test]
fn only_what_changed_is_told_again() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    editor.open(URI, GOOD);
    let of = |more: Value| {
        let mut params = json!({"textDocument": {"uri": URI}});
        params.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        params
    };
    let full = editor.request("textDocument/semanticTokens/full", of(json!({})))["result"].clone();
    let mut data = full["data"].as_array().unwrap().clone();
    let mut id = full["resultId"].clone();
    for text in [GOOD.replace("%r1, 7;", "%r1, %tid.x; ret;"), GOOD.to_owned(), GOOD.to_owned()] {
        editor.change(URI, 2, &text);
        let delta =
            editor.request("textDocument/semanticTokens/full/delta", of(json!({"previousResultId": id})));
        let delta = delta["result"].clone();
        for edit in delta["edits"].as_array().unwrap_or_else(|| panic!("{delta}")) {
            let start = edit["start"].as_u64().unwrap() as usize;
            let end = start + edit["deleteCount"].as_u64().unwrap() as usize;
            let new = edit["data"].as_array().cloned().unwrap_or_default();
            assert!(new.len() < 100, "{edit}");
            data.splice(start..end, new);
        }
        let again = editor.request("textDocument/semanticTokens/full", of(json!({})))["result"].clone();
        assert_eq!(again["data"], json!(data));
        id = again["resultId"].clone();
    }
    let unknown =
        editor.request("textDocument/semanticTokens/full/delta", of(json!({"previousResultId": "x"})));
    assert_eq!(unknown["result"]["data"], json!(data));
    editor.end();
}

#[test]
fn words_of_asm_statements_have_meanings_too() {
    let scratch = Scratch::new();
    let (mut editor, capabilities) = Editor::start(&scratch, &["utf-8"]);
    let legend = capabilities["semanticTokensProvider"]["legend"].clone();
    let text = "__device__ void f(int a) {\n  asm(\"{ .reg .b32 %%t; \\n mov.b32 %%t, %0; }\"\n    \"ret;\" : : \"r\"(a));\n}\n";
    editor.open_as("file:///k.cu", "cuda-cpp", text);
    let params = json!({"textDocument": {"uri": "file:///k.cu"}});
    let answer = editor.request("textDocument/semanticTokens/full", params)["result"].clone();
    let found = words(text, &legend, &answer["data"]);
    for (word, kind) in
        [("%t", "variable declared"), ("%t", "variable"), ("%0", "parameter"), ("ret", "keyword")]
    {
        assert!(has(&found, word, kind), "{word} {kind}: {found:?}");
    }
    assert!(!found.iter().any(|(word, _)| word == "void"), "{found:?}");
    editor.end();
}

#[test]
fn hints_tell_floats_and_carries() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let text = GOOD.replace(
        "\tmov.u32 %r1, 7;",
        "\tadd.cc.u32 %r1, %r1, 1;\n\taddc.cc.u32 %r1, %r1, 1;\n\taddc.u32 %r1, %r1, 1;\n\tmov.f32 %f1, 0f3F800000;",
    );
    editor.open(URI, &text);
    let hints = |editor: &mut Editor, from: u32, to: u32| -> Vec<(u64, String)> {
        let range = json!({"start": {"line": from, "character": 0}, "end": {"line": to, "character": 0}});
        let params = json!({"textDocument": {"uri": URI}, "range": range});
        let all = editor.request("textDocument/inlayHint", params)["result"].clone();
        let all = all.as_array().unwrap_or_else(|| panic!("{all}"));
        let label = |hint: &Value| {
            (hint["position"]["line"].as_u64().unwrap() + 1, hint["label"].as_str().unwrap().to_owned())
        };
        all.iter().map(label).collect()
    };
    let all = hints(&mut editor, 0, 99);
    let expected =
        [(12, "→ carry"), (13, "← carry of line 12 → carry"), (14, "← carry of line 13"), (15, "= 1.0")];
    assert_eq!(all, expected.map(|(line, text)| (line, text.to_owned())));
    assert_eq!(hints(&mut editor, 13, 14), [(14, "← carry of line 13".to_owned())]);
    assert_eq!(hints(&mut editor, 0, 5), []);
    editor.end();
}

/// A program that stands for ptxas.
#[cfg(unix)]
#[test]
fn registers_of_the_last_report_are_hinted() {
    use std::os::unix::fs::PermissionsExt;
    const FAKE: &str = r#"#!/bin/sh
if [ "$1" = --version ]; then echo "release 1.2, V1.2.3"; exit 0; fi
cat >&2 <<END
ptxas info    : Compiling entry function 'k' for 'sm_90'
ptxas info    : Function properties for k
    0 bytes stack frame, 8 bytes spill stores, 8 bytes spill loads
ptxas info    : Used 24 registers, used 0 barriers
END
cp "${0%/*}/code" output.cubin
"#;
    let scratch = Scratch::new();
    let path = scratch.file("ptxas", FAKE);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    // The header of an ELF file for CUDA.
    let mut code = b"\x7fELF\x02\x01".to_vec();
    code.resize(64, 0);
    code[18] = 190;
    scratch.file("code", code);
    let capabilities = json!({"workspace": {"inlayHint": {"refreshSupport": true}}});
    let (mut editor, capabilities) =
        Editor::start_in(&scratch, capabilities, &[("PTXAS", path.to_str().unwrap())]);
    assert_eq!(capabilities["executeCommandProvider"]["commands"], json!(["ptx-cli.report"]));
    editor.open(URI, &GOOD.replace("ret;", "ret; // ptx-budget: registers <= 16"));
    let actions = editor.actions(URI, json!({"diagnostics": [], "only": ["source.report"]}));
    let command = actions[0]["command"].clone();
    let params = json!({"command": command["command"], "arguments": command["arguments"]});
    assert_eq!(editor.request("workspace/executeCommand", params)["result"], Value::Null);
    let next = loop {
        let message = editor.receive();
        if message["method"] == "workspace/inlayHint/refresh" || message["method"] == "window/showMessage" {
            break message;
        }
    };
    assert_eq!(next["method"], "workspace/inlayHint/refresh", "{next}");
    let range = json!({"start": {"line": 0, "character": 0}, "end": {"line": 9, "character": 0}});
    let params = json!({"textDocument": {"uri": URI}, "range": range});
    let hints = editor.request("textDocument/inlayHint", params)["result"].clone();
    let label = hints[0]["label"].as_str().unwrap_or_else(|| panic!("{hints}"));
    assert!(label.contains("24 registers") && label.contains("8 bytes spilled"), "{label}");
    assert!(label.ends_with("; too many registers, allowed are 16"), "{label}");
    for wrong in [json!({"command": "rm"}), json!({"command": "ptx-cli.report", "arguments": ["file:///no"]})]
    {
        assert!(editor.request("workspace/executeCommand", wrong)["error"]["message"].is_string());
    }
    editor.end();
}
