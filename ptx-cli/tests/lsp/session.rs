//! Findings, changes of documents, and what the protocol says of messages.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::common::{GOOD, Scratch, address, bad};
use crate::editor::{Editor, PATIENCE, URI};

#[test]
fn findings_come_on_open_and_on_change_and_go_on_close() {
    let scratch = Scratch::new();
    let (mut editor, capabilities) = Editor::start(&scratch, &["utf-16", "utf-8"]);
    assert_eq!(capabilities["positionEncoding"], "utf-8");
    let found = editor.open("file:///scratch/k.ptx", &bad());
    assert_eq!(found["version"], 1);
    let first = &found["diagnostics"][0];
    assert_eq!((&first["range"]["start"]["line"], &first["code"]), (&json!(11), &json!("syntax")));
    assert_eq!(first["severity"], 1);
    let document = json!({"uri": "file:///scratch/k.ptx", "version": 2});
    let change = json!({"textDocument": document, "contentChanges": [{"text": GOOD}]});
    editor.notify("textDocument/didChange", change);
    let found = editor.diagnostics();
    assert_eq!((&found["version"], &found["diagnostics"]), (&json!(2), &json!([])));
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": "file:///scratch/k.ptx"}}));
    assert_eq!(editor.diagnostics()["diagnostics"], json!([]));
    editor.end();
}

#[test]
fn columns_are_units_of_utf16_unless_the_editor_counts_bytes() {
    let scratch = Scratch::new();
    let (mut editor, capabilities) = Editor::start(&scratch, &[]);
    assert_eq!(capabilities["positionEncoding"], "utf-16");
    let text = bad().replace("\tmov.u32 %r1 7", "/* \u{1d11e} */ mov.u32 %r1 7");
    let found = editor.open("file:///scratch/k.ptx", &text);
    // Eight bytes of comment are six units; then the operand ends 12 behind the blank.
    assert_eq!(found["diagnostics"][0]["range"]["start"]["character"], 20);
    editor.end();
}

#[test]
fn hover_tells_what_a_word_needs_and_unknown_requests_are_refused() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let uri = "file:///scratch/k.ptx";
    editor.open(uri, &GOOD.replace("%r1, 7", "%r1, %tid.x"));
    let hover = |line: u32, character: u32| json!({"textDocument": {"uri": uri}, "position": {"line": line, "character": character}});
    let register = editor.request("textDocument/hover", hover(11, 15));
    let text = register["result"]["contents"]["value"].as_str().unwrap();
    assert!(text.contains("%tid") && text.contains("since PTX 1.0"), "{text}");
    let opcode = editor.request("textDocument/hover", hover(11, 2));
    let text = opcode["result"]["contents"]["value"].as_str().unwrap();
    assert!(text.contains("mov"), "{text}");
    assert_eq!(editor.request("textDocument/hover", hover(6, 0))["result"], Value::Null);
    let unknown = editor.request("textDocument/moniker", json!({}));
    assert_eq!(unknown["error"]["code"], -32601);
    let closed = json!({"textDocument": {"uri": "file:///other"}, "position": {"line": 0, "character": 0}});
    assert!(editor.request("textDocument/hover", closed)["error"]["message"].is_string());
    editor.end();
}

#[test]
fn what_is_no_message_is_told_and_the_server_goes_on() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    for bad in [&b"{\"id\": 1"[..], b"\xff\xfe\x00", b""] {
        editor.send_bytes(bad);
        let answer = editor.answer_to(&Value::Null);
        assert_eq!(answer["error"]["code"], -32700, "{answer}");
    }
    editor.send_bytes(b"[{}]");
    assert_eq!(editor.answer_to(&Value::Null)["error"]["code"], -32600);
    editor.send(&json!({"jsonrpc": "2.0", "id": "a"}));
    assert_eq!(editor.answer_to(&json!("a"))["error"]["code"], -32600);
    editor.stdin.write_all(b"Content-Length: some\r\n\r\n").unwrap();
    assert_eq!(editor.answer_to(&Value::Null)["error"]["code"], -32700);
    // Nesting that would exhaust a stack.
    editor.send_bytes("[".repeat(100_000).as_bytes());
    assert_eq!(editor.answer_to(&Value::Null)["error"]["code"], -32700);
    let id = json!(9_000_000_000_u64);
    editor.send(&json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/hover", "params": {}}));
    assert_eq!(editor.answer_to(&id)["error"]["code"], -32602);
    assert_eq!(editor.open(URI, &bad())["diagnostics"][0]["code"], "syntax");
    editor.end();
}

