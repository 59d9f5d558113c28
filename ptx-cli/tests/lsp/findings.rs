//! Findings that the editor asks for, what can be done about them, and the configuration as it is written.

use serde_json::{Value, json};

use crate::common::{GOOD, Scratch, bad};
use crate::editor::{Editor, URI, edited};

/// A finding with a certain fix, and one without.
fn fixable() -> String {
    bad().replace("[%rd2]", "[%rd2 - 4]")
}

fn asking() -> Value {
    json!({
        "textDocument": {"diagnostic": {"relatedDocumentSupport": false}},
        "workspace": {"diagnostic": {"refreshSupport": true}, "diagnostics": {"refreshSupport": true}},
    })
}

fn ask(editor: &mut Editor, previous: Option<&Value>) -> Value {
    let params = json!({"textDocument": {"uri": URI}, "previousResultId": previous});
    editor.request("textDocument/diagnostic", params)["result"].clone()
}

#[test]
fn an_editor_that_asks_gets_the_findings_of_its_version() {
    let scratch = Scratch::new();
    let (mut editor, capabilities) = Editor::start_with(&scratch, asking());
    assert_eq!(capabilities["diagnosticProvider"]["identifier"], "ptx-cli");
    editor.open_as(URI, "ptx", &bad());
    let first = ask(&mut editor, None);
    assert_eq!((&first["kind"], &first["items"][0]["code"]), (&json!("full"), &json!("syntax")));
    let page = first["items"][0]["codeDescription"]["href"].as_str().unwrap();
    assert!(page.starts_with("https://") && page.ends_with("/rules/syntax/"), "{page}");
    let same = ask(&mut editor, Some(&first["resultId"]));
    assert_eq!(same, json!({"kind": "unchanged", "resultId": first["resultId"]}));
    editor.change(URI, 2, GOOD);
    let second = ask(&mut editor, Some(&first["resultId"]));
    assert_eq!((&second["kind"], &second["items"]), (&json!("full"), &json!([])));
    // A comment changes nothing of what is found.
    editor.change(URI, 3, &GOOD.replace("\tret;", "\tret; // done"));
    assert_eq!(ask(&mut editor, Some(&second["resultId"]))["kind"], "unchanged");
    editor.notify("textDocument/didClose", json!({"textDocument": {"uri": URI}}));
    let closed = editor.request("textDocument/diagnostic", json!({"textDocument": {"uri": URI}}));
    assert_eq!(closed["error"]["code"], -32803);
    // It is sent none, and told to ask again when a configuration changes.
    editor.notify("workspace/didChangeWatchedFiles", json!({"changes": []}));
    loop {
        let message = editor.receive();
        assert_ne!(message["method"], "textDocument/publishDiagnostics", "{message}");
        if message["method"] == "workspace/diagnostic/refresh" {
            break;
        }
    }
    editor.end();
}

#[test]
fn a_question_can_be_taken_back_and_ends_with_its_document() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start_with(&scratch, asking());
    // Verifying this takes longer than reading the next messages.
    let long = GOOD.replace("\tmov.u32 %r1, 7;", &"\tadd.s32 %r1, %r1, 1;\n".repeat(100_000));
    for (round, method) in [(1, "$/cancelRequest"), (2, "textDocument/didClose")] {
        editor.open_as(URI, "ptx", &long);
        let params = json!({"textDocument": {"uri": URI}});
        let id = json!(format!("q{round}"));
        editor.send(
            &json!({"jsonrpc": "2.0", "id": id, "method": "textDocument/diagnostic", "params": params}),
        );
        editor.notify(method, json!({"id": id, "textDocument": {"uri": URI}}));
        let answer = editor.answer_to(&id);
        // A fast machine may have been faster.
        assert!(
            [-32800, -32803].map(Value::from).contains(&answer["error"]["code"])
                || answer["result"]["kind"] == "full",
            "{answer}"
        );
    }
    editor.end();
}

#[test]
fn actions_are_for_what_the_editor_names_and_wants() {
    let scratch = Scratch::new();
    let versioned = json!({"workspace": {"workspaceEdit": {"documentChanges": true}}});
    for (capabilities, with_version) in [(json!({}), false), (versioned, true)] {
        let (mut editor, _) = Editor::start_with(&scratch, capabilities);
        let found = editor.open(URI, &fixable())["diagnostics"].clone();
        let actions = editor.actions(URI, json!({"diagnostics": found}));
        let (action, named) = (&actions[0], &actions[0]["diagnostics"][0]);
        assert_eq!((&action["kind"], &named["code"]), (&json!("quickfix"), &json!("operand-form")));
        let edit = match with_version {
            true => {
                let change = &action["edit"]["documentChanges"][0];
                assert_eq!(change["textDocument"], json!({"uri": URI, "version": 1}));
                &change["edits"][0]
            }
            false => &action["edit"]["changes"][URI][0],
        };
        assert_eq!(edit["newText"], "+-");
        let fixes = |editor: &mut Editor, context: Value| {
            let all = editor.actions(URI, context);
            let is_fix = |action: &&Value| !action["title"].as_str().unwrap().starts_with("Suppress ");
            all.as_array().unwrap().iter().filter(is_fix).count()
        };
        assert_eq!(fixes(&mut editor, json!({"diagnostics": []})), 0);
        let other: Vec<&Value> =
            found.as_array().unwrap().iter().filter(|found| found["code"] != "operand-form").collect();
        assert!(!other.is_empty());
        assert_eq!(fixes(&mut editor, json!({"diagnostics": other})), 0);
        for (only, expected) in [("quickfix", 1), ("refactor", 0), ("quickfix.other", 0), ("quick", 0)] {
            let context = json!({"diagnostics": found, "only": [only]});
            assert_eq!(fixes(&mut editor, context), expected, "{only}");
        }
        assert_eq!(editor.actions(URI, json!({"diagnostics": found, "only": []})), json!([]));
        editor.end();
    }
}

#[test]
fn a_finding_can_be_suppressed_where_it_is() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let dead = GOOD.replace("\tmov.u32 %r1, 7;", "\tmov.u32 %r1, 6;\n\tmov.u32 %r1, 7;");
    for (uri, mut text) in [
        (URI, dead.clone()),
        (URI, dead.replace("6;", "6; // kept")),
        (URI, dead.replace("6;", "6; // ptx-allow: carry-unused -- two")),
        (
            "file:///k.cu",
            "__device__ void f(float *p, int a) {\n  asm(\"st.global.f32 [%1], %2; mov.b32 %0, 1;\" : \"=r\"(a) : \"l\"(p), \"f\"(1.0f));\n}\n".to_owned(),
        ),
    ] {
        let mut rounds = 0;
        loop {
            let item = json!({"uri": uri, "languageId": "ptx", "version": rounds, "text": text});
            editor.notify("textDocument/didOpen", json!({"textDocument": item}));
            let found = loop {
                let found = editor.diagnostics();
                if found["uri"] == uri && found["version"] == rounds {
                    break found["diagnostics"].clone();
                }
            };
            let rules: Vec<&Value> = found.as_array().unwrap().iter().map(|found| &found["code"]).collect();
            let wanted = rules.iter().any(|rule| *rule == "dead-store" || *rule == "asm-side-effect-not-volatile");
            if !wanted {
                assert!(rounds > 0 && text.contains("ptx-allow"), "{text}");
                break;
            }
            rounds += 1;
            assert!(rounds < 4, "{text}\n{found}");
            let actions = editor.actions(uri, json!({"diagnostics": found}));
            let is_wanted = |action: &&Value| {
                let title = action["title"].as_str().unwrap();
                title == "Suppress dead-store here" || title == "Suppress asm-side-effect-not-volatile here"
            };
            let action = actions.as_array().unwrap().iter().find(is_wanted).unwrap_or_else(|| panic!("{actions}"));
            text = edited(&text, &action["edit"]["changes"][uri]);
        }
    }
    editor.end();
}

#[test]
fn all_that_is_certain_is_fixed_at_once() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let text = GOOD.replace("[%rd2], %r1;", "[%rd2 - 4], %r1;\n\tst.global.u32 [%rd2 - 8], %r1;");
    let found = editor.open(URI, &text)["diagnostics"].clone();
    for only in ["source.fixAll", "source.fixAll.ptx-cli", "source"] {
        let actions = editor.actions(URI, json!({"diagnostics": found, "only": [only]}));
        let action = &actions[0];
        assert_eq!(action["kind"], "source.fixAll.ptx-cli", "{actions}");
        let fixed = edited(&text, &action["edit"]["changes"][URI]);
        assert_eq!(fixed, text.replace(" - ", "+-"));
    }
    let without = editor.actions(URI, json!({"diagnostics": found}));
    assert!(without.as_array().unwrap().iter().all(|action| action["kind"] == "quickfix"), "{without}");
    editor.change(URI, 2, GOOD);
    editor.diagnostics();
    assert_eq!(editor.actions(URI, json!({"diagnostics": [], "only": ["source.fixAll"]})), json!([]));
    editor.end();
}

#[test]
fn what_is_not_needed_is_faded() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let found = editor.open(URI, &GOOD.replace("\tmov.u32 %r1, 7;", "\tmov.u32 %r1, 6;\n\tmov.u32 %r1, 7;"))
        ["diagnostics"]
        .clone();
    let tags: Vec<(&Value, &Value)> =
        found.as_array().unwrap().iter().map(|found| (&found["code"], &found["tags"])).collect();
    assert!(tags.contains(&(&json!("dead-store"), &json!([1]))), "{found}");
    let found = editor.open(URI, &bad())["diagnostics"].clone();
    assert_eq!(found[0]["tags"], Value::Null);
    editor.end();
}

#[test]
fn an_open_configuration_is_judged_as_it_is_written() {
    let scratch = Scratch::new();
    let (mut editor, _) = Editor::start(&scratch, &["utf-8"]);
    let uri = "file:///nowhere/ptx.toml";
    for (text, line, says) in [
        ("[rules]\nstyle = \"warm\"\n", Some(1), "unknown variant"),
        ("\n[rules]\nded-store = \"warn\"\n", Some(2), "dead-store"),
        ("exlude = []\n", Some(0), "exclude"),
        ("[ptx]\ntarget = \"sm_1\"\n", Some(1), "sm_1"),
        ("[format]\nasm = true\nwidth = 10\n", Some(2), "40 to 400 columns"),
        ("[", Some(0), ""),
        ("[rules]\nstyle = \"warn\"\n", None, ""),
        ("", None, ""),
    ] {
        let item = json!({"uri": uri, "languageId": "toml", "version": 1, "text": text});
        editor.notify("textDocument/didOpen", json!({"textDocument": item}));
        let found = editor.diagnostics()["diagnostics"].clone();
        match line {
            None => assert_eq!(found, json!([]), "{text}"),
            Some(line) => {
                assert_eq!(found[0]["range"]["start"]["line"], line, "{text}: {found}");
                let message = found[0]["message"].as_str().unwrap();
                assert!(message.contains(says), "{text}: {message}");
            }
        }
    }
    editor.end();
}