#[test]
fn a_message_that_is_too_long_is_told_and_not_kept() {
    let scratch = Scratch::new();
    let mut editor = Editor::silent(&scratch);
    editor.stdin.write_all(b"Content-Length: 9000000000\r\n\r\n{}").unwrap();
    drop(std::mem::replace(&mut editor.stdin, Editor::silent(&scratch).stdin));
    let answer = editor.answer_to(&Value::Null);
    assert_eq!(answer["error"]["code"], -32700, "{answer}");
    assert_eq!(editor.child.wait().unwrap().code(), Some(2));
}

#[test]
fn requests_have_their_time() {
    let scratch = Scratch::new();
    let mut editor = Editor::silent(&scratch);
    let hover = json!({"textDocument": {"uri": URI}, "position": {"line": 0, "character": 0}});
    let early = editor.request("textDocument/hover", hover.clone());
    assert_eq!(early["error"]["code"], -32002);
    editor.notify("textDocument/didOpen", json!({"nonsense": 1}));
    let wrong = editor.request("initialize", json!({"capabilities": 7}));
    assert_eq!(wrong["error"]["code"], -32602);
    let right = editor.request("initialize", json!({"capabilities": {}}));
    assert_eq!(right["result"]["capabilities"]["positionEncoding"], "utf-16");
    assert_eq!(editor.request("initialize", json!({"capabilities": {}}))["error"]["code"], -32600);
    editor.notify("textDocument/didChange", json!({"nonsense": 1}));
    editor.change("file:///not/open.ptx", 1, "x");
    editor.notify("$/unknown", json!({}));
    assert_eq!(editor.request("$/unknown", json!({}))["error"]["code"], -32601);
    assert_eq!(editor.request("shutdown", Value::Null)["result"], Value::Null);
    assert_eq!(editor.request("textDocument/hover", hover)["error"]["code"], -32600);
    assert_eq!(editor.request("shutdown", Value::Null)["error"]["code"], -32600);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.child.wait().unwrap().code(), Some(0));
    let mut rude = Editor::silent(&scratch);
    rude.notify("exit", Value::Null);
    assert_eq!(rude.child.wait().unwrap().code(), Some(2));
}

#[test]
fn a_cancelled_request_is_answered_as_such() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    // Laying this out takes longer than reading the next messages.
    editor.open(URI, &GOOD.replace("\tmov.u32 %r1, 7;", &"  mov.u32    %r1,7;\n".repeat(50_000)));
    let document = json!({"uri": URI});
    let options = json!({"tabSize": 8, "insertSpaces": false});
    let format = json!({"textDocument": document, "options": options});
    let hover = json!({"textDocument": document, "position": {"line": 0, "character": 0}});
    let mut batch = Vec::new();
    for message in [
        json!({"jsonrpc": "2.0", "id": "f", "method": "textDocument/formatting", "params": format}),
        json!({"jsonrpc": "2.0", "id": "h", "method": "textDocument/hover", "params": hover}),
        json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "h"}}),
        json!({"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": "unknown"}}),
    ] {
        let text = message.to_string();
        batch.extend(format!("Content-Length: {}\r\n\r\n{text}", text.len()).into_bytes());
    }
    editor.stdin.write_all(&batch).unwrap();
    // Which is answered first depends on how soon the messages are read.
    let mut answers = std::collections::BTreeMap::new();
    while answers.len() < 2 {
        let message = editor.receive();
        if let Some(id) = message["id"].as_str() {
            answers.insert(id.to_owned(), message.clone());
        }
    }
    assert_eq!(answers["h"]["error"]["code"], -32800);
    assert!(!answers["f"]["result"].as_array().unwrap().is_empty());
    editor.end();
}

/// Sends something again and again, without a pause that a server could wait for, until findings come.
fn findings_during(editor: &mut Editor, mut send: impl FnMut(&mut Editor, i32)) -> Value {
    let started = Instant::now();
    for round in 2.. {
        send(editor, round);
        std::thread::sleep(Duration::from_millis(2));
        while let Ok(message) = editor.messages.try_recv() {
            if message["method"] == "textDocument/publishDiagnostics" {
                return message["params"].clone();
            }
        }
        assert!(started.elapsed() < PATIENCE, "no findings while the editor is busy");
    }
    unreachable!("the loop ends with findings")
}

#[test]
fn requests_do_not_hold_findings_up() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    editor.open(URI, GOOD);
    editor.change(URI, 2, &bad());
    let found = findings_during(&mut editor, |editor, round| {
        let hover = json!({"textDocument": {"uri": URI}, "position": {"line": 1, "character": 1}});
        editor.send(&json!({"jsonrpc": "2.0", "id": round, "method": "textDocument/hover", "params": hover}));
    });
    assert_eq!((&found["version"], &found["diagnostics"][0]["code"]), (&json!(2), &json!("syntax")));
    editor.end();
}

#[test]
fn typing_without_a_pause_does_not_hold_findings_up() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    editor.open(URI, GOOD);
    let text = bad();
    let found = findings_during(&mut editor, |editor, round| {
        editor.change(URI, round, &format!("{text}// {round}\n"));
    });
    assert_eq!(found["diagnostics"][0]["code"], "syntax");
    assert!(found["version"].as_i64().unwrap() >= 2);
    editor.end();
}

#[test]
fn findings_are_bounded_and_the_last_says_how_many_more_there_are() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let text = GOOD.replace("\tmov.u32 %r1, 7;", &"add.s32 %r1, %r1;".repeat(5000));
    let found = editor.open(URI, &text);
    let found = found["diagnostics"].as_array().unwrap();
    assert_eq!(found.len(), 1001);
    let last = found.last().unwrap()["message"].as_str().unwrap();
    assert!(last.contains("4000 more findings") || last.contains("more findings, "), "{last}");
    editor.end();
}

#[test]
fn a_document_that_is_too_large_has_one_finding() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let found = editor.open(URI, &" ".repeat((64 << 20) + 1));
    let found = found["diagnostics"].as_array().unwrap();
    assert_eq!(found.len(), 1);
    assert!(found[0]["message"].as_str().unwrap().contains("64 MiB"), "{}", found[0]);
    assert_eq!(editor.hover(URI, 0, 9)["result"], Value::Null);
    editor.change(URI, 2, &bad());
    assert_eq!(editor.diagnostics()["diagnostics"][0]["code"], "syntax");
    editor.end();
}

#[test]
fn a_wrong_configuration_is_shown_and_a_changed_one_is_heeded() {
    let scratch = Scratch::new();
    let watched = json!({"workspace": {"didChangeWatchedFiles": {"dynamicRegistration": true}}});
    for (capabilities, watches) in [(watched, true), (json!({}), false)] {
        scratch.file("ptx.toml", "[rules]\nstyle = \"warm\"\n");
        let (mut editor, _) = Editor::start_with(&scratch, capabilities);
        if watches {
            let registration = editor.next("client/registerCapability")["registrations"][0].clone();
            assert_eq!(registration["method"], "workspace/didChangeWatchedFiles");
            assert_eq!(registration["registerOptions"]["watchers"][0]["globPattern"], "**/ptx.toml");
        }
        let file = scratch.path().canonicalize().unwrap().join("k.ptx");
        let uri = address(&file);
        let toml = address(&file.with_file_name("ptx.toml"));
        let wrong = editor.open(&uri, &bad());
        assert_eq!(wrong["uri"], toml);
        assert_eq!(wrong["diagnostics"][0]["range"]["start"]["line"], 1, "{wrong}");
        let shown = editor.next("window/showMessage");
        assert!(shown["message"].as_str().unwrap().contains("ptx.toml, line 2"), "{shown}");
        assert_eq!(editor.diagnostics()["diagnostics"][0]["code"], "syntax");
        // It becomes right, and excludes the document; then it is gone.
        let told = |editor: &mut Editor| {
            if watches {
                editor.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));
            }
        };
        scratch.file("ptx.toml", "exclude = [\"*.ptx\"]\n");
        told(&mut editor);
        let cleared = editor.diagnostics();
        assert_eq!((&cleared["uri"], &cleared["diagnostics"]), (&json!(toml), &json!([])));
        let cleared = editor.diagnostics();
        assert_eq!((&cleared["uri"], &cleared["diagnostics"]), (&json!(uri), &json!([])));
        std::fs::remove_file(scratch.path().join("ptx.toml")).unwrap();
        told(&mut editor);
        assert_eq!(editor.diagnostics()["diagnostics"][0]["code"], "syntax");
        editor.end();
    }
}

#[test]
fn formatting_what_has_no_layout_is_nothing() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let options = json!({"tabSize": 8, "insertSpaces": false});
    for (uri, text) in [("file:///k.cu", "int main() {}"), (URI, &*bad())] {
        editor.open(uri, text);
        let params = json!({"textDocument": {"uri": uri}, "options": options});
        let answer = editor.request("textDocument/formatting", params);
        assert_eq!((&answer["result"], &answer["error"]), (&Value::Null, &Value::Null), "{uri}");
    }
    editor.end();
}

#[test]
fn places_are_those_of_the_editor_whatever_ends_a_line() {
    let scratch = Scratch::new();
    for end in ["\r\n", "\r", "\n"] {
        let (mut editor, _) = Editor::start(&scratch, &[]);
        let text = bad().replace("\tmov.u32 %r1 7", "/* \u{1d11e}\u{e9} */ mov.u32 %r1 7").replace('\n', end);
        let found = editor.open(URI, &text);
        let place = &found["diagnostics"][0]["range"]["start"];
        assert_eq!(*place, json!({"line": 11, "character": 21}), "{end:?}: {found}");
        // The opcode, and places that are none.
        let word = editor.hover(URI, 11, 12)["result"].clone();
        assert_eq!(word["range"]["start"], json!({"line": 11, "character": 10}), "{word}");
        assert_eq!(word["range"]["end"], json!({"line": 11, "character": 17}), "{word}");
        for (line, character) in [(11, 4), (11, u32::MAX), (4_000_000, 0), (u32::MAX, u32::MAX)] {
            assert_eq!(editor.hover(URI, line, character)["result"], Value::Null, "{line}:{character}");
        }
        editor.end();
    }
}

#[test]
fn an_editor_may_send_only_what_changed() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &[]);
    editor.open(URI, &bad().replace("%r1 7", "%r1/* \u{1d11e} */ 7"));
    let at = |character: u32| json!({"line": 11, "character": character});
    let change = |start: u32, end: u32, text: &str| json!({"range": {"start": at(start), "end": at(end)}, "text": text});
    // The comment goes, and a comma comes, after the first change.
    let changes = json!([change(12, 20, ""), change(12, 12, ",")]);
    let document = json!({"uri": URI, "version": 2});
    editor.notify("textDocument/didChange", json!({"textDocument": document, "contentChanges": changes}));
    let found = editor.diagnostics();
    assert_eq!((&found["version"], &found["diagnostics"]), (&json!(2), &json!([])));
    editor.end();
}
